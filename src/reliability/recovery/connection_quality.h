// One number for a connection's health, for a symbol on a screen: 0 (useless) to 100 (as good as a LAN).
#pragma once

#include <algorithm>
#include <cstdint>

namespace lattice::reliability {

struct QualityInput {
  double rtt_ms = 0;
  double jitter_ms = 0;
  double loss = 0;  ///< Ratio over the last second, of the worse direction.
};

/// 100 · L · R · J, rounded, where
///   L = 1 − 5 · loss, at least 0:                 5 % loss leaves 75, 20 % nothing;
///   R = 1 up to 50 ms, then 1 − (rtt − 50) / 500: 100 ms leaves 90, 300 ms 50; at least 0.1;
///   J = 1 − jitter / 100 ms, at least 0.1:        20 ms leaves 80.
/// A player notices each of the three by itself; the product lets them add up.
inline uint32_t connection_quality(const QualityInput& in) {
  const double loss = std::max(0.0, 1.0 - 5.0 * in.loss);
  const double rtt = std::clamp(1.0 - (in.rtt_ms - 50.0) / 500.0, 0.1, 1.0);
  const double jitter = std::clamp(1.0 - in.jitter_ms / 100.0, 0.1, 1.0);
  return static_cast<uint32_t>(100.0 * loss * rtt * jitter + 0.5);
}

}  // namespace lattice::reliability
