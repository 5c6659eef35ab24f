// How many seeds or cases a test of one room runs: all, or as many fewer as LATTICE_SIM_SEEDS asks for less
// than 40, because a sanitized build is several times slower.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace lattice::test {

inline constexpr uint64_t kUsualSeeds = 40;

inline uint64_t asked_seeds() {
  const char* text = std::getenv("LATTICE_SIM_SEEDS");
  return text == nullptr ? kUsualSeeds : std::min<uint64_t>(std::strtoull(text, nullptr, 10), kUsualSeeds);
}

inline uint64_t share_of_seeds(uint64_t seeds) {
  return std::max<uint64_t>(1, seeds * asked_seeds() / kUsualSeeds);
}

/// Whether a case of a table is among those that run. They do not follow each other, so they are of many rows
/// and columns.
inline bool is_in_share(uint64_t number) {
  constexpr uint64_t kStride = 11;
  return number * kStride % kUsualSeeds < asked_seeds();
}

}  // namespace lattice::test
