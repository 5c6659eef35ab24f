// See placed_set.h.
#include "world/placed_set.h"

#include <algorithm>

#include "base/byte_cursor.h"
#include "lattice/authoring/bit_writer.h"
#include "serialization/layout.h"
#include "transport/crypto/hash.h"

namespace lattice::world {

using serialization::Word;

PlacedSet::Result PlacedSet::add(uint64_t key, const replication::ObjectType& type,
                                 const void* const* states) {
  if (keys_.contains(key)) return Result::kDuplicate;
  const size_t first_word = words_.size();
  words_.resize(first_word + type.word_count);
  if (!type.layout->quantize(states, words_.data() + first_word)) {
    words_.resize(first_word);
    return Result::kDoesNotFit;
  }
  keys_.insert(key, size());
  objects_.push_back({key, &type, static_cast<uint32_t>(first_word)});
  return Result::kOk;
}

void PlacedSet::clear() {
  objects_.clear();
  words_.clear();
  keys_.clear();
}

void PlacedSet::put_in_order() {
  std::sort(objects_.begin(), objects_.end(), [](const Object& a, const Object& b) { return a.key < b.key; });
  keys_.clear();
  for (uint32_t i = 0; i < size(); ++i) keys_.insert(objects_[i].key, i);
}

uint64_t PlacedSet::network_id(uint64_t key) const {
  const uint32_t place = keys_.find(key);
  return place == base::HashIndex::kNone ? 0 : uint64_t{place} + 1;
}

wire::PlacedSummary PlacedSet::summary() const {
  wire::PlacedSummary summary;
  if (objects_.empty()) return summary;
  summary.count = size();
  std::vector<uint8_t> text;
  std::vector<uint8_t> room;
  for (const Object& object : objects_) {
    summary.key_sum += object.key;
    summary.key_squares += object.key * object.key;
    const serialization::Layout& layout = *object.type->layout;
    constexpr size_t kMostVarints = 9 + 5;
    room.resize(std::max(room.size(), kMostVarints + (layout.max_delta_bits() + 7) / 8));
    BitWriter out(room);
    out.WriteVarint(object.key);
    out.WriteVarint(object.type->type_id);
    layout.encode_delta(out, object.type->zero_words.data(), words(object));
    const std::span<const uint8_t> bytes = out.finish();
    text.insert(text.end(), bytes.begin(), bytes.end());
  }
  const crypto::Digest digest = crypto::sha256({text});
  summary.digest = base::ByteReader(digest).u64();
  return summary;
}

}  // namespace lattice::world
