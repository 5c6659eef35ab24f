#include "transport/connection/prefix_rate.h"

#include "base/assert.h"
#include "base/random.h"
#include "platform/byte_order.h"

namespace lattice::connection {

Allowance::Allowance(uint32_t per_s, uint32_t burst) {
  LATTICE_CHECK(per_s > 0 && burst > 0);
  cost_ns_ = 1'000'000'000 / per_s;
  burst_ns_ = cost_ns_ * burst;
}

bool Allowance::take(uint64_t* full_at_ns, uint64_t now_ns) const {
  const uint64_t from_ns = *full_at_ns > now_ns ? *full_at_ns : now_ns;
  if (from_ns - now_ns + cost_ns_ > burst_ns_) return false;
  *full_at_ns = from_ns + cost_ns_;
  return true;
}

PrefixRate::PrefixRate(uint32_t per_s, uint32_t burst, crypto::EntropySource& entropy)
    : allowance_(per_s, burst), full_at_ns_(kEntries) {
  uint8_t key[sizeof hash_key_];
  entropy.fill(key);
  hash_key_[0] = platform::load_u64_le(key);
  hash_key_[1] = platform::load_u64_le(key + 8);
}

bool PrefixRate::take(uint64_t subject_id, uint64_t now_ns) {
  uint64_t state = subject_id ^ hash_key_[0];
  state = base::splitmix64(state) ^ hash_key_[1];
  return allowance_.take(&full_at_ns_[base::splitmix64(state) % kEntries], now_ns);
}

}  // namespace lattice::connection
