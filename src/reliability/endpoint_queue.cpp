// Puts messages from the layer above into the queues: checks, back-pressure, sequences,
// and fragmented messages, which are queued whole or not at all (F-01, F-04).
#include <algorithm>

#include "base/assert.h"
#include "reliability/endpoint_core.h"
#include "reliability/peer_ack_notifier.h"
#include "reliability/send_memory.h"
#include "transport/wire/control_body.h"

namespace lattice::reliability {
namespace {

constexpr auto kControl = static_cast<uint8_t>(Channel::kControl);

uint8_t wire_flags(MessageFlags flags) {
  return static_cast<uint8_t>((flags.is_rpc ? wire::kFlagRpc : 0) |
                              (flags.is_snapshot ? wire::kFlagSnapshot : 0));
}

// Queues every fragment of `body`. If one finds no room, takes back the fragments queued before it.
template <class Queue>
bool queue_fragments(Queue& queue, OutgoingMessage message, size_t unit_bytes,
                     std::span<const uint8_t> body) {
  for (size_t i = 0; i < message.fragment.count; ++i) {
    message.fragment.index = static_cast<uint8_t>(i);
    const size_t offset = i * unit_bytes;
    message.body = body.subspan(offset, std::min(unit_bytes, body.size() - offset));
    if (queue.queue(message)) continue;
    queue.take_back(i);
    return false;
  }
  return true;
}

}  // namespace

bool Endpoint::Core::may_queue(const Peer& peer, size_t messages, size_t bytes) const {
  if (pool.stats().capacity_live + queue_memory_bytes(messages, bytes) <= config.send_growth_bytes)
    return true;
  messages += peer.application_queue.size();
  bytes += peer.application_queue.bytes();
  for_each_bit(peer.sending_channels & ~(uint32_t{1} << kControl), [&](uint8_t channel) {
    messages += peer.reliable[channel]->send.queued_messages();
    bytes += peer.reliable[channel]->send.queued_bytes();
  });
  return queue_memory_bytes(messages, bytes) <= kSendShareBytes;
}

SendResult Endpoint::Core::send(ConnectionHandle handle, uint8_t channel, MessageFlags flags,
                                std::span<const uint8_t> body, uint32_t receipt) {
  Peer* peer = find(handle);
  if (peer == nullptr || !peer->connected()) return SendResult::kNotConnected;
  wake(*peer);
  if (channel >= wire::kChannelCount || flags.is_fragment) return SendResult::kInvalidChannel;
  const ChannelMode mode = config.channels.mode(channel);
  if (mode > ChannelMode::kReliableOrdered) return SendResult::kInvalidChannel;
  if (channel == kControl &&
      (body.empty() || !wire::is_known_control_type(body[0]) || wire::is_transport_control_type(body[0]))) {
    return SendResult::kInvalidChannel;
  }
  if (body.size() > max_body_bytes(mode)) return SendResult::kTooLarge;
  OutgoingMessage message;
  message.channel = channel;
  message.flags = wire_flags(flags);
  message.receipt = receipt;
  message.body = body;
  if (!wire::is_reliable(mode)) return send_unreliable(*peer, message, mode);
  if (channel != kControl && !may_queue(*peer, 1, body.size())) return SendResult::kWouldBlock;
  return peer->channel_to_send(channel).queue(message) ? SendResult::kOk : SendResult::kWouldBlock;
}

SendResult Endpoint::Core::send_unreliable(Peer& peer, OutgoingMessage message, ChannelMode mode) {
  const bool engine = message.channel == static_cast<uint8_t>(Channel::kUnreliableSequenced) &&
                      (message.flags & wire::kFlagSnapshot) != 0;
  if (engine) {
    message.id = peer.engine.next_sent;
    if (!peer.engine_queue.queue(message)) return SendResult::kWouldBlock;
    peer.engine_sequence_used = true;  // The next update begins a new sequence.
    return SendResult::kOk;
  }
  if (!may_queue(peer, 1, message.body.size())) return SendResult::kWouldBlock;
  SequencedState& state = peer.sequenced[message.channel];
  if (mode == ChannelMode::kUnreliableSequenced) message.id = state.next_sent;
  if (!peer.application_queue.queue(message)) return SendResult::kWouldBlock;
  if (mode == ChannelMode::kUnreliableSequenced) state.next_sent = state.next_sent.next();
  return SendResult::kOk;
}

void Endpoint::Core::drop_waiting_snapshot(Peer& peer) {
  PeerAckNotifier notifier(handler, stats, peer);
  peer.engine_queue.lose_everything(
      [&notifier](uint32_t receipt) { notifier.notify_receipt(receipt, false); });
}

SendResult Endpoint::Core::send_fragments(ConnectionHandle handle, uint8_t channel, MessageFlags flags,
                                          uint16_t group, size_t unit_bytes, std::span<const uint8_t> body,
                                          uint32_t receipt) {
  Peer* peer = find(handle);
  if (peer == nullptr || !peer->connected()) return SendResult::kNotConnected;
  wake(*peer);
  if (channel >= kControl || flags.is_fragment || flags.is_snapshot) return SendResult::kInvalidChannel;
  const ChannelMode mode = config.channels.mode(channel);
  if (mode > ChannelMode::kReliableOrdered) return SendResult::kInvalidChannel;
  LATTICE_CHECK(unit_bytes != 0 && unit_bytes <= kFragmentUnitBytes && body.size() > unit_bytes);
  const size_t count = (body.size() + unit_bytes - 1) / unit_bytes;
  if (count > kMaxFragments) return SendResult::kTooLarge;
  if (!may_queue(*peer, count, body.size() + count * sizeof(wire::FragmentHeader))) {
    return SendResult::kWouldBlock;
  }
  OutgoingMessage message;
  message.channel = channel;
  message.flags = static_cast<uint8_t>(wire_flags(flags) | wire::kFlagFragment);
  message.receipt = receipt;
  message.fragment.group = group;
  message.fragment.count = static_cast<uint16_t>(count);
  if (wire::is_reliable(mode)) {
    SendChannel& queue = peer->channel_to_send(channel);
    return queue_fragments(queue, message, unit_bytes, body) ? SendResult::kOk : SendResult::kWouldBlock;
  }
  SequencedState& state = peer->sequenced[channel];
  if (mode == ChannelMode::kUnreliableSequenced)
    message.id = state.next_sent;  // All fragments share it (F-04).
  if (!queue_fragments(peer->application_queue, message, unit_bytes, body)) return SendResult::kWouldBlock;
  if (mode == ChannelMode::kUnreliableSequenced) state.next_sent = state.next_sent.next();
  return SendResult::kOk;
}

}  // namespace lattice::reliability
