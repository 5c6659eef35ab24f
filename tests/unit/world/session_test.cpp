// A session does what its parts can do, and refuses the rest.
#include "world/session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

struct SessionTest : ::testing::Test {
  void SetUp() override {
    ASSERT_TRUE(rig.connect());
    ball = rig.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0);
    rig.pump(30);
  }
  SessionRig rig;
  uint64_t ball = 0;
};

TEST_F(SessionTest, a_side_that_does_not_listen_makes_no_objects) {
  Session& client = rig.client();
  const uint32_t slot = client.objects().find(ball);
  ASSERT_NE(slot, replication::kNoSlot);
  EXPECT_EQ(client.spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0), 0u);
  EXPECT_EQ(client.despawn(ball), OpResult::kNotAllowed);
  EXPECT_FALSE(client.let_sleep(slot));
  EXPECT_EQ(client.interest(), nullptr);
  lattice_why_info why;
  EXPECT_FALSE(client.why(rig.clients[0]->connection, slot, &why));
  EXPECT_FALSE(client.sees(rig.clients[0]->connection, slot));
  EXPECT_NE(client.objects().find(ball), replication::kNoSlot);
}

// Ids are the authority's choice, and it must not know how a client finds them.
TEST_F(SessionTest, a_client_hashes_ids_with_a_seed_of_its_own) {
  EXPECT_NE(rig.client().objects().id_seed(), 0u);
  EXPECT_EQ(rig.authority->objects().id_seed(), 0u);
}

TEST_F(SessionTest, a_side_that_does_not_connect_has_no_connection_of_its_own) {
  const char* error = nullptr;
  ConnectionHandle connection;
  EXPECT_EQ(rig.authority->connect(base::ipv4_path(10, 0, 0, 2, 1), {}, &connection, &error),
            OpResult::kNotAllowed);
  EXPECT_NE(error, nullptr);
  rig.authority->set_option(Session::Option::kPrediction, false);
  EXPECT_EQ(rig.authority->next_tick(), rig.authority->current_tick() + 1);
}

TEST_F(SessionTest, only_a_player_has_inputs) {
  const Push push{1};
  EXPECT_EQ(rig.authority->set_input(&push, sizeof push), OpResult::kNotAllowed);
  EXPECT_FALSE(rig.authority->is_owner(kAuthorityPeer));
  SessionRig host({true, 0, true, false});
  EXPECT_EQ(host.authority->set_input(&push, sizeof push), OpResult::kOk);
  EXPECT_TRUE(host.authority->is_owner(kAuthorityPeer));
}

/// By how many ticks a client is ahead of an authority that receives once a tick, or every millisecond.
double lead_ticks(bool receives_each_ms) {
  SessionRig rig({.has_input = true});
  rig.network.set_default({.delay_ms = 25, .jitter_ms = 4});
  EXPECT_TRUE(rig.connect());
  constexpr int kSettleMs = 20'000, kMeasuredMs = 20'000;
  int64_t ahead = 0;
  for (int ms = 0; ms < kSettleMs + kMeasuredMs; ++ms) {
    rig.now_ns += 1'000'000;
    if (receives_each_ms || rig.authority->time_to_tick_ns(rig.now()) == 0) rig.pump(*rig.authority);
    rig.pump(rig.client());
    if (ms < kSettleMs) continue;
    ahead += base::tick_distance(rig.client().current_tick(), rig.authority->current_tick());
  }
  return static_cast<double>(ahead) / kMeasuredMs;
}

// The margin of an input is that between its arrival and its tick, whenever the authority reads it.
TEST(Session, an_authority_that_receives_once_a_tick_costs_its_players_no_lead) {
  const double lead = lead_ticks(true);
  EXPECT_GT(lead, 2.0);
  EXPECT_NEAR(lead_ticks(false), lead, 0.2);
}

// The inputs of the pause are read before its ticks are skipped or lost.
TEST(Session, after_a_pause_of_the_authority_margins_are_true_at_once) {
  for (const int pause_ms : {200, 300, 500, 2000}) {
    SessionRig rig({.has_input = true});
    rig.network.set_default({.delay_ms = 25, .jitter_ms = 4});
    ASSERT_TRUE(rig.connect());
    const auto run = [&](int ms, bool is_paused) {
      for (; ms > 0; --ms) {
        rig.now_ns += 1'000'000;
        if (!is_paused) rig.pump(*rig.authority);
        rig.pump(rig.client());
      }
    };
    run(10'000, false);
    const double before = rig.client().stats().input_margin_ticks;
    run(pause_ms, true);
    double highest = before;
    for (int i = 0; i < 100; ++i) {
      run(10, false);
      highest = std::max(highest, rig.client().stats().input_margin_ticks);
    }
    // A pause that is not skipped delays the authority, and so the inputs come earlier from then on.
    EXPECT_LT(highest, before + (pause_ms < 500 ? 11.0 : 3.0)) << pause_ms;
    const uint64_t late = rig.authority->stats().inputs_late;
    run(15'000, false);
    EXPECT_LT(rig.authority->stats().inputs_late - late, 5u) << pause_ms;
  }
}

// 2^31 ticks later, the state of an hour ago would look like one to come.
TEST_F(SessionTest, a_pause_of_any_length_can_end) {
  for (const uint64_t seconds : {40'000'000u, 70'000'000u, 3'000'000'000u}) {
    const Tick before = rig.authority->current_tick();
    rig.now_ns += seconds * 1'000'000'000;
    rig.pump(100);
    const Tick after = rig.authority->current_tick();
    EXPECT_TRUE(base::tick_after(after, before)) << seconds;
    EXPECT_LT(after - before, 1u << 21) << seconds;
    EXPECT_EQ(rig.authority->despawn(ball), OpResult::kOk);
    ball = rig.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0);
    EXPECT_NE(ball, 0u);
  }
}

TEST_F(SessionTest, both_sides_tell_how_far_the_client_has_come) {
  const uint64_t peer = rig.client().local_peer();
  EXPECT_TRUE(rig.authority->joining(rig.authority->connection_of(peer)).loaded);
  EXPECT_TRUE(rig.client().joining(rig.clients[0]->connection).loaded);
}

}  // namespace
}  // namespace lattice::world::test
