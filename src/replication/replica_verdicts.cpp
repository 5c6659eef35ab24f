// What a ReplicaList does with the verdicts on what was sent, and with states in pieces.
#include <algorithm>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/popcount.h"
#include "replication/replica_list.h"

namespace lattice::replication {
namespace {

// A ledger holds the low bits; no entry is newer than the newest that was sent.
uint32_t version_of(const SentEntry& entry, const Replica& replica) {
  return replica.sent_version - static_cast<uint16_t>(replica.sent_version - entry.version);
}

}  // namespace

void ReplicaList::keep_state(uint32_t index, uint32_t version, Tick tick) {
  KeptState& kept = kept_[index];
  if (kept.version == 0 || base::tick_after(tick, kept.tick)) kept = KeptState{version, tick};
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
  const uint32_t slot = slots_.slot(entry.index());
  if (keep || kind == EntryKind::kFull || is_placed(slot)) static_cast<void>(partial_of_.take(slot));
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
  if (entry.send != replica.sends) return;
  replica.in_flight = false;
  replica.regains = true;
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

}  // namespace lattice::replication
