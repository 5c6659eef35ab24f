#include "replication/replica_list.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/popcount.h"

namespace lattice::replication {
namespace {

constexpr size_t kLeastAwake = 32;  // room in the list of awake objects
// SentEntry::removal() has room for the index of any: there is one for each slot at most.
static_assert(slot_bound(kMaxObjects) <= uint64_t{1} << (SentEntry::kIndexBits + SentEntry::kStayBits));

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
  removals_.mark_owed(removals_.add(slot, network_id), true);
  ++joined_objects_;
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
  // Who was to have the state of a placed object before it has joined is to know that there is no such
  // object.
  const bool owed = replica.owed_at_join && is_placed(slot) && !left;
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
      removals_.mark_owed(removal, owed);
    }
  } else if (partial_of_.take(slot) != 0) {  // but for what it has of a state in pieces (D-52)
    end_removal(slot);
    Removal& removal = removals_.add(slot, network_id);
    removal.left = true;
    removals_.mark_partial(removal, true);
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
