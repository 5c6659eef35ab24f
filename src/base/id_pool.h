// Dense slots with generations: an old handle becomes stale and never names the next user of its slot.
// The lowest free slot is always taken next, so slots stay dense and their order does not depend on the
// order of releases. A slot's generation changes at every release; it starts at 1 and skips 0, so a
// zero-initialised PoolId is never valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/bit_set.h"

namespace lattice::base {

/// A slot and the generation it was taken in. Generation 0 means "none".
struct PoolId {
  uint32_t slot = 0;
  uint32_t generation = 0;

  explicit operator bool() const { return generation != 0; }
  friend bool operator==(const PoolId&, const PoolId&) = default;
};

class IdPool {
 public:
  /// Allocates `capacity` slots; acquire() returns a false PoolId beyond that.
  explicit IdPool(size_t capacity) : used_(capacity), generations_(capacity, 1) {}

  size_t capacity() const { return generations_.size(); }
  size_t size() const { return size_; }
  bool full() const { return size_ == capacity(); }

  /// Takes the lowest free slot; a false PoolId when the pool is full.
  PoolId acquire() {
    const size_t slot = used_.find_next_clear(lowest_free_);
    if (slot == kNoBit) return {};
    used_.set(slot);
    lowest_free_ = slot + 1;
    ++size_;
    return {static_cast<uint32_t>(slot), generations_[slot]};
  }

  /// Frees the slot; false when the handle is stale, and then nothing changes.
  bool release(PoolId id) {
    if (!valid(id)) return false;
    used_.clear(id.slot);
    if (++generations_[id.slot] == 0) generations_[id.slot] = 1;
    if (id.slot < lowest_free_) lowest_free_ = id.slot;
    --size_;
    return true;
  }

  /// True while `id` is the current holder of its slot.
  bool valid(PoolId id) const {
    return id.generation != 0 && id.slot < capacity() && generations_[id.slot] == id.generation &&
           used_.test(id.slot);
  }

  /// The current handle of a slot in use, or a false PoolId for a free or unknown one.
  PoolId at(size_t slot) const {
    if (slot >= capacity() || !used_.test(slot)) return {};
    return {static_cast<uint32_t>(slot), generations_[slot]};
  }

  /// The slots in use, for iteration in ascending order.
  const BitSet& used() const { return used_; }

  /// Frees every slot; every existing handle becomes stale.
  void clear() {
    used_.for_each_set([this](size_t slot) {
      if (++generations_[slot] == 0) generations_[slot] = 1;
    });
    used_.clear_all();
    lowest_free_ = 0;
    size_ = 0;
  }

 private:
  BitSet used_;
  std::vector<uint32_t> generations_;
  size_t lowest_free_ = 0;  ///< Every slot below this is in use.
  size_t size_ = 0;
};

}  // namespace lattice::base
