// What a healthy session costs and does: no allocation per tick, no rollback when nothing unforeseen
// happens, small snapshots of a still world, silence when there is nothing to say.
#include <gtest/gtest.h>

#include "arena.h"
#include "interest_pair.h"

namespace lattice::test::quiet_test {
namespace {

ArenaConfig calm(double delay_ms) {
  ArenaConfig config;
  lattice_impairment_init(&config.impairment);
  config.impairment.delay_ms = delay_ms;
  config.churn = false;
  return config;
}

lattice_world_stats stats_of(lattice_world* world) {
  lattice_world_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(lattice_world_get_stats(world, &stats), LATTICE_OK);
  return stats;
}

TEST(Quiet, ATickAllocatesNothingAfterWarmUp) {
  ArenaConfig config = calm(40);
  config.impairment.jitter_ms = 10;
  config.impairment.loss_percent = 3;
  Arena arena(config);
  arena.run(30.0);  // until each size class of the pool has met its worst case
  arena.take_pump_allocations();
  arena.run(10.0);
  EXPECT_EQ(arena.take_pump_allocations(), 0u);
  EXPECT_TRUE(arena.violations().empty()) << arena.violations().front();
}

TEST(Quiet, PredictionIsExactWhenNothingUnforeseenHappens) {
  Arena arena(calm(50));
  arena.run(5.0);
  std::vector<lattice_world_stats> before;
  for (size_t i = 0; i < arena.client_count(); ++i) before.push_back(stats_of(arena.client(i)));
  arena.run(10.0);
  for (size_t i = 0; i < arena.client_count(); ++i) {
    const lattice_world_stats after = stats_of(arena.client(i));
    EXPECT_EQ(after.rollbacks, before[i].rollbacks) << "client " << i;
    EXPECT_GT(after.snapshots_applied, before[i].snapshots_applied + 250) << "client " << i;
    EXPECT_EQ(after.clock_resyncs, before[i].clock_resyncs);
  }
  EXPECT_TRUE(arena.violations().empty()) << arena.violations().front();
}

TEST(Quiet, LateInputsAndUnderrunsStayBelowOnePercentOnABadLink) {
  ArenaConfig config = calm(50);
  config.impairment.jitter_ms = 10;  // each way: 20 ms on the round trip
  config.impairment.loss_percent = 5;
  Arena arena(config);
  arena.run(10.0);
  const lattice_world_stats server_before = stats_of(arena.server());
  std::vector<lattice_world_stats> before;
  for (size_t i = 0; i < arena.client_count(); ++i) before.push_back(stats_of(arena.client(i)));
  arena.run(30.0);
  const lattice_world_stats server = stats_of(arena.server());
  const uint64_t ticks = 30 * 60 * arena.client_count();
  const uint64_t missing = server.inputs_repeated + server.inputs_defaulted - server_before.inputs_repeated -
                           server_before.inputs_defaulted;
  EXPECT_LT(missing * 100, ticks) << missing << " of " << ticks << " inputs were not there in time";
  for (size_t i = 0; i < arena.client_count(); ++i) {
    const lattice_world_stats after = stats_of(arena.client(i));
    const uint64_t drawn = after.interpolation_samples - before[i].interpolation_samples;
    const uint64_t under = after.interpolation_underruns - before[i].interpolation_underruns;
    EXPECT_LT(under * 100, drawn) << "client " << i << ": " << under << " of " << drawn << " poses";
  }
  EXPECT_TRUE(arena.violations().empty()) << arena.violations().front();
}

TEST(Quiet, AStillWorldIsSmallAndSilent) {
  ArenaConfig config = calm(20);
  config.traffic = false;
  config.clients = 2;
  Arena arena(config);
  arena.run(2.0);
  arena.settle();
  const lattice_world_stats before = stats_of(arena.server());
  arena.run(10.0);
  const lattice_world_stats after = stats_of(arena.server());
  const uint64_t packets = after.packets_sent - before.packets_sent;
  const uint64_t bytes = after.bytes_sent - before.bytes_sent;
  EXPECT_GE(packets, 2u * 10 * 30 - 5);  // a snapshot each time, because inputs come
  EXPECT_LE(bytes, packets * 60) << "a snapshot of an unchanged world fits 60 bytes of UDP payload";
}

TEST(Quiet, AClientWithNothingToHearIsLeftInPeace) {
  InterestPair pair;
  for (int i = 0; i < 5; ++i) pair.spawn_at(i);
  const lattice_netid far = pair.spawn_at(500);
  ASSERT_TRUE(pair.connect());
  pair.run(5000);
  const lattice_world_stats server = stats_of(pair.server());
  const lattice_world_stats client = stats_of(pair.client());
  for (int i = 0; i < 200; ++i) {
    pair.write(far, 500 + i);  // nobody sees it
    pair.run(50);
  }
  const lattice_world_stats server_after = stats_of(pair.server());
  EXPECT_LE(server_after.packets_sent - server.packets_sent, 10u * 4);
  EXPECT_LE(stats_of(pair.client()).packets_sent - client.packets_sent, 10u * 4);
  EXPECT_GE(server_after.snapshots_sent - server.snapshots_sent, 10u * 2 - 1) << "for the clock";
}

/// Draws in each frame what moves 0.5 per tick after `quiet_ms` of rest, and returns the largest step of a
/// frame.
double largest_step_after(uint32_t quiet_ms, uint32_t lose_from_ms) {
  InterestPair pair;
  const lattice_netid thing = pair.spawn_at(1);
  EXPECT_TRUE(pair.connect());
  pair.run(300);
  const auto drawn = [&] {
    Thing shown{};
    EXPECT_EQ(lattice_object_view(pair.client(), thing, 0, &shown, sizeof shown), sizeof shown);
    return shown.place[0];
  };
  const auto rest = [&](uint32_t milliseconds) {
    for (uint32_t ms = 0; ms < milliseconds; ms += 5) {
      pair.run(5);
      EXPECT_EQ(drawn(), 1);
    }
  };
  rest(lose_from_ms);
  pair.cut(true);
  rest(100);
  pair.cut(false);
  rest(quiet_ms - lose_from_ms - 100);
  EXPECT_NEAR(stats_of(pair.client()).interpolation_delay_ms, 100, 5) << "silence is no reason to draw later";
  const uint32_t began = stats_of(pair.server()).tick;
  float before = drawn();
  double largest = 0;
  for (int frame = 0; frame < 400; ++frame) {
    pair.write(thing, 1 + 0.05 * (stats_of(pair.server()).tick - began));
    pair.run(5);
    const float now = drawn();
    largest = std::max(largest, static_cast<double>(now - before));
    before = now;
  }
  EXPECT_NEAR(stats_of(pair.client()).interpolation_delay_ms, 100, 5);
  EXPECT_GT(before, 1 + 0.05 * 100);
  return largest;
}

TEST(Quiet, TheFirstMotionBehindASilenceIsDrawnWithoutAJump) {
  // A frame of 5 ms is 0.3 ticks, and render time runs at 1.1 at most.
  constexpr double kFrameStep = 0.3 * 0.05 * 1.1;
  EXPECT_LE(largest_step_after(1500, 400), kFrameStep + 0.001);
  EXPECT_LE(largest_step_after(20'000, 10'000), kFrameStep + 0.001);
}

}  // namespace
}  // namespace lattice::test::quiet_test
