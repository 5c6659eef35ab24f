// Which seeds a test over many of them runs, from the environment:
//
//   LATTICE_SIM_SEED=n       this seed only
//   LATTICE_SIM_SEEDS=n      how many; otherwise the test's own number, with LATTICE_TEST_LONG its long one
//   LATTICE_SIM_SHARD, LATTICE_SIM_SHARDS   which part of them
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace lattice::test {

inline uint64_t environment_number(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline std::vector<uint64_t> seeds_to_run(uint64_t usual_count, uint64_t long_count) {
  if (const uint64_t only = environment_number("LATTICE_SIM_SEED", 0); only != 0) return {only};
  const bool is_long = environment_number("LATTICE_TEST_LONG", 0) != 0;
  const uint64_t count = environment_number("LATTICE_SIM_SEEDS", is_long ? long_count : usual_count);
  const uint64_t stride = environment_number("LATTICE_SIM_SHARDS", 1);
  std::vector<uint64_t> seeds;
  for (uint64_t seed = 1 + environment_number("LATTICE_SIM_SHARD", 0); seed <= count; seed += stride) {
    seeds.push_back(seed);
  }
  return seeds;
}

}  // namespace lattice::test
