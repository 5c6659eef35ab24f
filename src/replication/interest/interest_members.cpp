// See interest_members.h.
#include "replication/interest/interest_members.h"

#include <bit>

#include "base/assert.h"

namespace lattice::replication {

namespace {
constexpr size_t kLeastCells = 16;
}

// Neighbouring slots go to distant cells: the high bits of the product decide.
size_t InterestMembers::home(uint32_t slot) const {
  return (slot * 0x9E3779B9u) >> (32 - std::countr_zero(table_.size()));
}

// The cell of `slot`, or the free one where the search for it ends.
size_t InterestMembers::cell_of(uint32_t slot) const {
  size_t cell = home(slot);
  while (table_[cell] != kFree && members_[table_[cell]].slot != slot)
    cell = (cell + 1) & (table_.size() - 1);
  return cell;
}

const InterestMember* InterestMembers::find(uint32_t slot) const {
  if (members_.empty()) return nullptr;
  const uint32_t place = table_[cell_of(slot)];
  return place == kFree ? nullptr : &members_[place];
}

InterestMember* InterestMembers::find(uint32_t slot) {
  return const_cast<InterestMember*>(static_cast<const InterestMembers*>(this)->find(slot));
}

void InterestMembers::rebuild(size_t cells) {
  table_.assign(cells, kFree);
  for (uint32_t i = 0; i < members_.size(); ++i) table_[cell_of(members_[i].slot)] = i;
}

InterestMember& InterestMembers::add(uint32_t slot) {
  LATTICE_ASSERT(find(slot) == nullptr);
  if (table_.empty()) rebuild(kLeastCells);
  if ((members_.size() + 1) * 2 > table_.size()) rebuild(table_.size() * 2);
  const size_t cell = cell_of(slot);
  table_[cell] = static_cast<uint32_t>(members_.size());
  members_.emplace_back();
  members_.back().slot = slot;
  validate();
  return members_.back();
}

void InterestMembers::remove(uint32_t slot) {
  LATTICE_ASSERT(find(slot) != nullptr);
  const size_t cell = cell_of(slot);
  const uint32_t place = table_[cell];
  if (place + 1 != members_.size()) {
    table_[cell_of(members_.back().slot)] = place;
    members_[place] = members_.back();
  }
  members_.pop_back();
  free_cell(cell);
  validate();
}

// Moves the cells of the same run back, so that every search still ends at its slot.
void InterestMembers::free_cell(size_t cell) {
  const size_t mask = table_.size() - 1;
  table_[cell] = kFree;
  for (size_t next = (cell + 1) & mask; table_[next] != kFree; next = (next + 1) & mask) {
    const size_t wanted = home(members_[table_[next]].slot);
    if (((next - wanted) & mask) < ((next - cell) & mask)) continue;
    table_[cell] = table_[next];
    table_[next] = kFree;
    cell = next;
  }
}

void InterestMembers::validate() const {
#if defined(LATTICE_VALIDATION)
  if (members_.empty()) return;
  // One member a call: all of them would make filling the set quadratic.
  const size_t checked = members_.size() / 2;
  LATTICE_ASSERT(table_[cell_of(members_[checked].slot)] == checked);
  LATTICE_ASSERT(table_[cell_of(members_.back().slot)] == members_.size() - 1);
#endif
}

}  // namespace lattice::replication
