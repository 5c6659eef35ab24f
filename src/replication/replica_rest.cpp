// What a ReplicaList does with objects at rest: see settled_replicas.h.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "replication/replica_list.h"

namespace lattice::replication {
namespace {

constexpr size_t kSpare = 16;  // room beside a part of what is there
/// So many replicas come and go without a change of their memory.
constexpr size_t kLeastFree = 32;

}  // namespace

Replica ReplicaList::settled_replica(const SettledReplicas::State& state) {
  Replica replica;
  replica.acked_version = replica.sent_version = state.version;
  replica.acked_tick = replica.sent_tick = state.tick;
  replica.acked_full = state.acked_full ? state.version : 0;
  replica.losses = state.losses & Replica::kMostLosses;
  replica.entry_bytes = state.entry_bytes;
  replica.held = true;
  replica.rest_sent = true;
  return replica;
}

// The index of an object of the set. A settled one gets one.
uint32_t ReplicaList::find_active(uint32_t slot) {
  const uint32_t index = slots_.find(slot);
  if (index != SlotIndex::kNone) return index;
  const std::optional<SettledReplicas::State> state = settled_.take(slot);
  return state ? make_active(slot, *state) : SlotIndex::kNone;
}

uint32_t ReplicaList::make_active(uint32_t slot, const SettledReplicas::State& state) {
  const uint32_t index = add_index(slot);
  const uint32_t stay = replicas_[index].stay;
  replicas_[index] = settled_replica(state);
  replicas_[index].stay = stay & SentEntry::kStayMask;
  if (state.is_kept) kept_[index] = KeptState{state.version, state.tick};
  return index;
}

void ReplicaList::wake_slot(uint32_t slot) {
  const uint32_t index = find_active(slot);
  if (index != SlotIndex::kNone) wake(index);
}

// What sleeps, and slept when this looked last, settles: if the verdict is known on every part of that time,
// no part about it is on its way.
void ReplicaList::settle(const StateStore& store) {
  if (--until_settle_ != 0) return;
  until_settle_ = kSettleLooks;
  if (!longs_.empty() || (any_quiet_ && !ledger_.knows_all_until(settle_tick_))) return;
  const size_t count = slots_.slots().size();
  if (any_quiet_ && settled_.size() == 0) {
    const auto quiet = static_cast<size_t>(std::count(doing_.begin(), doing_.end(), Doing::kQuiet));
    settled_.reserve(quiet + quiet / 4 + kSpare);
  }
  any_quiet_ = false;
  for (uint32_t index = 0; index < count; ++index) {
    Doing& doing = doing_[index];
    if (doing > Doing::kQuiet || slots_.slot(index) >= SlotIndex::kFree) continue;
    if (doing == Doing::kQuiet && may_settle(store, index)) {
      settle_one(index);
    } else {
      doing = Doing::kQuiet;
      any_quiet_ = true;
    }
  }
  settle_tick_ = tick_;
  if (loaded()) compact();
  validate();
}

bool ReplicaList::may_settle(const StateStore& store, uint32_t index) const {
  const Replica& replica = replicas_[index];
  const StateSummary& newest = store.summary(slots_.slot(index));
  const KeptState& kept = kept_[index];
  // An older state that the client keeps may yet serve as a baseline.
  const bool needs_kept =
      kept.version != 0 && kept.tick != replica.acked_tick &&
      base::tick_distance(tick_, kept.tick) <= static_cast<int32_t>(store.keep_ticks().sure_ticks());
  // Its next change will be one after a rest: wake_settled() looks at no others.
  const bool rests = base::tick_distance(store.last_tick(), newest.tick) >= kRestTicks;
  return rests && replica.acked_version == newest.version && replica.has_full(newest.full_version) &&
         replica.acked_version == replica.sent_version && replica.acked_tick == replica.sent_tick &&
         replica.acked_version <= SettledReplicas::kMostVersion && replica.accumulator == 0 &&
         replica.rest_sent && !replica.in_flight && !replica.lost && !replica.waits &&
         !replica.owed_at_join && doing_[index] <= Doing::kQuiet && !needs_kept;
}

void ReplicaList::settle_one(uint32_t index) {
  const Replica& replica = replicas_[index];
  SettledReplicas::State state;
  state.version = replica.acked_version;
  state.tick = replica.acked_tick;
  state.losses = static_cast<uint8_t>(replica.losses);
  state.entry_bytes = replica.entry_bytes;
  state.acked_full = replica.acked_full != 0;
  state.is_kept = kept_[index].version == replica.acked_version && kept_[index].tick == replica.acked_tick;
  settled_.add(slots_.slot(index), state);
  remove_index(index);
}

// Numbers the replicas anew where most indexes are free, and gives back their memory.
void ReplicaList::compact() {
  const size_t room = slots_.size() + slots_.size() / 2 + kSpare;
  if (replicas_.capacity() < 2 * room + kLeastFree) return;
  if (awake_is_stale_) drop_stale();
  SlotIndex slots;
  std::vector<Replica> replicas;
  std::vector<KeptState> kept;
  std::vector<Doing> doing;
  std::vector<uint32_t> moved(replicas_.size(), SlotIndex::kNone);
  slots.reserve(room), replicas.reserve(room), kept.reserve(room), doing.reserve(room);
  for (uint32_t index = 0; index < replicas_.size(); ++index) {
    if (slots_.slot(index) >= SlotIndex::kFree) continue;
    moved[index] = slots.add(slots_.slot(index));
    replicas.push_back(replicas_[index]);
    kept.push_back(kept_[index]);
    doing.push_back(doing_[index]);
  }
  ledger_.for_each_entry([&](SentEntry& entry) {
    if (!entry.is_of_replica()) return;
    const uint32_t index = moved[entry.index()];
    if (index == SlotIndex::kNone || replicas[index].stay != entry.stay()) {
      entry = SentEntry::nothing();  // of a stay that has ended
    } else {
      entry.set_index(index);
    }
  });
  for (uint64_t& entry : awake_) {
    entry = (entry & ~uint64_t{UINT32_MAX}) | moved[static_cast<uint32_t>(entry)];
  }
  slots_ = std::move(slots);
  replicas_.swap(replicas), kept_.swap(kept), doing_.swap(doing);
}

}  // namespace lattice::replication
