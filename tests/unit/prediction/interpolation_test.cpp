#include "prediction/interpolation.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "unit/prediction/test_layouts.h"

namespace lattice::prediction {
namespace {

using simulation::TickTime;

constexpr double kTickSeconds = 1.0 / 60.0;

/// Samples of one word each, as a reader writes them: oldest first.
class Line {
 public:
  struct Stretch {
    Tick tick;
    Tick held_until;
    serialization::Word word;
  };
  explicit Line(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {
    for (size_t i = stretches_.size(); i > 0; --i) {
      const Stretch& stretch = stretches_[i - 1];
      samples_.push_back({stretch.tick, stretch.held_until, &stretch.word});
    }
  }
  Pose at(Tick tick, double fraction = 0.0) const {
    return pose_at(samples_, TickTime{tick, fraction}, kTickSeconds);
  }

 private:
  std::vector<Stretch> stretches_;
  std::vector<Sample> samples_;
};

/// What the pose stands for when a state is one number that is interpolated linearly.
double value(const Pose& pose) {
  const auto from = static_cast<double>(*pose.from);
  return pose.kind == PoseKind::kInterpolate ? from + (static_cast<double>(*pose.to) - from) * pose.t : from;
}

TEST(Interpolation, EmptyAndBeforeTheFirst) {
  EXPECT_EQ(Line({}).at(10).kind, PoseKind::kNone);
  const Line line({{20, 20, 5}, {22, 22, 6}});
  const Pose pose = line.at(19, 0.9);
  EXPECT_EQ(pose.kind, PoseKind::kBeforeFirst);
  EXPECT_EQ(*pose.from, 5u);
  EXPECT_FALSE(pose.underrun);
}

TEST(Interpolation, InterpolatesBetweenSamplesAndIsExactAtThem) {
  const Line line({{10, 10, 100}, {12, 12, 300}});
  EXPECT_EQ(line.at(10).kind, PoseKind::kHold);
  EXPECT_EQ(*line.at(10).from, 100u);
  EXPECT_EQ(line.at(11).kind, PoseKind::kInterpolate);
  EXPECT_DOUBLE_EQ(line.at(11).t, 0.5);
  EXPECT_DOUBLE_EQ(value(line.at(11, 0.5)), 250.0);
  EXPECT_EQ(line.at(12).kind, PoseKind::kHold);
  EXPECT_EQ(*line.at(12).from, 300u);
  EXPECT_FALSE(line.at(12).underrun);
}

TEST(Interpolation, ExtrapolatesAfterAChangeUpToTheCap) {
  const Line line({{8, 8, 0}, {10, 10, 1}});
  const Pose soon = line.at(13);
  EXPECT_EQ(soon.kind, PoseKind::kExtrapolate);
  EXPECT_TRUE(soon.underrun);
  EXPECT_EQ(soon.from_tick, 10u);
  EXPECT_NEAR(soon.extrapolate_seconds, 3 * kTickSeconds, 1e-12);
  EXPECT_NEAR(line.at(100).extrapolate_seconds, 0.25, 1e-12);  // stays there
}

TEST(Interpolation, AFirstStateAloneIsNoUnderrun) {
  const Line line({{10, 10, 1}});
  const Pose later = line.at(13);
  EXPECT_EQ(later.kind, PoseKind::kExtrapolate);  // it may have a velocity
  EXPECT_FALSE(later.underrun);
}

TEST(Interpolation, AnUnchangedObjectIsHeld) {
  const Line line({{8, 8, 0}, {10, 12, 1}});
  EXPECT_EQ(line.at(12).kind, PoseKind::kHold);
  EXPECT_EQ(line.at(300).kind, PoseKind::kHold);  // S-06: not through the wall
  EXPECT_FALSE(line.at(300).underrun);
}

TEST(Interpolation, MotionStartsWhereTheRestEnded) {
  const Line line({{10, 40, 0}, {42, 42, 100}});
  EXPECT_DOUBLE_EQ(value(line.at(39)), 0.0);
  EXPECT_DOUBLE_EQ(value(line.at(40)), 0.0);
  EXPECT_DOUBLE_EQ(value(line.at(41)), 50.0);
}

TEST(Interpolation, TickWrap) {
  EXPECT_DOUBLE_EQ(value(Line({{UINT32_MAX - 1, UINT32_MAX - 1, 0}, {2, 2, 40}}).at(0)), 20.0);
}

TEST(WritePose, FollowsTheLeafRules) {
  const serialization::Layout layout = test::pawn_layout();
  test::Pawn a = test::pawn_at(0.0f);
  a.health = 10;
  test::Pawn b = test::pawn_at(8.0f);
  b.velocity.x = 60.0f;
  b.health = 20;
  const std::vector<serialization::Word> first = test::words_of(layout, a),
                                         second = test::words_of(layout, b);
  const std::array<Sample, 2> samples = {Sample{14, 14, second.data()}, Sample{10, 10, first.data()}};
  test::Pawn shown{};
  void* hosts[1] = {&shown};
  EXPECT_FALSE(write_pose(layout, Pose{}, hosts));
  ASSERT_TRUE(write_pose(layout, pose_at(samples, TickTime{11, 0.0}, kTickSeconds), hosts));
  EXPECT_NEAR(shown.position.x, 2.0f, 0.02f);
  ASSERT_TRUE(write_pose(layout, pose_at(samples, TickTime{14, 0.0}, kTickSeconds), hosts));
  EXPECT_NEAR(shown.position.x, 8.0f, 0.01f);
  EXPECT_EQ(shown.health, 20);
  ASSERT_TRUE(write_pose(layout, pose_at(samples, TickTime{20, 0.0}, kTickSeconds), hosts));
  EXPECT_NEAR(shown.position.x, 8.0f + 6.0f, 0.05f);  // 0.1 s at 60 units/s
}

}  // namespace
}  // namespace lattice::prediction
