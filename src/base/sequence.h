// Wrapping counters as types without '<': the order of two of them is the sign of their distance.
#pragma once

#include <cstdint>

namespace lattice::base {

/// A 16-bit number that wraps (message ids, unreliable-sequenced sequences). §5.3, R-09, R-11.
struct Sequence16 {
  uint16_t value = 0;

  friend bool operator==(Sequence16, Sequence16) = default;

  Sequence16 next() const { return Sequence16{static_cast<uint16_t>(value + 1)}; }
  Sequence16 plus(int32_t n) const { return Sequence16{static_cast<uint16_t>(value + n)}; }

  /// Signed distance from `other` to this, in [-32768, 32767].
  int32_t distance_from(Sequence16 other) const {
    return static_cast<int16_t>(static_cast<uint16_t>(value - other.value));
  }
};

/// True when `a` is newer than `b`, exactly as §5.3 writes it: at distance 0x8000 the larger value wins.
inline bool sequence_greater(Sequence16 a, Sequence16 b) {
  const uint16_t x = a.value;
  const uint16_t y = b.value;
  return (x > y && x - y <= 0x8000) || (x < y && y - x > 0x8000);
}

/// A simulation tick (T-04): u32, 0 means "none", compared by wrapping distance.
using Tick = uint32_t;

/// Signed distance b → a in ticks.
inline int32_t tick_distance(Tick a, Tick b) { return static_cast<int32_t>(a - b); }
/// True when tick `a` comes after tick `b`.
inline bool tick_after(Tick a, Tick b) { return tick_distance(a, b) > 0; }

}  // namespace lattice::base
