// Lists of slots by key: the objects of an owner, the objects that a whole room sees, the objects attached to
// another. A slot is in at most one list, so the links are arrays by slot and no list allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/hash_index.h"

namespace lattice::replication {

class SlotLists {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  SlotLists() : heads_(16, base::HashIndex::Growth::kDoubling) {}

  bool listed(uint32_t slot) const { return slot < links_.size() && links_[slot].listed; }

  /// Adds `slot`, which is in no list, to the front of the list of `key`.
  void add(uint64_t key, uint32_t slot) {
    LATTICE_ASSERT(!listed(slot));
    if (slot >= links_.size()) links_.resize(size_t{slot} + 1);
    const uint32_t head = first(key);
    links_[slot] = {key, head, kNone, true};
    if (head != kNone) {
      links_[head].previous = slot;
      heads_.erase(key);
    }
    heads_.insert(key, slot);
  }

  /// Takes `slot` out of its list, if it is in one.
  void remove(uint32_t slot) {
    if (!listed(slot)) return;
    const Link link = links_[slot];
    links_[slot] = Link{};
    if (link.next != kNone) links_[link.next].previous = link.previous;
    if (link.previous != kNone) {
      links_[link.previous].next = link.next;
      return;
    }
    heads_.erase(link.key);
    if (link.next != kNone) heads_.insert(link.key, link.next);
  }

  /// The first slot of a list, or kNone.
  uint32_t first(uint64_t key) const {
    static_assert(kNone == base::HashIndex::kNone);
    return heads_.find(key);
  }
  /// The slot after `slot` in its list, or kNone.
  uint32_t next(uint32_t slot) const { return links_[slot].next; }

 private:
  struct Link {
    uint64_t key = 0;
    uint32_t next = kNone;
    uint32_t previous = kNone;
    bool listed = false;
  };

  base::HashIndex heads_;    // the authority chooses the keys, so no secret seed is needed
  std::vector<Link> links_;  // by slot
};

}  // namespace lattice::replication
