#include "fragment/fragmenting_endpoint.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::fragment {

using reliability::ChannelMode;
using reliability::FragmentOutcome;
using reliability::Refusal;
using reliability::Verdict;

std::unique_ptr<FragmentingEndpoint> FragmentingEndpoint::create(reliability::EndpointConfig config,
                                                                 socket::DatagramSocket& socket,
                                                                 reliability::EndpointHandler& handler,
                                                                 crypto::EntropySource& entropy,
                                                                 const char** error) {
  std::unique_ptr<FragmentingEndpoint> out(new FragmentingEndpoint(config, handler));
  out->endpoint_ = reliability::Endpoint::create(std::move(config), socket, *out, entropy, error);
  return out->endpoint_ == nullptr ? nullptr : std::move(out);
}

FragmentingEndpoint::FragmentingEndpoint(const reliability::EndpointConfig& config,
                                         reliability::EndpointHandler& handler)
    : above_(handler), channels_(config.channels), lanes_(config.max_connections) {}

FragmentingEndpoint::~FragmentingEndpoint() = default;

// --- Out

SendResult FragmentingEndpoint::send(ConnectionHandle connection, Channel channel, MessageFlags flags,
                                     std::span<const uint8_t> body, uint32_t receipt) {
  LATTICE_ASSERT(!FragmentReceipts::is_group(receipt));
  // The endpoint also gets every message that it will refuse: control messages, snapshots, unknown channels.
  const bool may_be_cut = static_cast<size_t>(channel) < static_cast<size_t>(Channel::kAck) &&
                          channels_.mode(channel) <= ChannelMode::kReliableOrdered && !flags.is_snapshot &&
                          !flags.is_fragment;
  if (!may_be_cut || body.size() <= reliability::max_body_bytes(channels_.mode(channel))) {
    return endpoint_->send(connection, channel, flags, body, receipt);
  }
  if (endpoint_->state(connection) != connection::State::kConnected) return SendResult::kNotConnected;
  if (body.size() > kMaxMessageBytes) return SendResult::kTooLarge;
  return send_fragments(connection, channel, flags, body, receipt);
}

SendResult FragmentingEndpoint::send_fragments(ConnectionHandle connection, Channel channel,
                                               MessageFlags flags, std::span<const uint8_t> body,
                                               uint32_t receipt) {
  constexpr size_t kUnit = reliability::kFragmentUnitBytes;
  const size_t count = (body.size() + kUnit - 1) / kUnit;
  uint16_t& group = lane_of(connection).next_group[static_cast<size_t>(channel)];
  const uint32_t number = receipt == 0 ? 0 : receipts_.open(receipt, count);
  const SendResult result = endpoint_->send_fragments(connection, channel, flags, group, kUnit, body, number);
  if (result == SendResult::kOk) {
    ++group;
  } else if (number != 0) {
    receipts_.cancel(number);
  }
  return result;
}

void FragmentingEndpoint::update_and_send(uint64_t now_ns, uint64_t unix_s) {
  if (now_ns >= next_expiry_ns_) expire(now_ns);
  endpoint_->update_and_send(now_ns, unix_s);
}

void FragmentingEndpoint::expire(uint64_t now_ns) {
  next_expiry_ns_ = UINT64_MAX;
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (!lane) continue;
    const uint32_t expired = lane->reassembler.expire(now_ns);
    if (expired != 0) endpoint_->count_refusal(lane->connection, Refusal::kFragmentTimeout, expired);
    next_expiry_ns_ = std::min(next_expiry_ns_, lane->reassembler.next_expiry_ns());
  }
}

// --- In

FragmentingEndpoint::Lane& FragmentingEndpoint::lane_of(ConnectionHandle connection) {
  std::unique_ptr<Lane>& lane = lanes_[connection.slot];
  if (!lane) lane = std::make_unique<Lane>(endpoint_->receive_memory());
  lane->connection = connection;
  return *lane;
}

