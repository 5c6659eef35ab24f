// A map from 64-bit keys to 32-bit slots: open addressing, linear probing, deletion by shifting the
// rest of the probe run back, so there are no tombstones and lookups never degrade with churn.
// Load stays at or below 3/4. Growth doubles the table and rehashes. A kFixed table never allocates after
// construction; when it is full, it refuses new keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/compiler.h"

namespace lattice::base {

class HashIndex {
 public:
  /// "No slot": returned by find, refused as a value by insert.
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  enum class Growth : uint8_t { kFixed, kDoubling };

  /// Room for `expected` entries without growing. `seed` is mixed into every hash: use a secret seed if peers
  /// choose the keys, so that they cannot aim at one probe run.
  explicit HashIndex(size_t expected, Growth growth = Growth::kFixed, uint64_t seed = 0);

  size_t size() const { return size_; }
  /// Entries the table holds before it grows or refuses.
  size_t capacity() const { return limit_; }

  /// The slot stored for `key`, or kNone.
  uint32_t find(uint64_t key) const;
  bool contains(uint64_t key) const { return find(key) != kNone; }
  /// Asks for what find() reads first. Only a hint.
  void prefetch(uint64_t key) const { base::prefetch(&cells_[home(key)]); }

  /// Adds `key`; false when the key is present (value unchanged) or a kFixed table is full.
  bool insert(uint64_t key, uint32_t value);
  /// Makes room for so many entries at once: until then the table does not grow. Only for kDoubling.
  void reserve(size_t entries);

  /// Removes `key`; false when the key is not present.
  bool erase(uint64_t key);

  void clear();

  /// Every key is reachable from its home cell without crossing an empty one. For tests and validation.
  bool validate() const;

  /// Calls visit(key, value) for each entry, in table order: unspecified, but the same for the same
  /// history and seed.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Cell& cell : cells_) {
      if (cell.value != kNone) visit(cell.key, cell.value);
    }
  }

 private:
  struct Cell {
    uint64_t key = 0;
    uint32_t value = kNone;
  };

  size_t home(uint64_t key) const;
  size_t locate(uint64_t key) const;
  void resize(size_t cells);

  std::vector<Cell> cells_;
  size_t size_ = 0;
  size_t limit_ = 0;
  uint64_t seed_ = 0;
  Growth growth_ = Growth::kFixed;
};

}  // namespace lattice::base
