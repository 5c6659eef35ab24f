// Render time: a point on the server's time line (§12.1, S-05). A client has one.
//
//   target = server time as it reaches this client − delay
//   delay  = max(configured, 2 × snapshot interval, 1.25 × jitter + interval), at most 56 intervals
//
// Render time runs at 0.9 to 1.1 of real time to approach its target. So nobody sees a change of the delay,
// or noise in the estimate of server time, as a jump. When render time is off by more than 250 ms, it jumps
// forwards or waits.
//
// Must stay true: render time never goes back.
#pragma once

#include <cstdint>

#include "simulation/tick_time.h"

namespace lattice::prediction {

inline constexpr uint64_t kInterpolationDelayNs = 100'000'000;  // §22
inline constexpr uint64_t kRenderResyncNs = 250'000'000;
/// No delay is longer than so many snapshot intervals: a client keeps the newest 64 states of an object
/// (D-26), and needs some of them for jitter.
inline constexpr uint64_t kMostDelayIntervals = 56;

struct InterpolationClockConfig {
  uint32_t tick_rate_hz = 60;
  uint64_t configured_delay_ns = kInterpolationDelayNs;
};

class InterpolationClock {
 public:
  explicit InterpolationClock(const InterpolationClockConfig& config);

  /// Advances render time to `now_ns`. `server_time`, `snapshot_interval_ns` and `jitter_ns` are
  /// simulation::ClockSync's. The first call sets render time to its target. Result: render_time().
  simulation::TickTime update(uint64_t now_ns, simulation::TickTime server_time,
                              uint64_t snapshot_interval_ns, uint64_t jitter_ns);

  /// What was before `time` cannot be drawn any more: render time is not before it either.
  void skip_to(simulation::TickTime time);

  simulation::TickTime render_time() const { return render_time_; }
  /// The delay aimed for at the last update, and below: the delay in effect.
  uint64_t wanted_delay_ns() const { return wanted_delay_ns_; }
  double delay_ticks() const { return delay_ticks_; }
  uint64_t resyncs() const { return resyncs_; }

 private:
  InterpolationClockConfig config_;
  simulation::TickTime render_time_;
  uint64_t last_ns_ = 0;
  uint64_t wanted_delay_ns_;
  double delay_ticks_ = 0.0;
  uint64_t resyncs_ = 0;
  bool started_ = false;
};

}  // namespace lattice::prediction
