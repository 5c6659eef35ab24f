#include "replication/snapshot_applier.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/events.h"

namespace lattice::replication {

const char* snapshot_refusal_name(SnapshotRefusal refusal) {
  static constexpr const char* kNames[] = {
      "none",
#define LATTICE_EVENT_SNAPSHOT(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, refusal);
}

SnapshotApplier::SnapshotApplier(const TypeTable& types, ObjectTable& mirror, SnapshotListener& listener,
                                 uint32_t slot_bound)
    : types_(types),
      mirror_(mirror),
      listener_(listener),
      slot_bound_(slot_bound),
      index_of_(64, base::HashIndex::Growth::kDoubling, mirror.id_seed()),
      full_ids_(64, base::HashIndex::Growth::kDoubling, mirror.id_seed()),
      new_slots_(64, base::HashIndex::Growth::kDoubling, mirror.id_seed()),
      traffic_(types.size()) {}

void SnapshotApplier::reserve(uint32_t objects) {
  mirror_.reserve(objects);
  known_.reserve(objects);
  known_of_slot_.reserve(objects);
  known_of_mirror_.reserve(objects);
  index_of_.reserve(objects);
}

SnapshotApplier::Result SnapshotApplier::apply(std::span<const uint8_t> body) {
  SnapshotHeader header;
  refusal_ = decode(body, &header);
  if (refusal_ != SnapshotRefusal::kNone) {
    ++refusals_[static_cast<size_t>(refusal_)];
    const bool late = refusal_ == SnapshotRefusal::kStale || refusal_ == SnapshotRefusal::kLateBaseline;
    return late ? Result::kStale : Result::kRefused;
  }
  commit(header);
  return Result::kApplied;
}

uint32_t SnapshotApplier::place(const ObjectInfo& info, uint32_t remote_slot, const Word* words, Tick tick) {
  LATTICE_ASSERT(newest_tick_ == 0 && find_known(info.network_id) == kNotKnown);
  placed_tick_ = tick;
  placed_ids_ = std::max(placed_ids_, info.network_id);
  placed_slots_ = std::max(placed_slots_, remote_slot + 1);
  LATTICE_CHECK(make_known(info.network_id, remote_slot));
  Known& known = known_[known_at(remote_slot)];
  spawn(known, info, tick);
  known.placed = words;
  std::copy_n(words, info.type->word_count, known.states.insert(tick, false));
  known.states.rest(tick + 1);  // drawn as it was placed until a state comes
  return known.slot;
}

// ---- Committing a well-formed part ------------------------------------------------------------------

void SnapshotApplier::commit(const SnapshotHeader& header) {
  header_ = header;
  const Tick tick = header.server_tick;
  if (newest_tick_ == 0) aged_tick_ = tick;
  if (newest_tick_ == 0 || base::tick_after(tick, newest_tick_)) newest_tick_ = tick;
  if (base::tick_distance(newest_tick_, aged_tick_) >= kAgingTicks) age();
  // Before the entries are applied: an object that comes back must not make way for a new object.
  if (leaving_count_ != 0) {
    each_full(tick, [this](const Pending& entry, Tick of) { revive_leaving(entry, of); });
  }
  commit_deltas(deltas(), tick, header.keep);
  for (const Pending& entry : pending_) {
    switch (entry.kind) {
      case EntryKind::kFull:
        commit_full(entry, tick, header.keep);
        break;
      case EntryKind::kRemoved:
        commit_removal(entry, tick);
        break;
      case EntryKind::kRested:
        commit_rested(entry, tick);
        break;
      case EntryKind::kDelta:
      case EntryKind::kPiece:
        break;  // see commit_deltas(), commit_pieces()
    }
  }
  if (!runs_.empty() || !received_pieces_.empty()) commit_pieces();
  expire_tombstones();
  validate();
}

// Comes before all that could give the memory of an object to another one.
[[gnu::flatten]] void SnapshotApplier::commit_deltas(std::span<const Delta> deltas, Tick tick, bool keep) {
  NewState* const news = news_.data();
  size_t count = 0;
  const auto tell = [&] {
    if (count != 0) listener_.on_states(tick, std::span<const NewState>(news, count));
    count = 0;
  };
  const Tick newest = newest_tick_;
  Known* const all = known_.data();
  for (const Delta& delta : deltas) {
    Known& known = all[delta.known];
    if (known.slot == kNoSlot || is_before_removal(known, tick)) continue;
    if (delta.baseline != tick) {
      known.states.forget_before(delta.baseline, newest);
    } else {
      draw_from(known, tick);
    }
    const Word* words = known.states.insert(tick, keep, interval_ticks_, drawn_from_);
    if (words == nullptr) continue;
    if (!base::tick_after(tick, known.applied_tick)) {
      listener_.on_late_state(known.slot, tick, words);
      continue;
    }
    known.applied_tick = tick;
    news[count++] = {known.slot, words};
    if (!known.rest_waits) continue;
    tell();
    end_wait_for_rest(known, tick);
  }
  tell();
}

void SnapshotApplier::commit_full(const Pending& entry, Tick tick, bool keep) {
  if (!make_known(entry.network_id, entry.remote_slot)) return;
  Known& known = known_[known_at(entry.remote_slot)];
  if ((known.type != entry.type && known.type != nullptr) || is_before_removal(known, tick)) return;
  const Full& full = fulls_[entry.full];
  const bool is_new = known.slot == kNoSlot;
  if (is_new) {
    spawn(known, full.info, tick);
  } else {
    draw_from(known, tick);
  }
  std::copy_n(scratch_.data() + full.first_word, known.type->word_count, known.states.draft(drawn_from_));
  const Word* words = known.states.insert(tick, keep, interval_ticks_, drawn_from_);
  if (words == nullptr) return;  // the state of this tick is already here
  if (!is_new && base::tick_after(tick, known.full_tick)) {
    known.full_tick = tick;
    update_authority(known.slot, full.info, tick);
  }
  if (!is_new && !base::tick_after(tick, known.applied_tick)) {
    return listener_.on_late_state(known.slot, tick, words);
  }
  known.applied_tick = tick;
  if (is_new) listener_.on_spawn(known.slot, tick);
  listener_.on_state(known.slot, tick, words, EntryKind::kFull);
  if (known.rest_waits) end_wait_for_rest(known, tick);
}

// Who joins draws a placed object from its first state of the session on.
void SnapshotApplier::draw_from(Known& known, Tick tick) {
  const bool is_as_placed = known.placed != nullptr && known.applied_tick == placed_tick_;
  if (!joined_ && is_as_placed && base::tick_after(tick, placed_tick_)) known.states.begin_stay(tick - 1);
}

// A state that was sent before a removal that is already here belongs to an earlier stay of the object
//
bool SnapshotApplier::is_before_removal(const Known& known, Tick tick) {
  return known.was_removed && !base::tick_after(tick, known.removed_tick);
}

// A rested entry came before the state that it is about, and the state of `tick` came now.
void SnapshotApplier::end_wait_for_rest(Known& known, Tick tick) {
  const bool is_same =
      !base::tick_after(known.rest_baseline, tick) && !base::tick_after(tick, known.rest_tick);
  if (is_same) rest(known, known.rest_tick);
  known.rest_waits = base::tick_after(known.rest_baseline, tick);  // older states do not end the wait
}

void SnapshotApplier::rest(Known& known, Tick tick) {
  known.states.rest(tick);
  listener_.on_rested(known.slot, tick);
}

void SnapshotApplier::spawn(Known& known, const ObjectInfo& info, Tick tick) {
  LATTICE_ASSERT(info.type != nullptr);  // only full entries reach an object that is not there
  if (known.was_removed) --tombstones_;
  // decode() counted leaving objects as free room, so the oldest of them makes way.
  if (mirror_.size() == mirror_.max_objects() && leaving_count_ != 0) {
    coming_ = find_known(info.network_id);
    despawn(known_[first_leaving_]);
    coming_ = kNotKnown;
  }
  ObjectInfo mirrored = info;
  mirrored.spawn_tick = tick;
  known.slot = mirror_.mirror(mirrored);
  LATTICE_CHECK(known.slot != kNoSlot);  // the count was checked while decoding
  spare_bytes_ -= known.states.memory_bytes();
  if (known.type == nullptr || known.states.memory_bytes() == 0) known.states.reset(info.type->word_count);
  if (known.was_removed) known.states.begin_stay(known.removed_tick);
  known.type = info.type;
  if (known.slot >= known_of_mirror_.size()) known_of_mirror_.resize(size_t{known.slot} + 1, kNotKnown);
  known_of_mirror_[known.slot] = find_known(info.network_id);
  known.applied_tick = known.full_tick = tick;
}

void SnapshotApplier::update_authority(uint32_t slot, const ObjectInfo& info, Tick tick) {
  const ObjectInfo& now = mirror_.info(slot);
  if (now.owner == info.owner && now.mode == info.mode && now.authority == info.authority) return;
  mirror_.set_authority(slot, info.owner, info.mode, info.authority.since_tick);
  listener_.on_authority(slot, tick);
}

void SnapshotApplier::commit_removal(const Pending& entry, Tick tick) {
  if (entry.network_id == 0) return;  // the client never heard of the object, or has forgotten it
  if (!make_known(entry.network_id, entry.remote_slot)) return;
  Known& known = known_[known_at(entry.remote_slot)];
  if (known.was_removed && !base::tick_after(tick, known.removed_tick)) return;
  if (known.slot != kNoSlot && !base::tick_after(tick, known.applied_tick))
    return;  // the object has come back since
  const bool was_tombstone = known.was_removed && known.slot == kNoSlot;
  known.was_removed = true;
  known.removed_tick = tick;
  if (known.slot != kNoSlot && known.placed != nullptr && entry.left) return;  // a state of it is over (D-52)
  if (known.slot == kNoSlot) {
    if (!was_tombstone) ++tombstones_;
    return bury(known);
  }
  known.rpc_count = entry.rpc_count;
  known.left = entry.left;
  if (listener_.may_despawn(known.slot, known.rpc_count)) return despawn(known);
  if (!known.leaving) begin_leaving(known);
}

void SnapshotApplier::begin_leaving(Known& known) {
  const uint32_t index = find_known(known.network_id);
  known.leaving = true;
  known.leaves_before = last_leaving_;
  known.leaves_after = kNotKnown;
  (last_leaving_ == kNotKnown ? first_leaving_ : known_[last_leaving_].leaves_after) = index;
  last_leaving_ = index;
  ++leaving_count_;
}

void SnapshotApplier::end_leaving(Known& known) {
  const uint32_t before = known.leaves_before, after = known.leaves_after;
  (before == kNotKnown ? first_leaving_ : known_[before].leaves_after) = after;
  (after == kNotKnown ? last_leaving_ : known_[after].leaves_before) = before;
  known.leaving = false;
  --leaving_count_;
}

void SnapshotApplier::despawn(Known& known) {
  LATTICE_ASSERT(known.slot != kNoSlot && known.was_removed);
  if (known.leaving) end_leaving(known);
  ++tombstones_;
  const uint32_t slot = known.slot;
  known.slot = kNoSlot;
  listener_.on_despawn(slot, known.removed_tick,
                       known.left ? DespawnReason::kLeft : DespawnReason::kDestroyed);
  known_of_mirror_[slot] = kNotKnown;
  mirror_.despawn(slot);
  if (spare_bytes_ + known.states.memory_bytes() > kMostSpareBytes) known.states.release();
  spare_bytes_ += known.states.memory_bytes();
  if (known.remote_slot != kNoSlot) return bury(known);
  --tombstones_;
  free_known(find_known(known.network_id));  // another object has the slot: nothing can come any more
}

void SnapshotApplier::retry_removals() {
  for (uint32_t index = first_leaving_; index != kNotKnown;) {
    Known& known = known_[index];
    index = known.leaves_after;
    if (listener_.may_despawn(known.slot, known.rpc_count)) despawn(known);
  }
}

void SnapshotApplier::revive_leaving(const Pending& entry, Tick tick) {
  const uint32_t index = find_known(entry.network_id);
  if (index == kNotKnown || revived_by(entry, &known_[index], tick) == 0) return;
  Known& known = known_[index];
  end_leaving(known);
  listener_.on_stays(known.slot);
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

void SnapshotApplier::commit_rested(const Pending& entry, Tick tick) {
  const uint32_t index = known_at(entry.remote_slot);
  if (index == kNotKnown) return;
  Known& known = known_[index];
  if (known.slot == kNoSlot || known.leaving || base::tick_after(known.applied_tick, tick)) return;
  // A newer state than the named one was sent again before this was said.
  if (!base::tick_after(entry.baseline, known.applied_tick)) return rest(known, tick);
  known.rest_baseline = entry.baseline;  // the state has not come yet
  known.rest_tick = tick;
  known.rest_waits = true;
}

void SnapshotApplier::bury(const Known& known) {
  const uint64_t network_id = known.network_id;
  const Tick removed_tick = known.removed_tick;
  if (graves_.full()) {
    const Tombstone oldest = graves_.pop_front();
    const bool is_newer = forgotten_tick_ == 0 || base::tick_after(oldest.removed_tick, forgotten_tick_);
    if (free_tombstone(oldest) && is_newer) forgotten_tick_ = oldest.removed_tick;
  }
  graves_.push_back(Tombstone{network_id, removed_tick});
}

// The oldest burials are in front. One that a late part brought waits for those before it.
void SnapshotApplier::expire_tombstones() {
  while (!graves_.empty() &&
         base::tick_distance(newest_tick_, graves_.front().removed_tick) > kStalePartTicks) {
    free_tombstone(graves_.pop_front());
  }
  if (base::tick_distance(newest_tick_, forgotten_tick_) > kStalePartTicks) forgotten_tick_ = 0;
}

// False if the object came back since, does so now, or was removed once more.
bool SnapshotApplier::free_tombstone(const Tombstone& grave) {
  const uint32_t index = find_known(grave.network_id);
  if (index == kNotKnown || index == coming_) return false;
  const Known& known = known_[index];
  if (known.slot != kNoSlot || known.removed_tick != grave.removed_tick) return false;
  --tombstones_;
  free_known(index);
  return true;
}

void SnapshotApplier::free_known(uint32_t index) {
  Known& known = known_[index];
  LATTICE_ASSERT(known.slot == kNoSlot);
  if (known_at(known.remote_slot) == index) known_of_slot_[known.remote_slot] = kNotKnown;
  index_of_.erase(known.network_id);
  // Half of the room is for tombstones.
  const bool keeps_memory = spare_bytes_ <= kMostSpareBytes / 2;
  if (!keeps_memory) {
    spare_bytes_ -= known.states.memory_bytes();
    known.states.release();
  }
  ReceivedStates states = std::move(known.states);
  known = Known();
  known.states = std::move(states);
  free_known_.push_back(index);
}

// Ticks wrap. States as old as `oldest` are no baselines any more (D-15), so their ticks are moved forward to
// `oldest` before they could seem to lie in the future.
void SnapshotApplier::age() {
  aged_tick_ = newest_tick_;
  const Tick oldest = newest_tick_ - static_cast<Tick>(kMaxBaselineTicks + kAgingTicks);
  for (Known& known : known_) {
    if (known.network_id == 0 || known.slot == kNoSlot) continue;
    known.states.age(oldest);
    for (Tick* tick : {&known.applied_tick, &known.full_tick}) {
      if (base::tick_after(oldest, *tick)) *tick = oldest;
    }
    if (!known.was_removed || !base::tick_after(oldest, known.removed_tick)) continue;
    known.was_removed = known.leaving;
    known.removed_tick = oldest;
  }
}

// ---- Finding things -------------------------------------------------------------------------------

// Makes the object known under the authority's slot. A former object of the slot was removed: its tombstone
// goes, or it waits to leave without a slot. False when entries of one part contradict each other.
bool SnapshotApplier::make_known(uint64_t network_id, uint32_t remote_slot) {
  if (const uint32_t found = find_known(network_id); found != kNotKnown)
    return found == known_at(remote_slot);
  if (remote_slot >= known_of_slot_.size()) known_of_slot_.resize(size_t{remote_slot} + 1, kNotKnown);
  if (const uint32_t former = known_of_slot_[remote_slot]; former != kNotKnown) {
    if (!known_[former].was_removed || known_[former].staying()) return false;
    if (known_[former].slot == kNoSlot) {
      --tombstones_;
      free_known(former);
    } else {
      known_[former].remote_slot = kNoSlot;
    }
  }
  if (free_known_.empty()) {
    free_known_.push_back(static_cast<uint32_t>(known_.size()));
    known_.emplace_back();
  }
  const uint32_t index = free_known_.back();
  free_known_.pop_back();
  known_[index].network_id = network_id;
  known_[index].remote_slot = remote_slot;
  known_of_slot_[remote_slot] = index;
  index_of_.insert(network_id, index);
  return true;
}

void SnapshotApplier::validate() const {
#if defined(LATTICE_VALIDATION)
  if (!check_.is_due(known_.size())) return;
  uint32_t live = 0;
  uint32_t tombstones = 0;
  size_t leaving = 0;
  size_t spare_bytes = 0;
  for (const Known& known : known_) {
    if (known.slot == kNoSlot) spare_bytes += known.states.memory_bytes();
    if (known.network_id == 0) continue;
    LATTICE_ASSERT(index_of_.contains(known.network_id));
    if (known.slot == kNoSlot) {
      LATTICE_ASSERT(known.was_removed);
      ++tombstones;
      continue;
    }
    ++live;
    leaving += known.leaving ? 1 : 0;
    LATTICE_ASSERT(mirror_.network_id(known.slot) == known.network_id);
    LATTICE_ASSERT(known.states.newest_tick() == known.applied_tick);
  }
  LATTICE_ASSERT(live == mirror_.size());
  LATTICE_ASSERT(tombstones == tombstones_);
  LATTICE_ASSERT(leaving == leaving_count_);
  LATTICE_ASSERT(spare_bytes == spare_bytes_ && spare_bytes_ <= kMostSpareBytes);
#endif
}

}  // namespace lattice::replication
