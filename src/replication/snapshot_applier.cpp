#include "replication/snapshot_applier.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {

const char* snapshot_refusal_name(SnapshotRefusal refusal) {
  switch (refusal) {
    case SnapshotRefusal::kNone:
      return "none";
    case SnapshotRefusal::kStale:
      return "snapshot_stale";
    case SnapshotRefusal::kTooLarge:
      return "snapshot_too_large";
    case SnapshotRefusal::kMalformed:
      return "snapshot_malformed";
    case SnapshotRefusal::kTrailingBits:
      return "snapshot_trailing_bits";
    case SnapshotRefusal::kTick:
      return "snapshot_tick";
    case SnapshotRefusal::kPartNumber:
      return "snapshot_part_number";
    case SnapshotRefusal::kIdOrder:
      return "snapshot_id_order";
    case SnapshotRefusal::kUnknownType:
      return "snapshot_unknown_type";
    case SnapshotRefusal::kTypeChanged:
      return "snapshot_type_changed";
    case SnapshotRefusal::kMode:
      return "snapshot_mode";
    case SnapshotRefusal::kBaselineAge:
      return "snapshot_baseline_age";
    case SnapshotRefusal::kUnknownObject:
      return "snapshot_unknown_object";
    case SnapshotRefusal::kMissingBaseline:
      return "snapshot_missing_baseline";
    case SnapshotRefusal::kTooManyObjects:
      return "snapshot_too_many_objects";
    case SnapshotRefusal::kCount:
      break;
  }
  return "unknown";
}

SnapshotApplier::SnapshotApplier(const TypeTable& types, ObjectTable& mirror, SnapshotListener& listener)
    : types_(types),
      mirror_(mirror),
      listener_(listener),
      index_of_(mirror.max_objects(), base::HashIndex::Growth::kDoubling) {}

SnapshotApplier::Result SnapshotApplier::apply(std::span<const uint8_t> body) {
  SnapshotHeader header;
  refusal_ = decode(body, &header);
  if (refusal_ != SnapshotRefusal::kNone) {
    ++refusals_[static_cast<size_t>(refusal_)];
    return refusal_ == SnapshotRefusal::kStale ? Result::kStale : Result::kRefused;
  }
  commit(header);
  return Result::kApplied;
}

// ---- Committing a well-formed part ------------------------------------------------------------------

void SnapshotApplier::commit(const SnapshotHeader& header) {
  header_ = header;
  const Tick tick = header.server_tick;
  if (newest_tick_ == 0) aged_tick_ = tick;
  if (newest_tick_ == 0 || base::tick_after(tick, newest_tick_)) newest_tick_ = tick;
  if (base::tick_distance(newest_tick_, aged_tick_) >= kAgingTicks) age();
  if (!leaving_.empty()) revive_leaving(tick);
  for (const Pending& entry : pending_) {
    switch (entry.kind) {
      case EntryKind::kDelta:
      case EntryKind::kFull:
        commit_state(entry, tick);
        break;
      case EntryKind::kRemoved:
        commit_removal(entry, tick);
        break;
      case EntryKind::kUnchanged:
        commit_unchanged(entry.info.network_id, tick);
        break;
    }
  }
  expire_tombstones();
  validate();
}

void SnapshotApplier::commit_state(const Pending& entry, Tick tick) {
  // A tombstone that was there when the part was decoded may have made way for others of the same part.
  if (entry.kind == EntryKind::kDelta && find_known(entry.info.network_id) == kNotKnown) return;
  Known& known = find_or_insert(entry.info.network_id);
  // The state was sent before a removal that is already here. It belongs to an earlier life of the object
  //
  if (known.was_removed && !base::tick_after(tick, known.removed_tick)) return;
  const bool is_new = known.slot == kNoSlot;
  if (is_new) spawn(known, entry.info, tick);

  StateRing& ring = rings_[known.ring];
  while (ring.size() > 1 && base::tick_distance(newest_tick_, ring.tick(0)) >= kClientBaselineTicks) {
    ring.pop_front();
  }
  serialization::Word* words = ring.insert(tick);
  if (words == nullptr) return;  // the state of this tick is already here
  std::copy_n(scratch_.data() + entry.first_word, known.type->word_count, words);

  if (entry.kind == EntryKind::kFull && (is_new || base::tick_after(tick, known.full_tick))) {
    known.full_tick = tick;
    if (!is_new) update_authority(known.slot, entry.info, tick);
  }
  const uint32_t slot = known.slot;
  if (is_new || base::tick_after(tick, known.applied_tick)) {
    known.applied_tick = tick;
    if (is_new || base::tick_after(tick, known.heard_tick)) known.heard_tick = tick;
    if (is_new) listener_.on_spawn(slot, tick);
    listener_.on_state(slot, tick, words, entry.kind);
  } else {
    listener_.on_late_state(slot, tick, words);
  }
}

