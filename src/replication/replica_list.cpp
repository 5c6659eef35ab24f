#include "replication/replica_list.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/popcount.h"

namespace lattice::replication {
namespace {

constexpr size_t kLeastAwake = 32;  // room in the list of awake objects
/// To look a change up costs as much as to look at so many objects of the set.
constexpr size_t kLookupCost = 4;
// SentEntry::removal() has room for the index of any: there is one for each slot at most.
static_assert(slot_bound(kMaxObjects) <= uint64_t{1} << (SentEntry::kIndexBits + SentEntry::kStayBits));

// A ledger holds the low bits; no entry is newer than the newest that was sent.
uint32_t version_of(const SentEntry& entry, const Replica& replica) {
  return replica.sent_version - static_cast<uint16_t>(replica.sent_version - entry.version);
}

}  // namespace

ReplicaList::ReplicaList(const Config& config) : config_(config), ledger_(config.max_ledger_entries) {}

void ReplicaList::reserve(size_t objects) {
  slots_.reserve(objects);
  replicas_.reserve(objects);
  kept_.reserve(objects);
  doing_.reserve(objects);
  awake_.reserve(objects);
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
  removals_.add(slot, network_id);
}

void ReplicaList::owe(uint32_t slot) {
  Replica& replica = replicas_[slots_.find(slot)];
  LATTICE_ASSERT(!replica.owed_at_join);
  replica.owed_at_join = true;
  ++owed_at_join_;
  ++joined_objects_;
}

std::optional<Replica> ReplicaList::find(uint32_t slot, const StateStore& store) const {
  const uint32_t index = slots_.find(slot);
  if (index == SlotIndex::kNone) {
    const std::optional<SettledReplicas::State> state = settled_.find(slot);
    return state ? std::optional(settled_replica(*state)) : std::nullopt;
  }
  const Replica& replica = replicas_[index];
  if (doing_[index] != Doing::kInStep) return replica;
  return replica_in_step(slot, replica, *steps_.find(slot >> kGroupBits), store);
}

bool ReplicaList::removes(uint32_t slot, uint64_t network_id) const {
  const uint32_t index = removals_.find(slot);
  return index != Removals::kNone && removals_[index].network_id == network_id && !removals_[index].acked();
}

ReplicaList::Standing ReplicaList::standing(const Replica& replica) const {
  Standing standing;
  for (const Replica& other : replicas_) {
    const auto index = static_cast<uint32_t>(&other - replicas_.data());
    const uint32_t slot = slots_.slot(index);
    if (slot >= SlotIndex::kFree) continue;
    const bool in_step = doing_[index] == Doing::kInStep;
    const float accumulator = in_step ? step_of(slot)->accumulator : other.accumulator;
    standing.waiting += accumulator > 0 ? 1 : 0;
    standing.rank += accumulator > replica.accumulator ? 1 : 0;
  }
  return standing;
}

void ReplicaList::enter(uint32_t slot, uint64_t network_id) {
  if (in_set(slot)) return;
  const uint32_t index = add_index(slot);
  Replica& replica = replicas_[index];
  if (const uint32_t former = removals_.find(slot); former != Removals::kNone) {
    if (removals_[former].network_id != network_id) {
      replica.waits = true;
    } else if (!removals_[former].acked()) {
      // The client may still hold the object from its earlier stay, so a later leaving must remove it.
      if (removals_[former].partial) partial_of_.insert(slot, 1);
      note_held(index);
    }
    // After the ack the slot rests on until a state of the object is sent: it may be destroyed before (D-42).
  }
  if (is_placed(slot)) begin_placed(replica);
  wake(index);
}

// The client has had version 1 from the start. What it shows now may be of an earlier stay; but then there is
// a later version than that, which is sent as changes from version 1.
void ReplicaList::begin_placed(Replica& replica) {
  replica.acked_version = replica.sent_version = 1;
  replica.rest_sent = true;
  replica.held = true;
}

void ReplicaList::forget(uint32_t slot, uint64_t network_id, bool left) {
  const uint32_t index = find_active(slot);
  // The count of an object that lives on goes on with its next stay (D-35).
  const uint32_t rpc_count = left ? rpcs_of_.value_or_zero(slot) : rpcs_of_.take(slot);
  if (index == SlotIndex::kNone) {
    if (!is_placed(slot) || left) return;
    Removal& removal = removals_.add(slot, network_id);
    removal.rpc_count = rpc_count;
    removals_.mark_partial(removal, partial_of_.take(slot) != 0);
    return;
  }
  Replica& replica = replicas_[index];
  settle(replica);
  if (doing_[index] == Doing::kInStep) steps_.remove(slot);
  // The client drops the pieces with the removal: until it is acked, they take a place there (D-57).
  if (longs_.holds(index)) partial_of_.insert(slot, 1);
  longs_.end(index);
  longs_.release([index](uint32_t other, uint32_t) { return other != index; });
  if (!is_placed(slot) || !left) {  // a placed object stays with the client
    const bool partial = partial_of_.take(slot) != 0;
    // Calls on an object that was never sent wait at the client for an object that will not come (D-38).
    if ((replica.held || rpc_count != 0) && !replica.waits) {
      end_removal(slot);  // of an earlier stay
      Removal& removal = removals_.add(slot, network_id);
      removal.rpc_count = rpc_count;
      removal.left = left;
      removal.named = !is_placed(slot) && replica.acked_full == 0;
      removals_.mark_partial(removal, partial);
    }
  }
  if (doing_[index] == Doing::kAwake) awake_is_stale_ = true;
  if (replica.held && !is_placed(slot)) --held_;
  remove_index(index);
  validate();
}

// The number of the stays has come round. What the ledger still has of the index is of stays that ended with
// the same numbers, and a verdict on that would count for the next ones.
void ReplicaList::forget_stays(uint32_t index) {
  ledger_.for_each_entry([index](SentEntry& entry) {
    if (entry.is_of_replica() && entry.index() == index) entry = SentEntry::nothing();
  });
}

// The next free index, as that of a new Replica.
uint32_t ReplicaList::add_index(uint32_t slot) {
  const uint32_t index = slots_.add(slot);
  if (index == replicas_.size()) {
    reserve_one(replicas_);
    reserve_one(kept_);
    replicas_.emplace_back();
    kept_.emplace_back();
    doing_.push_back(Doing::kSleeps);
  }
  replicas_[index].stay = SentEntry::next_stay(replicas_[index].stay) & SentEntry::kStayMask;
  return index;
}

void ReplicaList::remove_index(uint32_t index) {
  const uint16_t stay = SentEntry::next_stay(replicas_[index].stay);
  if (stay == 0) forget_stays(index);
  replicas_[index] = Replica();
  replicas_[index].stay = stay & SentEntry::kStayMask;
  kept_[index] = KeptState();
  doing_[index] = Doing::kSleeps;
  slots_.remove(slots_.slot(index));
}

void ReplicaList::note_held(uint32_t index) {
  if (replicas_[index].held) return;
  LATTICE_ASSERT(!replicas_[index].waits);
  replicas_[index].held = true;
  const uint32_t slot = slots_.slot(index);
  end_removal(slot);
  if (!is_placed(slot)) ++held_;
}

void ReplicaList::end_removal(uint32_t slot) {
  if (const uint32_t index = removals_.find(slot); index != Removals::kNone) removals_.end(index);
}

uint32_t ReplicaList::room_for_new() const {
  const uint64_t room = 2 * uint64_t{config_.max_objects};
  const uint64_t held = uint64_t{config_.placed_count} + held_ + removals_.unacked();
  return static_cast<uint32_t>(room - std::min(room, held));
}

void ReplicaList::count_reliable_rpc(uint32_t slot) {
  LATTICE_ASSERT(in_set(slot));
  rpcs_of_.insert(slot, rpcs_of_.take(slot) + 1);
}

void ReplicaList::say_unchanged(uint32_t slot) {
  const uint32_t index = find_active(slot);
  if (index != SlotIndex::kNone) repeat_rest(index);
}

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

void ReplicaList::keep_state(uint32_t index, uint32_t version, Tick tick) {
  KeptState& kept = kept_[index];
  if (kept.version == 0 || base::tick_after(tick, kept.tick)) kept = KeptState{version, tick};
}

void ReplicaList::begin_build(Tick tick, uint32_t resend_ticks) {
  tick_ = tick;
  if (!is_fitted_) fit();
  for (const PartLedger::Forgotten& lost : ledger_.forgotten_entries()) on_lost(lost.entry, lost.tick);
  ledger_.clear_forgotten();
  removals_.begin_build(tick, resend_ticks);
  for (uint32_t at = removals_.rested(tick); at != Removals::kNone; at = removals_.rested(tick)) {
    const uint32_t next = slots_.find(removals_[at].slot);
    if (next != SlotIndex::kNone && replicas_[next].waits) {
      replicas_[next].waits = false;
      wake(next);
    }
    removals_.end(at);
  }
}

// At the join all of the set was awake, and sent at once, and at once said to rest. Where little of it is
// awake from then on, that needs less memory.
void ReplicaList::fit() {
  if (!loaded() || 4 * awake_.size() > awake_.capacity() || !ledger_.is_roomy()) return;
  is_fitted_ = true;
  ledger_.fit();
  std::vector<uint64_t> awake;
  awake.reserve(std::max(2 * awake_.size(), kLeastAwake));
  awake.assign(awake_.begin(), awake_.end());
  awake_.swap(awake);
}

void ReplicaList::prefetch() const {
  ledger_.prefetch();
  steps_.prefetch();
  base::prefetch(awake_.data(), awake_.data() + std::min<size_t>(awake_.size(), kUsualMost));
  base::prefetch(slots_.slots().data(),
                 sizeof(uint32_t) * std::min<size_t>(slots_.slots().size(), kUsualMost));
  base::prefetch(doing_.data(), std::min<size_t>(doing_.size(), kUsualMost));
}

void ReplicaList::prefetch_replicas() const {
  const auto prefetch_replica = [this](uint32_t index) {
    base::prefetch(&replicas_[index]);
    base::prefetch(&doing_[index]);
  };
  for (size_t i = 0; i < std::min<size_t>(awake_.size(), kUsualMost); ++i) {
    prefetch_replica(static_cast<uint32_t>(awake_[i]));
  }
  if (awake_.size() <= kUsualMost) return;  // all that is in flight is awake
  for (const SentEntry& entry : ledger_.oldest(kUsualMost)) {
    if (entry.is_of_replica() && entry.index() < replicas_.size()) prefetch_replica(entry.index());
  }
}

void ReplicaList::on_receipt(uint32_t receipt, bool acked) {
  const PartLedger::Record record = ledger_.resolve(receipt);
  if (!record.found) return;
  for (const std::span<const SentEntry> run : {record.first, record.second}) {
    for (const SentEntry& entry : run) {  // what a receipt is about has left the cache since it was sent
      if (entry.is_of_replica() && entry.index() < replicas_.size()) {
        base::prefetch(&replicas_[entry.index()]);
      }
    }
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

inline void ReplicaList::on_acked(const SentEntry& entry, Tick tick, bool keep) {
  const bool is_block = entry.kind() == SentEntry::kBlock;
  acked_entries_ += is_block ? base::popcount(entry.mask()) : 1;
  if (is_block) return on_block(entry, tick, keep, true);
  const auto kind = static_cast<EntryKind>(entry.kind());
  if (kind == EntryKind::kRemoved) return removals_.on_acked(entry.removal_index(), entry.removal_stay());
  if (kind == EntryKind::kPiece) return on_pieces(entry, true);
  Replica& replica = replicas_[entry.index()];
  // Acks of entries from before a removal change nothing.
  if (replica.stay != entry.stay() || kind == EntryKind::kRested) return;
  const uint32_t version = version_of(entry, replica);
  // An ack that comes late: by now the client may have forgotten the state (D-26).
  const bool fresh = static_cast<uint16_t>(replica.sends - entry.send) < kBaselineSends;
  take_ack(entry.index(), version, tick, fresh, entry.send);
  if (came_into_step(entry.index(), tick)) {
    const uint32_t slot = slots_.slot(entry.index());
    steps_.find(slot >> kGroupBits)->on_acked(1u << slot % kGroupSlots, tick, keep);
  }
  if (kind == EntryKind::kFull) {
    // A rested entry that overtook the first full entry said nothing to the client (D-17).
    if (replica.acked_full == 0) replica.rest_sent = false;
    replica.acked_full = std::max(replica.acked_full, version);
  }
  if (keep) keep_state(entry.index(), version, tick);
  if (keep || kind == EntryKind::kFull) static_cast<void>(partial_of_.take(slots_.slot(entry.index())));
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

void ReplicaList::repeat_rest(uint32_t index) {
  replicas_[index].rest_sent = false;
  if (doing_[index] != Doing::kInStep) wake(index);
}

void ReplicaList::on_lost(const SentEntry& entry, Tick tick) {
  if (entry.kind() == SentEntry::kBlock) return on_block(entry, tick, false, false);
  const auto kind = static_cast<EntryKind>(entry.kind());
  if (kind == EntryKind::kRemoved) return removals_.on_lost(entry.removal_index(), entry.removal_stay());
  if (kind == EntryKind::kPiece) return on_pieces(entry, false);
  Replica& replica = replicas_[entry.index()];
  if (replica.stay != entry.stay()) return;
  const uint32_t version = version_of(entry, replica);
  if (kind == EntryKind::kRested) {
    if (version == replica.sent_version) repeat_rest(entry.index());
    return;
  }
  replica.count_loss();
  // The client has the state by an earlier entry. A rest that named the one that was lost said nothing to it.
  if (replica.acked_version >= version) {
    if (version != replica.sent_version || tick != replica.sent_tick) return;
    if (replica.acked_tick == 0) {  // no rested entry can name that state
      replica.sent_tick = 0;
      replica.in_flight = false;
    }
    return repeat_rest(entry.index());
  }
  if (came_into_step(entry.index(), tick)) {
    const uint32_t slot = slots_.slot(entry.index());
    static_cast<void>(steps_.find(slot >> kGroupBits)->on_lost(1u << slot % kGroupSlots, tick));
  }
  replica.lost = true;
  if (entry.send == replica.sends) replica.in_flight = false;
}

// ---- States in pieces -------------------------------------------------------------------------------

LongSend& ReplicaList::begin_long(uint32_t index, const StateStore& store, EntryKind kind) {
  LATTICE_ASSERT(may_begin_long(index));
  Replica& replica = replicas_[index];
  const uint32_t slot = slots_.slot(index);
  partial_of_.take(slot);  // the new state takes the place of the old one
  replica.sent_version = store.version(slot);
  replica.sent_tick = tick_;
  replica.accumulator = 0;
  replica.entry_bytes = UINT8_MAX;
  note_held(index);
  replica.in_flight = true;
  replica.rest_sent = false;
  replica.sent_in_step = false;
  LongSend& send = longs_.begin();
  send.index = index;
  send.slot = slot;
  send.version = replica.sent_version;
  send.tick = send.sent_tick = tick_;
  send.kind = kind;
  send.send = ++replica.sends;
  if (static_cast<uint16_t>(replica.sends - replica.acked_send) >= kBaselineSends) replica.acked_tick = 0;
  return send;
}

void ReplicaList::pin_longs(StateStore& store) {
  if (longs_.size() == 0) return;
  for (LongSend& send : longs_.sends()) {
    if (send.pinned == nullptr) send.pinned = store.pin(send.slot);
  }
}

void ReplicaList::follow_longs(Tick tick, const StateStore& store, uint32_t resend_ticks) {
  if (longs_.empty()) return;
  longs_.renew(tick, resend_ticks);
  longs_.release([&](uint32_t index, uint32_t version) {
    return replicas_[index].acked_version == version && store.version(slots_.slot(index)) != version;
  });
  // Pieces name the tick of their state by an age.
  while (longs_.size() != 0 && base::tick_distance(tick, longs_.sends().front().tick) >= kMaxBaselineTicks) {
    const uint32_t index = longs_.sends().front().index;
    longs_.end(index);
    replicas_[index].in_flight = false;
    partial_of_.insert(slots_.slot(index), 1);
  }
}

void ReplicaList::on_pieces(const SentEntry& entry, bool acked) {
  Replica& replica = replicas_[entry.index()];
  if (replica.stay != entry.stay()) return;
  const PieceRun run = PieceRun::unpack(entry.send);
  if (!acked) {
    replica.count_loss();
    return longs_.on_lost(entry.index(), entry.version, run);
  }
  if (!longs_.on_acked(entry.index(), entry.version, run)) return;
  const LongSend& send = *longs_.find(entry.index());
  if (send.kind == EntryKind::kFull) replica.acked_full = send.version;
  take_ack(entry.index(), send.version, send.tick, true, send.send);
  longs_.complete(entry.index());
  if (replica.owed_at_join) settle(replica);
}

void ReplicaList::settle(Replica& replica) {
  if (!replica.owed_at_join) return;
  replica.owed_at_join = false;
  LATTICE_ASSERT(owed_at_join_ > 0);
  --owed_at_join_;
}

void ReplicaList::age(Tick oldest) {
  settled_.age(oldest);
  for (Replica& replica : replicas_) {
    for (Tick* tick : {&replica.acked_tick, &replica.sent_tick}) {
      if (*tick != 0 && base::tick_after(oldest, *tick)) *tick = oldest;
    }
  }
  for (KeptState& kept : kept_) {
    if (kept.version != 0 && base::tick_after(oldest, kept.tick)) kept = KeptState();
  }
  steps_.age(oldest);
  for (Tick* tick : {&steps_from_, &own_steps_from_, &changes_tick_, &settle_tick_}) {
    if (base::tick_after(oldest, *tick)) *tick = oldest;
  }
}

void ReplicaList::validate() const {
#if defined(LATTICE_VALIDATION)
  if (!check_.is_due(replicas_.size() + removals_.size())) return;
  uint32_t owed = 0;
  uint32_t live = 0;
  size_t awake = 0;
  uint32_t stepping = 0;
  for (uint32_t i = 0; i < replicas_.size(); ++i) {
    const Replica& replica = replicas_[i];
    const uint32_t slot = slots_.slot(i);
    if (slot >= SlotIndex::kFree) continue;
    ++live;
    owed += replica.owed_at_join ? 1 : 0;
    const bool in_step = doing_[i] == Doing::kInStep;
    awake += doing_[i] == Doing::kAwake ? 1u : 0u;
    stepping += in_step ? 1u : 0u;
    LATTICE_ASSERT(slots_.find(slot) == i && !settled_.find(slot));
    LATTICE_ASSERT(replica.acked_full <= replica.acked_version);
    LATTICE_ASSERT(replica.acked_version <= replica.sent_version);
    LATTICE_ASSERT(replica.acked_version == 0 || replica.held);
    LATTICE_ASSERT(!in_step || steps_.holds(slot));
    LATTICE_ASSERT(!replica.waits || removals_.find(slot) != Removals::kNone);
  }
  for (const Step& step : steps_.steps()) stepping -= base::popcount(step.mask);
  LATTICE_ASSERT(stepping == 0);
  removals_.validate();
  LATTICE_ASSERT(longs_.size() + partial_states() <= kMaxLongStates);
  for (const LongSend& send : longs_.sends()) LATTICE_ASSERT(slots_.slot(send.index) == send.slot);
  LATTICE_ASSERT(owed == owed_at_join_ && live == slots_.size());
  LATTICE_ASSERT(awake_is_stale_ || awake == awake_.size());
#endif
}

}  // namespace lattice::replication
