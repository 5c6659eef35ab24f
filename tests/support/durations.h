// Spans of time, in nanoseconds.
#pragma once

#include <cstdint>

namespace lattice::test {

inline constexpr uint64_t kMs = 1'000'000;
inline constexpr uint64_t kSecond = 1000 * kMs;

}  // namespace lattice::test
