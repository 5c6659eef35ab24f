#include "prediction/interpolation_buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/random.h"
#include "unit/prediction/test_layouts.h"

namespace lattice::prediction {
namespace {

using simulation::TickTime;

constexpr double kTickSeconds = 1.0 / 60.0;

constexpr uint32_t kIntervalTicks = 2;

bool push(InterpolationBuffer& buffer, Tick tick, serialization::Word word, bool snaps = false) {
  return buffer.push(tick, &word, snaps, kIntervalTicks);
}
Pose at(InterpolationBuffer& buffer, Tick tick, double fraction = 0.0) {
  return buffer.pose_at(TickTime{tick, fraction}, kTickSeconds);
}
/// What the pose stands for when a state is one number that is interpolated linearly.
double value(const Pose& pose) {
  const auto from = static_cast<double>(*pose.from);
  return pose.kind == PoseKind::kInterpolate ? from + (static_cast<double>(*pose.to) - from) * pose.t : from;
}

TEST(InterpolationBuffer, EmptyAndBeforeTheFirst) {
  InterpolationBuffer buffer(1);
  EXPECT_EQ(at(buffer, 10).kind, PoseKind::kNone);
  push(buffer, 20, 5);
  const Pose pose = at(buffer, 19, 0.9);
  EXPECT_EQ(pose.kind, PoseKind::kBeforeFirst);
  EXPECT_EQ(*pose.from, 5u);
  EXPECT_EQ(buffer.stats().underruns, 0u);
}

TEST(InterpolationBuffer, InterpolatesBetweenSamplesAndIsExactAtThem) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 100);
  push(buffer, 12, 300);
  EXPECT_EQ(at(buffer, 10).kind, PoseKind::kHold);
  EXPECT_EQ(*at(buffer, 10).from, 100u);
  EXPECT_EQ(at(buffer, 11).kind, PoseKind::kInterpolate);
  EXPECT_DOUBLE_EQ(at(buffer, 11).t, 0.5);
  EXPECT_DOUBLE_EQ(value(at(buffer, 11, 0.5)), 250.0);
  EXPECT_EQ(at(buffer, 12).kind, PoseKind::kHold);
  EXPECT_EQ(*at(buffer, 12).from, 300u);
  EXPECT_EQ(buffer.stats().underruns, 0u);
}

TEST(InterpolationBuffer, OutOfOrderAndDuplicateSamples) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 0);
  push(buffer, 14, 40);
  EXPECT_TRUE(push(buffer, 12, 90));
  EXPECT_FALSE(push(buffer, 12, 91));
  EXPECT_DOUBLE_EQ(value(at(buffer, 12)), 90.0);
  EXPECT_DOUBLE_EQ(value(at(buffer, 13)), 65.0);
  EXPECT_EQ(buffer.stats().stale, 1u);
}

TEST(InterpolationBuffer, KeepsTheNewestSixteen) {
  InterpolationBuffer buffer(1);
  for (Tick tick = 1; tick <= 40; ++tick) push(buffer, tick * 2, tick * 2);
  EXPECT_EQ(buffer.sample_count(), kInterpolationSamples);
  EXPECT_FALSE(push(buffer, 3, 3));  // older than all sixteen
  EXPECT_EQ(at(buffer, 48).kind, PoseKind::kBeforeFirst);
  for (Tick tick = 50; tick <= 80; ++tick) EXPECT_DOUBLE_EQ(value(at(buffer, tick)), tick);
}

TEST(InterpolationBuffer, ExtrapolatesAfterAChangeUpToTheCap) {
  InterpolationBuffer buffer(1);
  push(buffer, 8, 0);
  push(buffer, 10, 1);
  const Pose soon = at(buffer, 13);
  EXPECT_EQ(soon.kind, PoseKind::kExtrapolate);
  EXPECT_TRUE(soon.underrun);
  EXPECT_NEAR(soon.extrapolate_seconds, 3 * kTickSeconds, 1e-12);
  EXPECT_NEAR(at(buffer, 100).extrapolate_seconds, 0.25, 1e-12);  // stays there
  EXPECT_EQ(buffer.stats().underruns, 1u);                        // one overtaking, however long
  EXPECT_EQ(buffer.stats().underrun_poses, 2u);
  push(buffer, 200, 2);
  at(buffer, 150);
  at(buffer, 201);
  EXPECT_EQ(buffer.stats().underruns, 2u);
}

TEST(InterpolationBuffer, AFirstStateAloneIsNoUnderrun) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 1);
  const Pose later = at(buffer, 13);
  EXPECT_EQ(later.kind, PoseKind::kExtrapolate);  // it may have a velocity
  EXPECT_FALSE(later.underrun);
  EXPECT_EQ(buffer.stats().underruns, 0u);
}

TEST(InterpolationBuffer, AnUnchangedObjectIsHeld) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 1);
  buffer.rest(12);
  EXPECT_EQ(at(buffer, 12).kind, PoseKind::kHold);
  EXPECT_EQ(at(buffer, 300).kind, PoseKind::kHold);  // S-06: not through the wall
  EXPECT_EQ(buffer.stats().underruns, 0u);
  buffer.rest(11);
  EXPECT_EQ(buffer.known_until(), 12u);
}