void SnapshotApplier::spawn(Known& known, const ObjectInfo& info, Tick tick) {
  LATTICE_ASSERT(info.type != nullptr);  // only full entries reach an object that is not there
  if (known.was_removed) --tombstones_;
  // decode() counted leaving objects as free room, so the oldest of them makes way.
  if (mirror_.size() == mirror_.max_objects() && !leaving_.empty()) despawn(known_[find_known(leaving_[0])]);
  ObjectInfo mirrored = info;
  mirrored.spawn_tick = tick;
  known.slot = mirror_.mirror(mirrored);
  LATTICE_CHECK(known.slot != kNoSlot);  // the count was checked while decoding
  known.type = info.type;
  if (known.ring == kNoRing) known.ring = take_ring(*info.type);
  if (known.slot >= ring_of_slot_.size()) ring_of_slot_.resize(size_t{known.slot} + 1, kNoRing);
  ring_of_slot_[known.slot] = known.ring;
  known.applied_tick = known.heard_tick = known.full_tick = tick;
}

void SnapshotApplier::update_authority(uint32_t slot, const ObjectInfo& info, Tick tick) {
  const ObjectInfo& now = mirror_.info(slot);
  if (now.owner == info.owner && now.mode == info.mode && now.authority_tick == info.authority_tick) return;
  mirror_.set_authority(slot, info.owner, info.mode, info.authority_tick);
  listener_.on_authority(slot, tick);
}

void SnapshotApplier::commit_removal(const Pending& entry, Tick tick) {
  Known& known = find_or_insert(entry.info.network_id);
  if (known.was_removed && !base::tick_after(tick, known.removed_tick)) return;
  if (known.slot != kNoSlot && !base::tick_after(tick, known.applied_tick))
    return;  // the object has come back since
  const bool was_tombstone = known.was_removed && known.slot == kNoSlot;
  known.was_removed = true;
  known.removed_tick = tick;
  if (known.slot == kNoSlot) {
    if (!was_tombstone) ++tombstones_;
    return bury(known);
  }
  known.rpc_count = entry.rpc_count;
  if (listener_.may_despawn(known.slot, known.rpc_count)) return despawn(known);
  if (!known.leaving) leaving_.push_back(known.network_id);
  known.leaving = true;
}

void SnapshotApplier::despawn(Known& known) {
  LATTICE_ASSERT(known.slot != kNoSlot && known.was_removed);
  if (known.leaving) leaving_.erase(std::find(leaving_.begin(), leaving_.end(), known.network_id));
  known.leaving = false;
  ++tombstones_;
  const uint32_t slot = known.slot;
  known.slot = kNoSlot;
  listener_.on_despawn(slot, known.removed_tick);
  ring_of_slot_[slot] = kNoRing;
  mirror_.despawn(slot);
  bury(known);
}

void SnapshotApplier::retry_removals() {
  for (size_t i = 0; i < leaving_.size();) {
    Known& known = known_[find_known(leaving_[i])];
    if (listener_.may_despawn(known.slot, known.rpc_count)) {
      despawn(known);  // removes the object from leaving_
    } else {
      ++i;
    }
  }
}

// Runs before the entries of the part are applied: an object that comes back must not make way for a new
// object.
void SnapshotApplier::revive_leaving(Tick tick) {
  for (const Pending& entry : pending_) {
    const uint32_t index = find_known(entry.info.network_id);
    if (index == kNotKnown || revived_by(entry, &known_[index], tick) == 0) continue;
    Known& known = known_[index];
    leaving_.erase(std::find(leaving_.begin(), leaving_.end(), known.network_id));
    known.leaving = false;
    listener_.on_stays(known.slot);
  }
}

// Returns 1 when the entry begins a new life of an object that has not left yet, else 0.
uint32_t SnapshotApplier::revived_by(const Pending& entry, const Known* known, Tick tick) const {
  return known != nullptr && known->leaving && entry.kind == EntryKind::kFull &&
                 base::tick_after(tick, known->removed_tick)
             ? 1
             : 0;
}

bool SnapshotApplier::is_gone(uint64_t network_id, Tick tick) const {
  const uint32_t index = find_known(network_id);
  if (index == kNotKnown || known_[index].slot != kNoSlot) return false;
  return !base::tick_after(tick, known_[index].removed_tick);
}

void SnapshotApplier::commit_unchanged(uint64_t network_id, Tick tick) {
  const uint32_t index = find_known(network_id);
  if (index == kNotKnown) return;
  Known& known = known_[index];
  if (known.slot == kNoSlot || known.leaving || !base::tick_after(tick, known.applied_tick)) return;
  if (!base::tick_after(tick, known.heard_tick)) return;
  known.heard_tick = tick;
  listener_.on_unchanged(known.slot, tick);
}

