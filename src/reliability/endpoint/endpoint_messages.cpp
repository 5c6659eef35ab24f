// Processes an opened packet: acks, keepalives, disconnects, and messages for the handler (P-10, R-01, R-04,
// L-02, L-05, L-07).
#include <algorithm>

#include "base/assert.h"
#include "reliability/endpoint/endpoint_core.h"
#include "reliability/endpoint/peer_ack_notifier.h"
#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

/// How long a server's ack of inputs may wait. No message of the packet is sent again for want of an
/// ack, and at 20 snapshots per second or more the next one carries it: almost half of what a server sent
/// were separate acks.

MessageFlags flags_of(uint8_t flags) {
  return {(flags & wire::kFlagFragment) != 0, (flags & wire::kFlagRpc) != 0,
          (flags & wire::kFlagSnapshot) != 0};
}

// From a client: inputs.
bool is_engine_traffic(const wire::Message& message) {
  return message.channel == static_cast<uint8_t>(Channel::kUnreliableSequenced) &&
         (message.flags & wire::kFlagSnapshot) != 0;
}

// True if a message is judged by message_id or sequence. Engine traffic is judged by tick.
bool is_judged_by_number(const wire::Message& message) {
  if (message.mode != ChannelMode::kUnreliableSequenced) return wire::is_reliable(message.mode);
  return !is_engine_traffic(message);
}

}  // namespace

void Endpoint::Core::protocol_error(Peer& peer, Refusal refusal) {
  count(refusal, &peer);
  disconnect(peer, connection::DisconnectReason::kProtocolError, refusal_name(refusal));
}

void Endpoint::Core::refuse_ack(Peer& peer, const AckResult& result) {
  if (result.names_skipped) {
    protocol_error(peer, Refusal::kAckSkipped);
  } else {
    count(Refusal::kAckNeverSent, &peer);
  }
}

// `ack_delay_ns` is empty if the packet does not state the age of the block; then the block gives no sample.
void Endpoint::Core::apply_ack(Peer& peer, uint64_t packet_seq, const wire::AckBlock& ack,
                               std::optional<uint64_t> ack_delay_ns, uint64_t echoed) {
  const uint64_t newest = peer.link->highest_received();
  const SentPacketHistory& sent = peer.history;
  if (!peer.ack_block_order.is_certain(packet_seq, newest, sent.largest_acked(), sent.last_sent(), echoed)) {
    count(Refusal::kAckLate, &peer);
    return;
  }
  PeerAckNotifier notifier(handler, stats, peer);
  const AckResult result = peer.history.on_ack(ack, now_ns, peer.rtt, notifier);
  if (!result.valid) {
    refuse_ack(peer, result);
    return;
  }
  if (packet_seq == newest) peer.ack_block_order.on_newest(packet_seq, sent.largest_acked());
  note_probe_ack(peer);
  uint64_t sample_ns = kNoSample;
  // A packet that left for the old address says nothing about the new one.
  if (ack_delay_ns && result.has_sample && peer.path.was_used_at(result.sample_sent_ns)) {
    const uint64_t elapsed_ns = now_ns - result.sample_sent_ns;
    sample_ns = peer.rtt.add_delayed_sample({elapsed_ns, *ack_delay_ns, unread_ns, reading_every_ns}, now_ns);
  }
  if (peer.connected()) detect_losses(peer, &result, sample_ns);
}

void Endpoint::Core::on_payload(Peer& peer, const connection::SecureLink::Opened& packet) {
  wire::FramingSummary summary;
  const wire::FramingError error =
      wire::check_framing(packet.plaintext, config.channels, &summary, framed_messages);
  if (error != wire::FramingError::kNone) {
    protocol_error(peer, refusal_of(error));
    return;
  }
  apply_ack(peer, packet.packet_seq, summary.ack, summary.ack_delay_ns);
  const uint64_t below_newest = peer.link->highest_received() - packet.packet_seq;
  current_payload = {packet.packet_seq, below_newest > kMaxNumberedPackets};
  bool may_ack = true;
  bool is_inputs = peer.incoming;
  const auto handle = [&](const wire::Message& message) {
    is_inputs = is_inputs && (message.mode == ChannelMode::kAckMessage || is_engine_traffic(message));
    may_ack = on_message(peer, message) && may_ack;
  };
  // The handler may end the connection from any callback; then nothing more of the packet reaches it.
  for (size_t i = 0; peer.connected() && i < summary.kept_count; ++i) {
    handle(framed_messages[i]);
  }
  wire::MessageReader reader(summary.rest, config.channels);
  wire::Message message;
  while (peer.connected() && reader.next(&message)) handle(message);
  if (!peer.connected() || !may_ack) return;
  const uint64_t max_delay_ns = summary.reliable_count != 0 ? reliable_ack_delay_ns(peer.rtt.srtt_ns())
                                : is_inputs                 ? kMaxInputAckDelayNs
                                                            : kMaxAckDelayNs;
  peer.acks.on_packet(packet.packet_seq, summary.message_count != 0, now_ns, max_delay_ns,
                      peer.rtt.unread_share_ns(unread_ns));
}

