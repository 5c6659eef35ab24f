#include "replication/interest/interest_members.h"

namespace lattice::replication {

void InterestMembers::reserve(size_t members) {
  const size_t cells = members * 5 / 4 + 1;
  if (cells > cells_.size()) resize(cells);
}

InterestMember& InterestMembers::add(uint32_t slot, Hold hold) {
  LATTICE_ASSERT(hold != Hold::kNone && slot < 1u << InterestMember::kSlotBits && find(slot) == nullptr);
  if ((size_ + 1) * 5 > cells_.size() * 4) resize(cells_.size() + cells_.size() / 4 + kLeastCells / 2);
  ++size_;
  InterestMember member;
  member.slot = slot & ((1u << InterestMember::kSlotBits) - 1);
  member.hold = hold;
  return place(member);
}

void InterestMembers::remove(uint32_t slot) {
  const InterestMember* member = find(slot);
  LATTICE_ASSERT(member != nullptr);
  auto hole = static_cast<size_t>(member - cells_.data());
  for (size_t at = next(hole); cells_[at].hold != Hold::kNone; at = next(at)) {
    // A cell may move back into the hole unless its home lies behind the hole.
    if (steps(home(cells_[at].slot), at) < steps(hole, at)) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = InterestMember();
  --size_;
}

InterestMember& InterestMembers::place(InterestMember member) {
  size_t at = home(member.slot);
  while (cells_[at].hold != Hold::kNone) at = next(at);
  return cells_[at] = member;
}

void InterestMembers::resize(size_t cells) {
  std::vector<InterestMember> old(cells);
  old.swap(cells_);
  for (const InterestMember& member : old) {
    if (member.hold != Hold::kNone) place(member);
  }
}

}  // namespace lattice::replication
