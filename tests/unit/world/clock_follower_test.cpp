#include "world/clock_follower.h"

#include <gtest/gtest.h>

namespace lattice::world::test {
namespace {

constexpr uint64_t kTickNs = 1'000'000'000 / 60 + 1;

struct ClockFollowerTest : ::testing::Test {
  void hear(ClockFollower* by, base::Tick server_tick) const {
    replication::SnapshotHeader header;
    header.server_tick = server_tick;
    by->on_part(header, 50'000'000, now_ns);
  }
  ClockFollower::Step step(base::Tick newest) { return clock.step(newest, 0, now_ns); }

  simulation::FixedTick ticks{60};
  ClockFollower clock{ticks};
  uint64_t now_ns = 1'000'000'000;
};

TEST_F(ClockFollowerTest, has_no_ticks_before_the_session_and_after_it) {
  EXPECT_EQ(step(7).newest_tick, 7u);
  EXPECT_FALSE(clock.ticking());
  clock.start(1000, now_ns, 50'000'000);
  step(7);
  EXPECT_TRUE(clock.ticking());
  clock.stop();
  EXPECT_FALSE(clock.ticking());
  EXPECT_FALSE(clock.started());
  now_ns += kTickNs;
  EXPECT_EQ(step(7).due, 0u);
}

TEST_F(ClockFollowerTest, begins_where_an_input_would_arrive_in_time_and_ticks_on) {
  clock.start(1000, now_ns, 50'000'000);
  const ClockFollower::Step first = step(0);
  EXPECT_FALSE(first.jumped);
  EXPECT_EQ(first.due, 0u);
  EXPECT_GE(first.newest_tick, 1000u + 3) << "a round trip of three ticks";
  EXPECT_LE(first.newest_tick, 1000u + 8);
  base::Tick newest = first.newest_tick;
  for (int i = 0; i < 60; ++i) {
    now_ns += kTickNs;
    newest = newest + step(newest).due;
  }
  EXPECT_NEAR(newest - first.newest_tick, 60, 2);
}

TEST_F(ClockFollowerTest, jumps_after_a_pause_that_is_too_long_for_its_ticks) {
  clock.start(1000, now_ns, 50'000'000);
  const base::Tick newest = step(0).newest_tick;
  now_ns += 5'000'000'000;
  const ClockFollower::Step step = clock.step(newest, 0, now_ns);
  EXPECT_TRUE(step.jumped);
  EXPECT_EQ(step.due, 8u) << "the last of them run";
  EXPECT_NEAR(step.newest_tick + step.due - newest, 300, 3);
}

TEST_F(ClockFollowerTest, ticks_though_every_frame_is_too_long_for_its_ticks) {
  clock.start(1000, now_ns, 50'000'000);
  base::Tick newest = step(0).newest_tick;
  for (const uint64_t frame_ms : {150u, 200u, 500u}) {
    for (int i = 0; i < 20; ++i) {
      now_ns += frame_ms * 1'000'000;
      const ClockFollower::Step next = step(newest);
      EXPECT_EQ(next.due, 8u) << frame_ms;
      EXPECT_GE(next.newest_tick, newest);
      newest = next.newest_tick + next.due;
    }
  }
}

TEST_F(ClockFollowerTest, a_silence_is_from_arrival_to_arrival_and_never_below_nothing) {
  clock.start(1000, now_ns, 50'000'000);
  const auto silence_before = [&](base::Tick server_tick) {
    clock.begin_receive();
    hear(&clock, server_tick);
    return clock.end_receive();
  };
  EXPECT_EQ(silence_before(1002), 0u) << "the first";
  now_ns += 3'000'000'000;
  EXPECT_EQ(silence_before(1182), 3'000'000'000u);
  now_ns -= 1'000'000;
  EXPECT_EQ(silence_before(1184), 0u) << "the clock of the system was set back";
}

TEST_F(ClockFollowerTest, only_the_newest_snapshot_of_a_receive_phase_tells_the_time) {
  ClockFollower other(ticks);
  for (ClockFollower* each : {&clock, &other}) {
    each->start(1000, now_ns, 50'000'000);
    each->begin_receive();
    if (each == &clock) hear(each, 1002);
    hear(each, 1006);
    if (each == &clock) hear(each, 1004);
    each->end_receive();
  }
  EXPECT_EQ(clock.sync().stats().snapshots, 1u);
  const simulation::TickTime time = clock.sync().server_time(now_ns);
  EXPECT_EQ(simulation::ticks_between(time, other.sync().server_time(now_ns)), 0.0);
  clock.begin_receive();
  clock.end_receive();
  EXPECT_EQ(clock.sync().stats().snapshots, 1u) << "nothing came";
}

TEST_F(ClockFollowerTest, states_how_far_snapshots_are_apart) {
  EXPECT_EQ(clock.snapshot_interval_ticks(), 1u);
  clock.start(1000, now_ns, 50'000'000);
  for (base::Tick tick = 1003; tick < 1060; tick += 3) {
    now_ns += 3 * kTickNs;
    clock.begin_receive();
    hear(&clock, tick);
    clock.end_receive();
  }
  EXPECT_EQ(clock.snapshot_interval_ticks(), 3u);
}

}  // namespace
}  // namespace lattice::world::test
