#include "replication/early_rpcs.h"

namespace lattice::replication {

EarlyRpcs::Count* EarlyRpcs::find(uint64_t network_id) {
  for (Count& count : counts_) {
    if (count.network_id == network_id) return &count;
  }
  return nullptr;
}

void EarlyRpcs::add(uint64_t network_id) {
  Count* count = find(network_id);
  if (count == nullptr) {
    count = &counts_[oldest_];
    oldest_ = (oldest_ + 1) % kMaxObjects;
    if (count->network_id == 0) ++held_;
    *count = {network_id, 0};
  }
  ++count->rpcs;
}

uint32_t EarlyRpcs::take(uint64_t network_id) {
  if (held_ == 0) return 0;  // so almost every spawn costs nothing here
  Count* count = find(network_id);
  if (count == nullptr) return 0;
  const uint32_t rpcs = count->rpcs;
  *count = {};
  --held_;
  return rpcs;
}

}  // namespace lattice::replication
