#include "replication/slot_index.h"

namespace lattice::replication {

uint32_t SlotIndex::add(uint32_t slot) {
  LATTICE_ASSERT(slot < kFree && find(slot) == kNone);
  if ((size_ + 1) * 4 > cells_.size() * 3) resize(cells_.size() + cells_.size() / 2);
  uint32_t index = first_free_;
  if (index == kNoFree) {
    index = static_cast<uint32_t>(slots_.size());
    LATTICE_ASSERT(index < 1u << kIndexBits);
    reserve_one(slots_);
    slots_.push_back(slot);
  } else {
    first_free_ = slots_[index] - kFree;
    slots_[index] = slot;
  }
  place(slot, index);
  ++size_;
  return index;
}

void SlotIndex::remove(uint32_t slot) {
  const uint32_t index = find(slot);
  LATTICE_ASSERT(index != kNone);
  uint32_t hole = home(hash_of(slot));
  while (cells_[hole] == 0 || index_of(cells_[hole]) != index) hole = next(hole);
  for (uint32_t at = next(hole); cells_[at] != 0; at = next(at)) {
    // A cell may move back into the hole unless its home lies behind the hole.
    const uint32_t its_home = home(hash_of(slots_[index_of(cells_[at])]));
    if (steps(its_home, at) < steps(hole, at)) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = 0;
  slots_[index] = kFree + first_free_;
  first_free_ = index;
  --size_;
}

void SlotIndex::place(uint32_t slot, uint32_t index) {
  const uint32_t hash = hash_of(slot);
  uint32_t at = home(hash);
  while (cells_[at] != 0) at = next(at);
  cells_[at] = tag_of(hash) | (index + 1);
}

void SlotIndex::reserve(size_t slots) {
  slots_.reserve(slots);
  const size_t cells = slots * 4 / 3 + 1;
  if (cells > cells_.size()) resize(cells);
}

void SlotIndex::resize(size_t cells) {
  cells_.assign(cells, 0);
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    if (slots_[index] < kFree) place(slots_[index], index);
  }
}

}  // namespace lattice::replication