Verdict FragmentingEndpoint::on_message(ConnectionHandle connection, Channel channel, MessageFlags flags,
                                        std::span<const uint8_t> body, uint64_t arrived_ns) {
  if (Lane* lane = lanes_[connection.slot].get()) {
    const ChannelMode mode = channels_.mode(channel);
    if (mode == ChannelMode::kReliableOrdered &&
        lane->reassembler.is_inside_message(static_cast<uint8_t>(channel))) {
      endpoint_->refuse(connection, Refusal::kFragmentOrder);
      return Verdict::kAcceptButDoNotAck;
    }
    if (mode == ChannelMode::kUnreliableSequenced && !flags.is_snapshot) {
      drop_overtaken(*lane, channel, *endpoint_->newest_sequence(connection, channel));
    }
  }
  return above_.on_message(connection, channel, flags, body, arrived_ns);
}

FragmentOutcome FragmentingEndpoint::on_fragment(ConnectionHandle connection, Channel channel,
                                                 MessageFlags flags,
                                                 const reliability::IncomingFragment& fragment,
                                                 std::span<const uint8_t> body, uint64_t now_ns) {
  Piece piece;
  piece.channel = static_cast<uint8_t>(channel);
  piece.mode = channels_.mode(channel);
  piece.is_rpc = flags.is_rpc;
  piece.header = fragment.header;
  piece.id = fragment.id;
  piece.next_id = fragment.next_id;
  piece.body = body;
  if (flags.is_snapshot) return refuse(connection, piece, Refusal::kFragmentSnapshot);
  Lane& lane = lane_of(connection);
  const Reassembler::Result result = lane.reassembler.add(piece, now_ns, &message_);
  if (result.evicted != 0) {
    endpoint_->count_refusal(connection, Refusal::kFragmentEvicted, result.evicted);
  }
  if (result.refusal) return refuse(connection, piece, *result.refusal);
  if (!result.is_complete) {
    if (!piece.is_reliable()) next_expiry_ns_ = std::min(next_expiry_ns_, now_ns + kGroupTimeoutNs);
    return {Verdict::kAccept, false, lane.reassembler.oldest_incomplete(piece.channel),
            lane.reassembler.is_crowded()};
  }
  if (piece.mode == ChannelMode::kUnreliableSequenced) drop_overtaken(lane, channel, piece.id);
  MessageFlags whole = flags;
  whole.is_fragment = false;
  const auto oldest_incomplete = lane.reassembler.oldest_incomplete(piece.channel);
  const bool is_crowded = lane.reassembler.is_crowded();
  return {above_.on_message(connection, channel, whole, message_, now_ns), true, oldest_incomplete,
          is_crowded};
}

void FragmentingEndpoint::drop_overtaken(Lane& lane, Channel channel, base::Sequence16 newest) {
  const uint32_t dropped = lane.reassembler.drop_overtaken(static_cast<uint8_t>(channel), newest);
  if (dropped != 0) endpoint_->count_refusal(lane.connection, Refusal::kFragmentStale, dropped);
}

FragmentOutcome FragmentingEndpoint::refuse(ConnectionHandle connection, const Piece& piece,
                                            Refusal refusal) {
  if (!piece.is_reliable()) {
    endpoint_->count_refusal(connection, refusal);
    return {Verdict::kAccept, false, {}};
  }
  endpoint_->refuse(connection, refusal);
  return {Verdict::kAcceptButDoNotAck, false, {}};
}

// --- Calls passed to the handler above

connection::Admission FragmentingEndpoint::on_admission(const connection::AdmissionRequest& request) {
  return above_.on_admission(request);
}

void FragmentingEndpoint::on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) {
  above_.on_connected(connection, info);
}

void FragmentingEndpoint::on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                                          uint64_t remote_schema_id, std::string_view text) {
  if (Lane* lane = lanes_[connection.slot].get()) {
    lane->reassembler.clear();
    lane->next_group.fill(0);
  }
  above_.on_disconnected(connection, reason, remote_schema_id, text);
}

void FragmentingEndpoint::on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  if (!FragmentReceipts::is_group(receipt)) {
    above_.on_receipt(connection, receipt, acked);
  } else if (const auto told = receipts_.on_receipt(receipt, acked)) {
    above_.on_receipt(connection, told->receipt, told->acked);
  }
}

}  // namespace lattice::fragment
