// The seeded generator for simulated code (B-07): splitmix64 seeds xoshiro256**. Never for keys.
// Source: Blackman & Vigna, "Scrambled linear pseudorandom number generators" (2018).
#pragma once

#include <cstdint>

namespace lattice::base {

inline uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = splitmix64(seed);
  }

  uint64_t next_u64() {
    const uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, 1), 53 bits.
  double next_unit() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }
  /// Uniform in [0, bound); bound > 0. Bias below 2^-32 for bounds under 2^32.
  uint64_t next_below(uint64_t bound) { return next_u64() % bound; }
  /// True with probability `p` (in [0, 1]).
  bool chance(double p) { return next_unit() < p; }

 private:
  static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

}  // namespace lattice::base
