// What a healthy session costs and does: no allocation per tick, no rollback when nothing unforeseen
// happens, small snapshots of a still world, silence when there is nothing to say.
#include <gtest/gtest.h>

#include "arena.h"

namespace lattice::test {
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
  EXPECT_GE(packets, 2u * 10 * 30 - 5);  // a snapshot each time, for the clock
  EXPECT_LE(bytes, packets * 60) << "a snapshot of an unchanged world fits 60 bytes of UDP payload";
}

}  // namespace
}  // namespace lattice::test
