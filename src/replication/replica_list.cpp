#include "replication/replica_list.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace lattice::replication {
namespace {

/// Removals of a client that moves through a world: so many of a second need no memory of their own.
constexpr size_t kUsualRemovals = 16;

uint16_t next_stay(uint32_t stay) {
  return static_cast<uint16_t>((stay + 1) & SentEntry::kStayMask);
}

// A ledger holds the low bits; no entry is newer than the newest that was sent.
uint32_t version_of(const SentEntry& entry, const Replica& replica) {
  return replica.sent_version - static_cast<uint16_t>(replica.sent_version - entry.version);
}

}  // namespace

ReplicaList::ReplicaList(const Config& config) : config_(config), ledger_(config.max_ledger_entries) {
  removals_.reserve(kUsualRemovals);
  free_removals_.reserve(kUsualRemovals);
  pending_.reserve(kUsualRemovals);
}

void ReplicaList::join(const ObjectTable& table, const StateStore& store) {
  for (const uint32_t slot : table.ascending()) {
    if (store.is_untouched(slot)) continue;
    enter(slot, table.network_id(slot));
    owe(slot);
  }
  validate();
}

void ReplicaList::join_without(uint32_t slot, uint64_t network_id) {
  LATTICE_ASSERT(is_placed(slot));
  add_removal(slot, network_id);
}

void ReplicaList::owe(uint32_t slot) {
  Replica& replica = replicas_[replica_of_.find(slot)];
  LATTICE_ASSERT(!replica.owed_at_join);
  replica.owed_at_join = true;
  ++owed_at_join_;
  ++joined_objects_;
}

std::optional<Replica> ReplicaList::find(uint32_t slot, const StateStore& store) const {
  const uint32_t index = replica_of_.find(slot);
  if (index == SlotMap::kNone) return std::nullopt;
  const Replica& replica = replicas_[index];
  return replica.in_step ? replica_in_step(replica, *steps_.find(slot >> kGroupBits), store) : replica;
}

bool ReplicaList::removes(uint32_t slot, uint64_t network_id) const {
  const uint32_t index = removal_of_.find(slot);
  return index != SlotMap::kNone && removals_[index].network_id == network_id && !removals_[index].acked;
}

ReplicaList::Standing ReplicaList::standing(const Replica& replica) const {
  Standing standing;
  for (const Replica& other : replicas_) {
    if (other.slot == kNoSlot || other.accumulator <= 0) continue;
    ++standing.waiting;
    standing.rank += other.accumulator > replica.accumulator ? 1 : 0;
  }
  return standing;
}

void ReplicaList::enter(uint32_t slot, uint64_t network_id) {
  if (in_set(slot)) return;
  if (free_replicas_.empty()) {
    free_replicas_.push_back(static_cast<uint32_t>(replicas_.size()));
    replicas_.emplace_back();
    details_.emplace_back();
    free_replicas_.reserve(replicas_.capacity());  // leaving must not allocate
  }
  const uint32_t index = free_replicas_.back();
  free_replicas_.pop_back();
  Replica& replica = replicas_[index];
  const uint16_t stay = replica.stay;
  replica = Replica();
  details_[index] = ReplicaDetail();
  replica.slot = slot;
  replica.stay = next_stay(stay);
  replica_of_.insert(slot, index);
  if (const uint32_t former = removal_of_.find(slot); former != SlotMap::kNone) {
    if (removals_[former].network_id == network_id) {
      // The client may still hold the object from its earlier stay, so a later leaving must remove it.
      replica.held = !removals_[former].acked;
      if (replica.held) details_[index].rpc_count = removals_[former].rpc_count;
      details_[index].partial = std::exchange(removals_[former].partial, false);
      end_removal(former);
    } else {
      replica.waits = true;
    }
  }
  if (is_placed(slot)) begin_placed(replica, details_[index]);
  wake(index);
}

