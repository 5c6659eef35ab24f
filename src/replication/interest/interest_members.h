// The objects in one client's set: dense, found by slot in constant time, of a size that follows the set and
// not the world. Each costs 16 bytes, and 4 to 16 more for the table that finds it.
//
// Members may be changed in place, except for the slot. The order depends on the history of the calls alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sequence.h"

namespace lattice::replication {

/// Why an object is in a client's set.
enum class Hold : uint8_t {
  kPinned,    // by a rule, whatever the distance
  kDistance,  // it is near, or was a moment ago
  kAttached,  // its root is in the set
};

struct InterestMember {
  uint32_t slot = 0;
  uint32_t generation = 0;  // of InterestObjects: tells an object from the next one in its slot
  base::Tick entered = 0;
  Hold hold = Hold::kPinned;
  bool stays = false;  // too far away, and not in the set for long enough to leave
};
static_assert(sizeof(InterestMember) == 16);

class InterestMembers {
 public:
  size_t size() const { return members_.size(); }
  std::span<InterestMember> all() { return members_; }
  std::span<const InterestMember> all() const { return members_; }

  /// Null when the slot is not in the set. Invalid after the next add() or remove().
  InterestMember* find(uint32_t slot);
  const InterestMember* find(uint32_t slot) const;
  /// Adds a slot that is not in the set.
  InterestMember& add(uint32_t slot);
  /// Removes the member; the last one takes its place in all().
  void remove(uint32_t slot);

  /// Bytes on the heap.
  size_t heap_bytes() const {
    return members_.capacity() * sizeof(InterestMember) + table_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  size_t home(uint32_t slot) const;
  size_t cell_of(uint32_t slot) const;
  void rebuild(size_t cells);
  void free_cell(size_t cell);
  void validate() const;

  std::vector<InterestMember> members_;
  std::vector<uint32_t> table_;  // places in members_: open addressing, a power of two, at most half full
};

}  // namespace lattice::replication
