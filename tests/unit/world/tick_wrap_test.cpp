// A session goes on where the numbers of its ticks wrap (T-04): no tick has the number 0.
#include <gtest/gtest.h>

#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

constexpr Tick kBefore = 90;  // so many ticks before the wrap, the server starts

class TickWrap : public testing::TestWithParam<int> {};

// The client connects before the wrap, or after it. Its ball goes where its inputs push it.
TEST_P(TickWrap, a_session_goes_on) {
  SessionRig rig({.has_input = true, .newest_tick = 0u - kBefore});
  Session& server = *rig.authority;
  uint64_t ball = 0;
  Tick ran = 0u - kBefore;
  uint32_t server_ticks = 0, again = 0, defaults = 0, cheers = 0, kicks = 0;
  rig.game.step = [&](Tick tick, bool) {
    EXPECT_EQ(tick, ran == UINT32_MAX ? 1u : ran + 1);
    ran = tick;
    ++server_ticks;
    Push push{};
    if (ball == 0) return;
    const uint64_t peer = rig.client().local_peer();
    defaults += server.get_input(peer, &push, sizeof push) == 0 ? 1u : 0u;
    SessionRig::set_x(server, ball, SessionRig::x(server, ball) + push.by);
  };
  Game& player = rig.clients[0]->game;
  player.push = [](Tick tick) { return tick % 16 < 8 ? 3 : -2; };
  player.step = [&](Tick tick, bool resimulating) {
    EXPECT_NE(tick, 0u);
    again += resimulating ? 1u : 0u;
    Push push{};
    if (ball == 0 || SessionRig::ball(rig.client(), ball) == nullptr) return;
    rig.client().get_input(rig.client().local_peer(), &push, sizeof push);
    SessionRig::ball(rig.client(), ball)->x += push.by;
  };
  player.called = [&](uint64_t, uint16_t) { ++cheers; };
  rig.game.called = [&](uint64_t, uint16_t) { ++kicks; };
  rig.pump(GetParam());
  ASSERT_TRUE(rig.connect());
  ball = server.spawn(kBallType, LATTICE_AUTHORITY_SERVER, rig.client().local_peer());
  const uint64_t crate = server.spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0);
  rig.pump(20);
  uint64_t gone = 0;
  for (int i = 0; i < 200; ++i) {
    SessionRig::set_x(server, crate, i);
    if (i % 20 == 0) {
      if (gone != 0) {
        EXPECT_EQ(server.despawn(gone), OpResult::kOk);
      }
      gone = server.spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0);
    }
    if (i % 10 == 0) {
      EXPECT_EQ(server.call({ball, kCheer, LATTICE_RPC_TO_ALL}, rig.now()), OpResult::kOk);
      EXPECT_EQ(rig.client().call({ball, kKick}, rig.now()), OpResult::kOk);
    }
    rig.pump();
    ASSERT_NE(rig.client().local_peer(), 0u) << "the connection ended at " << i;
  }
  EXPECT_LT(ran, 1000u) << "the numbers have wrapped";
  EXPECT_GE(server_ticks, 200u);
  rig.pump(30);
  EXPECT_EQ(SessionRig::x(rig.client(), crate), 199);
  EXPECT_EQ(cheers, 20u);
  EXPECT_EQ(kicks, 20u);
  EXPECT_LE(again, 60u) << "ticks were simulated again";
  EXPECT_LE(defaults, 12u);
  EXPECT_EQ(rig.client().objects().size(), 3u);
}

// An object of the first tick stays as known when its age no longer fits a comparison of ticks.
TEST(OldObject, is_heard_of_with_interest_however_old_it_is) {
  for (const Tick newest : {Tick{1000}, Tick{0x8000'0010}, Tick{0xC000'0010}}) {
    SessionRig rig({.has_interest = true, .newest_tick = newest, .has_placed = true});
    uint32_t cheers = 0;
    rig.clients[0]->game.called = [&](uint64_t, uint16_t) { ++cheers; };
    ASSERT_TRUE(rig.connect());
    rig.pump(60);
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(rig.authority->call({kPlacedBall, kCheer, LATTICE_RPC_TO_ALL}, rig.now()), OpResult::kOk);
      rig.pump(10);
    }
    EXPECT_EQ(cheers, 10u) << newest;
  }
}

INSTANTIATE_TEST_SUITE_P(Joins, TickWrap, testing::Values(0, 40, 80, 120));

}  // namespace
}  // namespace lattice::world::test