bool Endpoint::Core::on_message(Peer& peer, const wire::Message& message) {
  if (current_payload.is_late && is_judged_by_number(message)) {
    count(Refusal::kMessageLate, &peer);
    return false;
  }
  switch (message.mode) {
    case ChannelMode::kUnreliable:
    case ChannelMode::kBulk:
      return deliver(peer, message);
    case ChannelMode::kUnreliableSequenced:
      return on_sequenced_message(peer, message);
    case ChannelMode::kReliableUnordered:
    case ChannelMode::kReliableOrdered:
      return on_reliable_message(peer, message);
    case ChannelMode::kAckMessage:
    case ChannelMode::kUndeclared:
      break;
  }
  return true;
}

bool Endpoint::Core::on_sequenced_message(Peer& peer, const wire::Message& message) {
  if (is_judged_by_number(message)) {
    // Layers above judge engine traffic by tick, object by object. For the rest the newest wins
    // here.
    SequencedOrder& order = peer.incoming_channels.sequenced(message.channel);
    if (!order.is_news(message.id, current_payload.packet_seq)) {
      count(Refusal::kMessageStale, &peer);
      return true;
    }
    // A single fragment is not a whole message, so it makes no older message stale.
    if (!message.is_fragment()) order.note(message.id, current_payload.packet_seq);
  }
  return deliver(peer, message);
}

bool Endpoint::Core::on_reliable_message(Peer& peer, const wire::Message& message) {
  ReceiveChannel& channel = peer.incoming_channels.reliable(message.channel);
  switch (channel.offer(message.id, message.flags, message.body, message.fragment)) {
    case ReceiveChannel::Outcome::kDeliver:
      break;
    case ReceiveChannel::Outcome::kStored:
      tell_credit(peer, message.channel,
                  channel.credit().on_message(now_ns, peer.rtt.srtt_ns(), receive_memory.spare_blocks()));
      return true;
    case ReceiveChannel::Outcome::kDuplicate:
      count(Refusal::kMessageDuplicate, &peer);
      return true;
    case ReceiveChannel::Outcome::kBeyondWindow:
      protocol_error(peer, Refusal::kMessageBeyondWindow);
      return false;
    case ReceiveChannel::Outcome::kNoMemory:
      count(Refusal::kMessageNoMemory, &peer);  // Its packet is not acked, so it comes again.
      tell_credit(peer, message.channel, channel.credit().on_refused(now_ns));
      return false;
  }
  tell_credit(peer, message.channel,
              channel.credit().on_message(now_ns, peer.rtt.srtt_ns(), receive_memory.spare_blocks()));
  deliver(peer, message);
  ReceiveChannel::Ready ready;
  while (peer.connected() && channel.pop_ready(&ready)) {
    wire::Message stored = message;
    stored.id = ready.id;
    stored.flags = ready.flags;
    stored.fragment = ready.fragment;
    stored.body = ready.body();
    deliver(peer, stored);
    channel.release(ready);
  }
  return true;
}

// The channel of control messages keeps its window: nothing on it is in a hurry.
void Endpoint::Core::tell_credit(Peer& peer, uint8_t channel, std::optional<uint16_t> credit) {
  if (!credit || channel == static_cast<uint8_t>(Channel::kControl)) return;
  peer.outgoing_channels.queue_control(wire::encode_credit({channel, *credit}));
}

bool Endpoint::Core::on_credit(Peer& peer, std::span<const uint8_t> body) {
  wire::Credit credit;
  const bool is_right = wire::parse_credit(body, &credit) && credit.messages >= kReliableWindow &&
                        credit.messages <= kMaxCredit &&
                        credit.channel != static_cast<uint8_t>(Channel::kControl) &&
                        wire::is_reliable(config.channels.mode(credit.channel));
  if (!is_right) {
    protocol_error(peer, Refusal::kBadControl);
    return false;
  }
  peer.outgoing_channels.set_window(credit.channel, credit.messages);
  wake(peer);  // More may leave now.
  return true;
}

bool Endpoint::Core::deliver(Peer& peer, const wire::Message& message) {
  if (message.channel == static_cast<uint8_t>(Channel::kControl)) {
    const std::span<const uint8_t> body = message.body;
    if (message.is_fragment() || body.empty() || !wire::is_known_control_type(body[0])) {
      protocol_error(peer, Refusal::kBadControl);
      return false;
    }
    if (wire::is_rotation_control_type(body[0])) return on_rotation_control(peer, body);
    if (body[0] == static_cast<uint8_t>(wire::ControlType::kResetToken)) return on_reset_token(peer, body);
    if (body[0] == static_cast<uint8_t>(wire::ControlType::kCredit)) return on_credit(peer, body);
  }
  ++peer.traffic.messages_received;
  ++stats.traffic.messages_received;
  if (message.is_fragment()) return deliver_fragment(peer, message);
  const Verdict verdict = handler.on_message(peer.handle, static_cast<Channel>(message.channel),
                                             flags_of(message.flags), message.body, now_ns);
  if (verdict == Verdict::kProtocolError) {
    if (peer.connected()) protocol_error(peer, Refusal::kMessageRefusedByHandler);
    return false;
  }
  return verdict == Verdict::kAccept;
}

