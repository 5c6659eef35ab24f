// The order in which ticks run (T-04). No tick has the number 0: it says "none" everywhere. So 1 follows the
// largest number, and a distance across it counts one tick more than ran.
#pragma once

#include "base/sequence.h"

namespace lattice::base {

/// The tick that runs after `tick`; after "none", the first.
inline Tick next_tick(Tick tick) {
  return tick + 1 == 0 ? 1 : tick + 1;
}
/// The tick that ran before `tick`.
inline Tick previous_tick(Tick tick) {
  return tick == 1 ? UINT32_MAX : tick - 1;
}

}  // namespace lattice::base
