// The fixed-tick accumulator of §10.1 and T-01: real time in, whole ticks out.
//
// Time is an integer count of tick units: elapsed nanoseconds × rate in Hz × rate factor in 1/65536. One tick
// has exactly 10^9 · 2^16 units. No division happens while time accumulates. So a 60 Hz clock, whose period
// is not a whole number of nanoseconds, loses nothing however long it runs.
//
// Must stay true: the number of ticks is a pure function of the sequence of (now_ns, factor).
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulation/tick_time.h"

namespace lattice::simulation {

inline constexpr uint32_t kMinTickRateHz = 1;
inline constexpr uint32_t kMaxTickRateHz = 1000;
inline constexpr uint64_t kMaxFrameNs = 250'000'000;  // T-01
inline constexpr double kMinRateFactor = 0.9;         // T-02
inline constexpr double kMaxRateFactor = 1.1;

/// The most ticks that one frame runs (T-01): those of 133 ms, but no fewer than 8 and no more than 16, which
/// is half of what a jitter buffer holds.
inline constexpr uint32_t kLeastTicksAtOnce = 8, kMostTicksAtOnce = 16;
constexpr uint32_t ticks_at_once(uint32_t tick_rate_hz) {
  return std::clamp(tick_rate_hz * 2 / 15, kLeastTicksAtOnce, kMostTicksAtOnce);
}

/// The result of one advance(): run `ticks` ticks now. `dropped_ns` of real time were given up, because the
/// frame was too long or the ticks too many. The simulation never makes that time up.
struct TickAdvance {
  uint32_t ticks = 0;
  uint64_t dropped_ns = 0;
};

class FixedTick {
 public:
  /// `tick_rate_hz` in [1, 1000].
  explicit FixedTick(uint32_t tick_rate_hz);

  /// Accounts for the time since the last call. The first call only sets the origin. A `now_ns` before the
  /// last one counts as no time. Returns at most ticks_at_once(); whole ticks beyond that are dropped and
  /// reported.
  TickAdvance advance(uint64_t now_ns);

  /// Sets how fast ticks come relative to real time: clamped to [0.9, 1.1] for steering (T-02), or exactly 0
  /// to stall (T-03). The factor applies to the time since the last advance().
  void set_rate_factor(double factor);
  double rate_factor() const;

  /// Starts the present tick anew at `now_ns`, after a jump.
  void restart(uint64_t now_ns);

  /// The part of the next tick that had passed at the last advance(), in [0, 1). A renderer blends by it.
  double alpha() const;
  /// The same at `now_ns`, without advancing. 1 or more when ticks are due.
  double alpha_at(uint64_t now_ns) const;
  /// The tick position at `now_ns`, when `newest_tick` is the last tick that ran.
  TickTime position_at(Tick newest_tick, uint64_t now_ns) const;

  /// How many ticks' time the next advance() will drop, if it comes at `now_ns`.
  double drops_at(uint64_t now_ns) const;
  /// The ticks that have passed at `at_ns` since the newest tick that ran, without any drop.
  double passed_at(uint64_t at_ns) const;

  uint32_t tick_rate_hz() const { return tick_rate_hz_; }
  uint32_t most_at_once() const { return ticks_at_once(tick_rate_hz_); }
  double tick_ns() const { return static_cast<double>(kNsPerSecond) / tick_rate_hz_; }
  double tick_seconds() const { return 1.0 / tick_rate_hz_; }
  uint64_t dropped_ns_total() const { return dropped_ns_total_; }

 private:
  static constexpr uint64_t kFactorOne = 1u << 16;
  static constexpr uint64_t kUnitsPerTick = kNsPerSecond * kFactorOne;

  uint64_t units_per_ns() const { return uint64_t{tick_rate_hz_} * factor_q16_; }

  uint32_t tick_rate_hz_;
  uint64_t factor_q16_ = kFactorOne;
  uint64_t accumulated_ = 0;  // tick units, < kUnitsPerTick between calls
  uint64_t last_ns_ = 0;
  uint64_t dropped_ns_total_ = 0;
  bool started_ = false;
};

}  // namespace lattice::simulation
