#include "replication/rpc_counts.h"

namespace lattice::replication {

RpcCounts::RpcCounts(uint64_t id_seed) : index_of_(0, base::HashIndex::Growth::kDoubling, id_seed) {}

void RpcCounts::keep(uint64_t network_id, uint32_t rpcs) {
  if (rpcs == 0) return;
  if (next_ == counts_.size()) counts_.emplace_back();
  Count& count = counts_[next_];
  if (count.network_id != 0) index_of_.erase(count.network_id);
  count = {network_id, rpcs};
  index_of_.insert(network_id, static_cast<uint32_t>(next_));
  next_ = (next_ + 1) % kMaxObjects;
}

uint32_t RpcCounts::take(uint64_t network_id) {
  if (index_of_.size() == 0) return 0;  // so almost every spawn costs nothing here
  const uint32_t index = index_of_.find(network_id);
  if (index == base::HashIndex::kNone) return 0;
  index_of_.erase(network_id);
  const uint32_t rpcs = counts_[index].rpcs;
  counts_[index] = {};
  return rpcs;
}

void RpcCounts::clear() {
  counts_.clear();
  next_ = 0;
  index_of_.clear();
}

}  // namespace lattice::replication
