// Why a client has an object, has it not, or has an old state of it (§15). Nothing here runs unless somebody
// asks: the numbers are those that interest and snapshots work with.
#include <algorithm>
#include <optional>

#include "world/state_sender.h"

namespace lattice::world {

using replication::HiddenBy;
using replication::kNoSlot;

namespace {

/// Why an object is not in the set, though interest management is on.
lattice_why_reason reason_outside(const InterestHub::Sight& sight, uint32_t slot, bool filtered) {
  switch (sight.verdict.hidden_by) {
    case HiddenBy::kOwner:
      return LATTICE_WHY_OWNER;
    case HiddenBy::kTeams:
      return LATTICE_WHY_TEAM;
    case HiddenBy::kRoom:
      return LATTICE_WHY_ROOM;
    case HiddenBy::kNothing:
      break;
  }
  if (sight.verdict.owned) return LATTICE_WHY_ENTERS;
  if (sight.root != slot) return sight.has_root ? LATTICE_WHY_ENTERS : LATTICE_WHY_PARENT;
  if (!sight.verdict.pinned && sight.distance < 0) return LATTICE_WHY_NO_VIEWER;
  if (!sight.verdict.pinned && sight.distance > sight.border) return LATTICE_WHY_DISTANCE;
  return filtered ? LATTICE_WHY_CALLBACK : LATTICE_WHY_ENTERS;
}

}  // namespace

bool StateSender::why(ConnectionHandle connection, uint32_t slot, Tick tick, Tick next_tick,
                      lattice_why_info* out) {
  Recipient* recipient = find(connection);
  if (recipient == nullptr) return false;
  settle_receipts(*recipient);
  out->object = out->root = table_.network_id(slot);
  out->tick = tick;
  out->budget_bytes = recipient->budget_bytes;
  out->distance = -1;
  const std::optional<replication::Replica> replica = recipient->list.find(slot, store_);
  const bool is_member = in_set(*recipient, slot);
  out->is_in_set = is_member ? 1 : 0;
  const bool held =
      store_.is_placed(slot) || (replica ? replica->held : recipient->list.removes(slot, out->object));
  out->may_be_held = held ? 1 : 0;
  out->reason = LATTICE_WHY_ENTERS;
  out->changed_tick = store_.summary(slot).tick;
  out->removal_count = recipient->list.waiting_removals();
  out->waiting_count = recipient->list.standing(replica.value_or(replication::Replica())).waiting;
  if (interest_) explain_rules(*recipient, slot, out);
  if (replica) explain_sending(*recipient, slot, *replica, next_tick, out);
  if (is_member && !replica) out->reason = LATTICE_WHY_UP_TO_DATE;  // placed, and nobody has written it since
  return true;
}

void StateSender::explain_rules(const Recipient& recipient, uint32_t slot, lattice_why_info* out) const {
  const InterestHub::Sight sight = interest_->sight(recipient.connection, slot);
  out->root = table_.network_id(sight.root);
  out->object_room = interest_->rule(sight.root).room;
  out->viewer_room = sight.viewer.room;
  out->object_team_mask = interest_->rule(slot).teams;
  out->viewer_team_mask = sight.viewer.teams;
  out->distance = sight.distance;
  out->border = sight.border;
  if (out->is_in_set != 0) {
    replication::SendTerms terms;
    interest_->send_rules(recipient.connection).terms(slot, false, &terms);
    out->interval_ticks = terms.interval_ticks;
  }
  if (recipient.looked) out->reason = reason_outside(sight, slot, interest_->rule(slot).filtered);
}

// Whether the distance alone keeps a state back.
bool StateSender::is_slowed(const Recipient& recipient, uint32_t slot, const replication::Replica& replica,
                            const lattice_why_info& why) const {
  if (!interest_ || table_.info(slot).owned_by(recipient.list.peer_id()) || replica.sent_tick == 0)
    return false;
  return why.interval_ticks > interval_ticks_ && !replica.lost &&
         why.tick - replica.sent_tick < why.interval_ticks;
}

void StateSender::explain_sending(const Recipient& recipient, uint32_t slot,
                                  const replication::Replica& replica, Tick next_tick,
                                  lattice_why_info* out) {
  const replication::StateSummary& newest = store_.summary(slot);
  const uint32_t index = recipient.list.index_of(slot);
  out->sent_tick = replica.sent_tick;
  out->acked_tick = replica.acked_tick;
  out->is_in_flight = replica.in_flight ? 1 : 0;
  out->last_entry_bits = 8 * uint32_t{replica.entry_bytes};
  out->lost_count = replica.losses;
  out->accumulator = replica.accumulator;
  out->reason = LATTICE_WHY_NO_STATE;
  if (newest.version == 0) return;
  out->reason = LATTICE_WHY_UP_TO_DATE;
  if (replica.acked_version == newest.version && replica.has_full(newest.full_version)) return;
  if (const replication::LongSend* send = recipient.list.longs().find(index)) {
    out->reason = LATTICE_WHY_IN_PIECES;
    out->needs_full = send->kind == replication::EntryKind::kFull ? 1 : 0;
    out->next_entry_bits = 8 * static_cast<uint32_t>(send->bytes.size());
    out->piece_count = send->pieces();
    out->acked_piece_count = send->acked_pieces;
    return;
  }
  const replication::SnapshotBuilder::Outlook next =
      batch_->builder().outlook(recipient.list, slot, next_tick, recipient.budget_bytes);
  out->needs_full = next.full ? 1 : 0;
  out->baseline_age_ticks = next.age;
  out->next_entry_bits = next.alone_bits;
  out->rank = recipient.list.standing(replica).rank;

  const uint32_t part_bytes = batch_->builder().part_capacity_bytes();
  const uint32_t room_bytes =
      recipient.budget_bytes == 0 ? part_bytes : std::min(recipient.budget_bytes, part_bytes);
  if (replica.waits) {
    out->reason = LATTICE_WHY_WAITS_FOR_SLOT;
  } else if (replica.in_flight && replica.sent_version == newest.version) {
    out->reason = LATTICE_WHY_IN_FLIGHT;
  } else if (!next.in_pieces && next.alone_bits > room_bytes * 8) {
    out->reason = LATTICE_WHY_OVER_BUDGET;
  } else if (is_slowed(recipient, slot, replica, *out)) {
    out->reason = LATTICE_WHY_FAR;
  } else {
    out->reason = LATTICE_WHY_WAITS_FOR_TURN;
  }
}

}  // namespace lattice::world
