// Processes a peer's control messages about transfers, and received chunks.
#include <algorithm>

#include "base/assert.h"
#include "transfer/transfers.h"
#include "transport/wire/control_body.h"

namespace lattice::transfer {
namespace {

TransferEnding ending_of(wire::TransferEndReason reason) {
  switch (reason) {
    case wire::TransferEndReason::kDone:
      return TransferEnding::kDone;
    case wire::TransferEndReason::kRefused:
      return TransferEnding::kRefused;
    case wire::TransferEndReason::kCancelled:
      return TransferEnding::kCancelled;
    case wire::TransferEndReason::kTooLarge:
      return TransferEnding::kTooLarge;
    case wire::TransferEndReason::kFailed:
      break;
  }
  return TransferEnding::kFailed;
}

}  // namespace

TransferRefusal Transfers::count(TransferRefusal refusal) {
  if (refusal != TransferRefusal::kNone) refusals_.add(refusal);
  return refusal;
}

bool Transfers::was_offered(uint16_t id, uint32_t offer_count) {
  const auto back = static_cast<uint16_t>(offer_count - id);
  return back < offer_count && back < 0x8000;
}

TransferRefusal Transfers::on_control(ConnectionHandle connection, std::span<const uint8_t> body) {
  if (config_.channel == 0) return count(TransferRefusal::kNoChannel);
  LATTICE_ASSERT(!body.empty() && wire::is_transfer_control_type(body[0]));
  switch (static_cast<wire::ControlType>(body[0])) {
    case wire::ControlType::kTransferOffer:
      return count(on_offer(connection, body));
    case wire::ControlType::kTransferAccept:
      return count(on_accept(connection, body));
    case wire::ControlType::kTransferHold:
      return count(on_hold(connection, body));
    default:
      return count(on_end(connection, body));
  }
}

TransferRefusal Transfers::on_offer(ConnectionHandle connection, std::span<const uint8_t> body) {
  wire::TransferOffer offer;
  if (!wire::parse_transfer_offer(body, &offer)) return TransferRefusal::kMalformed;
  Lane& lane = lane_for(connection);
  if (offer.id != static_cast<uint16_t>(lane.in_count + 1)) return TransferRefusal::kBadId;
  if (find_in(&lane, offer.id) != nullptr) return TransferRefusal::kBadId;  // the numbers came round to it
  size_t slot = 0;
  while (slot < kMaxTransfers && lane.in[slot]) ++slot;
  if (slot == kMaxTransfers) return TransferRefusal::kTooMany;
  ++lane.in_count;
  if (offer.size_bytes > config_.max_size_bytes) {
    owe_end(connection, offer.id, wire::TransferSide::kReceiver, wire::TransferEndReason::kTooLarge);
    return TransferRefusal::kTooLarge;
  }
  lane.in[slot] = std::make_unique<Incoming>(offer);
  handler_.on_offer(connection, {offer.id, true}, offer.size_bytes, offer.label);
  return TransferRefusal::kNone;
}

TransferRefusal Transfers::on_accept(ConnectionHandle connection, std::span<const uint8_t> body) {
  uint16_t id = 0;
  if (!wire::parse_transfer_accept(body, &id)) return TransferRefusal::kMalformed;
  Lane* lane = lane_of(connection);
  if (Outgoing* entry = find_out(lane, id)) {
    return entry->transfer.accept() ? TransferRefusal::kNone : TransferRefusal::kBadState;
  }
  // A known id without a transfer: the message crossed this side's cancel().
  return lane != nullptr && was_offered(id, lane->out_count) ? TransferRefusal::kNone
                                                             : TransferRefusal::kUnknown;
}

TransferRefusal Transfers::on_hold(ConnectionHandle connection, std::span<const uint8_t> body) {
  wire::TransferHold hold;
  if (!wire::parse_transfer_hold(body, &hold)) return TransferRefusal::kMalformed;
  Lane* lane = lane_of(connection);
  if (Outgoing* entry = find_out(lane, hold.id)) {
    if (!entry->transfer.accepted()) return TransferRefusal::kBadState;
    entry->transfer.hold_by_peer(hold.held);
    return TransferRefusal::kNone;
  }
  return lane != nullptr && was_offered(hold.id, lane->out_count) ? TransferRefusal::kNone
                                                                  : TransferRefusal::kUnknown;
}

TransferRefusal Transfers::on_end(ConnectionHandle connection, std::span<const uint8_t> body) {
  wire::TransferEnd end;
  if (!wire::parse_transfer_end(body, &end)) return TransferRefusal::kMalformed;
  Lane* lane = lane_of(connection);
  if (lane == nullptr) return TransferRefusal::kUnknown;
  if (end.side == wire::TransferSide::kSender) {
    if (std::unique_ptr<Incoming>* entry = find_in(lane, end.id)) {
      entry->reset();
      handler_.on_end(connection, {end.id, true}, ending_of(end.reason));
      return TransferRefusal::kNone;
    }
    return was_offered(end.id, lane->in_count) ? TransferRefusal::kNone : TransferRefusal::kUnknown;
  }
  Outgoing* entry = find_out(lane, end.id);
  if (entry == nullptr) {
    return was_offered(end.id, lane->out_count) ? TransferRefusal::kNone : TransferRefusal::kUnknown;
  }
  OutgoingTransfer& transfer = entry->transfer;
  const bool early = end.reason == wire::TransferEndReason::kDone && !transfer.all_sent();
  const bool repeated = end.reason == wire::TransferEndReason::kRefused && transfer.accepted();
  if (early || repeated) return TransferRefusal::kBadState;
  transfer.end();
  if (end.reason == wire::TransferEndReason::kDone && entry->told_bytes != transfer.size_bytes()) {
    handler_.on_progress(connection, {end.id, false}, transfer.size_bytes(), transfer.size_bytes());
  }
  handler_.on_end(connection, {end.id, false}, ending_of(end.reason));
  return TransferRefusal::kNone;
}

TransferRefusal Transfers::on_chunk(ConnectionHandle connection, std::span<const uint8_t> body) {
  wire::TransferChunk chunk;
  if (!wire::parse_transfer_chunk(body, &chunk)) return count(TransferRefusal::kMalformed);
  Lane* lane = lane_of(connection);
  std::unique_ptr<Incoming>* entry = find_in(lane, chunk.id);
  if (entry == nullptr) {
    const bool ended = lane != nullptr && was_offered(chunk.id, lane->in_count);
    return count(ended ? TransferRefusal::kLate : TransferRefusal::kUnknown);
  }
  if (!(*entry)->transfer.accepted()) return count(TransferRefusal::kBadState);
  switch ((*entry)->transfer.judge(chunk)) {
    case IncomingTransfer::Judgement::kNew:
      store(*lane, chunk);
      return TransferRefusal::kNone;
    case IncomingTransfer::Judgement::kDuplicate:
      return count(TransferRefusal::kDuplicate);
    case IncomingTransfer::Judgement::kPastEnd:
      return count(TransferRefusal::kPastEnd);
    case IncomingTransfer::Judgement::kTooShort:
      return count(TransferRefusal::kTooShort);
    case IncomingTransfer::Judgement::kTooScattered:
      break;
  }
  return count(TransferRefusal::kTooScattered);
}

// Stores only the missing bytes of a chunk: one half of it may have arrived before.
void Transfers::store(Lane& lane, const wire::TransferChunk& chunk) {
  ByteRange rest = range_of(chunk);
  std::unique_ptr<Incoming>* entry = find_in(&lane, chunk.id);
  while (true) {
    const ByteRange missing = (*entry)->transfer.first_missing(rest);
    if (missing.empty()) break;
    const size_t at = static_cast<size_t>(missing.begin - chunk.offset);
    const bool stored = write(lane.connection, **entry, missing.begin,
                              chunk.bytes.subspan(at, static_cast<size_t>(missing.bytes())));
    entry = find_in(&lane, chunk.id);
    if (entry == nullptr) return;  // write() cancelled it
    if (!stored) {
      entry->reset();
      owe_end(lane.connection, chunk.id, wire::TransferSide::kReceiver, wire::TransferEndReason::kFailed);
      handler_.on_end(lane.connection, {chunk.id, true}, TransferEnding::kFailed);
      return;
    }
    rest.begin = missing.end;
  }
  (*entry)->transfer.on_stored(chunk);
  if ((*entry)->transfer.complete()) complete(lane, chunk.id);
}

bool Transfers::write(ConnectionHandle connection, Incoming& entry, uint64_t offset,
                      std::span<const uint8_t> bytes) {
  if (entry.memory == nullptr) {
    return handler_.write(connection, {entry.transfer.id(), true}, offset, bytes);
  }
  std::copy(bytes.begin(), bytes.end(), entry.memory + offset);
  return true;
}

void Transfers::complete(Lane& lane, uint16_t id) {
  std::unique_ptr<Incoming>* entry = find_in(&lane, id);
  const uint64_t size_bytes = (*entry)->transfer.size_bytes();
  entry->reset();
  owe_end(lane.connection, id, wire::TransferSide::kReceiver, wire::TransferEndReason::kDone);
  handler_.on_progress(lane.connection, {id, true}, size_bytes, size_bytes);
  handler_.on_end(lane.connection, {id, true}, TransferEnding::kDone);
}

}  // namespace lattice::transfer
