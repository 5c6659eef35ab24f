// Linear probing with backward-shift deletion.
// Source: Knuth, TAOCP vol. 3, §6.4, Algorithm R (deletion with linear probing).
#include "base/hash_index.h"

#include <bit>

#include "base/assert.h"

namespace lattice::base {
namespace {

/// Cells for `entries` at a load of at most 3/4.
size_t cells_for(size_t entries) {
  return std::bit_ceil(entries + entries / 3 + 1);
}

}  // namespace

HashIndex::HashIndex(size_t expected, Growth growth, uint64_t seed)
    : cells_(cells_for(expected)), seed_(seed), growth_(growth) {
  limit_ = cells_.size() - cells_.size() / 4 - (cells_.size() < 4 ? 1 : 0);
  LATTICE_CHECK(limit_ >= expected || expected == 0);
}

// Four keys that follow each other are neighbours: ids are numbered, and who visits many visits them in
// order.
size_t HashIndex::home(uint64_t key) const {
  constexpr unsigned kNeighbourBits = 2;
  uint64_t z = (key >> kNeighbourBits) ^ seed_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  z = z << kNeighbourBits | (key & ((1u << kNeighbourBits) - 1));
  return static_cast<size_t>(z) & (cells_.size() - 1);
}

/// The cell of `key`, or the empty cell where it would go. Ends because at least one cell is empty.
size_t HashIndex::locate(uint64_t key) const {
  const size_t mask = cells_.size() - 1;
  size_t i = home(key);
  while (cells_[i].value != kNone && cells_[i].key != key) i = (i + 1) & mask;
  return i;
}

uint32_t HashIndex::find(uint64_t key) const {
  return cells_[locate(key)].value;
}

bool HashIndex::insert(uint64_t key, uint32_t value) {
  LATTICE_CHECK(value != kNone);
  size_t i = locate(key);
  if (cells_[i].value != kNone) return false;
  if (size_ == limit_) {
    if (growth_ == Growth::kFixed) return false;
    resize(cells_.size() * 2);
    i = locate(key);
  }
  cells_[i] = {key, value};
  ++size_;
  return true;
}

bool HashIndex::erase(uint64_t key) {
  const size_t mask = cells_.size() - 1;
  size_t hole = locate(key);
  if (cells_[hole].value == kNone) return false;
  for (size_t i = (hole + 1) & mask; cells_[i].value != kNone; i = (i + 1) & mask) {
    // A cell may fill the hole unless its home lies cyclically after the hole. Moving such a cell would put
    // it before its home, where no search begins.
    const size_t from_home = (i - home(cells_[i].key)) & mask;
    const size_t from_hole = (i - hole) & mask;
    if (from_home >= from_hole) {
      cells_[hole] = cells_[i];
      hole = i;
    }
  }
  cells_[hole] = {};
  --size_;
  return true;
}

void HashIndex::clear() {
  for (Cell& cell : cells_) cell = {};
  size_ = 0;
}

void HashIndex::reserve(size_t entries) {
  LATTICE_ASSERT(growth_ == Growth::kDoubling);
  if (entries > limit_) resize(cells_for(entries));
}

void HashIndex::resize(size_t cells) {
  std::vector<Cell> old(cells);
  old.swap(cells_);
  limit_ = cells_.size() - cells_.size() / 4 - (cells_.size() < 4 ? 1 : 0);
  for (const Cell& cell : old) {
    if (cell.value != kNone) cells_[locate(cell.key)] = cell;
  }
}

bool HashIndex::validate() const {
  size_t used = 0;
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].value == kNone) continue;
    ++used;
    if (locate(cells_[i].key) != i) return false;
  }
  return used == size_ && size_ <= limit_ && limit_ < cells_.size();
}

}  // namespace lattice::base
