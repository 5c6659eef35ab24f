// Spans of time, in nanoseconds.
#pragma once

#include <cstdint>

namespace lattice::base {

inline constexpr uint64_t kMsNs = 1'000'000;
inline constexpr uint64_t kSecondNs = 1000 * kMsNs;

}  // namespace lattice::base
