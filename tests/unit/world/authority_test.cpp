// A shared object, which the C interface does not make in this version: its owner writes it, and nobody else
// (I5).
#include "replication/authority.h"

#include <gtest/gtest.h>

#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

struct Shared : ::testing::Test {
  void SetUp() override {
    ASSERT_TRUE(rig.connect());
    ball = rig.authority->spawn(kBallType, LATTICE_AUTHORITY_SHARED, kFirstClientPeer);
    SessionRig::ball(*rig.authority, ball)->x = 3;  // the state it is spawned with
    rig.pump(30);
  }
  static uint32_t slot(const Session& world, uint64_t id) { return world.objects().find(id); }

  SessionRig rig;
  uint64_t ball = 0;
};

TEST_F(Shared, both_sides_name_the_owner_as_its_writer) {
  for (Session* world : {rig.authority.get(), &rig.client()}) {
    const replication::Authority& authority = world->objects().info(slot(*world, ball)).authority;
    EXPECT_EQ(authority.writer, kFirstClientPeer);
    EXPECT_NE(authority.since_tick, 0u);
    EXPECT_EQ(SessionRig::x(*world, ball), 3);
    EXPECT_EQ(world->simulated(slot(*world, ball)), world == &rig.client());
  }
}

TEST_F(Shared, what_the_authority_writes_has_no_effect) {
  EXPECT_EQ(SessionRig::set_x(*rig.authority, ball, 5), OpResult::kNotAllowed);
  EXPECT_FALSE(rig.authority->let_sleep(slot(*rig.authority, ball)));
  const uint64_t hash = rig.authority->state_hash();
  SessionRig::ball(*rig.authority, ball)->x = 7;
  rig.authority->announce_write(slot(*rig.authority, ball));
  rig.pump(10);
  EXPECT_EQ(rig.authority->state_hash(), hash);
  uint64_t unannounced = 0;
  for (uint32_t i = 0; const char* name = rig.authority->refusal(i, &unannounced); ++i) {
    if (name == std::string_view("unannounced_writes")) break;
  }
  EXPECT_EQ(unannounced, 0u);
}

TEST_F(Shared, its_owner_writes_it_at_any_time_and_no_snapshot_takes_that_back) {
  EXPECT_EQ(SessionRig::set_x(rig.client(), ball, 9), OpResult::kOk) << "outside a tick: it is no prediction";
  rig.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0);
  rig.pump(30);
  EXPECT_EQ(SessionRig::x(rig.client(), ball), 9);
  const auto* shown = static_cast<const Ball*>(rig.client().view(slot(rig.client(), ball), 0, rig.now()));
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->x, 9);
  EXPECT_EQ(rig.client().stats().rollbacks, 0u);
}

// The other way round: the owner of an object that the authority writes makes predictions of it.
TEST(Owned, an_owner_writes_in_its_ticks_and_in_those_that_run_again) {
  SessionRig rig;
  socket::Impairment path;
  path.delay_ms = 40;
  rig.network.set_default(path);
  uint64_t ball = 0;
  int32_t wind = 0;
  uint32_t refused = 0;
  uint32_t again = 0;
  rig.game.step = [&](Tick, bool) {
    if (ball == 0) return;
    EXPECT_EQ(SessionRig::set_x(*rig.authority, ball, SessionRig::x(*rig.authority, ball) + 1 + wind),
              OpResult::kOk);
  };
  ASSERT_TRUE(rig.connect());
  rig.clients[0]->game.step = [&](Tick, bool resimulating) {
    Session& client = rig.client();
    if (client.objects().find(ball) == replication::kNoSlot) return;
    again += resimulating ? 1 : 0;
    if (SessionRig::set_x(client, ball, SessionRig::x(client, ball) + 1) != OpResult::kOk) ++refused;
  };
  ball = rig.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, kFirstClientPeer);
  rig.pump(30);
  wind = 3;  // the client knows nothing of it
  rig.pump(5);
  wind = 0;
  rig.pump(30);
  EXPECT_GT(again, 0u);
  EXPECT_EQ(refused, 0u);
  const uint64_t rollbacks = rig.client().stats().rollbacks;
  rig.pump(30);
  EXPECT_EQ(rig.client().stats().rollbacks, rollbacks) << "its ticks that ran again were right";
  EXPECT_EQ(SessionRig::set_x(rig.client(), ball, 5), OpResult::kNotAllowed) << "outside its ticks";
}

}  // namespace
}  // namespace lattice::world::test
