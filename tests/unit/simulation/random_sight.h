// What a made-up player saw, from input to input: every form of the codec comes up.
#pragma once

#include "base/random.h"
#include "simulation/sight.h"

namespace lattice::simulation::test {

/// The sight of the input of `tick`, after `before` was that of the last. Mostly a view that moves by about a
/// tick and a snapshot now and then.
inline Sight next_sight(base::Random& random, const Sight& before, Tick tick) {
  Sight next = before;
  const double kind = random.next_unit();
  if (kind < 0.1) {
    next.view_tick = next.view_fraction = 0;
  } else if (kind < 0.2 || before.view_tick == 0) {
    next.view_tick = tick - static_cast<Tick>(random.next_below(kind < 0.15 ? 4200 : 20));
    next.view_fraction = static_cast<uint32_t>(random.next_below(256));
  } else if (kind < 0.9) {
    const uint64_t spread = kind < 0.7 ? 36 : 600;  // beyond what the short and the longer code hold
    const double drift = static_cast<double>(random.next_below(spread)) - static_cast<double>(spread / 2);
    const TickTime view = moved(view_time(before), 1.0 + drift / kViewFractions);
    next = sight_of(round_view(view), before.snapshot_tick);
  }
  if (random.chance(0.5))
    next.snapshot_tick = random.chance(0.1) ? 0 : tick - static_cast<Tick>(random.next_below(12));
  return bounded_sight(next, tick);
}

}  // namespace lattice::simulation::test
