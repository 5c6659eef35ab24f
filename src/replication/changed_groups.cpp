#include "replication/changed_groups.h"

#include "base/assert.h"
#include "base/popcount.h"

namespace lattice::replication {

const ChangedGroups::Changes& ChangedGroups::since(uint64_t place) {
  LATTICE_ASSERT(changes_.reaches(place));
  for (const Changes& answer : answers_) {
    if (answer.begin == place && answer.end == changes_.end()) return answer;
  }
  Changes& answer = answers_[next_];
  next_ = (next_ + 1) % kKept;
  answer.begin = place;
  answer.end = changes_.end();
  for (const Group& group : answer.groups) answer.masks[group.group] = 0;
  answer.groups.clear();
  answer.woken.clear();
  for (; place != changes_.end(); ++place) {
    const uint32_t slot = changes_.at(place);
    if (changes_.is_after_rest(place)) answer.woken.push_back(slot);
    const uint32_t group = slot >> kGroupBits;
    if (group >= answer.masks.size()) answer.masks.resize(size_t{group} + 1);
    if (answer.masks[group] == 0) answer.groups.push_back(Group{group, 0});
    answer.masks[group] |= 1u << (slot % kGroupSlots);
  }
  answer.objects = 0;
  for (Group& group : answer.groups) {
    group.mask = answer.masks[group.group];
    answer.objects += base::popcount(group.mask);
  }
  return answer;
}

}  // namespace lattice::replication
