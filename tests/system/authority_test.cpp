// Who may write an object: its writer, and nobody else (I5).
#include <gtest/gtest.h>

#include "play_pair.h"

namespace lattice::test::authority_test {
namespace {

constexpr uint16_t kX = 0;

float get_x(lattice_world* world, lattice_netid id) {
  const auto* body = static_cast<const Body*>(lattice_object_read(world, id, 0));
  return body == nullptr ? -1 : body->x;
}

lattice_result set_x(lattice_world* world, lattice_netid id, float x) {
  return lattice_set_prop(world, id, kX, &x, sizeof x);
}

TEST(Authority, every_side_names_the_writer_and_its_first_tick) {
  PlayPair play;
  lattice_world* const server = play.pair.server.world;
  lattice_world* const client = play.pair.client.world;
  ASSERT_TRUE(play.connect({}));
  play.run(0.5);
  const lattice_netid crate = play.spawn(kCrateType);
  const lattice_netid pawn = play.spawn(kPawnType, kFirstClientPeer);
  const uint32_t spawned = lattice_world_next_tick(server);
  play.run(0.5);
  for (lattice_world* world : {server, client}) {
    for (const lattice_netid id : {crate, pawn}) {
      uint32_t since = 0;
      EXPECT_EQ(lattice_object_writer(world, id, &since), 1u) << "whoever owns it";
      EXPECT_EQ(since, spawned);
    }
    uint32_t since = 7;
    EXPECT_EQ(lattice_object_writer(world, 999, &since), 0u);
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
    EXPECT_EQ(since, 7u);
    EXPECT_EQ(lattice_object_writer(world, pawn, nullptr), 1u);
  }
}

TEST(Authority, an_owner_writes_its_prediction_in_ticks_and_in_those_that_run_again) {
  PlayPair play;
  play.pair.impair(40, 0);
  lattice_netid pawn = 0;
  float wind = 0;
  uint32_t refused = 0;
  ASSERT_TRUE(play.connect(
      [&](lattice_world* world, uint32_t) {
        if (pawn == 0) return;
        EXPECT_EQ(set_x(world, pawn, get_x(world, pawn) + 0.25f + wind), LATTICE_OK);
      },
      [&](lattice_world* world, uint32_t) {
        lattice_netid own = 0;
        if (lattice_simulated_objects(world, kPawnType, &own, 1) == 0) return;
        if (set_x(world, own, get_x(world, own) + 0.25f) != LATTICE_OK) ++refused;
      }));
  pawn = play.spawn(kPawnType, kFirstClientPeer);
  play.run(0.5);
  wind = 0.125f;  // what the client does not know of
  play.run(0.1);
  wind = 0;
  play.run(0.5);
  lattice_world* const client = play.pair.client.world;
  EXPECT_GT(PlayPair::stats(client).resimulated_ticks, 0u);
  EXPECT_EQ(refused, 0u);
  const uint64_t rollbacks = PlayPair::stats(client).rollbacks;
  play.run(0.5);
  EXPECT_EQ(PlayPair::stats(client).rollbacks, rollbacks) << "a tick that runs again gives what it gave";
  EXPECT_EQ(set_x(client, pawn, 5), LATTICE_ERROR_NOT_ALLOWED) << "outside its ticks";
}

}  // namespace
}  // namespace lattice::test::authority_test
