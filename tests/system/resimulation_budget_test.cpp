// A client that may run only a few ticks again per receive phase: its corrections take longer, and end the
// same.
#include <algorithm>

#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test::resimulation_budget_test {
namespace {

constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint32_t kPawnType = 9;
constexpr lattice_peer_id kClientPeer = 2;  // the first to connect
constexpr uint32_t kPushEveryTicks = 60;

struct Pawn {
  int32_t x;
};

void register_pawn(lattice_world* world) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.type = LATTICE_WIRE_INT32;
  member.name = "x";
  register_plain_type<Pawn>(world, {.type_id = kPawnType,
                                    .name = "Pawn",
                                    .members = std::span(&member, 1),
                                    .flags = LATTICE_TYPE_PREDICTED});
}

/// Every pawn walks. Only the authority pushes it now and then, which no client foresees.
struct Game {
  bool is_authority = false;
  uint32_t run_again = 0;  // ticks since the caller set it to 0

  void play(lattice_world* world) {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world* w, const lattice_tick_context* tick) {
      auto& self = *static_cast<Game*>(ctx);
      self.run_again += tick->is_resimulating != 0 ? 1 : 0;
      lattice_netid ids[4];
      const size_t count = lattice_simulated_objects(w, kPawnType, ids, 4);
      for (size_t i = 0; i < count; ++i) {
        auto* pawn = static_cast<Pawn*>(lattice_object_state(w, ids[i], 0));
        ++pawn->x;
        if (self.is_authority && tick->tick % kPushEveryTicks == 0) pawn->x += 1000;
      }
    };
    ASSERT_EQ(lattice_set_callbacks(world, &callbacks, this), LATTICE_OK);
  }
};

struct Outcome {
  uint32_t most_at_once = 0;  // ticks that one pump ran again
  uint64_t rollbacks = 0;
  uint32_t deepest = 0;
  int32_t ahead = -1;  // of the client's pawn at the end
  bool played = false;
};

void play(uint32_t budget_ticks, Outcome* outcome) {
  MessagePairOptions options;
  options.adjust = [&](lattice_world_config* config) { config->resimulation_budget_ticks = budget_ticks; };
  MessagePair pair(options);
  Game server{.is_authority = true}, client{};
  register_pawn(pair.server.world);
  register_pawn(pair.client.world);
  pair.impair(80, 0);
  ASSERT_TRUE(pair.connect());
  server.play(pair.server.world);  // In place of the callbacks that saw the two connect.
  client.play(pair.client.world);
  const lattice_netid id =
      lattice_spawn_for(pair.server.world, kPawnType, LATTICE_AUTHORITY_SERVER, kClientPeer);
  const auto run = [&](uint32_t ticks) {
    for (uint32_t i = 0; i < 4 * ticks; ++i) {
      pair.now_ns += kTickNs / 4;
      lattice_netsim_advance(pair.net, kTickNs / 4);
      lattice_world_pump(pair.server.world);
      client.run_again = 0;
      lattice_world_pump(pair.client.world);
      outcome->most_at_once = std::max(outcome->most_at_once, client.run_again);
    }
  };
  run(180);  // the first states of an object cannot have been predicted, and the clock settles
  *outcome = {};
  const auto stats = [&] {
    lattice_world_stats now{};
    now.struct_size = sizeof now;
    EXPECT_EQ(lattice_world_get_stats(pair.client.world, &now), LATTICE_OK);
    return now;
  };
  const uint64_t before = stats().rollbacks;
  // Ends well behind a push, so that its correction has arrived.
  run(300);
  while (stats().tick % kPushEveryTicks != kPushEveryTicks - 10) run(1);
  outcome->rollbacks = stats().rollbacks - before;
  outcome->deepest = stats().max_rollback_ticks;
  const auto* mine = static_cast<const Pawn*>(lattice_object_read(pair.client.world, id, 0));
  const auto* truth = static_cast<const Pawn*>(lattice_object_read(pair.server.world, id, 0));
  ASSERT_NE(mine, nullptr);
  ASSERT_NE(truth, nullptr);
  outcome->ahead = mine->x - truth->x;
  outcome->played = true;
}

TEST(ResimulationBudget, BoundsWhatAReceivePhaseRunsAgain) {
  Outcome free, bound;
  play(0, &free);
  play(2, &bound);
  ASSERT_TRUE(free.played && bound.played);
  EXPECT_GE(free.rollbacks, 4u);
  EXPECT_GT(free.most_at_once, 8u) << "a correction goes back a round trip";
  EXPECT_GE(bound.rollbacks, 4u);
  EXPECT_GT(bound.deepest, 8u);
  EXPECT_LE(bound.most_at_once, 2u + 1) << "the budget, and the tick that ran since";
  EXPECT_EQ(bound.ahead, free.ahead) << "and the corrections end the same";
  EXPECT_GT(free.ahead, 0);
  EXPECT_LT(free.ahead, 60);
}

}  // namespace
}  // namespace lattice::test::resimulation_budget_test
