#include "replication/entry_cache.h"

#include <algorithm>

#include "base/assert.h"
#include "lattice/authoring/bit_writer.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

uint64_t load_u64_be(const uint8_t* p) {
  uint64_t v = 0;
  for (unsigned i = 0; i < 8; ++i) v = v << 8 | p[i];
  return v;
}

}  // namespace

EntryCache::EntryCache(const ObjectTable& table, const VersionHistory& history, uint32_t max_body_bytes)
    : table_(table),
      history_(history),
      scratch_((size_t{max_body_bytes} + 7) / 8 *
               8),  // a multiple of 8, because the bits are read back in whole words
      max_body_bits_(max_body_bytes * 8) {}

void EntryCache::begin_send() {
  ++send_;
  if (send_ == 0) {  // after 2^32 sends old stamps would look fresh
    heads_.assign(heads_.size(), Head{});
    send_ = 1;
  }
  bodies_.clear();
  used_words_ = 0;
}

uint32_t EntryCache::find(uint32_t slot, uint32_t baseline) {
  if (slot >= heads_.size()) heads_.resize(std::max<size_t>(table_.slot_count(), size_t{slot} + 1));
  Head& head = heads_[slot];
  if (head.send != send_) head = Head{send_, kNone};
  for (uint32_t index = head.body; index != kNone; index = bodies_[index].next) {
    if (bodies_[index].baseline != baseline) continue;
    ++shared_;
    return bodies_[index].bits == kTooLarge ? kTooLarge : index;
  }
  const uint32_t index = encode(slot, baseline);
  bodies_[index].next = head.body;
  head.body = index;
  return bodies_[index].bits == kTooLarge ? kTooLarge : index;
}

uint32_t EntryCache::encode(uint32_t slot, uint32_t baseline) {
  ++encoded_;
  const ObjectInfo& info = table_.info(slot);
  const serialization::Word* from = history_.words(slot, baseline);
  const serialization::Word* to = history_.current(slot);
  LATTICE_CHECK(from != nullptr && to != nullptr);  // the baseline is no older than max_baseline_ticks()
  BitWriter writer(scratch_);
  if (baseline == 0) {
    writer.WriteVarint(info.type->type_id);
    writer.WriteVarint(info.owner);
    writer.WriteBits(static_cast<uint64_t>(info.mode), 2);
    writer.WriteU32(info.authority_tick);
  }
  info.type->layout->encode_delta(writer, from, to);

  const uint32_t index = static_cast<uint32_t>(bodies_.size());
  bodies_.push_back(Body{baseline, kTooLarge, used_words_, kNone});
  if (!writer.ok() || writer.bit_count() > max_body_bits_) return index;
  const uint32_t bits = static_cast<uint32_t>(writer.bit_count());
  const uint32_t count = (bits + 63) / 64;
  writer.finish();
  const unsigned tail = bits % 64;
  if (words_.size() < size_t{used_words_} + count) {
    words_.resize(std::max<size_t>(words_.size() * 2, size_t{used_words_} + count + 1024));
  }
  for (uint32_t i = 0; i < count; ++i) words_[used_words_ + i] = load_u64_be(scratch_.data() + 8 * size_t{i});
  if (tail != 0) words_[used_words_ + count - 1] &= ~uint64_t{0} << (64 - tail);
  used_words_ += count;
  bodies_[index].bits = bits;
  return index;
}

}  // namespace lattice::replication
