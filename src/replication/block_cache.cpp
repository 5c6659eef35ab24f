#include "replication/block_cache.h"

#include <bit>

#include "base/assert.h"
#include "replication/entry_writer.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kNoBlock = UINT32_MAX;

}  // namespace

BlockCache::BlockCache(const ObjectTable& table, const StateStore& store, EntryCache& entries,
                       uint32_t max_block_bytes)
    : table_(table), store_(store), entries_(entries), scratch_(max_block_bytes) {}

void BlockCache::begin_send(Tick tick) {
  tick_ = tick;
  ++send_;
  if (send_ == 0) {  // after 2^32 sends old stamps would look fresh
    heads_.assign(heads_.size(), Head{});
    send_ = 1;
  }
  blocks_.clear();
  bytes_.clear();
}

uint32_t BlockCache::find(uint32_t group, uint32_t mask, Tick baseline) {
  LATTICE_ASSERT(mask != 0);
  if (group >= heads_.size()) heads_.resize(size_t{group} + 1);
  Head& head = heads_[group];
  if (head.send != send_) head = Head{send_, kNoBlock};
  // What many ask for stays in front of what a client alone has, such as all of a group but its own object.
  uint32_t before = kNoBlock;
  for (uint32_t index = head.block; index != kNoBlock; before = index, index = blocks_[index].next) {
    if (blocks_[index].mask != mask || blocks_[index].baseline != baseline) continue;
    ++shared_;
    if (before != kNoBlock) {
      blocks_[before].next = blocks_[index].next;
      blocks_[index].next = head.block;
      head.block = index;
    }
    return blocks_[index].size == kTooLong ? kTooLong : index;
  }
  const uint32_t index = encode(group, mask, baseline);
  uint32_t& link = head.block == kNoBlock ? head.block : blocks_[head.block].next;
  blocks_[index].next = link;
  link = index;
  return blocks_[index].size == kTooLong ? kTooLong : index;
}

uint32_t BlockCache::encode(uint32_t group, uint32_t mask, Tick baseline) {
  ++encoded_;
  const auto index = static_cast<uint32_t>(blocks_.size());
  Block& block = blocks_.emplace_back();
  block.mask = mask;
  block.baseline = baseline;
  const uint32_t base_slot = group << kGroupBits;
  const auto first = static_cast<uint32_t>(std::countr_zero(mask));
  BlockHead head;
  head.count = static_cast<uint32_t>(std::popcount(mask));
  head.k = best_gap_k(kGroupSlots - static_cast<uint32_t>(std::countl_zero(mask)) - first, head.count);
  head.age = tick_ - baseline;
  head.slot = base_slot + first;
  BitWriter out(scratch_);
  write_block_head(out, head);
  uint32_t previous_slot = kNoSlot;
  WireMask previous;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = base_slot + static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t body_index = entries_.find(slot, store_.version_at(slot, baseline).version, false);
    if (body_index == EntryCache::kTooLarge) return index;
    const EntryBody body = entries_.body(body_index);
    bool same_type = false;
    if (previous_slot != kNoSlot) {
      write_gap(out, slot - previous_slot - 1, head.k);
      same_type = table_.info(slot).type == table_.info(previous_slot).type;
    }
    write_changes(out, body, same_type ? &previous : nullptr);
    previous_slot = slot;
    previous = body.mask;
  }
  end_block(out);
  if (!out.ok()) return index;
  const std::span<const uint8_t> bytes = out.finish();
  block.first_byte = static_cast<uint32_t>(bytes_.size());
  block.size = static_cast<uint32_t>(bytes.size());
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return index;
}

}  // namespace lattice::replication
