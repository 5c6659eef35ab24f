#include "replication/replica_list.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {
namespace {

uint16_t next_stay(uint32_t stay) {
  return static_cast<uint16_t>((stay + 1) & SentEntry::kStayMask);
}

// A ledger holds the low bits; no entry is newer than the newest that was sent.
uint32_t version_of(const SentEntry& entry, const Replica& replica) {
  return replica.sent_version - static_cast<uint16_t>(replica.sent_version - entry.version);
}

}  // namespace

ReplicaList::ReplicaList(const Config& config) : config_(config), ledger_(config.max_ledger_entries) {}

void ReplicaList::join(const ObjectTable& table) {
  for (const uint32_t slot : table.ascending()) {
    enter(slot, table.network_id(slot));
    owe(slot);
  }
  validate();
}

void ReplicaList::owe(uint32_t slot) {
  Replica& replica = replicas_[replica_of_.find(slot)];
  LATTICE_ASSERT(!replica.owed_at_join);
  replica.owed_at_join = true;
  ++owed_at_join_;
}

const Replica* ReplicaList::find(uint32_t slot) const {
  const uint32_t index = replica_of_.find(slot);
  return index == SlotMap::kNone ? nullptr : &replicas_[index];
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
      end_removal(former);
    } else {
      replica.waits = true;
    }
  }
  wake(index);
}

void ReplicaList::forget(uint32_t slot, uint64_t network_id, bool left) {
  const uint32_t index = replica_of_.find(slot);
  if (index == SlotMap::kNone) return;
  Replica& replica = replicas_[index];
  settle(replica);
  // Calls on an object that was never sent wait at the client for an object that will not come (D-38).
  if ((replica.held || details_[index].rpc_count != 0) && !replica.waits) {
    const uint32_t at = take_removal();
    Removal& removal = removals_[at];
    const uint16_t stay = removal.stay;
    removal = Removal();
    removal.network_id = network_id;
    removal.slot = slot;
    removal.rpc_count = details_[index].rpc_count;
    removal.stay = next_stay(stay);
    removal.left = left;
    removal.named = details_[index].acked_full == 0;
    removal.place = static_cast<uint32_t>(pending_.size());
    pending_.push_back(at);
    removal_of_.insert(slot, at);
    ++unacked_removals_;
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

std::span<uint64_t> ReplicaList::awake(const StateStore& store) {
  const ChangeLog& changes = store.changes();
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

uint32_t ReplicaList::take_removal() {
  if (free_removals_.empty()) {
    free_removals_.push_back(static_cast<uint32_t>(removals_.size()));
    removals_.emplace_back();
  }
  const uint32_t index = free_removals_.back();
  free_removals_.pop_back();
  return index;
}

void ReplicaList::end_removal(uint32_t index) {
  Removal& removal = removals_[index];
  if (!removal.acked) --unacked_removals_;
  removal_of_.erase(removal.slot);
  removals_[pending_.back()].place = removal.place;
  pending_[removal.place] = pending_.back();
  pending_.pop_back();
  removal.stay = next_stay(removal.stay);
  free_removals_.push_back(index);
}

void ReplicaList::begin_build(Tick tick) {
  for (const SentEntry& entry : ledger_.forgotten_entries()) on_lost(entry);
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
        on_lost(entry);
      }
    }
  }
  validate();
}

void ReplicaList::on_acked(const SentEntry& entry, Tick tick, bool keep) {
  const auto kind = static_cast<EntryKind>(entry.kind);
  if (kind == EntryKind::kRemoved) {
    Removal& removal = removals_[entry.index];
    if (removal.stay != entry.stay || removal.acked) return;
    removal.acked = true;
    --unacked_removals_;
    return;
  }
  Replica& replica = replicas_[entry.index];
  // Acks of entries from before a removal change nothing.
  if (replica.stay != entry.stay || kind == EntryKind::kRested) return;
  const uint32_t version = version_of(entry, replica);
  const bool newer = replica.acked_tick == 0 || base::tick_after(tick, replica.acked_tick);
  if (newer && version >= replica.acked_version) {
    // An ack that comes late: by now the client may have forgotten the state (D-26).
    const bool fresh = static_cast<uint16_t>(replica.sends - entry.send) < kBaselineSends;
    replica.acked_version = version;
    replica.acked_tick = fresh ? tick : 0;
    replica.acked_send = entry.send;
    replica.lost = false;
  }
  if (version == replica.sent_version) replica.in_flight = false;
  if (keep || kind == EntryKind::kFull) {
    ReplicaDetail& detail = details_[entry.index];
    if (kind == EntryKind::kFull) detail.acked_full = std::max(detail.acked_full, version);
    if (keep && (detail.kept_version == 0 || base::tick_after(tick, detail.kept_tick))) {
      detail.kept_version = version;
      detail.kept_tick = tick;
    }
  }
  if (replica.owed_at_join) settle(replica);
}

void ReplicaList::on_lost(const SentEntry& entry) {
  const auto kind = static_cast<EntryKind>(entry.kind);
  if (kind == EntryKind::kRemoved) {
    Removal& removal = removals_[entry.index];
    if (removal.stay != entry.stay) return;
    removal.in_flight = false;
    return;
  }
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
}

void ReplicaList::validate() const {
#if defined(LATTICE_VALIDATION)
  uint32_t owed = 0;
  uint32_t live = 0;
  size_t awake = 0;
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
    LATTICE_ASSERT(!replica.waits || removal_of_.find(replica.slot) != SlotMap::kNone);
  }
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
