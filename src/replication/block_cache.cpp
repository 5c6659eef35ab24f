#include "replication/block_cache.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/popcount.h"
#include "platform/byte_order.h"
#include "replication/entry_writer.h"

namespace lattice::replication {
namespace {

constexpr size_t kSpareBytes = 9;

// 64 bits from the bit `from` on.
uint64_t load_bits(const uint8_t* bytes, uint32_t from) {
  const uint8_t* at = bytes + from / 8;
  return platform::load_u64_be(at) << from % 8 | uint64_t{at[8]} >> (8 - from % 8);
}

// Appends the bits [from, to) of `bytes`, behind which kSpareBytes can be read.
void copy_bits(BitWriter& out, const uint8_t* bytes, uint32_t from, uint32_t to) {
  if (to - from <= out.bits_left()) {  // whole words, without a look at the room for each
    auto output = out.output<lattice_bit_output>();
    for (; to - from >= 64; from += 64, output.next += 8) {
      const uint64_t word = load_bits(bytes, from);
      platform::store_u64_be(output.next, output.pending | word >> output.used);
      output.pending = output.used == 0 ? 0 : word << (64 - output.used);
    }
    out.resume(output);
  }
  for (; from != to; from += std::min(to - from, 64u)) {
    const uint32_t count = std::min(to - from, 64u);
    out.WriteBits(load_bits(bytes, from) >> (64 - count), static_cast<int>(count));
  }
}

}  // namespace

BlockCache::BlockCache(const ObjectTable& table, const StateStore& store, EntryCache& entries,
                       uint32_t max_block_bytes)
    : table_(table), store_(store), entries_(entries), scratch_(max_block_bytes) {}

void BlockCache::begin_send(Tick tick) {
  tick_ = tick;
  ++send_;
  if (send_ == 0) {  // after 2^32 sends old stamps would look fresh
    heads_.assign(heads_.size(), Head());
    send_ = 1;
  }
  blocks_.clear();
  bytes_.clear();
  written_.clear();
}

uint32_t BlockCache::find(uint32_t group, uint32_t mask, Tick baseline) {
  LATTICE_ASSERT(mask != 0);
  if (group >= heads_.size()) heads_.resize(size_t{group} + 1);
  Head& head = heads_[group];
  if (head.send != send_) head = Head(send_);
  uint32_t before = kNoBlock;
  for (uint32_t index = head.block; index != kNoBlock; before = index, index = blocks_[index].next) {
    if (!is(index, mask, baseline)) continue;
    ++shared_;
    if (before != kNoBlock) {  // what many ask for comes to the front
      blocks_[before].next = blocks_[index].next;
      blocks_[index].next = head.block;
      head.block = index;
    }
    return blocks_[index].size == kTooLong ? kTooLong : index;
  }
  constexpr uint32_t kSpread = 0x9E3779B1;
  uint32_t& cut = head.cuts[((mask ^ baseline) * kSpread) >> (32 - kCutBits)];
  if (cut != kNoBlock && is(cut, mask, baseline)) {
    ++shared_;
    return blocks_[cut].size == kTooLong ? kTooLong : cut;
  }
  bool was_cut = false;
  const uint32_t index = make(group, mask, baseline, &was_cut);
  uint32_t& link = was_cut ? cut : head.block;
  blocks_[index].next = was_cut ? kNoBlock : link;
  link = index;
  return blocks_[index].size == kTooLong ? kTooLong : index;
}

// A block of more objects, from which the entries of `block` can be cut.
const BlockCache::Block* BlockCache::find_wider(const Head& head, const Block& block) const {
  for (uint32_t index = head.block; index != kNoBlock; index = blocks_[index].next) {
    const Block& other = blocks_[index];
    const bool holds_all = other.baseline == block.baseline && (other.mask & block.mask) == block.mask;
    if (holds_all && other.size != kTooLong && other.k == block.k) return &other;
  }
  return nullptr;
}

// A block without an object that another one has, and with one that the other has not: the first two of many
// clients that each own one of the group. The block of both is encoded.
const BlockCache::Block* BlockCache::make_wider(uint32_t group, const Block& block) {
  const auto lacks_one = [](uint32_t mask, uint32_t all) { return base::popcount(all & ~mask) == 1; };
  uint32_t& list = heads_[group].block;
  const auto holds = [&](uint32_t mask) {
    uint32_t index = list;
    while (index != kNoBlock && !is(index, mask, block.baseline)) index = blocks_[index].next;
    return index != kNoBlock;
  };
  for (uint32_t index = list; index != kNoBlock; index = blocks_[index].next) {
    const Block& other = blocks_[index];
    const uint32_t all = other.mask | block.mask;
    if (other.baseline != block.baseline || other.size == kTooLong) continue;
    if (!lacks_one(other.mask, all) || !lacks_one(block.mask, all)) continue;
    const Block wider = plan(all, block.baseline);
    if (wider.k != block.k || holds(all)) return nullptr;  // one that is there is too long
    ++encoded_;
    const uint32_t made = encode(group, wider, nullptr);
    blocks_[made].next = list;
    list = made;
    return blocks_[made].size == kTooLong ? nullptr : &blocks_[made];
  }
  return nullptr;
}

BlockCache::Block BlockCache::plan(uint32_t mask, Tick baseline) {
  Block block;
  block.mask = mask;
  block.baseline = baseline;
  const int first = std::countr_zero(mask), last = std::countl_zero(mask);
  block.k = static_cast<uint8_t>(
      best_gap_k(kGroupSlots - static_cast<uint32_t>(first + last), base::popcount(mask)));
  return block;
}

uint32_t BlockCache::make(uint32_t group, uint32_t mask, Tick baseline, bool* was_cut) {
  ++encoded_;
  const Block block = plan(mask, baseline);
  const Block* wider = find_wider(heads_[group], block);
  if (wider == nullptr) wider = make_wider(group, block);
  *was_cut = wider != nullptr;
  if (*was_cut) ++cut_;
  return encode(group, block, wider);
}

// Writes the block, cut from `wider` if that is not null, and returns its index.
uint32_t BlockCache::encode(uint32_t group, Block block, const Block* wider) {
  BlockHead head;
  head.count = base::popcount(block.mask);
  head.k = block.k;
  head.age = tick_ - block.baseline;
  head.slot = (group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(block.mask));
  BitWriter out(scratch_);
  write_block_head(out, head);
  block.first_entry = static_cast<uint32_t>(written_.size());
  bool is_whole = true;
  if (wider != nullptr) {
    cut_entries(out, block, *wider);
  } else {
    is_whole = encode_entries(out, group << kGroupBits, block);
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
bool BlockCache::encode_entries(BitWriter& out, uint32_t base_slot, const Block& block) {
  const auto each_slot = [&](auto visit) {
    for (uint32_t rest = block.mask; rest != 0; rest &= rest - 1) {
      visit(base_slot + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  };
  // A crowd's states have left the cache since they were recorded.
  each_slot([this](uint32_t slot) { entries_.prefetch(slot); });
  each_slot([&](uint32_t slot) { store_.prefetch_words_of(slot, tick_ - block.baseline); });
  uint32_t last_slot = kNoSlot;
  Written last;
  for (uint32_t rest = block.mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = base_slot + static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t index = entries_.find(slot, store_.version_at(slot, block.baseline).version, false);
    if (index == EntryCache::kTooLarge) return false;
    const EntryBody body = entries_.body(index);
    const ObjectType* type = table_.info(slot).type;
    const auto begin = static_cast<uint32_t>(out.bit_count());
    const FrontBits gap =
        last_slot == kNoSlot ? FrontBits() : begin_entry(out, slot - last_slot - 1, block.k);
    write_changes(out, gap, body, type == last.type ? &last.mask : nullptr);
    last = {begin, body.bits, body.mask, type};
    last_slot = slot;
    written_.push_back(last);
  }
  written_.emplace_back().begin = static_cast<uint32_t>(out.bit_count());
  return true;
}

// Entries that follow the same one as in the wider block are copied, in runs. None is too large: they are all
// in that block.
void BlockCache::cut_entries(BitWriter& out, const Block& block, const Block& wider) const {
  const auto highest = [](uint32_t mask) {
    return static_cast<uint32_t>(std::bit_width(mask));  // 0: of no entry
  };
  const uint8_t* bytes = bytes_.data() + wider.first_byte;
  const Written* written = &written_[wider.first_entry];
  const Written* last = nullptr;
  for (uint32_t rest = block.mask, done = 0; rest != 0;) {
    const auto at = static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t below = (1u << at) - 1;
    const Written* entry = written + base::popcount(wider.mask & below);
    uint32_t run = 1u << at;
    if (highest(wider.mask & below) != highest(done)) {
      const FrontBits gap = last == nullptr ? FrontBits() : begin_entry(out, at - highest(done), block.k);
      out.WriteBits(gap.bits, static_cast<int>(gap.count));
      write_mask(out, entry->mask, last != nullptr && last->type == entry->type ? &last->mask : nullptr);
      copy_bits(out, bytes, entry[1].begin - entry->member_bits, entry[1].begin);
    } else {
      const uint32_t missing = wider.mask & ~block.mask & ~below;
      run = missing == 0 ? rest : rest & ((1u << std::countr_zero(missing)) - 1);
      copy_bits(out, bytes, entry->begin, entry[base::popcount(run)].begin);
    }
    last = entry + base::popcount(run) - 1;
    done |= run, rest &= ~run;
  }
}

}  // namespace lattice::replication
