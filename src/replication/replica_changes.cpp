// How a ReplicaList learns what changed of its objects, and which of them are awake.
#include <algorithm>

#include "base/assert.h"
#include "replication/replica_list.h"

namespace lattice::replication {
namespace {

/// To look a change up costs as much as to look at so many objects of the set.
constexpr size_t kLookupCost = 4;

}  // namespace

void ReplicaList::wake(uint32_t index) {
  if (doing_[index] == Doing::kAwake) return;
  LATTICE_ASSERT(doing_[index] != Doing::kInStep);
  doing_[index] = Doing::kAwake;
  const uint64_t entry = uint64_t{slots_.slot(index)} << 32 | index;
  awake_in_order_ = awake_in_order_ && (awake_.empty() || awake_.back() < entry);
  awake_.push_back(entry);
}

// Without a look at the object's index, which is not in the cache. May say false of one that is awake.
bool ReplicaList::lists_awake(uint32_t slot) const {
  if (awake_is_stale_ || !awake_in_order_) return false;
  const auto at = std::lower_bound(awake_.begin(), awake_.end(), uint64_t{slot} << 32);
  return at != awake_.end() && *at >> 32 == slot;
}

void ReplicaList::follow(const StateStore& store, ChangedGroups& changed) {
  const ChangeLog& announced = store.announced();
  const ChangeLog& changes = store.changes();
  if (!steps_.empty() && !announced.reaches(announced_read_)) end_steps(store);
  // What was announced takes full entries.
  for (; !steps_.empty() && announced_read_ != announced.end(); ++announced_read_) {
    const uint32_t slot = announced.at(announced_read_);
    if (steps_.holds(slot)) leave_step(store, *steps_.find(slot >> kGroupBits), 1u << slot % kGroupSlots);
  }
  announced_read_ = announced.end();
  if (!changes.reaches(changes_read_)) {
    follow_outdated(store);
    wake_outdated(store);
  } else if (!steps_.empty()) {
    follow_groups(store, changed.since(changes_read_));
  } else {
    wake_changed(changed, changes);
  }
  changes_read_ = changes.end();
  changes_tick_ = store.last_tick();
  settle(store);
}

// Of what is not settled, looks up what changed, or where that is less, looks at each object. A settled
// object had rested, so it is among the few that changed after a rest. What is computed of the changes is
// shared with other clients.
void ReplicaList::wake_changed(ChangedGroups& changed, const ChangeLog& changes) {
  if (!is_worth_asking_each(changes.end() - changes_read_)) {
    visited_ += changes.end() - changes_read_;
    for (uint64_t at = changes_read_; at != changes.end(); ++at) wake_slot(changes.at(at));
    return;
  }
  wake_own(changed.since(changes_read_));
}

// Rather than looking each of `changed` objects up. In a world of rooms most of what changes is nobody's
// here.
bool ReplicaList::is_worth_asking_each(uint64_t changed) const {
  return changed > (slots_.slots().size() + settled_.size()) / kLookupCost;
}

void ReplicaList::wake_own(const ChangedGroups::Changes& since) {
  const std::span<const uint32_t> slots = slots_.slots();
  for (uint32_t index = 0; index < slots.size(); ++index) {
    if (since.holds(slots[index]) && doing_[index] != Doing::kInStep) wake(index);
  }
  visited_ += slots.size();
  wake_settled(since);
}

void ReplicaList::wake_settled(const ChangedGroups::Changes& since) {
  const auto rouse = [this](uint32_t slot, const SettledReplicas::State& state) {
    wake(make_active(slot, state));
  };
  if (since.woken.size() > settled_.size() / kLookupCost) {
    visited_ += settled_.size();
    return settled_.take_if([&](uint32_t slot, size_t) { return since.holds(slot); }, rouse);
  }
  visited_ += since.woken.size();
  for (const uint32_t slot : since.woken) {
    if (const std::optional<SettledReplicas::State> state = settled_.take(slot)) rouse(slot, *state);
  }
}

void ReplicaList::wake_outdated(const StateStore& store) {
  const std::span<const uint32_t> slots = slots_.slots();
  for (uint32_t index = 0; index < slots.size(); ++index) {
    if (slots[index] >= SlotIndex::kFree || doing_[index] == Doing::kInStep) continue;
    if (replicas_[index].sent_version != store.version(slots[index])) wake(index);
  }
  visited_ += slots.size() + settled_.size();
  settled_.take_if(
      [&](uint32_t slot, size_t place) { return store.version(slot) != settled_.version_at(place); },
      [this](uint32_t slot, const SettledReplicas::State& state) { wake(make_active(slot, state)); });
}

bool ReplicaList::rests(const StateStore& store, ChangedGroups& changed) {
  if (!told_unchanged_ || !awake_.empty() || removals_.size() != 0 || !steps_.empty() || longs_.size() != 0 ||
      !ledger_.forgotten_entries().empty()) {
    return false;
  }
  if (changes_read_ != store.changes().end()) {
    follow(store, changed);
  } else {
    settle(store);
  }
  return awake_.empty();
}

std::span<uint64_t> ReplicaList::awake() {
  if (awake_is_stale_) drop_stale();
  if (!awake_in_order_) std::sort(awake_.begin(), awake_.end());
  awake_in_order_ = true;
  visited_ += awake_.size();
  return awake_;
}

// Drops entries of stays that have ended. An object that left and came back may be listed twice.
void ReplicaList::drop_stale() {
  std::sort(awake_.begin(), awake_.end());
  awake_.erase(std::unique(awake_.begin(), awake_.end()), awake_.end());
  std::erase_if(awake_, [this](uint64_t entry) {
    const auto index = static_cast<uint32_t>(entry);
    return slots_.slot(index) != static_cast<uint32_t>(entry >> 32) || doing_[index] != Doing::kAwake;
  });
  awake_is_stale_ = false;
  awake_in_order_ = true;
}

}  // namespace lattice::replication
