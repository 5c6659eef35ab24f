// Which ticks' states are kept long, as baselines for clients that were not heard for a while (D-26).
//
// There is one such tick in each period, so that 16 of them reach back 5 s. Clients send their snapshots in
// turns, on different ticks. So a period is a whole number of turns and the tick moves on by one from period
// to period: each client meets one of them in `turns` periods.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/sequence.h"

namespace lattice::replication {

using base::Tick;

inline constexpr uint32_t kKeptStates = 16;

class KeepTicks {
 public:
  KeepTicks() = default;
  KeepTicks(uint32_t tick_rate_hz, uint32_t turns)
      : turns_(turns), period_((least_period(tick_rate_hz) + turns - 1) / turns * turns) {}

  bool contains(Tick tick) const { return tick == of_period(tick / period_); }
  /// True when one of the ticks lies in [first, end).
  bool any_in(Tick first, Tick end) const {
    for (Tick period = first / period_; period <= (end - 1) / period_; ++period) {
      const Tick tick = of_period(period);
      if (tick >= first && tick < end) return true;
      if (tick >= end) return false;
    }
    return false;
  }
  /// The number of ticks from one snapshot to the next of the same client.
  uint32_t turns() const { return turns_; }
  /// So long a client keeps a state of such a tick in any case: fewer than kKeptStates later ones can have
  /// come.
  uint32_t sure_ticks() const { return period_ * (kKeptStates - 1); }
  /// How long a state is kept, in ticks.
  uint32_t span_ticks() const { return period_ * kKeptStates; }

 private:
  static uint32_t least_period(uint32_t tick_rate_hz) {
    return std::max((5 * tick_rate_hz + kKeptStates - 1) / kKeptStates, 1u);
  }
  Tick of_period(Tick period) const { return period * period_ + period % turns_; }

  uint32_t turns_ = 1;
  uint32_t period_ = 19;
};

}  // namespace lattice::replication
