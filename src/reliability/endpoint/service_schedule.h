// When each connection is to be serviced by an update, and which connections are ending. Connections enter
// themselves, by slot; the endpoint asks which are due.
//
// Must stay true: a connection is listed as ending at most once (Connection::is_listed()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/deadline_table.h"

namespace lattice::reliability {

class ServiceSchedule {
 public:
  static constexpr uint64_t kNever = base::DeadlineTable::kNever;
  static constexpr size_t kNone = base::DeadlineTable::kNone;

  explicit ServiceSchedule(uint32_t slots) : times_(slots) { ending_.reserve(slots); }

  // Service.

  /// The next update services the connection in `slot`.
  void wake(uint32_t slot) {
    times_.set_due(slot);
    is_woken_ = true;
  }
  /// Replaces the time from which an update services `slot`: 0 is always due, kNever never.
  void set(uint32_t slot, uint64_t at_ns) { times_.set(slot, at_ns); }
  /// Services `slot` from `at_ns` on, if that is earlier than planned.
  void lower(uint32_t slot, uint64_t at_ns) { times_.lower(slot, at_ns); }
  uint64_t at(uint32_t slot) const { return times_.at(slot); }
  /// The lowest slot from `first` on that is due, or kNone.
  size_t next_due(size_t first, uint64_t now_ns) { return times_.next_due(first, now_ns); }
  /// No slot is due before this time; 0: one is due.
  uint64_t earliest_ns() const { return times_.earliest_ns(); }

  /// wake() was called since the last begin_update().
  bool is_woken() const { return is_woken_; }
  void begin_update() { is_woken_ = false; }

  // Ends.

  void list_ending(uint32_t slot) { ending_.push_back(slot); }
  /// The connection in `slot` ends before its turn.
  void forget_ending(uint32_t slot) { std::erase(ending_, slot); }
  bool has_ending() const { return !ending_.empty(); }
  /// Calls visit(slot) for each slot in the order of listing, also for those that visit() lists, and empties
  /// the list.
  template <class Visit>
  void finish_ending(Visit visit) {
    for (size_t i = 0; i < ending_.size(); ++i) visit(ending_[i]);
    ending_.clear();
  }

 private:
  base::DeadlineTable times_;
  std::vector<uint32_t> ending_;
  bool is_woken_ = false;
};

}  // namespace lattice::reliability
