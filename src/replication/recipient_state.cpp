#include "replication/recipient_state.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {
namespace {

// The priority that lost parts give back is bounded, so that a dead link does not push it out of float's
// range.
constexpr float kMaxAccumulator = 1e6f;

}  // namespace

RecipientState::RecipientState(const Config& config)
    : config_(config),
      removal_of_(64, base::HashIndex::Growth::kDoubling),
      ledger_(config.max_ledger_entries) {
  LATTICE_ASSERT(config.max_objects > 0);
}

ObjectKnowledge& RecipientState::at(uint32_t slot) {
  if (slot >= objects_.size()) objects_.resize(size_t{slot} + 1);
  return objects_[slot];
}

void RecipientState::join(const ObjectTable& table) {
  for (const uint32_t slot : table.ascending()) {
    object_added(slot);
    owe(slot);
  }
  validate();
}

void RecipientState::owe(uint32_t slot) {
  LATTICE_ASSERT(in_set(slot) && !at(slot).owed_at_join);
  at(slot).owed_at_join = true;
  ++owed_at_join_;
}

void RecipientState::object_added(uint32_t slot) {
  ObjectKnowledge& known = at(slot);
  settle(known);
  ObjectKnowledge fresh;
  fresh.incarnation = static_cast<uint16_t>(known.incarnation + 1);
  fresh.in_set = true;
  known = fresh;
}

void RecipientState::object_removed(uint32_t slot, uint64_t network_id) {
  forget(slot, network_id);
  validate();
}

void RecipientState::set_in_set(uint32_t slot, uint64_t network_id, bool in_set) {
  if (at(slot).in_set == in_set) return;
  if (!in_set) {
    forget(slot, network_id);
  } else {
    object_added(slot);
    // The client may still hold the object from its earlier stay, so a later leaving must remove it.
    if (const PendingRemoval* removal = cancel_removal(network_id)) {
      at(slot).sent = true;
      at(slot).rpc_count = removal->rpc_count;
      ++sent_objects_;
    }
  }
  validate();
}

void RecipientState::forget(uint32_t slot, uint64_t network_id) {
  ObjectKnowledge& known = at(slot);
  settle(known);
  // Calls on an object that was never sent wait at the client for an object that will not come. A client that
  // acks no removals gets none for such objects: the pending ones stay bounded, and only its own calls wait.
  const bool awaited = !known.sent && known.rpc_count != 0 && room_for_new() != 0;
  if (known.sent) --sent_objects_;
  if (known.sent || awaited) add_removal(network_id, known.rpc_count);
  ObjectKnowledge fresh;
  fresh.incarnation = static_cast<uint16_t>(known.incarnation + 1);
  known = fresh;
}

uint32_t RecipientState::room_for_new() const {
  const uint32_t room = 2 * config_.max_objects;
  const uint32_t held = sent_objects_ + pending_removals();
  return room - std::min(room, held);
}

void RecipientState::settle(ObjectKnowledge& known) {
  if (!known.owed_at_join) return;
  known.owed_at_join = false;
  LATTICE_ASSERT(owed_at_join_ > 0);
  --owed_at_join_;
}

void RecipientState::add_removal(uint64_t network_id, uint32_t rpc_count) {
  if (free_removals_.empty()) {
    free_removals_.push_back(static_cast<uint32_t>(removals_.size()));
    removals_.emplace_back();
  }
  const uint32_t index = free_removals_.back();
  free_removals_.pop_back();
  PendingRemoval& removal = removals_[index];
  removal.network_id = network_id;
  removal.rpc_count = rpc_count;
  removal.sent_tick = 0;
  removal.accumulator = 0;
  removal.place = pending_removals();
  pending_.push_back(index);
  removal_of_.insert(network_id, index);
}

const PendingRemoval* RecipientState::cancel_removal(uint64_t network_id) {
  const uint32_t index = removal_of_.find(network_id);
  if (index == base::HashIndex::kNone) return nullptr;
  free_removal(index);
  return &removals_[index];
}

void RecipientState::free_removal(uint32_t index) {
  PendingRemoval& removal = removals_[index];
  removal_of_.erase(removal.network_id);
  removals_[pending_.back()].place = removal.place;
  pending_[removal.place] = pending_.back();
  pending_.pop_back();
  ++removal.incarnation;
  free_removals_.push_back(index);
}

void RecipientState::on_receipt(uint32_t receipt, bool acked) {
  const PartLedger::Record record = ledger_.resolve(receipt);
  if (!record.found) return;
  for (const std::span<const SentEntry> run : {record.first, record.second}) {
    for (const SentEntry& entry : run) {
      if (acked) {
        on_acked(entry, record.tick);
      } else {
        on_lost(entry);
      }
    }
  }
  validate();
}

void RecipientState::on_acked(const SentEntry& entry, Tick tick) {
  if (entry.kind == EntryKind::kRemoved) {
    if (removals_[entry.index].incarnation == entry.incarnation) free_removal(entry.index);
    return;
  }
  ObjectKnowledge& known = objects_[entry.index];
  // An earlier incarnation ended with a removal. Acks of entries from before the removal change nothing
  //
  if (known.incarnation != entry.incarnation || entry.kind == EntryKind::kUnchanged) return;
  if (known.acked_version == 0 || base::tick_after(tick, known.acked_tick)) {
    LATTICE_ASSERT(entry.version >= known.acked_version);
    known.acked_version = entry.version;
    known.acked_tick = tick;
  }
  if (entry.kind == EntryKind::kFull) known.acked_full = std::max(known.acked_full, entry.version);
  settle(known);
}

void RecipientState::on_lost(const SentEntry& entry) {
  if (entry.kind == EntryKind::kRemoved) {
    PendingRemoval& removal = removals_[entry.index];
    if (removal.incarnation != entry.incarnation) return;
    removal.sent_tick = 0;
    removal.accumulator = std::min(removal.accumulator + entry.priority, kMaxAccumulator);
    return;
  }
  ObjectKnowledge& known = objects_[entry.index];
  if (known.incarnation != entry.incarnation) return;
  if (entry.kind == EntryKind::kUnchanged) {
    known.marked = false;
  } else if (known.acked_version < entry.version) {
    known.accumulator = std::min(known.accumulator + entry.priority, kMaxAccumulator);
  }
}

void RecipientState::validate() const {
#if defined(LATTICE_VALIDATION)
  uint32_t owed = 0;
  uint32_t sent = 0;
  for (const ObjectKnowledge& known : objects_) {
    sent += known.sent ? 1 : 0;
    owed += known.owed_at_join ? 1 : 0;
    LATTICE_ASSERT(known.acked_full <= known.acked_version);
    LATTICE_ASSERT(known.acked_version == 0 || (known.in_set && known.sent));
  }
  LATTICE_ASSERT(owed == owed_at_join_);
  LATTICE_ASSERT(sent == sent_objects_);
  for (size_t i = 0; i < pending_.size(); ++i) {
    const PendingRemoval& removal = removals_[pending_[i]];
    LATTICE_ASSERT(removal.place == i && removal_of_.find(removal.network_id) == pending_[i]);
  }
#endif
}

}  // namespace lattice::replication
