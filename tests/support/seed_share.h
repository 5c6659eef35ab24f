// How many seeds a test of one room runs: all, or as many fewer as LATTICE_SIM_SEEDS asks for less than 40.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace lattice::test {

inline uint64_t share_of_seeds(uint64_t seeds) {
  constexpr uint64_t kUsual = 40;
  const char* text = std::getenv("LATTICE_SIM_SEEDS");
  const uint64_t asked = text == nullptr ? kUsual : std::strtoull(text, nullptr, 10);
  return std::max<uint64_t>(1, seeds * std::min(asked, kUsual) / kUsual);
}

}  // namespace lattice::test
