// Received states, and the poses that are drawn from them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "world/presentation.h"

namespace lattice::world {
namespace {

using base::Tick;
using prediction::Pose;
using prediction::PoseKind;
using replication::ReceivedStates;
using simulation::TickTime;

constexpr double kTickSeconds = 1.0 / 60.0;
constexpr uint32_t kIntervalTicks = 2;

Pose pose_of(const ReceivedStates& states, TickTime time) {
  return prediction::pose_at(DrawnSamples(states, time).newest_first(), time, kTickSeconds);
}

double value(const Pose& pose) {
  const auto from = static_cast<double>(*pose.from);
  return pose.kind == PoseKind::kInterpolate ? from + (static_cast<double>(*pose.to) - from) * pose.t : from;
}

TEST(DrawnSamples, AreAmongTheNewestSixteen) {
  ReceivedStates states;
  states.reset(1);
  EXPECT_EQ(pose_of(states, {10, 0.0}).kind, PoseKind::kNone);
  for (Tick tick = 2; tick <= 80; tick += 2) {
    *states.insert(tick, false, kIntervalTicks) = tick;
    states.forget_before(tick, tick + 1000);
  }
  EXPECT_EQ(pose_of(states, {2, 0.0}).kind, PoseKind::kBeforeFirst) << "its memory went to newer ones";
  for (Tick tick = 50; tick <= 80; ++tick) EXPECT_DOUBLE_EQ(value(pose_of(states, {tick, 0.0})), tick);
}

TEST(DrawnSamples, StayForWhatIsDrawnLater) {
  for (const uint32_t late : {10u, 40u, 62u}) {  // snapshots
    ReceivedStates states;
    states.reset(1);
    for (Tick tick = 1000; tick <= 2000; tick += 2) {
      const Tick drawn_from = tick - 2 * late - 1;
      states.draft(drawn_from);
      *states.insert(tick, tick % 24 == 0, kIntervalTicks, drawn_from) = tick;
      states.forget_before(tick, tick + 1000);
      if (tick < 1200) continue;
      for (Tick seen = drawn_from; seen <= tick; ++seen) {
        ASSERT_DOUBLE_EQ(value(pose_of(states, {seen, 0.0})), seen) << late << " snapshots behind " << tick;
      }
    }
  }
}

TEST(DrawnSamples, TwoAreEnoughToTellAnUnderrun) {
  ReceivedStates states;
  states.reset(1);
  for (const Tick tick : {10u, 12u, 14u}) *states.insert(tick, false, kIntervalTicks) = tick;
  EXPECT_EQ(DrawnSamples(states, {15, 0.0}).newest_first().size(), 2u);
  EXPECT_TRUE(pose_of(states, {15, 0.0}).underrun);
  EXPECT_EQ(DrawnSamples(states, {11, 0.0}).newest_first().size(), 2u);
  EXPECT_EQ(DrawnSamples(states, {11, 0.0}).newest_first()[0].tick, 12u);
}

TEST(DrawnSamples, SkipTheNewest) {
  ReceivedStates states;
  states.reset(1);
  for (const Tick tick : {10u, 12u}) *states.insert(tick, false, kIntervalTicks) = tick;
  const DrawnSamples before(states, {13, 0.0}, 1);
  ASSERT_EQ(before.newest_first().size(), 1u);
  EXPECT_EQ(before.newest_first()[0].tick, 10u);
}

TEST(DrawnSamples, PosesAgreeWithAModelOfWhatIsKnown) {
  EXPECT_TRUE(rc::check("a pose equals the piecewise line through all knowledge", [] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    ReceivedStates states;
    states.reset(1);
    std::map<Tick, std::pair<uint64_t, Tick>> samples;  // tick → value, held until
    Tick newest = 100;
    bool resting = false;
    for (int step = 0; step < 30 && samples.size() < replication::kDrawnStates; ++step) {
      if (random.chance(0.3) && !samples.empty()) {
        newest += static_cast<Tick>(random.next_below(6));
        states.rest(newest);
        auto& last = samples.rbegin()->second;
        last.second = std::max(last.second, newest);
        resting = true;
      } else {
        newest += static_cast<Tick>(kIntervalTicks + random.next_below(4));
        const auto v = static_cast<serialization::Word>(random.next_below(1000));
        *states.insert(newest, random.chance(0.1), kIntervalTicks) = v;
        // What rested rested until one interval ago.
        if (resting)
          samples.rbegin()->second.second =
              std::max(samples.rbegin()->second.second, newest - kIntervalTicks);
        resting = false;
        samples[newest] = {v, newest};
      }
    }
    if (samples.empty()) return;
    for (double time = samples.begin()->first; time <= samples.rbegin()->second.second;
         time += random.next_unit()) {
      const auto tick = static_cast<Tick>(time);
      const Pose pose = pose_of(states, {tick, time - tick});
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
    }
  }));
}

}  // namespace
}  // namespace lattice::world
