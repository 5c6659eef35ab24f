// A map from slots to 32-bit indexes, in 8 bytes an entry: open addressing, linear probing, removal by moving
// the rest of the run back. It grows by doubling. Slots are
// numbers of our own, so no secret is mixed into the hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/compiler.h"

namespace lattice::replication {

class SlotMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// `cells` is a power of two, or 0: two thirds of so many slots need no further memory.
  explicit SlotMap(size_t cells = 0) : cells_(cells) {}

  uint32_t size() const { return size_; }
  uint32_t find(uint32_t slot) const {
    if (size_ == 0) return kNone;
    for (uint32_t at = home(slot);; at = next(at)) {
      if (cells_[at].slot == slot) return cells_[at].index;
      if (cells_[at].slot == kNone) return kNone;
    }
  }
  /// The slot must not be there yet.
  void insert(uint32_t slot, uint32_t index) {
    LATTICE_ASSERT(slot != kNone && find(slot) == kNone);
    if (cells_.empty() || (size_ + 1) * 3 > mask() * 2) grow();
    place(Cell{slot, index});
    ++size_;
  }
  void erase(uint32_t slot) {
    uint32_t hole = home(slot);
    while (cells_[hole].slot != slot) {
      LATTICE_ASSERT(cells_[hole].slot != kNone);
      hole = next(hole);
    }
    for (uint32_t at = next(hole); cells_[at].slot != kNone; at = next(at)) {
      // A cell may move back into the hole unless its home lies behind the hole.
      if (((at - home(cells_[at].slot)) & mask()) < ((at - hole) & mask())) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = Cell{};
    --size_;
  }
  uint32_t value_or_zero(uint32_t slot) const {
    const uint32_t index = find(slot);
    return index == kNone ? 0 : index;
  }
  /// Erases a slot, if it is there. Returns what it had, or 0.
  uint32_t take(uint32_t slot) {
    const uint32_t index = find(slot);
    if (index == kNone) return 0;
    erase(slot);
    return index;
  }

 private:
  struct Cell {
    uint32_t slot = kNone;
    uint32_t index = kNone;
  };
  uint32_t mask() const { return static_cast<uint32_t>(cells_.size()) - 1; }
  uint32_t home(uint32_t slot) const { return (slot * 0x9E3779B1u >> 7) & mask(); }
  uint32_t next(uint32_t at) const { return (at + 1) & mask(); }
  void place(Cell cell) {
    uint32_t at = home(cell.slot);
    while (cells_[at].slot != kNone) at = next(at);
    cells_[at] = cell;
  }
  void grow() {
    std::vector<Cell> old(std::max<size_t>(16, cells_.size() * 2));
    old.swap(cells_);
    for (const Cell& cell : old) {
      if (cell.slot != kNone) place(cell);
    }
  }

  std::vector<Cell> cells_;
  uint32_t size_ = 0;
};

}  // namespace lattice::replication
