#include "replication/block_cache.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "replication/entry_writer.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kNoBlock = UINT32_MAX, kNoStart = UINT32_MAX;
constexpr size_t kSpareBytes = 8;

// Appends the bits [from, to) of `bytes`, behind which kSpareBytes can be read.
void copy_bits(BitWriter& out, const uint8_t* bytes, uint32_t from, uint32_t to) {
  constexpr uint32_t kMostBits = 57;  // of a word that begins within its first byte
  while (from != to) {
    const uint32_t count = std::min(to - from, kMostBits);
    const uint64_t word = platform::load_u64_be(bytes + from / 8) << from % 8;
    out.WriteBits(word >> (64 - count), static_cast<int>(count));
    from += count;
  }
}

}  // namespace

BlockCache::BlockCache(const ObjectTable& table, const StateStore& store, EntryCache& entries,
                       uint32_t max_block_bytes)
    : table_(table), store_(store), entries_(entries), scratch_(max_block_bytes) {
  LATTICE_CHECK(size_t{max_block_bytes} * 8 <= UINT16_MAX);  // starts_
}

void BlockCache::begin_send(Tick tick) {
  tick_ = tick;
  ++send_;
  if (send_ == 0) {  // after 2^32 sends old stamps would look fresh
    heads_.assign(heads_.size(), Head{});
    send_ = 1;
  }
  blocks_.clear();
  bytes_.clear();
  starts_.clear();
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

// A block of more objects, from which the entries of `mask` can be cut.
const BlockCache::Block* BlockCache::find_wider(const Head& head, uint32_t mask, Tick baseline,
                                                uint32_t k) const {
  for (uint32_t index = head.block; index != kNoBlock; index = blocks_[index].next) {
    const Block& block = blocks_[index];
    const bool holds_all = block.baseline == baseline && (block.mask & mask) == mask;
    if (holds_all && block.first_start != kNoStart && block.k == k) return &block;
  }
  return nullptr;
}

uint32_t BlockCache::encode(uint32_t group, uint32_t mask, Tick baseline) {
  ++encoded_;
  const uint32_t base_slot = group << kGroupBits;
  const auto first = static_cast<uint32_t>(std::countr_zero(mask));
  BlockHead head;
  head.count = static_cast<uint32_t>(std::popcount(mask));
  head.k = best_gap_k(kGroupSlots - static_cast<uint32_t>(std::countl_zero(mask)) - first, head.count);
  head.age = tick_ - baseline;
  head.slot = base_slot + first;
  BitWriter out(scratch_);
  write_block_head(out, head);

  const Block* wider = find_wider(heads_[group], mask, baseline, head.k);
  Block block;
  block.mask = mask;
  block.baseline = baseline;
  block.k = static_cast<uint8_t>(head.k);
  bool is_whole = true;
  if (wider != nullptr) {
    ++cut_;
    cut_entries(out, base_slot, block, *wider);
  } else {
    const size_t first_start = starts_.size();
    is_whole = write_entries(out, base_slot, block);
    if (is_whole && out.ok()) {
      block.first_start = static_cast<uint32_t>(first_start);
    } else {
      starts_.resize(first_start);
    }
  }
  end_block(out);
  if (is_whole && out.ok()) {
    const std::span<const uint8_t> bytes = out.finish();
    block.first_byte = static_cast<uint32_t>(bytes_.size());
    block.size = static_cast<uint32_t>(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.insert(bytes_.end(), kSpareBytes, 0);
  }
  blocks_.push_back(block);
  return static_cast<uint32_t>(blocks_.size() - 1);
}

// False when one of the entries is too large.
bool BlockCache::write_entries(BitWriter& out, uint32_t base_slot, const Block& block) {
  Last last;
  for (uint32_t rest = block.mask; rest != 0; rest &= rest - 1) {
    starts_.push_back(static_cast<uint16_t>(out.bit_count()));
    const uint32_t slot = base_slot + static_cast<uint32_t>(std::countr_zero(rest));
    if (!write_entry(out, slot, block, &last)) return false;
  }
  starts_.push_back(static_cast<uint16_t>(out.bit_count()));
  return true;
}

// Entries that follow the same one as in the wider block are copied, in runs. None of them is too large: they
// are in that block.
void BlockCache::cut_entries(BitWriter& out, uint32_t base_slot, const Block& block, const Block& wider) {
  const auto highest = [](uint32_t mask) {
    return static_cast<uint32_t>(std::bit_width(mask));  // 0: of no entry
  };
  const uint16_t* starts = &starts_[wider.first_start];
  Last last;
  for (uint32_t rest = block.mask, done = 0; rest != 0;) {
    const auto at = static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t below = (1u << at) - 1;
    if (highest(wider.mask & below) != highest(done)) {
      write_entry(out, base_slot + at, block, &last);
      done |= 1u << at, rest &= rest - 1;
      continue;
    }
    const uint32_t missing = wider.mask & ~block.mask & ~below;
    const uint32_t run = missing == 0 ? rest : rest & ((1u << std::countr_zero(missing)) - 1);
    const auto place = static_cast<uint32_t>(std::popcount(wider.mask & below));
    const auto count = static_cast<uint32_t>(std::popcount(run));
    copy_bits(out, bytes_.data() + wider.first_byte, starts[place], starts[place + count]);
    last = Last{base_slot + highest(run) - 1, std::nullopt};
    done |= run, rest &= ~run;
  }
}

// False when the entry is too large.
bool BlockCache::write_entry(BitWriter& out, uint32_t slot, const Block& block, Last* last) {
  const bool is_first = last->slot == kNoSlot;
  const bool same_type = !is_first && table_.info(slot).type == table_.info(last->slot).type;
  if (same_type && !last->mask) last->mask = entries_.body(entry_of(last->slot, block.baseline)).mask;
  const uint32_t index = entry_of(slot, block.baseline);
  if (index == EntryCache::kTooLarge) return false;
  const EntryBody body = entries_.body(index);
  const FrontBits gap = is_first ? FrontBits() : begin_entry(out, slot - last->slot - 1, block.k);
  write_changes(out, gap, body, same_type ? &*last->mask : nullptr);
  *last = Last{slot, body.mask};
  return true;
}

uint32_t BlockCache::entry_of(uint32_t slot, Tick baseline) {
  return entries_.find(slot, store_.version_at(slot, baseline).version, false);
}

}  // namespace lattice::replication
