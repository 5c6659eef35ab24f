// A point on the server's time line: a tick, and the part of the next tick that has passed. Ticks wrap
// (T-04), so two points are only compared by their distance.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/sequence.h"

namespace lattice::simulation {

using base::Tick;

inline constexpr uint64_t kNsPerSecond = 1'000'000'000;

/// `fraction` is in [0, 1): the state of `tick` was reached so many ticks ago.
struct TickTime {
  Tick tick = 0;
  double fraction = 0.0;
};

/// Ticks from `b` to `a`; negative when `a` is earlier. |result| < 2^31.
inline double ticks_between(TickTime a, TickTime b) {
  return static_cast<double>(base::tick_distance(a.tick, b.tick)) + (a.fraction - b.fraction);
}

/// `time` moved by `ticks` (may be negative, |ticks| < 2^31).
inline TickTime moved(TickTime time, double ticks) {
  const double sum = time.fraction + ticks;
  double whole = std::floor(sum);
  double fraction = sum - whole;
  if (fraction >= 1.0) {  // a tiny negative sum rounds up to one whole tick
    fraction = 0.0;
    whole += 1.0;
  }
  return TickTime{time.tick + static_cast<Tick>(static_cast<int64_t>(whole)), fraction};
}

/// The same point as one number of ticks since `origin`.
inline double ticks_since(TickTime time, Tick origin) {
  return ticks_between(time, TickTime{origin, 0.0});
}

}  // namespace lattice::simulation
