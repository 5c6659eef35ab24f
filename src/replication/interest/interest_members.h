// The objects in one client's set, found by slot in constant time, of a size that follows the set and not the
// world: 8 bytes each, and what the SlotIndex takes. Members may be changed in place. The order depends on
// the history of the calls alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"
#include "replication/slot_index.h"

namespace lattice::replication {

/// Why an object is in a client's set.
enum class Hold : uint8_t {
  kPinned,    // by a rule, whatever the distance
  kDistance,  // it is near, or was a moment ago
  kAttached,  // its root is in the set
};

struct InterestMember {
  static constexpr uint32_t kGenerations = 1u << 29;

  base::Tick entered = 0;
  uint32_t generation : 29 = 0;  // of InterestObjects: tells an object from the next one in its slot
  Hold hold : 2 = Hold::kPinned;
  bool stays : 1 = false;  // too far away, and not in the set for long enough to leave
};
static_assert(sizeof(InterestMember) == 8);

class InterestMembers {
 public:
  size_t size() const { return slots_.size(); }
  /// Calls visit(slot) for each member. It may remove members; those that it adds may be visited or not.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t index = slots_.slots().size(); index-- > 0;) {
      const uint32_t slot = slots_.slots()[index];
      if (slot < SlotIndex::kFree) visit(slot);
    }
  }

  /// Null when the slot is not in the set. Invalid after the next add() or remove().
  InterestMember* find(uint32_t slot) {
    const uint32_t index = slots_.find(slot);
    return index == SlotIndex::kNone ? nullptr : &members_[index];
  }
  const InterestMember* find(uint32_t slot) const { return const_cast<InterestMembers*>(this)->find(slot); }
  /// Makes room for so many members.
  void reserve(size_t members) {
    slots_.reserve(members);
    members_.reserve(members);
  }
  /// Adds a slot that is not in the set.
  InterestMember& add(uint32_t slot) {
    const uint32_t index = slots_.add(slot);
    if (index == members_.size()) {
      reserve_one(members_);
      members_.emplace_back();
    }
    members_[index] = InterestMember();
    return members_[index];
  }
  void remove(uint32_t slot) { slots_.remove(slot); }

  /// Bytes on the heap.
  size_t heap_bytes() const { return slots_.heap_bytes() + members_.capacity() * sizeof(InterestMember); }

 private:
  SlotIndex slots_;
  std::vector<InterestMember> members_;  // by index
};

}  // namespace lattice::replication
