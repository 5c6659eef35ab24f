// Clock, interpolation clock and interpolation together, over a seeded path: how a remote object looks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "prediction/interpolation.h"
#include "prediction/interpolation_clock.h"
#include "simulation/clock_sync.h"
#include "support/durations.h"

namespace lattice::prediction {
namespace {

using simulation::TickTime;

using lattice::test::kMs;
constexpr double kViewTickNs = 1e9 / 60.0;

/// The newest states of an object that counts ticks.
class CountedStates {
 public:
  void push(Tick tick) {
    ticks_.push_back(tick);
    std::sort(ticks_.begin(), ticks_.end(), std::greater<>());
    if (ticks_.size() > 16) ticks_.pop_back();
    samples_.clear();
    for (const Tick& held : ticks_) samples_.push_back({held, held, &held});
  }
  std::span<const Sample> newest_first() const { return samples_; }

 private:
  std::vector<Tick> ticks_;
  std::vector<Sample> samples_;
};

struct View {
  double underrun_ratio = 0;
  double worst_error = 0;  // of interpolated poses, in units of the object's motion in one tick
  double mean_delay_ticks = 0;
};

/// An object that moves one unit per tick, seen for a minute at 100 frames per second.
View watch(double jitter_ms, double loss, Tick snapshot_every, uint64_t seed) {
  struct Packet {
    uint64_t arrives_ns;
    Tick tick;
  };
  base::Random random(seed);
  simulation::ClockSync sync{simulation::ClockSyncConfig{}};
  InterpolationClock clock{InterpolationClockConfig{}};
  CountedStates states;
  std::vector<Packet> packets;
  View view;
  uint64_t poses = 0;
  uint64_t underruns = 0;
  TickTime last{0, 0.0};
  Tick server = 1000;
  double next_tick_ns = 0;
  for (uint64_t now = 0; now < 60'000 * kMs; now += 10 * kMs) {
    for (; next_tick_ns <= static_cast<double>(now); next_tick_ns += kViewTickNs) {
      if (++server % snapshot_every != 0 || random.chance(loss)) continue;
      const double delay_ms = 50.0 + jitter_ms * (2.0 * random.next_unit() - 1.0);
      packets.push_back({static_cast<uint64_t>(next_tick_ns + std::max(0.0, delay_ms) * 1e6), server});
    }
    std::stable_sort(packets.begin(), packets.end(),
                     [](const Packet& a, const Packet& b) { return a.arrives_ns < b.arrives_ns; });
    while (!packets.empty() && packets.front().arrives_ns <= now) {
      simulation::SnapshotTiming timing;
      timing.server_tick = packets.front().tick;
      timing.received_ns = now;
      timing.srtt_ns = 100 * kMs;
      sync.on_snapshot(timing);
      states.push(packets.front().tick);
      packets.erase(packets.begin());
    }
    if (!sync.started()) continue;
    const TickTime render =
        clock.update(now, sync.server_time(now), sync.snapshot_interval_ns(), sync.jitter_ns());
    EXPECT_GE(simulation::ticks_between(render, last), 0.0);
    last = render;
    if (now < 2000 * kMs) continue;
    const Pose pose = pose_at(states.newest_first(), render, kViewTickNs / 1e9);
    ++poses;
    underruns += pose.underrun ? 1 : 0;
    view.mean_delay_ticks += clock.delay_ticks();
    if (pose.kind != PoseKind::kInterpolate && pose.kind != PoseKind::kHold) continue;
    double shown = static_cast<double>(*pose.from);
    if (pose.to != nullptr) shown += (static_cast<double>(*pose.to) - shown) * pose.t;
    view.worst_error = std::max(view.worst_error, std::abs(shown - (render.tick + render.fraction)));
  }
  view.underrun_ratio = static_cast<double>(underruns) / static_cast<double>(poses);
  view.mean_delay_ticks /= static_cast<double>(poses);
  return view;
}

TEST(RemoteView, FewUnderrunsAndExactMotion) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const double jitter_ms : {0.0, 10.0, 20.0, 30.0}) {
      for (const double loss : {0.0, 0.05}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " jitter " + std::to_string(jitter_ms) + " loss " +
                     std::to_string(loss));
        const View view = watch(jitter_ms, loss, 2, seed);
        EXPECT_LT(view.underrun_ratio, 0.01);
        EXPECT_LT(view.worst_error, 1e-6);
        EXPECT_NEAR(view.mean_delay_ticks, 6.0, 0.3);  // no more than configured
      }
    }
  }
}

TEST(RemoteView, SparseSnapshotsLengthenTheDelay) {
  const View view = watch(20.0, 0.02, 6, 1);  // 10 per second
  EXPECT_LT(view.underrun_ratio, 0.02);
  EXPECT_GT(view.mean_delay_ticks, 11.5);
  EXPECT_LT(view.mean_delay_ticks, 14.0);
}

}  // namespace
}  // namespace lattice::prediction
