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
    : deadlines_((slots + kBlockSlots - 1) / kBlockSlots * kBlockSlots, kNever),
      blocks_(deadlines_.size() / kBlockSlots),
      slots_(slots) {}

void DeadlineTable::set(size_t slot, uint64_t deadline_ns) {
  LATTICE_ASSERT(slot < slots_);
  deadlines_[slot] = deadline_ns;
  Block& block = blocks_[slot / kBlockSlots];
  if (deadline_ns == 0) {
    block.due |= bit_of(slot);
  } else {
    block.due &= ~bit_of(slot);
    block.earliest_ns = std::min(block.earliest_ns, deadline_ns);
  }
}

size_t DeadlineTable::next_due(size_t first, uint64_t now_ns) {
  LATTICE_ASSERT(now_ns < kNever);
  uint64_t from_first = ~uint64_t{0} << first % kBlockSlots;
  for (size_t i = first / kBlockSlots; i < blocks_.size(); ++i) {
    if (blocks_[i].earliest_ns <= now_ns) mark_due(i, now_ns);
    const uint64_t due = blocks_[i].due & from_first;
    if (due != 0) return i * kBlockSlots + static_cast<size_t>(std::countr_zero(due));
    from_first = ~uint64_t{0};
  }
  return kNone;
}

// The bound only sinks with set(); it rises here, once a block has been looked through.
void DeadlineTable::mark_due(size_t block, uint64_t now_ns) {
  uint64_t earliest_ns = kNever;
  for (size_t slot = block * kBlockSlots; slot < (block + 1) * kBlockSlots; ++slot) {
    if (deadlines_[slot] <= now_ns) {
      blocks_[block].due |= bit_of(slot);
    } else {
      earliest_ns = std::min(earliest_ns, deadlines_[slot]);
    }
  }
  blocks_[block].earliest_ns = earliest_ns;
}

bool DeadlineTable::validate() const {
  for (size_t slot = 0; slot < deadlines_.size(); ++slot) {
    const Block& block = blocks_[slot / kBlockSlots];
    const bool is_marked = (block.due & bit_of(slot)) != 0;
    if (is_marked ? slot >= slots_ : deadlines_[slot] == 0 || block.earliest_ns > deadlines_[slot])
      return false;
    if (slot >= slots_ && deadlines_[slot] != kNever) return false;
  }
  return true;
}

}  // namespace lattice::base
