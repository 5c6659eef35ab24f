/// @file
/// A generator of random numbers that a game keeps in replicated state, so that a rollback takes the dice
/// back too. Its whole state is one uint64_t: declare it as (rng, uint64, FIXED). Never use it for keys or
/// other secrets. Source: splitmix64, Steele, Lea & Flood, "Fast splittable pseudorandom number generators"
/// (2014).
///
///     uint64_t state = 7;
///     uint32_t dice = 1 + lattice::random_below(state, 6);
#pragma once

#include <cstdint>

namespace lattice {

/// Returns the next 64 random bits and advances `state`.
constexpr uint64_t random_next(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
/// Returns a number in [0, bound) and advances `state`. `bound` is at least 1. Uniform, but for a bias below
/// bound / 2^32.
constexpr uint32_t random_below(uint64_t& state, uint32_t bound) {
  return static_cast<uint32_t>((random_next(state) >> 32) * bound >> 32);
}
/// Returns a number in [low, high] and advances `state`. `low` must not be above `high`. Uniform as
/// random_below() is.
constexpr int32_t random_between(uint64_t& state, int32_t low, int32_t high) {
  const uint32_t span = static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
  if (span == UINT32_MAX) return static_cast<int32_t>(static_cast<uint32_t>(random_next(state) >> 32));
  return static_cast<int32_t>(static_cast<uint32_t>(low) + random_below(state, span + 1));
}
/// Returns a number in [0, 1) and advances `state`. Uniform in steps of 2^-24, which a float holds exactly.
constexpr float random_unit(uint64_t& state) {
  return static_cast<float>(random_next(state) >> 40) * 0x1.0p-24f;
}
/// Returns true with the probability `p`, and advances `state`.
constexpr bool random_chance(uint64_t& state, float p) {
  return random_unit(state) < p;
}

}  // namespace lattice