// The client has had version 1 from the start. What it shows now may be of an earlier stay; but then there is
// a later version than that, which is sent as changes from version 1.
void ReplicaList::begin_placed(Replica& replica, ReplicaDetail& detail) {
  replica.acked_version = replica.sent_version = 1;
  replica.rest_sent = true;
  replica.held = true;
  detail.rpc_count = take_placed_rpcs(replica.slot);
  detail.partial = take_placed_partial(replica.slot);
}

bool ReplicaList::take_placed_partial(uint32_t slot) {
  if (placed_partial_.find(slot) == SlotMap::kNone) return false;
  placed_partial_.erase(slot);
  return true;
}

uint32_t ReplicaList::take_placed_rpcs(uint32_t slot) {
  const uint32_t count = placed_rpcs_.find(slot);
  if (count == SlotMap::kNone) return 0;
  placed_rpcs_.erase(slot);
  return count;
}

void ReplicaList::forget(uint32_t slot, uint64_t network_id, bool left) {
  const uint32_t index = replica_of_.find(slot);
  if (index == SlotMap::kNone) {
    if (!is_placed(slot) || left) return;
    Removal& removal = add_removal(slot, network_id);
    removal.rpc_count = take_placed_rpcs(slot);
    removal.partial = take_placed_partial(slot);
    return;
  }
  Replica& replica = replicas_[index];
  settle(replica);
  if (replica.in_step) steps_.remove(slot);
  // The client drops the pieces with the removal: until it is acked, they take a place there (D-57).
  const bool partial = std::exchange(details_[index].partial, false) || longs_.holds(index);
  partial_ += longs_.holds(index) ? 1u : 0u;
  longs_.end(index);
  longs_.release([index](uint32_t other, uint32_t) { return other != index; });
  // Calls on an object that was never sent wait at the client for an object that will not come (D-38).
  const uint32_t rpc_count = details_[index].rpc_count;
  if (is_placed(slot) && left) {
    if (rpc_count != 0) placed_rpcs_.insert(slot, rpc_count);
    if (partial) placed_partial_.insert(slot, 1);
  } else if ((replica.held || rpc_count != 0) && !replica.waits) {
    Removal& removal = add_removal(slot, network_id);
    removal.rpc_count = rpc_count;
    removal.left = left;
    removal.named = !is_placed(slot) && details_[index].acked_full == 0;
    removal.partial = partial;
  }
  if (replica.awake) awake_is_stale_ = true;
  const uint16_t stay = replica.stay;
  replica = Replica();
  replica.stay = next_stay(stay);
  replica_of_.erase(slot);
  free_replicas_.push_back(index);
  validate();
}

void ReplicaList::count_reliable_rpc(uint32_t slot) {
  const uint32_t index = replica_of_.find(slot);
  LATTICE_ASSERT(index != SlotMap::kNone);
  ++details_[index].rpc_count;
}

void ReplicaList::wake(uint32_t index) {
  Replica& replica = replicas_[index];
  if (replica.awake) return;
  replica.awake = true;
  const uint64_t entry = uint64_t{replica.slot} << 32 | index;
  awake_in_order_ = awake_in_order_ && (awake_.empty() || awake_.back() < entry);
  awake_.push_back(entry);
}

void ReplicaList::follow(const StateStore& store, ChangedGroups& changed) {
  const ChangeLog& announced = store.announced();
  const ChangeLog& changes = store.changes();
  if (!steps_.empty() && (!announced.reaches(announced_read_) || !changes.reaches(changes_read_))) {
    end_steps(store);
  }
  // What was announced takes full entries.
  for (; !steps_.empty() && announced_read_ != announced.end(); ++announced_read_) {
    const uint32_t slot = announced.at(announced_read_);
    if (steps_.holds(slot)) leave_step(store, *steps_.find(slot >> kGroupBits), 1u << slot % kGroupSlots);
  }
  announced_read_ = announced.end();
  if (steps_.empty()) return wake_changed(store);
  follow_groups(store, changed.since(changes_read_));
  changes_read_ = changes.end();
}

