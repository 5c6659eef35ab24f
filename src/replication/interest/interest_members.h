// The objects in one client's set, found by slot in constant time, of a size that follows the set and not the
// world: a table of 4 bytes a cell, of which four fifths are full at most. The order depends on the history
// of the calls alone.
//
// The table has open addressing, linear probing, and removal by moving the rest of the run back. Slots are
// numbers of our own, so no secret is mixed into the hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "replication/object_table.h"

namespace lattice::replication {

/// Why an object is in a client's set.
enum class Hold : uint32_t {
  kPinned,    // by a rule, whatever the distance
  kDistance,  // it is near, or was a moment ago
  kAttached,  // its root is in the set
  kNone,      // it is not: an empty cell
};

struct InterestMember {  // fields of one type: elsewhere, another type begins another word
  static constexpr uint32_t kSlotBits = 21;
  static constexpr uint32_t kGenerations = 1u << 7;

  uint32_t slot : kSlotBits = 0;
  /// The low bits of that of InterestObjects: they tell an object from the next ones in its slot. A client
  /// would take the 128th after it for the same, if all came between two evaluations; but slots rest (D-42).
  uint32_t generation : 7 = 0;
  Hold hold : 2 = Hold::kNone;
  uint32_t recent : 1 = 0;  // it came not long ago, and may not leave for the distance
  uint32_t stays : 1 = 0;   // `recent` alone keeps it: it is too far away, or was
};
static_assert(sizeof(InterestMember) == 4);
static_assert(slot_bound(kMaxObjects) <= 1u << InterestMember::kSlotBits);

class InterestMembers {
 public:
  InterestMembers() : cells_(kLeastCells) {}

  size_t size() const { return size_; }
  /// Calls visit(member) for each member. It must not add or remove members.
  template <class Visit>
  void for_each(Visit visit) {
    for (InterestMember& member : cells_) {
      if (member.hold != Hold::kNone) visit(member);
    }
  }

  /// Null when the slot is not in the set. Invalid after the next add() or remove().
  InterestMember* find(uint32_t slot) {
    for (size_t at = home(slot);; at = next(at)) {
      if (cells_[at].hold == Hold::kNone) return nullptr;
      if (cells_[at].slot == slot) return &cells_[at];
    }
  }
  const InterestMember* find(uint32_t slot) const { return const_cast<InterestMembers*>(this)->find(slot); }
  /// Makes room for so many members.
  void reserve(size_t members);
  /// Adds a slot that is not in the set. Invalid after the next add() or remove().
  InterestMember& add(uint32_t slot, Hold hold);
  /// The slot must be there.
  void remove(uint32_t slot);

  /// Bytes on the heap.
  size_t heap_bytes() const { return cells_.capacity() * sizeof(InterestMember); }

 private:
  static constexpr size_t kLeastCells = 16;

  size_t home(uint32_t slot) const { return uint64_t{slot * 0x9E3779B1u} * cells_.size() >> 32; }
  size_t next(size_t at) const { return at + 1 == cells_.size() ? 0 : at + 1; }
  /// The steps of next() from one cell to another.
  size_t steps(size_t from, size_t to) const { return to >= from ? to - from : to + cells_.size() - from; }
  InterestMember& place(InterestMember member);
  void resize(size_t cells);

  std::vector<InterestMember> cells_;
  size_t size_ = 0;
};

}  // namespace lattice::replication
