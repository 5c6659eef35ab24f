// A predicted object with a member that its owner does not predict: the authority's changes arrive and cost
// no rollback.
#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test::not_predicted_test {
namespace {

constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint32_t kPawnType = 9;
constexpr lattice_peer_id kClientPeer = 2;  // the first to connect

struct Pawn {
  int32_t x;
  int32_t score;
};

void register_pawn(lattice_world* world, uint32_t score_flags) {
  lattice_member_desc members[2];
  for (lattice_member_desc& member : members) {
    lattice_member_desc_init(&member);
    member.type = LATTICE_WIRE_INT32;
  }
  members[0].name = "x";
  members[1].name = "score";
  members[1].offset = offsetof(Pawn, score);
  members[1].flags = score_flags;
  register_plain_type<Pawn>(
      world, {.type_id = kPawnType, .name = "Pawn", .members = members, .flags = LATTICE_TYPE_PREDICTED});
}

/// Every pawn walks; only the authority scores. What a client makes of the score is nonsense.
struct Game {
  bool is_authority = false;
  bool client_scribbles = false;

  void play(lattice_world* world) {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world* w, const lattice_tick_context* tick) {
      const auto& self = *static_cast<Game*>(ctx);
      lattice_netid ids[4];
      const size_t count = lattice_simulated_objects(w, kPawnType, ids, 4);
      for (size_t i = 0; i < count; ++i) {
        auto* pawn = static_cast<Pawn*>(lattice_object_state(w, ids[i], 0));
        ++pawn->x;
        if (self.is_authority && tick->tick % 7 == 0) ++pawn->score;
        if (self.client_scribbles) pawn->score = -1000;
      }
    };
    ASSERT_EQ(lattice_set_callbacks(world, &callbacks, this), LATTICE_OK);
  }
};

struct Outcome {
  uint64_t rollbacks = 0;
  int32_t lowest_seen = 0;
  bool caught_up = false;
};

Outcome play(uint32_t score_flags, bool client_scribbles) {
  Outcome outcome;
  MessagePair pair;
  Game server{true, false};
  Game client{false, client_scribbles};
  register_pawn(pair.server.world, score_flags);
  register_pawn(pair.client.world, score_flags);
  pair.impair(30, 0);
  if (!pair.connect()) return outcome;
  server.play(pair.server.world);  // In place of the callbacks that saw the two connect.
  client.play(pair.client.world);
  const lattice_netid id =
      lattice_spawn_for(pair.server.world, kPawnType, LATTICE_AUTHORITY_SERVER, kClientPeer);
  const auto run = [&](int ticks) {
    for (int i = 0; i < 4 * ticks; ++i) {
      pair.now_ns += kTickNs / 4;
      lattice_netsim_advance(pair.net, kTickNs / 4);
      lattice_world_pump(pair.server.world);
      lattice_world_pump(pair.client.world);
      const auto* pawn = static_cast<const Pawn*>(lattice_object_state(pair.client.world, id, 0));
      if (pawn != nullptr) outcome.lowest_seen = std::min(outcome.lowest_seen, pawn->score);
    }
  };
  const auto rollbacks = [&] {
    lattice_world_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(lattice_world_get_stats(pair.client.world, &stats), LATTICE_OK);
    return stats.rollbacks;
  };
  run(180);  // the first states of an object cannot have been predicted
  const uint64_t before = rollbacks();
  run(300);
  outcome.rollbacks = rollbacks() - before;
  const auto* mine = static_cast<const Pawn*>(lattice_object_state(pair.client.world, id, 0));
  const auto* truth = static_cast<const Pawn*>(lattice_object_state(pair.server.world, id, 0));
  if (mine == nullptr || truth == nullptr) return outcome;
  outcome.caught_up = truth->score - mine->score <= 2 && mine->x >= truth->x;
  return outcome;
}

TEST(NotPredicted, AChangeByTheAuthorityCostsNoRollback) {
  const Outcome outcome = play(LATTICE_MEMBER_NOT_PREDICTED, false);
  EXPECT_TRUE(outcome.caught_up);
  EXPECT_EQ(outcome.rollbacks, 0u);
}

TEST(NotPredicted, WithoutTheFlagItCostsOneEach) {
  const Outcome outcome = play(0, false);
  EXPECT_TRUE(outcome.caught_up);
  EXPECT_GT(outcome.rollbacks, 20u);
}

TEST(NotPredicted, WhatTheClientWritesIsOverwritten) {
  const Outcome outcome = play(LATTICE_MEMBER_NOT_PREDICTED, true);
  EXPECT_TRUE(outcome.caught_up);
  EXPECT_EQ(outcome.rollbacks, 0u);
  EXPECT_EQ(outcome.lowest_seen, 0);
}

}  // namespace
}  // namespace lattice::test::not_predicted_test
