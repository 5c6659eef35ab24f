// One deadline per slot, and the slots whose deadline has come, in ascending order.
//
//   blocks_     | due, earliest | due, earliest | …   16 bytes for 64 slots
//   deadlines_  | 64 slots      | 64 slots      | …   looked at only when a time of the block has come
//
// Neither a heap nor a timer wheel, because the order of visits must not depend on when deadlines were set:
// with one by slot, who visits only what is due does the same as who visits everything. A question at 10,000
// slots reads 157 blocks; setting a deadline writes two words. What is always due costs a bit and no search.
//
// Must stay true: a slot that is not marked due has a deadline of at least its block's earliest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace lattice::base {

class DeadlineTable {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;
  static constexpr size_t kNone = SIZE_MAX;

  /// Slots 0 … slots - 1, all kNever. Allocates here and never again.
  explicit DeadlineTable(size_t slots);

  /// Replaces the deadline of `slot`, in nanoseconds of the caller's clock: 0 is always due, kNever never.
  void set(size_t slot, uint64_t deadline_ns);
  /// set(slot, 0), at once when it is so already.
  void set_due(size_t slot) {
    if (at(slot) != 0) set(slot, 0);
  }
  /// Makes it `deadline_ns` if that is earlier.
  void lower(size_t slot, uint64_t deadline_ns) {
    if (deadline_ns < at(slot)) set(slot, deadline_ns);
  }
  uint64_t at(size_t slot) const {
    LATTICE_ASSERT(slot < slots_);
    return deadlines_[slot];
  }

  /// The lowest slot from `first` on whose deadline is at most `now_ns` (below kNever, and never less than in
  /// an earlier call), or kNone. It stays due until set() says otherwise.
  size_t next_due(size_t first, uint64_t now_ns);

  /// The bounds hold. For tests and validation builds.
  bool validate() const;

 private:
  static constexpr size_t kBlockSlots = 64;
  struct Block {
    uint64_t due = 0;  ///< A bit per slot: its deadline is 0, or was seen to have come.
    uint64_t earliest_ns = kNever;
  };

  void mark_due(size_t block, uint64_t now_ns);

  std::vector<uint64_t> deadlines_;  ///< Whole blocks; what is beyond the last slot stays kNever.
  std::vector<Block> blocks_;
  size_t slots_;
};

}  // namespace lattice::base
