#include "world/presenter.h"

#include "unit/world/parts_rig.h"

namespace lattice::world::test {
namespace {

struct ClockedRig : PartsRig {
  explicit ClockedRig(uint64_t delay_ns = prediction::kInterpolationDelayNs)
      : PartsRig(delay_ns), clock({.tick_rate_hz = 60}) {}
  /// Receives at the pace of the ticks.
  void run(int snapshots) {
    for (; snapshots > 0; --snapshots) {
      now_ns += kTickNs;
      receiver.begin_receive(now_ns, 1, presenter.drawn_from());
      simulation::SnapshotTiming timing;
      timing.server_tick = receive();
      timing.received_ns = now_ns;
      if (!clock.started()) clock.start(timing.server_tick, now_ns, 0);
      clock.on_snapshot(timing);
    }
  }
  uint8_t shown(uint32_t slot) {
    presenter.look(clock, now_ns);
    return static_cast<const Lamp*>(presenter.shown(slot, 0, authority.tick, now_ns))->level;
  }
  simulation::ClockSync clock;
};

struct PresenterTest : ::testing::Test, ClockedRig {};

TEST_F(PresenterTest, knows_nothing_of_what_was_before_the_first_snapshot) {
  authority.tick = 100;
  run(1);
  presenter.look(clock, now_ns);
  EXPECT_EQ(presenter.seen_time().tick, 0u) << "the render time is 100 ms behind";
  run(30);
  EXPECT_NE(presenter.look(clock, now_ns).tick, 0u);
  EXPECT_LT(presenter.seen_time().tick, receiver.snapshot_tick());
}

// However long the delay is, and however many snapshots it spans.
TEST(PresenterDelay, draws_what_was_at_the_moment_that_it_names) {
  for (const uint64_t delay_ms : {50u, 300u, 600u, 1000u}) {
    ClockedRig rig(delay_ms * 1'000'000);
    rig.presenter.set_smoothing(false);
    const auto level_at = [](Tick tick) { return static_cast<uint8_t>(tick * 5 % 16); };
    const uint32_t slot = rig.spawn(level_at(rig.authority.tick));
    for (int i = 0; i < 400; ++i) {
      rig.set_remote(slot, level_at(rig.authority.tick));
      rig.run(1);
      const uint8_t shown = rig.shown(slot);
      const Tick seen = rig.presenter.seen_time().tick;
      if (i < 150) continue;  // until render time has found its way
      const auto [low, high] = std::minmax({level_at(seen), level_at(seen + 1)});
      ASSERT_TRUE(low <= shown && shown <= high) << delay_ms << " ms, at tick " << seen;
      const auto behind_ms = static_cast<double>(rig.receiver.snapshot_tick() - seen) * 1000 / 60;
      ASSERT_NEAR(behind_ms, static_cast<double>(std::min<uint64_t>(delay_ms, 56 * 1000 / 60)), 40.0);
    }
  }
}

TEST_F(PresenterTest, draws_the_newest_state_with_interpolation_off) {
  const uint32_t slot = spawn(3);
  run(30);
  set_remote(slot, 9);
  run(1);
  EXPECT_EQ(shown(slot), 3) << "what was there 100 ms ago";
  presenter.set_interpolation(false);
  now_ns += 1;
  EXPECT_EQ(shown(slot), 9);
  EXPECT_EQ(presenter.seen_time().tick, receiver.snapshot_tick());
}

TEST_F(PresenterTest, computes_one_pose_for_each_moment_and_frame) {
  const uint32_t slot = spawn(3);
  run(30);
  shown(slot);
  shown(slot);
  EXPECT_EQ(presenter.poses(), 1u);
  set_remote(slot, 9);
  receive();
  shown(slot);
  EXPECT_EQ(presenter.poses(), 2u) << "a state came";
  frames.begin(1, {});
  shown(slot);
  set_remote(slot, 10);
  receive();
  shown(slot);
  EXPECT_EQ(presenter.poses(), 3u) << "within a frame, the pose that was shown stays";
  frames.begin(2, {});
  shown(slot);
  EXPECT_EQ(presenter.poses(), 4u);
}

TEST_F(PresenterTest, draws_a_prediction_at_the_present) {
  const uint32_t slot = spawn(3);
  run(30);
  predictor.set_predicted(slot, true);
  tick(authority.tick);
  EXPECT_EQ(shown(slot), 4);
}

TEST_F(PresenterTest, counts_the_poses_of_objects_that_are_gone) {
  const uint32_t slot = spawn(3);
  run(30);
  shown(slot);
  receiver.end_session();
  presenter.end_session();
  EXPECT_EQ(presenter.poses(), 1u);
  EXPECT_EQ(presenter.seen_time().tick, 0u);
}

}  // namespace
}  // namespace lattice::world::test