void SnapshotApplier::bury(const Known& known) {
  const uint64_t network_id = known.network_id;
  const Tick removed_tick = known.removed_tick;
  if (graves_.full()) free_tombstone(graves_.pop_front());
  graves_.push_back(Tombstone{network_id, removed_tick});
}

// The oldest burials are in front. One that a late part brought waits for those before it.
void SnapshotApplier::expire_tombstones() {
  while (!graves_.empty() &&
         base::tick_distance(newest_tick_, graves_.front().removed_tick) > kStalePartTicks) {
    free_tombstone(graves_.pop_front());
  }
}

// Unless the object came back since, or was removed once more.
void SnapshotApplier::free_tombstone(const Tombstone& grave) {
  const uint32_t index = find_known(grave.network_id);
  if (index == kNotKnown) return;
  Known& known = known_[index];
  if (known.slot != kNoSlot || known.removed_tick != grave.removed_tick) return;
  if (known.ring != kNoRing) free_rings_.push_back(known.ring);
  known = Known();
  index_of_.erase(grave.network_id);
  free_known_.push_back(index);
  --tombstones_;
}

// Ticks wrap. Parts as old as `oldest` are stale, so nothing is compared with a tick before it any more. Such
// a tick is moved forward to `oldest`, before it could seem to lie in the future.
void SnapshotApplier::age() {
  aged_tick_ = newest_tick_;
  const Tick oldest = newest_tick_ - static_cast<Tick>(kClientBaselineTicks) - 1;
  for (Known& known : known_) {
    if (known.network_id == 0 || known.slot == kNoSlot) continue;
    rings_[known.ring].age(oldest);
    for (Tick* tick : {&known.applied_tick, &known.full_tick, &known.heard_tick}) {
      if (base::tick_after(oldest, *tick)) *tick = oldest;
    }
    if (!known.was_removed || !base::tick_after(oldest, known.removed_tick)) continue;
    known.was_removed = known.leaving;
    known.removed_tick = oldest;
  }
}

// ---- Finding things -------------------------------------------------------------------------------

uint32_t SnapshotApplier::find_known(uint64_t network_id) const {
  return index_of_.find(network_id);
}

SnapshotApplier::Known& SnapshotApplier::find_or_insert(uint64_t network_id) {
  if (const uint32_t found = find_known(network_id); found != kNotKnown) return known_[found];
  if (free_known_.empty()) {
    free_known_.push_back(static_cast<uint32_t>(known_.size()));
    known_.emplace_back();
  }
  const uint32_t index = free_known_.back();
  free_known_.pop_back();
  known_[index].network_id = network_id;
  index_of_.insert(network_id, index);
  return known_[index];
}

uint32_t SnapshotApplier::take_ring(const ObjectType& type) {
  if (free_rings_.empty()) {
    free_rings_.push_back(static_cast<uint32_t>(rings_.size()));
    rings_.emplace_back();
  }
  const uint32_t ring = free_rings_.back();
  free_rings_.pop_back();
  rings_[ring].reset(type.word_count, kClientBaselineTicks);
  return ring;
}

const serialization::Word* SnapshotApplier::confirmed(uint32_t slot, Tick* tick) const {
  if (slot >= ring_of_slot_.size() || ring_of_slot_[slot] == kNoRing) return nullptr;
  const StateRing& ring = rings_[ring_of_slot_[slot]];
  LATTICE_ASSERT(!ring.empty());
  if (tick != nullptr) *tick = ring.tick(ring.size() - 1);
  return ring.words(ring.size() - 1);
}

Tick SnapshotApplier::last_heard(uint32_t slot) const {
  if (!mirror_.live(slot)) return 0;
  const uint32_t index = find_known(mirror_.network_id(slot));
  return index == kNotKnown ? 0 : known_[index].heard_tick;
}

void SnapshotApplier::validate() const {
#if defined(LATTICE_VALIDATION)
  uint32_t live = 0;
  uint32_t tombstones = 0;
  size_t leaving = 0;
  for (const Known& known : known_) {
    if (known.network_id == 0) continue;
    LATTICE_ASSERT(index_of_.contains(known.network_id));
    if (known.slot == kNoSlot) {
      LATTICE_ASSERT(known.was_removed);
      ++tombstones;
      continue;
    }
    ++live;
    leaving += known.leaving ? 1 : 0;
    const StateRing& ring = rings_[known.ring];
    LATTICE_ASSERT(mirror_.network_id(known.slot) == known.network_id);
    LATTICE_ASSERT(ring.tick(ring.size() - 1) == known.applied_tick);
  }
  LATTICE_ASSERT(live == mirror_.size());
  LATTICE_ASSERT(tombstones == tombstones_);
  LATTICE_ASSERT(leaving == leaving_.size());
#endif
}

}  // namespace lattice::replication