void ReplicaList::wake_changed(const StateStore& store) {
  const ChangeLog& changes = store.changes();
  if (changes_read_ == changes.end()) return;
  if (!changes.reaches(changes_read_) || changes.end() - changes_read_ > replicas_.size()) {
    for (uint32_t index = 0; index < replicas_.size(); ++index) {
      const Replica& replica = replicas_[index];
      if (replica.slot != kNoSlot && replica.sent_version != store.version(replica.slot)) wake(index);
    }
    visited_ += replicas_.size();
  } else {
    visited_ += changes.end() - changes_read_;
    for (; changes_read_ != changes.end(); ++changes_read_) {
      const uint32_t index = replica_of_.find(changes.at(changes_read_));
      if (index != SlotMap::kNone) wake(index);
    }
  }
  changes_read_ = changes.end();
}

bool ReplicaList::rests(const StateStore& store) {
  if (!told_unchanged_ || !awake_.empty() || !pending_.empty() || !steps_.empty() || longs_.size() != 0 ||
      !ledger_.forgotten_entries().empty()) {
    return false;
  }
  wake_changed(store);
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
    const Replica& replica = replicas_[static_cast<uint32_t>(entry)];
    return replica.slot != static_cast<uint32_t>(entry >> 32) || !replica.awake;
  });
  awake_is_stale_ = false;
  awake_in_order_ = true;
}

// ---- Objects in step --------------------------------------------------------------------------------

