#include "base/deadline_table.h"

#include <algorithm>
#include <bit>

namespace lattice::base {
namespace {

constexpr uint64_t bit_of(size_t slot) {
  return uint64_t{1} << slot % 64;
}

}  // namespace

DeadlineTable::DeadlineTable(size_t slots)
    : deadlines_((slots + kGroupSlots - 1) / kGroupSlots * kGroupSlots, kNever),
      groups_(deadlines_.size() / kGroupSlots),
      slots_(slots) {}

void DeadlineTable::set(size_t slot, uint64_t deadline_ns) {
  LATTICE_ASSERT(slot < slots_);
  deadlines_[slot] = deadline_ns;
  Group& group = groups_[slot / kGroupSlots];
  if (deadline_ns == 0) {
    group.due |= bit_of(slot);
  } else {
    group.due &= ~bit_of(slot);
    group.earliest_ns = std::min(group.earliest_ns, deadline_ns);
  }
}

size_t DeadlineTable::next_due(size_t first, uint64_t now_ns) {
  LATTICE_ASSERT(now_ns < kNever);
  uint64_t from_first = ~uint64_t{0} << first % kGroupSlots;
  for (size_t i = first / kGroupSlots; i < groups_.size(); ++i) {
    if (groups_[i].earliest_ns <= now_ns) mark_due(i, now_ns);
    const uint64_t due = groups_[i].due & from_first;
    if (due != 0) return i * kGroupSlots + static_cast<size_t>(std::countr_zero(due));
    from_first = ~uint64_t{0};
  }
  return kNone;
}

// set() only lowers the bound of a group. This function raises the bound, once it has read the whole group.
void DeadlineTable::mark_due(size_t group, uint64_t now_ns) {
  uint64_t earliest_ns = kNever;
  for (size_t slot = group * kGroupSlots; slot < (group + 1) * kGroupSlots; ++slot) {
    if (deadlines_[slot] <= now_ns) {
      groups_[group].due |= bit_of(slot);
    } else {
      earliest_ns = std::min(earliest_ns, deadlines_[slot]);
    }
  }
  groups_[group].earliest_ns = earliest_ns;
}

uint64_t DeadlineTable::earliest_ns() const {
  uint64_t earliest = kNever;
  for (const Group& group : groups_) {
    if (group.due != 0) return 0;
    earliest = std::min(earliest, group.earliest_ns);
  }
  return earliest;
}

bool DeadlineTable::validate() const {
  for (size_t slot = 0; slot < deadlines_.size(); ++slot) {
    const Group& group = groups_[slot / kGroupSlots];
    const bool is_marked = (group.due & bit_of(slot)) != 0;
    if (is_marked ? slot >= slots_ : deadlines_[slot] == 0 || group.earliest_ns > deadlines_[slot])
      return false;
    if (slot >= slots_ && deadlines_[slot] != kNever) return false;
  }
  return true;
}

}  // namespace lattice::base
