// The builder's care for groups: what is attached to each other leaves in one part (D-49), and where a budget
// has to choose, all of it or nothing.
#include <algorithm>

#include "replication/snapshot_builder.h"

namespace lattice::replication {

// Calls visit() with the places of the items of each group, in ascending order.
template <class Item, class Visit>
void SnapshotBuilder::for_each_group(std::vector<Item>& items, Visit visit) {
  by_group_.clear();
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (items[i].group != kNoSlot) by_group_.push_back(uint64_t{items[i].group} << 32 | i);
  }
  std::sort(by_group_.begin(), by_group_.end());
  for (size_t first = 0, end = 0; first < by_group_.size(); first = end) {
    while (end < by_group_.size() && by_group_[end] >> 32 == by_group_[first] >> 32) ++end;
    visit(std::span<const uint64_t>(by_group_).subspan(first, end - first));
  }
}

// What of a group is in flight, or waits for its turn (is_early()).
void SnapshotBuilder::may_go_along(const Replica& replica, uint32_t slot, uint32_t index,
                                   const SendTerms& terms) {
  if (terms.group == kNoSlot) return;
  Waiting waiting;
  waiting.priority = replica.accumulator;
  waiting.index = index;
  waiting.slot = slot;
  waiting.group = terms.group;
  waiting.may_step = false;
  along_.push_back(waiting);
}

// What goes of each group, in ascending group.
void SnapshotBuilder::measure_groups(const ReplicaList& recipient) {
  sizes_.clear();
  for (const Waiting& waiting : waiting_) {
    if (waiting.group == kNoSlot) continue;
    sizes_.push_back({waiting.group, about_bytes(recipient, waiting), waiting.is_own});
  }
  std::sort(sizes_.begin(), sizes_.end(),
            [](const GroupSize& a, const GroupSize& b) { return a.group < b.group; });
  size_t groups = 0;
  for (const GroupSize& one : sizes_) {
    if (groups == 0 || sizes_[groups - 1].group != one.group) {
      sizes_[groups++] = one;
      continue;
    }
    GroupSize& sum = sizes_[groups - 1];
    sum.bytes += one.bytes;
    sum.has_own = sum.has_own || one.has_own;
  }
  sizes_.resize(groups);
  for (const Waiting& waiting : along_) {
    if (GroupSize* size = find_size(waiting.group)) size->bytes += about_bytes(recipient, waiting);
  }
}

SnapshotBuilder::GroupSize* SnapshotBuilder::find_size(uint32_t group) {
  const auto at =
      std::lower_bound(sizes_.begin(), sizes_.end(), group,
                       [](const GroupSize& each, uint32_t wanted) { return each.group < wanted; });
  return at != sizes_.end() && at->group == group ? &*at : nullptr;
}

// An entry is about as long as the one before of the object.
uint32_t SnapshotBuilder::about_bytes(const ReplicaList& recipient, const Waiting& waiting) {
  return recipient.replica(waiting.index).entry_bytes + kMostBlockHeadBytes;
}

// Where one object of a group goes, all go of which the client may lack the newest state. So it shows none of
// them as they were before, whatever is lost. What it may lack is among those that are awake: it waits, or is
// in along_. A group that fits no part is not completed: its objects do not come together anyway. A state in
// pieces is not sent again (D-56), and an object that goes along has no rested entry beside its state (D-55).
void SnapshotBuilder::complete_groups(const ReplicaList& recipient) {
  if (along_.empty()) return;
  measure_groups(recipient);
  const size_t collected = waiting_.size();
  for (const Waiting& waiting : along_) {
    const GroupSize* size = find_size(waiting.group);
    if (size == nullptr) continue;
    const uint32_t room = config_.part_capacity_bytes / (size->has_own ? 2 : 1);
    const bool is_new = recipient.replica(waiting.index).acked_version == 0;
    if (is_new || size->bytes <= room) waiting_.push_back(waiting);
  }
  if (waiting_.size() == collected) return;
  std::sort(waiting_.begin(), waiting_.end(),
            [](const Waiting& a, const Waiting& b) { return a.slot < b.slot; });
  for (uint32_t i = 0; i < waiting_.size(); ++i) waiting_[i].place = i;
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    if (candidate.kind != EntryKind::kRested) return false;
    const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), candidate.slot,
                                     [](const Waiting& each, uint32_t slot) { return each.slot < slot; });
    return at != waiting_.end() && at->index == candidate.index;
  });
}

