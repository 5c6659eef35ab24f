// One deadline per slot, and the slots whose deadline has come, in ascending order.
//
//   groups_     | due, earliest | due, earliest | …   16 bytes for 64 slots
//   deadlines_  | 64 slots      | 64 slots      | …   read only when a deadline of the group has come
//
// A heap or a timer wheel would give slots in an order that depends on when deadlines were set. Here due
// slots come in the order of the slots. So serving only the due slots has exactly the same effect as serving
// all slots in turn. A search over 10,000 slots reads 157 groups; setting a deadline writes two words. A slot
// that is always due costs one bit and no search.
//
// Must stay true: a slot that is not marked due has a deadline of at least its group's earliest.
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

  /// Makes slots 0 … slots - 1, all kNever. Only the constructor allocates.
  explicit DeadlineTable(size_t slots);

  /// Replaces the deadline of `slot`, in nanoseconds of the caller's clock: 0 is always due, kNever never.
  void set(size_t slot, uint64_t deadline_ns);
  /// set(slot, 0); cheaper when the slot is already marked due.
  void set_due(size_t slot) {
    if (at(slot) != 0) set(slot, 0);
  }
  /// Sets the deadline of `slot` to `deadline_ns` if that is earlier.
  void lower(size_t slot, uint64_t deadline_ns) {
    if (deadline_ns < at(slot)) set(slot, deadline_ns);
  }
  uint64_t at(size_t slot) const {
    LATTICE_ASSERT(slot < slots_);
    return deadlines_[slot];
  }

  /// The lowest slot from `first` on whose deadline is at most `now_ns`, or kNone. `now_ns` is below kNever
  /// and must not go back. The slot stays due until set() changes its deadline.
  size_t next_due(size_t first, uint64_t now_ns);

  /// No slot is due before this time; 0: one is always due, or was found to be due.
  uint64_t earliest_ns() const;

  /// The bounds hold. For tests and validation builds.
  bool validate() const;

 private:
  static constexpr size_t kGroupSlots = 64;
  struct Group {
    uint64_t due = 0;  ///< One bit per slot: its deadline is 0, or a search found that it has come.
    uint64_t earliest_ns = kNever;
  };

  void mark_due(size_t group, uint64_t now_ns);

  std::vector<uint64_t> deadlines_;  ///< Whole groups; entries beyond the last slot stay kNever.
  std::vector<Group> groups_;
  size_t slots_;
};

}  // namespace lattice::base
