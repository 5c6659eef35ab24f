// Token buckets per source prefix: /24 for IPv4, /56 for IPv6 (H-01, P-03). One fixed, direct-mapped table.
// Prefixes with the same entry share its allowance. A keyed hash chooses the entry, so nobody can aim at a
// victim's entry without the key.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/address.h"
#include "transport/crypto/entropy.h"

namespace lattice::connection {

/// The prefix that shares limits with `address`: its first 24 (IPv4) or 56 (IPv6) bits, tagged by family.
uint64_t prefix_of(const platform::Address& address);

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

class PrefixRate {
 public:
  /// Each prefix may do `per_s` operations a second and `burst` at once; both above 0.
  PrefixRate(uint32_t per_s, uint32_t burst, crypto::EntropySource& entropy);

  /// Takes one operation from the allowance of `prefix`; false when the allowance is used up.
  bool take(uint64_t prefix, uint64_t now_ns);

 private:
  static constexpr size_t kEntries = 4096;

  Allowance allowance_;
  uint64_t hash_key_[2];
  std::vector<uint64_t> full_at_ns_;
};

}  // namespace lattice::connection