// The objects of a group have the highest priority among them, and one place.
void SnapshotBuilder::rank_groups() {
  for_each_group(waiting_, [&](std::span<const uint64_t> group) {
    Waiting all = waiting_[static_cast<uint32_t>(group.front())];
    for (const uint64_t at : group) {
      const Waiting& waiting = waiting_[static_cast<uint32_t>(at)];
      all.priority = std::max(all.priority, waiting.priority);
      all.goes_with_own = all.goes_with_own || waiting.is_own;
      all.is_new = all.is_new && waiting.is_new;
    }
    for (const uint64_t at : group) {
      Waiting& waiting = waiting_[static_cast<uint32_t>(at)];
      waiting.priority = all.priority;
      waiting.place = all.place;
      waiting.goes_with_own = all.goes_with_own;
      waiting.is_new = all.is_new;
    }
  });
}

// Makes a unit of each group that fits `part_bits`, or half of that if the client predicts an object of it:
// else what hangs on a pawn would take its place among the first away. The objects of a longer one leave each
// on its own, by their own priority.
void SnapshotBuilder::make_units(const ReplicaList& recipient, uint32_t part_bits) {
  units_.clear();
  if (!any_groups_) return;
  for_each_group(candidates_, [&](std::span<const uint64_t> group) {
    Unit unit;
    unit.lead = static_cast<uint32_t>(group.front());
    float priority = 0;
    for (const uint64_t at : group) {
      const Candidate& candidate = candidates_[static_cast<uint32_t>(at)];
      unit.bits += estimate_bits(candidate) + candidate.head_bits + 8 * kMostBlockHeadBytes;
      unit.has_own = unit.has_own || candidate.is_own;
      unit.has_predicted = unit.has_predicted || candidate.is_predicted;
      priority = std::max(priority, candidate.priority);
    }
    const bool fits = unit.fits(part_bits);
    stats_.groups_cut += fits ? 0 : 1;
    for (const uint64_t at : group) {
      Candidate& candidate = candidates_[static_cast<uint32_t>(at)];
      candidate.unit = fits ? static_cast<uint32_t>(units_.size()) : Candidate::kNoUnit;
      if (fits) continue;
      candidate.group = kNoSlot;
      if (candidate.kind != EntryKind::kRemoved) {
        candidate.priority = recipient.replica(candidate.index).accumulator;
      }
    }
    if (!fits) return;
    candidates_[unit.lead].priority = priority;
    units_.push_back(unit);
  });
}

// What leaves together goes together: all waiting removals of a group are candidates if one is.
void SnapshotBuilder::complete_removals(ReplicaList& recipient) {
  Removals& removals = recipient.removals();
  std::sort(removals_.begin(), removals_.end());
  const size_t seen = removals_.size();
  groups_.clear();
  for (const Candidate& candidate : candidates_) {
    if (candidate.group != kNoSlot) groups_.push_back(candidate.group);
  }
  std::sort(groups_.begin(), groups_.end());
  groups_.erase(std::unique(groups_.begin(), groups_.end()), groups_.end());
  for (const uint32_t group : groups_) {
    members_.clear();
    rules_->add_members(group, &members_);
    for (const uint32_t slot : members_) {
      const uint32_t index = removals.find(slot);
      if (index == Removals::kNone || removals[index].state != Removal::State::kWaits) continue;
      const auto seen_end = removals_.begin() + static_cast<std::ptrdiff_t>(seen);
      if (std::binary_search(removals_.begin(), seen_end, index)) continue;
      if (removal_group(removals[index]) == group) add_removal(recipient, index);
    }
  }
}

// The group of an object that lives on outside of the set: those that leave together go together.
uint32_t SnapshotBuilder::removal_group(const Removal& removal) const {
  const bool lives =
      removal.left && table_.live(removal.slot) && table_.network_id(removal.slot) == removal.network_id;
  SendTerms terms;
  if (lives) read_terms(removal.slot, &terms);
  return terms.group;
}

}  // namespace lattice::replication