TEST(InterpolationBuffer, MotionStartsWhereTheRestEnded) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 0);
  buffer.rest(14);  // said once, and true until the next state
  push(buffer, 42, 100);
  EXPECT_DOUBLE_EQ(value(at(buffer, 39)), 0.0);
  EXPECT_DOUBLE_EQ(value(at(buffer, 40)), 0.0);
  EXPECT_DOUBLE_EQ(value(at(buffer, 41)), 50.0);
}

TEST(InterpolationBuffer, AContradictedRestIsForgotten) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 0);
  buffer.rest(40);
  push(buffer, 20, 100);
  EXPECT_DOUBLE_EQ(value(at(buffer, 15)), 50.0);
}

TEST(InterpolationBuffer, ATeleportIsACut) {
  InterpolationBuffer buffer(1);
  push(buffer, 10, 0);
  push(buffer, 12, 900, true);
  EXPECT_DOUBLE_EQ(value(at(buffer, 11, 0.999)), 0.0);
  EXPECT_DOUBLE_EQ(value(at(buffer, 12)), 900.0);
}

TEST(InterpolationBuffer, TickWrap) {
  InterpolationBuffer buffer(1);
  push(buffer, UINT32_MAX - 1, 0);
  push(buffer, 2, 40);
  EXPECT_DOUBLE_EQ(value(at(buffer, 0)), 20.0);
}

TEST(InterpolationBuffer, AgreesWithAModelOfWhatIsKnown) {
  EXPECT_TRUE(rc::check("pose equals the piecewise line through all knowledge", [] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    InterpolationBuffer buffer(1);
    std::map<Tick, std::pair<uint64_t, Tick>> samples;  // tick → value, held until
    Tick newest = 100;
    bool resting = false;
    for (int step = 0; step < 30 && samples.size() < kInterpolationSamples; ++step) {
      if (random.chance(0.3) && !samples.empty()) {
        newest += static_cast<Tick>(random.next_below(6));
        buffer.rest(newest);
        auto& last = samples.rbegin()->second;
        last.second = std::max(last.second, newest);
        resting = true;
      } else {
        newest += static_cast<Tick>(kIntervalTicks + random.next_below(4));
        const auto v = static_cast<serialization::Word>(random.next_below(1000));
        RC_ASSERT(push(buffer, newest, v));
        // What rested rested until one interval ago.
        if (resting)
          samples.rbegin()->second.second =
              std::max(samples.rbegin()->second.second, newest - kIntervalTicks);
        resting = false;
        samples[newest] = {v, newest};
      }
    }
    if (samples.empty()) return;
    double last_time = 0;
    for (double time = samples.begin()->first; time <= samples.rbegin()->second.second;
         time += random.next_unit()) {
      const auto tick = static_cast<Tick>(time);
      const Pose pose = buffer.pose_at(TickTime{tick, time - tick}, kTickSeconds);
      auto after = samples.upper_bound(tick);
      const auto from = std::prev(after);
      double expected = static_cast<double>(from->second.first);
      const double rest = from->second.second;
      if (time > rest) {
        expected +=
            (static_cast<double>(after->second.first) - expected) * (time - rest) / (after->first - rest);
      }
      RC_ASSERT(std::abs(value(pose) - expected) < 1e-6);
      RC_ASSERT(!pose.underrun);
      RC_ASSERT(time >= last_time);
      last_time = time;
    }
  }));
}

TEST(WritePose, FollowsTheLeafRules) {
  const serialization::Layout layout = test::pawn_layout();
  InterpolationBuffer buffer(layout.word_count());
  test::Pawn a = test::pawn_at(0.0f);
  a.health = 10;
  test::Pawn b = test::pawn_at(8.0f);
  b.velocity.x = 60.0f;
  b.health = 20;
  buffer.push(10, test::words_of(layout, a).data(), false, kIntervalTicks);
  buffer.push(14, test::words_of(layout, b).data(), false, kIntervalTicks);
  test::Pawn shown{};
  void* hosts[1] = {&shown};
  EXPECT_FALSE(write_pose(layout, Pose{}, hosts));
  ASSERT_TRUE(write_pose(layout, buffer.pose_at(TickTime{11, 0.0}, kTickSeconds), hosts));
  EXPECT_NEAR(shown.position.x, 2.0f, 0.02f);
  ASSERT_TRUE(write_pose(layout, buffer.pose_at(TickTime{14, 0.0}, kTickSeconds), hosts));
  EXPECT_NEAR(shown.position.x, 8.0f, 0.01f);
  EXPECT_EQ(shown.health, 20);
  ASSERT_TRUE(write_pose(layout, buffer.pose_at(TickTime{20, 0.0}, kTickSeconds), hosts));
  EXPECT_NEAR(shown.position.x, 8.0f + 6.0f, 0.05f);  // 0.1 s at 60 units/s
}

}  // namespace
}  // namespace lattice::prediction
