#include "base/deadline_table.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::base {

DeadlineTable::DeadlineTable(size_t slots)
    : deadlines_((slots + kBlockSlots - 1) / kBlockSlots * kBlockSlots, kNever),
      earliest_(deadlines_.size() / kBlockSlots, kNever),
      slots_(slots) {}

void DeadlineTable::set(size_t slot, uint64_t deadline_ns) {
  LATTICE_ASSERT(slot < slots_);
  deadlines_[slot] = deadline_ns;
  uint64_t& earliest = earliest_[slot / kBlockSlots];
  earliest = std::min(earliest, deadline_ns);
}

uint64_t DeadlineTable::at(size_t slot) const {
  LATTICE_ASSERT(slot < slots_);
  return deadlines_[slot];
}

size_t DeadlineTable::next_due(size_t first, uint64_t now_ns) {
  LATTICE_ASSERT(now_ns < kNever);
  for (size_t block = first / kBlockSlots; block < earliest_.size(); ++block) {
    if (earliest_[block] > now_ns) continue;
    const size_t end = (block + 1) * kBlockSlots;
    for (size_t slot = std::max(first, block * kBlockSlots); slot < end; ++slot) {
      if (deadlines_[slot] <= now_ns) return slot;
    }
    tighten(block);
  }
  return kNone;
}

// The bound only sinks with set(); it rises here, once a block has been looked through.
void DeadlineTable::tighten(size_t block) {
  const auto begin = deadlines_.begin() + static_cast<ptrdiff_t>(block * kBlockSlots);
  earliest_[block] = *std::min_element(begin, begin + static_cast<ptrdiff_t>(kBlockSlots));
}

bool DeadlineTable::validate() const {
  for (size_t i = 0; i < deadlines_.size(); ++i) {
    if (earliest_[i / kBlockSlots] > deadlines_[i]) return false;
    if (i >= slots_ && deadlines_[i] != kNever) return false;
  }
  return true;
}

}  // namespace lattice::base
