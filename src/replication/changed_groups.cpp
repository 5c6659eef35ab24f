#include "replication/changed_groups.h"

#include "base/assert.h"

namespace lattice::replication {

std::span<const ChangedGroups::Group> ChangedGroups::since(uint64_t place) {
  LATTICE_ASSERT(changes_.reaches(place));
  for (const Answer& answer : answers_) {
    if (answer.begin == place && answer.end == changes_.end()) return answer.groups;
  }
  Answer& answer = answers_[next_];
  next_ = (next_ + 1) % kKept;
  answer.begin = place;
  answer.end = changes_.end();
  answer.groups.clear();
  for (; place != changes_.end(); ++place) {
    const uint32_t slot = changes_.at(place);
    const uint32_t group = slot >> kGroupBits;
    if (group >= place_.size()) place_.resize(size_t{group} + 1);
    // The place may be of an earlier answer.
    const bool known = place_[group] < answer.groups.size() && answer.groups[place_[group]].group == group;
    if (!known) {
      place_[group] = static_cast<uint32_t>(answer.groups.size());
      answer.groups.push_back(Group{group, 0});
    }
    answer.groups[place_[group]].mask |= 1u << (slot % kGroupSlots);
  }
  return answer.groups;
}

}  // namespace lattice::replication
