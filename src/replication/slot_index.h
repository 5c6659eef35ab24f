// The slots of one set, each with an index that stays the same until the slot leaves. Records of the set lie
// in arrays by index. A set costs 4 bytes for each slot and 5 to 8 more for the table that finds it, whatever
// the size of the world.
//
// The table has open addressing, linear probing, and removal by moving the rest of the run back. A cell holds
// an index and some bits of the hash, so a search seldom looks at a slot that is another one's. Slots are
// numbers of our own, so no secret is mixed into the hash.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.h"

namespace lattice::replication {

class SlotIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kIndexBits = 20;

  SlotIndex() : cells_(kLeastCells) {}

  /// The slots in the set.
  uint32_t size() const { return size_; }
  /// By index. Free indexes have numbers that are no slots: kFree and above.
  std::span<const uint32_t> slots() const { return slots_; }
  static constexpr uint32_t kFree = 1u << 31;
  /// The slot with an index, or a number that is none.
  uint32_t slot(uint32_t index) const { return slots_[index]; }

  /// The index of a slot, or kNone.
  uint32_t find(uint32_t slot) const {
    const uint32_t hash = hash_of(slot);
    for (uint32_t at = home(hash);; at = next(at)) {
      const uint32_t cell = cells_[at];
      if (cell == 0) return kNone;
      if ((cell ^ tag_of(hash)) >> kPlaceBits == 0 && slots_[index_of(cell)] == slot) return index_of(cell);
    }
  }
  /// Bytes on the heap.
  size_t heap_bytes() const { return (slots_.capacity() + cells_.capacity()) * sizeof(uint32_t); }
  /// Makes room for so many slots.
  void reserve(size_t slots);
  /// Adds a slot, which must not be there yet. Its index is a free one, or else the next.
  uint32_t add(uint32_t slot);
  /// The slot must be there.
  void remove(uint32_t slot);

 private:
  static constexpr uint32_t kLeastCells = 16;
  static constexpr uint32_t kPlaceBits = kIndexBits + 1;  // an index and 1: 0 is an empty cell
  static constexpr uint32_t kNoFree = kFree - 1;

  static uint32_t hash_of(uint32_t slot) { return slot * 0x9E3779B1u; }
  static uint32_t tag_of(uint32_t hash) { return hash << kPlaceBits; }  // home() has the other end
  static uint32_t index_of(uint32_t cell) { return (cell & ((1u << kPlaceBits) - 1)) - 1; }
  uint32_t home(uint32_t hash) const { return static_cast<uint32_t>(uint64_t{hash} * cells_.size() >> 32); }
  uint32_t next(uint32_t at) const { return at + 1 == cells_.size() ? 0 : at + 1; }
  /// The steps of next() from one cell to another.
  uint32_t steps(uint32_t from, uint32_t to) const {
    return to >= from ? to - from : to + static_cast<uint32_t>(cells_.size()) - from;
  }
  void place(uint32_t slot, uint32_t index);
  void resize(size_t cells);

  std::vector<uint32_t> slots_;  // by index; a free one: kFree + the next free index
  std::vector<uint32_t> cells_;  // tag << kPlaceBits | index + 1; three quarters are full at most
  uint32_t size_ = 0;
  uint32_t first_free_ = kNoFree;
};

/// Room for a client's set that had `size` objects when it was made. As its viewer moves on, objects come
/// near and stay until they are somewhat farther away, so most sets grow by a sixth.
constexpr size_t room_for(size_t size) {
  return size + size / 3 + 8;
}

/// Makes room for one more at the end, and for few besides: a client has many arrays that seldom grow.
template <class T>
void reserve_one(std::vector<T>& array) {
  if (array.size() == array.capacity()) array.reserve(array.size() + array.size() / 4 + 8);
}

}  // namespace lattice::replication