// Of the objects in step, those that did not change come out of step.
void ReplicaList::follow_groups(const StateStore& store, std::span<const ChangedGroups::Group> groups) {
  std::vector<Step>& steps = steps_.steps();
  for (Step& step : steps) step.changed = 0;
  for (const ChangedGroups::Group& group : groups) {
    Step* step = steps_.find(group.group);
    if (step != nullptr) step->changed = group.mask;
    for (uint32_t rest = group.mask & ~(step != nullptr ? step->mask : 0); rest != 0; rest &= rest - 1) {
      const uint32_t slot = (group.group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
      const uint32_t index = replica_of_.find(slot);
      if (index != SlotMap::kNone) wake(index);
      ++visited_;
    }
  }
  visited_ += groups.size() + steps.size();
  for (size_t at = steps.size(); at-- > 0;) {  // a step that ends is replaced by the last one
    Step& step = steps[at];
    if (step.kept != 0) note_kept(store, step);
    step.kept = 0;
    const bool aged = base::tick_distance(tick_, step.base) > kOldestBaseTicks ||
                      static_cast<uint32_t>(tick_ - step.base) >= store.history_ticks();
    const uint32_t stay = step.mask & step.changed;
    const bool few = static_cast<uint32_t>(std::popcount(stay)) < kLeastInStep / 2;
    const uint32_t leave = aged || few ? step.mask : step.mask & ~stay;
    if (leave != 0) leave_step(store, step, leave);
  }
}

// The client keeps the states of `step.kept` long, as baselines for bad times.
void ReplicaList::note_kept(const StateStore& store, const Step& step) {
  for (uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = (step.group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
    const VersionRing::Version kept = store.version_at(slot, step.kept);
    if (!kept.exact) continue;
    ReplicaDetail& detail = details_[replica_of_.find(slot)];
    if (detail.kept_version != 0 && !base::tick_after(step.kept, detail.kept_tick)) continue;
    detail.kept_version = kept.version;
    detail.kept_tick = step.kept;
  }
}

// By value: the step may end with its last object.
void ReplicaList::leave_step(const StateStore& store, Step step, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = (step.group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t index = replica_of_.find(slot);
    steps_.remove(slot);
    replicas_[index] = replica_in_step(replicas_[index], step, store);
    replicas_[index].in_step = false;
    details_[index].step_sent = step.sent;
    wake(index);
  }
  visited_ += static_cast<uint32_t>(std::popcount(mask));
}

// What the Replica of an object in step would say if each of its states had been an entry on its own. Where
// that takes a count of sends, there was one in each tick: so many at most.
Replica ReplicaList::replica_in_step(const Replica& replica, const Step& step,
                                     const StateStore& store) const {
  Replica now = replica;
  if (step.sent == replica.sent_tick) return now;  // it came into step with the last snapshot
  const uint32_t bit = 1u << replica.slot % kGroupSlots;
  now.sent_version = store.version_at(replica.slot, step.sent).version;
  now.sent_tick = step.sent;
  now.sends = static_cast<uint16_t>(now.sends + (step.sent - replica.sent_tick));
  const Tick acked_tick = (step.acked & bit) != 0 ? step.part : step.base;
  const VersionRing::Version acked = store.version_at(replica.slot, acked_tick);
  if (base::tick_distance(tick_, acked_tick) > kOldestBaseTicks || !acked.exact) {
    now.acked_tick = 0;
  } else if (replica.acked_tick == 0 || base::tick_after(acked_tick, replica.acked_tick)) {
    now.acked_version = acked.version;
    now.acked_tick = acked_tick;
    now.acked_send = static_cast<uint16_t>(now.sends - (step.sent - acked_tick));
  }
  now.in_flight = now.acked_version != now.sent_version && (step.lost & bit) == 0;
  now.lost = step.any_lost;
  now.rest_sent = false;
  return now;
}

void ReplicaList::end_steps(const StateStore& store) {
  while (!steps_.empty()) leave_step(store, steps_.steps().back(), steps_.steps().back().mask);
  steps_from_ = tick_ + static_cast<Tick>(kStepPauseTicks);
}

void ReplicaList::begin_step(uint32_t group, uint32_t mask, Tick base) {
  Step* step = steps_.find(group);
  if (step == nullptr) {
    if (static_cast<uint32_t>(std::popcount(mask)) < kLeastInStep) return;
    step = &steps_.add(group);
    step->base = base;
  } else if (step->base != base || base::tick_distance(tick_, step->joined) < kStepPauseTicks) {
    return;
  }
  step->mask |= mask;
  step->sent = tick_;
  step->joined = tick_ + 1;
  step->acked = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = (group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
    Replica& replica = replicas_[replica_of_.find(slot)];
    LATTICE_ASSERT(!replica.in_step && replica.sent_tick == tick_ && replica.acked_tick == base);
    replica.in_step = true;
    replica.awake = false;
    awake_is_stale_ = true;
  }
}

void ReplicaList::on_block(const SentEntry& entry, Tick tick, bool keep, bool acked) {
  const uint32_t group = entry.index;
  const uint32_t mask = entry.mask();
  const Step* step = steps_.find(group);
  const uint32_t in_step = step != nullptr ? step->mask & mask : 0;
  if (acked) {
    steps_.on_acked(group, mask, tick, keep);
  } else {
    for (uint32_t rest = steps_.on_lost(group, mask, tick); rest != 0; rest &= rest - 1) {
      const uint32_t slot = (group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
      ++details_[replica_of_.find(slot)].lost;
    }
  }
  for (uint32_t rest = mask & ~in_step; rest != 0; rest &= rest - 1) {
    on_dropped((group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest)), tick, keep, acked);
  }
}

// The verdict on the last block that held the object, which came out of step since. Of earlier blocks nothing
// is learned: the version that they held is not known here, and what was sent later matters more.
void ReplicaList::on_dropped(uint32_t slot, Tick tick, bool keep, bool acked) {
  const uint32_t index = replica_of_.find(slot);
  if (index == SlotMap::kNone) return;
  Replica& replica = replicas_[index];
  ReplicaDetail& detail = details_[index];
  if (detail.step_sent != tick || replica.sent_tick != tick || replica.in_step) return;
  if (!acked) {
    ++detail.lost;
    if (replica.acked_version == replica.sent_version) return;
    replica.lost = true;
    replica.in_flight = false;
    return;
  }
  const bool fresh = base::tick_distance(tick_, tick) <= kOldestBaseTicks;
  take_ack(index, replica.sent_version, tick, fresh, replica.sends);
  if (!keep) return;
  detail.kept_version = replica.sent_version;
  detail.kept_tick = tick;
}

Removal& ReplicaList::add_removal(uint32_t slot, uint64_t network_id) {
  const uint32_t at = take_removal();
  Removal& removal = removals_[at];
  const uint16_t stay = removal.stay;
  removal = Removal();
  removal.network_id = network_id;
  removal.slot = slot;
  removal.stay = next_stay(stay);
  removal.place = static_cast<uint32_t>(pending_.size());
  pending_.push_back(at);
  removal_of_.insert(slot, at);
  ++unacked_removals_;
  return removal;
}

uint32_t ReplicaList::take_removal() {
  if (free_removals_.empty()) {
    free_removals_.push_back(static_cast<uint32_t>(removals_.size()));
    removals_.emplace_back();
    free_removals_.reserve(removals_.capacity());
    pending_.reserve(removals_.capacity());
  }
  const uint32_t index = free_removals_.back();
  free_removals_.pop_back();
  return index;
}

void ReplicaList::end_removal(uint32_t index) {
  Removal& removal = removals_[index];
  if (!removal.acked) --unacked_removals_;
  end_partial(removal.partial);
  removal_of_.erase(removal.slot);
  removals_[pending_.back()].place = removal.place;
  pending_[removal.place] = pending_.back();
  pending_.pop_back();
  removal.stay = next_stay(removal.stay);
  free_removals_.push_back(index);
}

void ReplicaList::begin_build(Tick tick) {
  previous_tick_ = tick_;
  tick_ = tick;
  for (const PartLedger::Forgotten& lost : ledger_.forgotten_entries()) on_lost(lost.entry, lost.tick);
  ledger_.clear_forgotten();
  for (size_t i = 0; i < pending_.size();) {
    const Removal& removal = removals_[pending_[i]];
    if (!removal.acked || base::tick_distance(tick, removal.sent_tick) <= kStalePartTicks) {
      ++i;
      continue;
    }
    if (const uint32_t next = replica_of_.find(removal.slot); next != SlotMap::kNone) {
      replicas_[next].waits = false;
      wake(next);
    }
    end_removal(pending_[i]);
  }
}

void ReplicaList::on_receipt(uint32_t receipt, bool acked) {
  const PartLedger::Record record = ledger_.resolve(receipt);
  if (!record.found) return;
  for (const std::span<const SentEntry> run : {record.first, record.second}) {
    for (const SentEntry& entry : run) {
      if (acked) {
        on_acked(entry, record.tick, record.keep);
      } else {
        on_lost(entry, record.tick);
      }
    }
  }
  validate();
}

void ReplicaList::on_acked(const SentEntry& entry, Tick tick, bool keep) {
  if (entry.kind == SentEntry::kBlock) return on_block(entry, tick, keep, true);
  const auto kind = static_cast<EntryKind>(entry.kind);
  if (kind == EntryKind::kRemoved) {
    Removal& removal = removals_[entry.index];
    if (removal.stay != entry.stay || removal.acked) return;
    removal.acked = true;
    end_partial(removal.partial);
    --unacked_removals_;
    return;
  }
  if (kind == EntryKind::kPiece) return on_pieces(entry, true);
  Replica& replica = replicas_[entry.index];
  // Acks of entries from before a removal change nothing.
  if (replica.stay != entry.stay || kind == EntryKind::kRested) return;
  const uint32_t version = version_of(entry, replica);
  // An ack that comes late: by now the client may have forgotten the state (D-26).
  const bool fresh = static_cast<uint16_t>(replica.sends - entry.send) < kBaselineSends;
  take_ack(entry.index, version, tick, fresh, entry.send);
  if (keep || kind == EntryKind::kFull) {
    ReplicaDetail& detail = details_[entry.index];
    if (kind == EntryKind::kFull) {
      // A rested entry that overtook the first full entry said nothing to the client (D-17).
      if (detail.acked_full == 0) replica.rest_sent = false;
      detail.acked_full = std::max(detail.acked_full, version);
    }
    end_partial(detail.partial);
    if (keep && (detail.kept_version == 0 || base::tick_after(tick, detail.kept_tick))) {
      detail.kept_version = version;
      detail.kept_tick = tick;
    }
  }
  if (replica.owed_at_join) settle(replica);
}

void ReplicaList::take_ack(uint32_t index, uint32_t version, Tick tick, bool fresh, uint16_t send) {
  Replica& replica = replicas_[index];
  const bool newer = replica.acked_tick == 0 || base::tick_after(tick, replica.acked_tick);
  if (newer && version >= replica.acked_version) {
    replica.acked_version = version;
    replica.acked_tick = fresh ? tick : 0;
    replica.acked_send = send;
    replica.lost = false;
  }
  if (version == replica.sent_version) replica.in_flight = false;
}

void ReplicaList::on_lost(const SentEntry& entry, Tick tick) {
  if (entry.kind == SentEntry::kBlock) return on_block(entry, tick, false, false);
  const auto kind = static_cast<EntryKind>(entry.kind);
  if (kind == EntryKind::kRemoved) {
    Removal& removal = removals_[entry.index];
    if (removal.stay != entry.stay) return;
    removal.in_flight = false;
    return;
  }
  if (kind == EntryKind::kPiece) return on_pieces(entry, false);
  Replica& replica = replicas_[entry.index];
  if (replica.stay != entry.stay) return;
  const uint32_t version = version_of(entry, replica);
  if (kind == EntryKind::kRested) {
    if (version == replica.sent_version) {
      replica.rest_sent = false;
      wake(entry.index);
    }
    return;
  }
  ++details_[entry.index].lost;
  if (replica.acked_version >= version) return;
  replica.lost = true;
  if (entry.send == replica.sends) replica.in_flight = false;
}

// ---- States in pieces -------------------------------------------------------------------------------

LongSend& ReplicaList::begin_long(uint32_t index, StateStore& store, EntryKind kind) {
  LATTICE_ASSERT(may_begin_long(index));
  Replica& replica = replicas_[index];
  end_partial(details_[index].partial);  // the new state takes the place of the old one
  replica.sent_version = store.version(replica.slot);
  replica.sent_tick = tick_;
  replica.accumulator = 0;
  replica.entry_bytes = UINT8_MAX;
  replica.held = replica.in_flight = true;
  replica.rest_sent = false;
  LongSend& send = longs_.begin();
  send.index = index;
  send.slot = replica.slot;
  send.version = replica.sent_version;
  send.tick = send.sent_tick = tick_;
  send.kind = kind;
  send.send = ++replica.sends;
  send.pinned = store.pin(replica.slot);
  if (static_cast<uint16_t>(replica.sends - replica.acked_send) >= kBaselineSends) replica.acked_tick = 0;
  return send;
}

void ReplicaList::follow_longs(const StateStore& store, uint32_t resend_ticks) {
  if (longs_.empty()) return;
  longs_.renew(tick_, resend_ticks);
  longs_.release([&](uint32_t index, uint32_t version) {
    const Replica& replica = replicas_[index];
    return replica.acked_version == version && store.version(replica.slot) != version;
  });
  // Pieces name the tick of their state by an age.
  while (longs_.size() != 0 && base::tick_distance(tick_, longs_.sends().front().tick) >= kMaxBaselineTicks) {
    const uint32_t index = longs_.sends().front().index;
    longs_.end(index);
    replicas_[index].in_flight = false;
    details_[index].partial = true;
    ++partial_;
  }
}

void ReplicaList::on_pieces(const SentEntry& entry, bool acked) {
  Replica& replica = replicas_[entry.index];
  if (replica.stay != entry.stay) return;
  const PieceRun run = PieceRun::unpack(entry.send);
  if (!acked) {
    ++details_[entry.index].lost;
    return longs_.on_lost(entry.index, entry.version, run);
  }
  if (!longs_.on_acked(entry.index, entry.version, run)) return;
  const LongSend& send = *longs_.find(entry.index);
  if (send.kind == EntryKind::kFull) details_[entry.index].acked_full = send.version;
  take_ack(entry.index, send.version, send.tick, true, send.send);
  longs_.complete(entry.index);
  if (replica.owed_at_join) settle(replica);
}

void ReplicaList::end_partial(bool& partial) {
  if (!std::exchange(partial, false)) return;
  LATTICE_ASSERT(partial_ > 0);
  --partial_;
}

void ReplicaList::settle(Replica& replica) {
  if (!replica.owed_at_join) return;
  replica.owed_at_join = false;
  LATTICE_ASSERT(owed_at_join_ > 0);
  --owed_at_join_;
}

void ReplicaList::age(Tick oldest) {
  for (Replica& replica : replicas_) {
    for (Tick* tick : {&replica.acked_tick, &replica.sent_tick}) {
      if (*tick != 0 && base::tick_after(oldest, *tick)) *tick = oldest;
    }
  }
  for (ReplicaDetail& detail : details_) {
    if (detail.kept_version != 0 && base::tick_after(oldest, detail.kept_tick)) detail.kept_version = 0;
    if (detail.step_sent != 0 && base::tick_after(oldest, detail.step_sent)) detail.step_sent = 0;
  }
  steps_.age(oldest);
  steps_from_ = base::tick_after(oldest, steps_from_) ? oldest : steps_from_;
}

void ReplicaList::validate() const {
#if defined(LATTICE_VALIDATION)
  uint32_t owed = 0;
  uint32_t live = 0;
  size_t awake = 0;
  uint32_t in_step = 0;
  for (uint32_t i = 0; i < replicas_.size(); ++i) {
    const Replica& replica = replicas_[i];
    if (replica.slot == kNoSlot) continue;
    ++live;
    owed += replica.owed_at_join ? 1 : 0;
    awake += replica.awake ? 1 : 0;
    LATTICE_ASSERT(replica_of_.find(replica.slot) == i);
    LATTICE_ASSERT(details_[i].acked_full <= replica.acked_version);
    LATTICE_ASSERT(replica.acked_version <= replica.sent_version);
    LATTICE_ASSERT(replica.acked_version == 0 || replica.held);
    in_step += replica.in_step ? 1 : 0;
    LATTICE_ASSERT(!replica.in_step || (steps_.holds(replica.slot) && !replica.awake));
    LATTICE_ASSERT(!replica.waits || removal_of_.find(replica.slot) != SlotMap::kNone);
  }
  for (const Step& step : steps_.steps()) in_step -= static_cast<uint32_t>(std::popcount(step.mask));
  LATTICE_ASSERT(in_step == 0);
  uint32_t partial = 0;
  for (const ReplicaDetail& detail : details_) partial += detail.partial ? 1u : 0u;
  for (const uint32_t index : pending_) partial += removals_[index].partial ? 1u : 0u;
  partial += placed_partial_.size();
  LATTICE_ASSERT(partial == partial_ && longs_.size() + partial <= kMaxLongStates);
  for (const LongSend& send : longs_.sends()) LATTICE_ASSERT(replicas_[send.index].slot == send.slot);
  LATTICE_ASSERT(owed == owed_at_join_ && live == replica_of_.size());
  LATTICE_ASSERT(awake_is_stale_ || awake == awake_.size());
  uint32_t unacked = 0;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Removal& removal = removals_[pending_[i]];
    unacked += removal.acked ? 0 : 1;
    LATTICE_ASSERT(removal.place == i && removal_of_.find(removal.slot) == pending_[i]);
  }
  LATTICE_ASSERT(unacked == unacked_removals_);
#endif
}

}  // namespace lattice::replication
