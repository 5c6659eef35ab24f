// What a client draws of an object that it predicts right: no gap in the snapshots moves it.
#include <algorithm>
#include <cmath>

#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test::predicted_view_test {
namespace {

constexpr uint64_t kMsNs = 1'000'000;
constexpr uint32_t kWalkerType = 9;
constexpr lattice_peer_id kClientPeer = 2;  // the first to connect
constexpr float kUnitsPerTick = 0.25f;

struct Walker {
  float position[2];
};

void register_walker(lattice_world* world) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "position";
  member.type = LATTICE_WIRE_VECTOR2;
  member.flags = LATTICE_MEMBER_POSITION;
  for (size_t i = 0; i < 2; ++i) member.quant[i] = {0, 4096, 1.0 / 256};
  register_plain_type<Walker>(
      world,
      {.type_id = kWalkerType, .name = "Walker", .members = {&member, 1}, .flags = LATTICE_TYPE_PREDICTED});
}

void walk(lattice_world* world) {
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_tick = [](void*, lattice_world* w, const lattice_tick_context*) {
    lattice_netid ids[4];
    const size_t count = lattice_simulated_objects(w, kWalkerType, ids, 4);
    for (size_t i = 0; i < count; ++i) {
      static_cast<Walker*>(lattice_object_state(w, ids[i], 0))->position[0] += kUnitsPerTick;
    }
  };
  ASSERT_EQ(lattice_set_callbacks(world, &callbacks, nullptr), LATTICE_OK);
}

struct Outcome {
  uint64_t rollbacks = 0;
  float longest_step = 0, longest_way_back = 0;  // from one frame to the next
};

struct Trouble {
  int gap_ms = 0;        // the client receives nothing for so long
  double delay_ms = 60;  // each way, after the gap
};

/// The client draws each 4 ms, some four frames a tick.
Outcome play(const Trouble& trouble) {
  Outcome outcome;
  MessagePair pair;
  register_walker(pair.server.world);
  register_walker(pair.client.world);
  pair.impair(60, 0);
  if (!pair.connect()) return outcome;
  walk(pair.server.world);  // in place of the callbacks that saw the two connect
  walk(pair.client.world);
  const lattice_netid id =
      lattice_spawn_for(pair.server.world, kWalkerType, LATTICE_AUTHORITY_SERVER, kClientPeer);
  float last = NAN;
  const auto run = [&](int ms) {
    for (int i = 0; i < ms; i += 4) {
      pair.now_ns += 4 * kMsNs;
      lattice_netsim_advance(pair.net, 4 * kMsNs);
      lattice_world_pump(pair.server.world);
      lattice_world_pump(pair.client.world);
      lattice_frame_begin(pair.client.world);
      Walker view;
      if (lattice_object_view(pair.client.world, id, 0, &view, sizeof view) == 0) continue;
      if (!std::isnan(last)) {
        outcome.longest_step = std::max(outcome.longest_step, view.position[0] - last);
        outcome.longest_way_back = std::max(outcome.longest_way_back, last - view.position[0]);
      }
      last = view.position[0];
    }
  };
  const auto rollbacks = [&] {
    lattice_world_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(lattice_world_get_stats(pair.client.world, &stats), LATTICE_OK);
    return stats.rollbacks;
  };
  const auto be_dark = [&](bool dark) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.blackout = dark ? 1 : 0;
    EXPECT_EQ(lattice_set_impairment(pair.client.world, LATTICE_DIRECTION_RECEIVE, &impairment), LATTICE_OK);
  };
  run(4000);
  const uint64_t before = rollbacks();
  outcome = {};
  be_dark(true);
  run(trouble.gap_ms);
  be_dark(false);
  pair.impair(trouble.delay_ms, 0);
  run(2000);
  outcome.rollbacks = rollbacks() - before;
  return outcome;
}

TEST(PredictedView, AGapInTheSnapshotsDoesNotMoveIt) {
  for (const int gap_ms : {100, 200, 400, 700}) {
    const Outcome outcome = play({.gap_ms = gap_ms});
    EXPECT_EQ(outcome.rollbacks, 0u) << gap_ms;
    EXPECT_GT(outcome.longest_step, 0.0f) << gap_ms;
    EXPECT_LE(outcome.longest_step, kUnitsPerTick / 2) << gap_ms;
    EXPECT_LE(outcome.longest_way_back, 0.0f) << gap_ms;
  }
}

// The clock of the client jumps ahead, and what it had predicted is forgotten. It goes on from where it is
// seen.
TEST(PredictedView, ALongerPathDoesNotMoveItBack) {
  for (const double delay_ms : {150.0, 200.0, 250.0}) {
    const Outcome outcome = play({.delay_ms = delay_ms});
    EXPECT_GT(outcome.longest_step, 0.0f) << delay_ms;
    EXPECT_LE(outcome.longest_way_back, kUnitsPerTick) << delay_ms;
  }
}

}  // namespace
}  // namespace lattice::test::predicted_view_test
