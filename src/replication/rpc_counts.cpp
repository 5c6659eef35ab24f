#include "replication/rpc_counts.h"

namespace lattice::replication {

RpcCounts::RpcCounts(uint64_t id_seed) : index_of_(0, base::HashIndex::Growth::kDoubling, id_seed) {}

void RpcCounts::add(uint64_t network_id) {
  const uint32_t index = index_of_.find(network_id);
  if (index == kNone) return keep(network_id, 1);
  ++counts_[index].rpcs;
}

void RpcCounts::keep(uint64_t network_id, uint32_t rpcs) {
  if (rpcs == 0) return;
  if (index_of_.size() == kMaxObjects) end(first_);
  uint32_t index = free_;
  if (index == kNone) {
    index = static_cast<uint32_t>(counts_.size());
    counts_.emplace_back();
  } else {
    free_ = counts_[index].after;
  }
  counts_[index] = {network_id, rpcs, last_, kNone};
  (last_ == kNone ? first_ : counts_[last_].after) = index;
  last_ = index;
  index_of_.insert(network_id, index);
}

uint32_t RpcCounts::take(uint64_t network_id) {
  if (index_of_.size() == 0) return 0;  // so almost every spawn costs nothing here
  const uint32_t index = index_of_.find(network_id);
  if (index == kNone) return 0;
  const uint32_t rpcs = counts_[index].rpcs;
  end(index);
  return rpcs;
}

void RpcCounts::end(uint32_t index) {
  Count& count = counts_[index];
  index_of_.erase(count.network_id);
  (count.before == kNone ? first_ : counts_[count.before].after) = count.after;
  (count.after == kNone ? last_ : counts_[count.after].before) = count.before;
  count.after = free_;
  free_ = index;
}

void RpcCounts::clear() {
  counts_.clear();
  first_ = last_ = free_ = kNone;
  index_of_.clear();
}

}  // namespace lattice::replication
