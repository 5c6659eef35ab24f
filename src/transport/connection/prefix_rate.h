// Token buckets per rate subject: of UDP a source prefix, /24 for IPv4 and /56 for IPv6 (H-01, P-03). One
// fixed, direct-mapped table for each route. Subjects with the same entry share its allowance. A keyed hash
// chooses the entry, so nobody can aim at a victim's entry without the key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transport/crypto/entropy.h"

namespace lattice::connection {

/// Allows `per_s` operations a second, and `burst` at once after a pause. Its state is a single time: when
/// the allowance is full again. Each operation moves that time later.
class Allowance {
 public:
  /// Both above 0; `per_s` at most 10^9.
  Allowance(uint32_t per_s, uint32_t burst);
  /// Takes one operation; false when the allowance is used up. `*full_at_ns` is the state, at first 0.
  bool take(uint64_t* full_at_ns, uint64_t now_ns) const;
  /// Less than half of the burst is left.
  bool is_low(uint64_t full_at_ns, uint64_t now_ns) const {
    return full_at_ns > now_ns && full_at_ns - now_ns > burst_ns_ / 2;
  }

 private:
  uint64_t cost_ns_;
  uint64_t burst_ns_;
};

/// An allowance with its state.
class Budget {
 public:
  Budget(uint32_t per_s, uint32_t burst) : allowance_(per_s, burst) {}
  bool take(uint64_t now_ns) { return allowance_.take(&full_at_ns_, now_ns); }
  bool is_low(uint64_t now_ns) const { return allowance_.is_low(full_at_ns_, now_ns); }

 private:
  Allowance allowance_;
  uint64_t full_at_ns_ = 0;
};

/// The part of one of `routes` in a number of the whole server: a flood on one route leaves the others
/// theirs.
inline uint32_t part_of_route(uint32_t whole, size_t routes) {
  return std::max(1u, whole / static_cast<uint32_t>(routes));
}

class PrefixRate {
 public:
  /// Each subject may do `per_s` operations a second and `burst` at once; both above 0.
  PrefixRate(uint32_t per_s, uint32_t burst, crypto::EntropySource& entropy);

  /// Takes one operation from the allowance of the subject; false when the allowance is used up.
  bool take(uint64_t subject_id, uint64_t now_ns);

 private:
  static constexpr size_t kEntries = 4096;

  Allowance allowance_;
  uint64_t hash_key_[2];
  std::vector<uint64_t> full_at_ns_;
};

}  // namespace lattice::connection
