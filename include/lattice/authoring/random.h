// A generator games keep in replicated state, so that a roll-back rolls the dice back too. Its whole
// state is one uint64_t: declare it as (rng, uint64, FIXED). Never for keys or anything secret. Source:
// splitmix64, Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (2014).
#pragma once

#include <cstdint>

namespace lattice {

/// The next 64 bits; advances `state`.
constexpr uint64_t random_next(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
/// Uniform in [0, bound), bound >= 1: multiply and shift, biased by less than bound / 2^32.
constexpr uint32_t random_below(uint64_t& state, uint32_t bound) {
  return static_cast<uint32_t>((random_next(state) >> 32) * bound >> 32);
}
/// Uniform in [low, high].
constexpr int32_t random_between(uint64_t& state, int32_t low, int32_t high) {
  const uint32_t span = static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
  if (span == UINT32_MAX) return static_cast<int32_t>(static_cast<uint32_t>(random_next(state) >> 32));
  return static_cast<int32_t>(static_cast<uint32_t>(low) + random_below(state, span + 1));
}
/// Uniform in [0, 1) in steps of 2^-24: exact in a float.
constexpr float random_unit(uint64_t& state) {
  return static_cast<float>(random_next(state) >> 40) * 0x1.0p-24f;
}
/// True with probability `p`.
constexpr bool random_chance(uint64_t& state, float p) {
  return random_unit(state) < p;
}

}  // namespace lattice
