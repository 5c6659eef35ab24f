// Priorities that accumulate, and their order. Spec: C-04.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/sequence.h"

namespace lattice::replication {

inline constexpr uint32_t kScanAhead = 8;  // C-05
/// Of a budget, while others wait: what newcomers get, but for the first.
inline constexpr double kNewcomersShare = 0.75;

inline constexpr float kMostStaleness = 60.0f;

/// What an object gains in a snapshot at `tick`, in multiples of its base priority: the send intervals since
/// `since`.
inline float staleness(base::Tick tick, base::Tick since, uint32_t send_interval_ticks) {
  const auto ticks = static_cast<float>(std::max(base::tick_distance(tick, since), 1));
  return std::min(ticks / static_cast<float>(send_interval_ticks), kMostStaleness);
}

/// Sorts in descending order: by priority, which is not negative, then by place.
inline uint64_t rank(float priority, uint32_t place) {
  return uint64_t{std::bit_cast<uint32_t>(priority)} << 32 | (UINT32_MAX - place);
}
inline uint32_t place_of(uint64_t rank) {
  return UINT32_MAX - static_cast<uint32_t>(rank);
}

}  // namespace lattice::replication
