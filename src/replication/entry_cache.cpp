#include "replication/entry_cache.h"

#include <algorithm>

#include "base/assert.h"
#include "lattice/authoring/bit_writer.h"
#include "platform/byte_order.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kNoBody = UINT32_MAX;

}  // namespace

EntryCache::EntryCache(const ObjectTable& table, const StateStore& store, uint32_t max_body_bytes)
    : table_(table),
      store_(store),
      scratch_((size_t{max_body_bytes} + 7) / 8 *
               8),  // a multiple of 8, because the bits are read back in whole words
      max_body_bits_(max_body_bytes * 8) {}

void EntryCache::make_room(uint32_t objects) {
  constexpr size_t kUsualWords = 2;
  heads_.resize(std::max<size_t>(heads_.size(), objects));
  words_.resize(std::max(words_.size(), kUsualWords * objects));
  bodies_.resize(objects);
  bodies_.clear();
}

void EntryCache::begin_send() {
  ++send_;
  if (send_ == 0) {  // after 2^32 sends old stamps would look fresh
    heads_.assign(heads_.size(), Head{});
    send_ = 1;
  }
  bodies_.clear();
  used_words_ = 0;
}

uint32_t EntryCache::find(uint32_t slot, uint32_t baseline, bool for_owner) {
  for_owner = for_owner && table_.info(slot).type->layout->has_conditions();  // else all get the same
  if (slot >= heads_.size()) heads_.resize(std::max<size_t>(table_.slot_count(), size_t{slot} + 1));
  Head& head = heads_[slot];
  if (head.send != send_) head = Head{send_, kNoBody};
  for (uint32_t index = head.body; index != kNoBody; index = bodies_[index].next) {
    if (bodies_[index].baseline != baseline || (bodies_[index].for_owner != 0) != for_owner) continue;
    ++shared_;
    return bodies_[index].bits == kTooLarge ? kTooLarge : index;
  }
  const uint64_t key = 1 + 2 * uint64_t{baseline} + (for_owner ? 1 : 0);
  if (is_known_too_large(slot, key)) return kTooLarge;
  const uint32_t index = encode(slot, baseline, for_owner);
  if (bodies_[index].bits == kTooLarge) note_too_large(slot, key);
  bodies_[index].next = head.body;
  head.body = index;
  return bodies_[index].bits == kTooLarge ? kTooLarge : index;
}

bool EntryCache::is_known_too_large(uint32_t slot, uint64_t key) const {
  if (slot >= too_large_.size()) return false;
  const TooLarge& known = too_large_[slot];
  return known.baselines[key % known.baselines.size()] == key && known.version == store_.version(slot) &&
         known.network_id == table_.network_id(slot);
}

void EntryCache::note_too_large(uint32_t slot, uint64_t key) {
  if (too_large_.size() < heads_.size()) too_large_.resize(heads_.size());
  TooLarge& known = too_large_[slot];
  if (known.version != store_.version(slot) || known.network_id != table_.network_id(slot)) {
    known = TooLarge{table_.network_id(slot), store_.version(slot)};
  }
  known.baselines[key % known.baselines.size()] = key;
}

uint32_t EntryCache::encode(uint32_t slot, uint32_t baseline, bool for_owner) {
  ++encoded_;
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  const serialization::Word* from = store_.words(slot, baseline);
  const serialization::Word* to = store_.current(slot);
  LATTICE_CHECK(from != nullptr && to != nullptr);  // the builder asked for this baseline
  to = layout.seen({for_owner, store_.was_told(slot, baseline)}, from, to, &seen_);
  BitWriter writer(scratch_);
  const uint32_t index = static_cast<uint32_t>(bodies_.size());
  Body& body = bodies_.emplace_back();
  body.baseline = baseline;
  body.for_owner = for_owner ? 1 : 0;
  body.first_word = used_words_ & 0x7FFFFFFFu;
  body.mask = encode_members(writer, layout, from, to);
  const uint32_t bits = static_cast<uint32_t>(writer.bit_count());
  if (!writer.ok() || bits + body.mask.count > max_body_bits_) return index;
  writer.finish();
  keep_bits(body, bits);
  return index;
}

void EntryCache::keep_bits(Body& body, uint32_t bits) {
  const uint32_t count = (bits + 63) / 64;
  const unsigned tail = bits % 64;
  if (words_.size() < size_t{used_words_} + count) {
    words_.resize(std::max<size_t>(words_.size() * 2, size_t{used_words_} + count + 1024));
  }
  for (uint32_t i = 0; i < count; ++i)
    words_[used_words_ + i] = platform::load_u64_be(scratch_.data() + 8 * size_t{i});
  if (tail != 0) words_[used_words_ + count - 1] &= ~uint64_t{0} << (64 - tail);
  used_words_ += count;
  body.bits = bits;
}

}  // namespace lattice::replication