bool Endpoint::Core::deliver_fragment(Peer& peer, const wire::Message& message) {
  IncomingFragment fragment{message.fragment, message.id, {}};
  if (wire::is_reliable(message.mode)) {
    fragment.next_id = peer.incoming_channels.reliable(message.channel).next_expected();
  }
  const FragmentOutcome outcome =
      handler.on_fragment(peer.handle, static_cast<Channel>(message.channel), flags_of(message.flags),
                          fragment, message.body, now_ns);
  if (wire::is_reliable(message.mode)) {
    peer.incoming_channels.reliable(message.channel)
        .set_incomplete(outcome.oldest_incomplete, outcome.is_crowded);
  }
  if (outcome.is_complete && message.mode == ChannelMode::kUnreliableSequenced) {
    // The message is newer than last_seen: this fragment was, and no message has come in between.
    peer.incoming_channels.sequenced(message.channel).note(message.id, current_payload.packet_seq);
  }
  if (outcome.verdict == Verdict::kProtocolError) {
    const Refusal refusal =
        outcome.is_complete ? Refusal::kMessageRefusedByHandler : Refusal::kFragmentUnsupported;
    if (peer.connected()) protocol_error(peer, refusal);
    return false;
  }
  return outcome.verdict == Verdict::kAccept;
}

void Endpoint::Core::on_keepalive(Peer& peer, const base::PathId& from,
                                  const connection::SecureLink::Opened& packet) {
  wire::KeepaliveBody body;
  if (!wire::parse_keepalive(packet.plaintext, &body)) {
    protocol_error(peer, Refusal::kBadKeepalive);
    return;
  }
  if (packet.is_newest) peer.stats.remote_tick = body.tick;
  const uint64_t echoed = (body.flags & wire::kKeepaliveEcho) != 0 ? on_echo(peer, body) : 0;
  apply_ack(peer, packet.packet_seq, body.ack, std::nullopt, echoed);
  if (!peer.connected()) return;
  on_path_flags(peer, from, body);
  if (body.flags & wire::kKeepaliveProbe) {
    peer.probes.on_peers_probe(body.probe_us, now_ns);
  }
  peer.acks.on_packet(packet.packet_seq, (body.flags & wire::kKeepaliveAckRequested) != 0, now_ns,
                      kMaxAckDelayNs, peer.rtt.unread_share_ns(unread_ns));
}

uint64_t Endpoint::Core::on_echo(Peer& peer, const wire::KeepaliveBody& body) {
  const std::optional<Probes::Answered> answered = peer.probes.on_echo(body.echo_us);
  if (!answered) {
    count(Refusal::kEchoUnexpected, &peer);
    return 0;
  }
  peer.rtt.add_delayed_sample(
      {now_ns - answered->sent_ns, uint64_t{body.echo_delay_us} * 1000, unread_ns, reading_every_ns}, now_ns);
  return answered->packet_seq;
}

void Endpoint::Core::on_disconnect(Peer& peer, const connection::SecureLink::Opened& packet) {
  wire::DisconnectBody body;
  if (!wire::parse_disconnect(packet.plaintext, &body)) {
    count(Refusal::kBadDisconnect, &peer);
    if (peer.connected()) disconnect(peer, connection::DisconnectReason::kProtocolError, "bad_disconnect");
    return;
  }
  if (!peer.lifecycle.allows(connection::Event::kPeerDisconnect))
    return;  // Ended already, waiting to be freed.
  const bool was_connected = peer.connected();
  if (!body.is_acknowledgement) send_disconnect(peer, true);
  peer.lifecycle.apply(connection::Event::kPeerDisconnect);
  if (was_connected) {
    const crypto::Role teller = peer.incoming ? crypto::Role::kClient : crypto::Role::kServer;
    if (!connection::is_reason_of_a_peer(teller, body.reason)) count(Refusal::kReasonReserved, &peer);
    note_end(peer, connection::reason_from_peer(teller, body.reason), 0,
             {reinterpret_cast<const char*>(body.text.data()), body.text.size()});
    peer.stats.ended_by_peer = true;
  }
  list_ending(peer);
}

void Endpoint::Core::lose_receipts(Peer& peer) {
  PeerAckNotifier notifier(handler, stats, peer);
  const auto lost = [&notifier](uint32_t receipt) { notifier.notify_receipt(receipt, false); };
  // Channels report the receipts of reliable messages; packets report those of unreliable messages.
  peer.history.lose_everything(notifier);
  peer.outgoing_channels.lose_everything(lost);
}

}  // namespace lattice::reliability
