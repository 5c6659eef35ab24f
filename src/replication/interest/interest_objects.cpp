// See interest_objects.h.
#include "replication/interest/interest_objects.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "replication/interest/interest_grid.h"
#include "replication/interest/interest_tree.h"

namespace lattice::replication {

InterestObjects::InterestObjects(const Config& config, MovementListener* movements)
    : movements_(movements), slack_(config.cell / 8), limits_(config.cell) {
  if (config.kind == InterestKind::kGrid) index_ = std::make_unique<InterestGrid>(config.cell);
  if (config.kind == InterestKind::kTree) index_ = std::make_unique<InterestTree>(config.cell);
}

void InterestObjects::add(uint32_t slot, const InterestRule& rule, uint64_t owner) {
  LATTICE_ASSERT(!live(slot));
  if (slot >= objects_.size()) objects_.resize(size_t{slot} + 1);
  Object& object = objects_[slot];
  const uint32_t generation = object.generation + 1;
  object = Object{};
  object.generation = generation;
  object.live = true;
  object.rule = rule;
  object.owner = owner;
  filtered_ += rule.filtered ? 1u : 0u;
  if (owner != 0) owned_.add(owner, slot);
  list(slot);
  announce(slot);
}

void InterestObjects::remove(uint32_t slot) {
  LATTICE_ASSERT(live(slot));
  while (attached_.first(slot) != kNone) detach(attached_.first(slot));
  unhang(slot);
  unlist(slot);
  owned_.remove(slot);
  objects_[slot].live = false;
  filtered_ -= objects_[slot].rule.filtered ? 1u : 0u;
  changes_.add(slot);
}

bool InterestObjects::set_place(uint32_t slot, const Place& place) {
  LATTICE_ASSERT(live(slot));
  Place admitted = place;
  if (!limits_.admit(&admitted)) return false;
  Object& object = objects_[slot];
  if (!object.placed) {
    unlist(slot);
    object.place = admitted;
    object.placed = true;
    list(slot);
    announce(slot);
    return true;
  }
  const Place from = object.place;
  if (distance_squared(from, admitted) < slack_ * slack_) return true;
  object.place = admitted;
  if (!index_ || !index_->contains(slot)) return true;
  index_->move(slot, admitted);
  if (movements_ != nullptr) movements_->on_moved(slot, object.rule.room, from, admitted);
  return true;
}

void InterestObjects::set_rule(uint32_t slot, const InterestRule& rule) {
  LATTICE_ASSERT(live(slot));
  unlist(slot);
  filtered_ += rule.filtered ? 1u : 0u;
  filtered_ -= objects_[slot].rule.filtered ? 1u : 0u;
  objects_[slot].rule = rule;
  list(slot);
  announce(slot);
}

void InterestObjects::set_owner(uint32_t slot, uint64_t owner) {
  LATTICE_ASSERT(live(slot));
  if (objects_[slot].owner == owner) return;
  owned_.remove(slot);
  objects_[slot].owner = owner;
  if (owner != 0) owned_.add(owner, slot);
  announce(slot);
}

AttachResult InterestObjects::attach(uint32_t slot, uint32_t parent) {
  LATTICE_ASSERT(live(slot) && live(parent));
  if (objects_[slot].rule.filtered) return AttachResult::kFiltered;
  for (uint32_t above = parent; above != kNone; above = objects_[above].parent) {
    if (above == slot) return AttachResult::kCycle;
  }
  if (depth(parent) + 1 + height(slot) > kMaxAttachDepth) return AttachResult::kTooDeep;
  unlist(slot);
  unhang(slot);
  hang(slot, parent);
  announce(slot);
  return AttachResult::kOk;
}

void InterestObjects::hang(uint32_t slot, uint32_t parent) {
  objects_[slot].parent = parent;
  ++objects_[parent].attached;
  attached_.add(parent, slot);
  ++attachments_version_;
  ++attached_count_;
}

void InterestObjects::unhang(uint32_t slot) {
  const uint32_t parent = std::exchange(objects_[slot].parent, kNone);
  if (parent == kNone) return;
  --objects_[parent].attached;
  attached_.remove(slot);
  ++attachments_version_;
  --attached_count_;
}

void InterestObjects::detach(uint32_t slot) {
  LATTICE_ASSERT(live(slot));
  if (objects_[slot].parent == kNone) return;
  unhang(slot);
  list(slot);
  announce(slot);
}

InterestObjects::Verdict InterestObjects::judge(uint32_t slot, const Viewer& viewer) const {
  Verdict verdict;
  uint32_t at = slot;
  for (;;) {
    const Object& object = objects_[at];
    if (object.owner == viewer.peer && viewer.peer != 0) {
      verdict.owned = true;  // of a parent: what hangs on it comes with it
    } else if (!verdict.owned) {
      const bool for_owner = object.rule.relevance == Relevance::kOwner;
      const bool for_others = object.rule.teams != 0 && (object.rule.teams & viewer.teams) == 0;
      if (for_owner || for_others) {
        verdict.hidden_by = for_owner ? HiddenBy::kOwner : HiddenBy::kTeams;
        return verdict;
      }
    }
    if (object.parent == kNone) break;
    at = object.parent;
  }
  const Object& root = objects_[at];
  verdict.root = at;
  verdict.allowed = verdict.owned || root.rule.room == viewer.room || root.rule.room == kRoomAll;
  if (!verdict.allowed) verdict.hidden_by = HiddenBy::kRoom;
  verdict.pinned = verdict.owned || root.rule.relevance != Relevance::kDistance || !root.placed || !index_;
  return verdict;
}

uint32_t InterestObjects::root(uint32_t slot) const {
  while (objects_[slot].parent != kNone) slot = objects_[slot].parent;
  return slot;
}

// Takes a root out of the index or out of the list of its room.
void InterestObjects::unlist(uint32_t slot) {
  pinned_.remove(slot);
  if (!index_ || !index_->contains(slot)) return;
  index_->remove(slot);
  if (objects_[slot].rule.room == kRoomAll) --indexed_in_all_rooms_;
}

void InterestObjects::list(uint32_t slot) {
  const Object& object = objects_[slot];
  if (object.parent != kNone || object.rule.relevance == Relevance::kOwner) return;
  if (index_ && object.placed && object.rule.relevance == Relevance::kDistance) {
    index_->insert(slot, object.rule.room, object.place);
    if (object.rule.room == kRoomAll) ++indexed_in_all_rooms_;
  } else {
    pinned_.add(pinned_key(object.rule.room, object.rule.filtered), slot);
  }
}

void InterestObjects::announce(uint32_t slot) {
  changes_.add(slot);
  for_each_attached(slot, [this](uint32_t child) { changes_.add(child); });
}

uint32_t InterestObjects::depth(uint32_t slot) const {
  uint32_t depth = 0;
  for (uint32_t above = objects_[slot].parent; above != kNone; above = objects_[above].parent) ++depth;
  return depth;
}

uint32_t InterestObjects::height(uint32_t slot) const {
  uint32_t highest = 0;
  for_each_attached(slot, [&](uint32_t child) {
    uint32_t levels = 1;
    for (uint32_t above = objects_[child].parent; above != slot; above = objects_[above].parent) ++levels;
    highest = std::max(highest, levels);
  });
  return highest;
}

}  // namespace lattice::replication
