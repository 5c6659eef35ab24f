// Processes an opened packet: acks, keepalives, disconnects, and messages for the handler (P-10, R-01, R-04,
// L-02, L-05, L-07).
#include <algorithm>

#include "base/assert.h"
#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_notifier.h"
#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

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

void Connection::protocol_error(Refusal refusal) {
  count(refusal);
  disconnect(connection::DisconnectReason::kProtocolError, refusal_name(refusal));
}

void Connection::refuse_ack(const AckResult& result) {
  if (result.names_skipped) {
    protocol_error(Refusal::kAckSkipped);
  } else {
    count(Refusal::kAckNeverSent);
  }
}

// `ack_delay_ns` is empty if the packet does not state the age of the block; then the block gives no sample.
void Connection::apply_ack(uint64_t packet_seq, const wire::AckBlock& ack,
                           std::optional<uint64_t> ack_delay_ns, uint64_t echoed) {
  const uint64_t newest = link_->highest_received();
  const SentPacketHistory& sent = history_;
  if (!ack_block_order_.is_certain(packet_seq, newest, sent.largest_acked(), sent.last_sent(), echoed)) {
    count(Refusal::kAckLate);
    return;
  }
  Notifier notifier(*this);
  const AckResult result = history_.on_ack(ack, now_ns(), rtt_, notifier);
  if (!result.valid) {
    refuse_ack(result);
    return;
  }
  if (packet_seq == newest) ack_block_order_.on_newest(packet_seq, sent.largest_acked());
  note_probe_ack();
  if (was_cut_off() && (result.newly_acked != 0 || result.spurious != 0)) end_silence();
  uint64_t sample_ns = kNoSample;
  // A packet that left for the old address says nothing about the new one.
  if (ack_delay_ns && result.has_sample && path_.was_used_at(result.sample_sent_ns) &&
      rtt_.tells(result.sample_sent_ns)) {
    RttEstimator::Answer answer;
    answer.elapsed_ns = now_ns() - result.sample_sent_ns;
    answer.told_delay_ns = *ack_delay_ns;
    answer.unread_ns = context_.clock.unread_ns();
    answer.reading_every_ns = context_.clock.reading_every_ns();
    // Where a packet of the peer is missing, it may have answered earlier.
    if (packet_seq == answered_by_ + 1 && path_.was_used_at(result.first_sent_ns) &&
        rtt_.tells(result.first_sent_ns)) {
      answer.longest_ns = now_ns() - result.first_sent_ns;
    }
    sample_ns = rtt_.add_delayed_sample(answer, now_ns());
  }
  answered_by_ = newest;
  if (connected()) detect_losses(&result, sample_ns);
}

bool Connection::was_cut_off() const {
  return pacer_.is_cut_off(now_ns()) && rtt_.may_ignore();
}

// How long the peer was silent is no round trip, and no reason to wait so long for what is lost from now on.
void Connection::end_silence() {
  rtt_.ignore_sent_before(now_ns());
  history_.forget_lateness();
  probes_.want();
}

void Connection::on_payload(const connection::SecureLink::Opened& packet) {
  wire::FramingSummary summary;
  const wire::FramingError error =
      wire::check_framing(packet.plaintext, context_.config.channels, &summary, context_.framed_messages);
  if (error != wire::FramingError::kNone) {
    protocol_error(refusal_of(error));
    return;
  }
  messages_read_ += summary.message_count + summary.ack_message_count;
  apply_ack(packet.packet_seq, summary.ack, summary.ack_delay_ns);
  const uint64_t below_newest = link_->highest_received() - packet.packet_seq;
  const Payload payload{packet.packet_seq, below_newest > kMaxNumberedPackets};
  bool may_ack = true;
  bool is_inputs = is_incoming_;
  const auto handle = [&](const wire::Message& message) {
    is_inputs = is_inputs && (message.mode == ChannelMode::kAckMessage || is_engine_traffic(message));
    may_ack = on_message(message, payload) && may_ack;
  };
  // The handler may end the connection from any callback; then nothing more of the packet reaches it.
  for (size_t i = 0; connected() && i < summary.kept_count; ++i) {
    handle(context_.framed_messages[i]);
  }
  wire::MessageReader reader(summary.rest, context_.config.channels);
  wire::Message message;
  while (connected() && reader.next(&message)) handle(message);
  if (!connected() || !may_ack) return;
  const uint64_t max_delay_ns = summary.reliable_count != 0 ? reliable_ack_delay_ns(rtt_.srtt_ns())
                                : is_inputs                 ? kMaxInputAckDelayNs
                                                            : kMaxAckDelayNs;
  acks_.on_packet(packet.packet_seq, summary.message_count != 0, now_ns(), max_delay_ns,
                  rtt_.unread_share_ns(context_.clock.unread_ns()));
}

bool Connection::on_message(const wire::Message& message, const Payload& payload) {
  if (payload.is_late && is_judged_by_number(message)) {
    count(Refusal::kMessageLate);
    return false;
  }
  switch (message.mode) {
    case ChannelMode::kUnreliable:
    case ChannelMode::kBulk:
      return deliver(message, payload);
    case ChannelMode::kUnreliableSequenced:
      return on_sequenced_message(message, payload);
    case ChannelMode::kReliableUnordered:
    case ChannelMode::kReliableOrdered:
      return on_reliable_message(message, payload);
    case ChannelMode::kAckMessage:
    case ChannelMode::kUndeclared:
      break;
  }
  return true;
}

bool Connection::on_sequenced_message(const wire::Message& message, const Payload& payload) {
  if (is_judged_by_number(message)) {
    // Layers above judge engine traffic by tick, object by object. For the rest the newest wins
    // here.
    SequencedOrder& order = incoming_channels_.sequenced(message.channel);
    if (!order.is_news(message.id, payload.packet_seq)) {
      count(Refusal::kMessageStale);
      return true;
    }
    // A single fragment is not a whole message, so it makes no older message stale.
    if (!message.is_fragment()) order.note(message.id, payload.packet_seq);
  }
  return deliver(message, payload);
}

bool Connection::on_reliable_message(const wire::Message& message, const Payload& payload) {
  ReceiveChannel& channel = incoming_channels_.reliable(message.channel);
  switch (channel.offer(message.id, message.flags, message.body, message.fragment)) {
    case ReceiveChannel::Outcome::kDeliver:
      break;
    case ReceiveChannel::Outcome::kStored:
      tell_credit(message.channel, channel.credit().on_message(now_ns(), rtt_.srtt_ns(),
                                                               context_.receive_memory.spare_blocks()));
      return true;
    case ReceiveChannel::Outcome::kDuplicate:
      count(Refusal::kMessageDuplicate);
      return true;
    case ReceiveChannel::Outcome::kBeyondWindow:
      protocol_error(Refusal::kMessageBeyondWindow);
      return false;
    case ReceiveChannel::Outcome::kNoMemory:
      count(Refusal::kMessageNoMemory);  // Its packet is not acked, so it comes again.
      tell_credit(message.channel, channel.credit().on_refused(now_ns()));
      return false;
  }
  tell_credit(message.channel,
              channel.credit().on_message(now_ns(), rtt_.srtt_ns(), context_.receive_memory.spare_blocks()));
  deliver(message, payload);
  if (channel.has_early()) deliver_early(channel, message, payload);
  return true;
}

// What came before `message` and waited for it.
void Connection::deliver_early(ReceiveChannel& channel, const wire::Message& message,
                               const Payload& payload) {
  ReceiveChannel::Ready ready;
  while (connected() && channel.pop_ready(&ready)) {
    wire::Message stored = message;
    stored.id = ready.id;
    stored.flags = ready.flags;
    stored.fragment = ready.fragment;
    stored.body = ready.body();
    deliver(stored, payload);
    channel.release(ready);
  }
}

// The channel of control messages keeps its window: nothing on it is in a hurry.
void Connection::tell_credit(uint8_t channel, std::optional<uint16_t> credit) {
  if (!credit || channel == static_cast<uint8_t>(Channel::kControl)) return;
  acks_.set_every(*credit > kReliableWindow ? kAckEveryPacketsOfMany : kAckEveryPackets);
  outgoing_channels_.queue_control(wire::encode_credit({channel, *credit}));
}

bool Connection::on_credit(std::span<const uint8_t> body) {
  wire::Credit credit;
  const bool is_right = wire::parse_credit(body, &credit) && credit.messages >= kReliableWindow &&
                        credit.messages <= kMaxCredit &&
                        credit.channel != static_cast<uint8_t>(Channel::kControl) &&
                        wire::is_reliable(context_.config.channels.mode(credit.channel));
  if (!is_right) {
    protocol_error(Refusal::kBadControl);
    return false;
  }
  outgoing_channels_.set_window(credit.channel, credit.messages);
  wake();  // More may leave now.
  return true;
}

bool Connection::on_reset_token(std::span<const uint8_t> body) {
  wire::ResetToken token;
  if (is_incoming_ || reset_token_ || !wire::parse_reset_token(body, &token)) {
    protocol_error(Refusal::kBadResetToken);
    return false;
  }
  reset_token_ = token;
  return true;
}

bool Connection::deliver(const wire::Message& message, const Payload& payload) {
  if (message.channel == static_cast<uint8_t>(Channel::kControl)) {
    const std::span<const uint8_t> body = message.body;
    if (message.is_fragment() || body.empty() || !wire::is_known_control_type(body[0])) {
      protocol_error(Refusal::kBadControl);
      return false;
    }
    if (wire::is_rotation_control_type(body[0])) return on_rotation_control(body);
    if (body[0] == static_cast<uint8_t>(wire::ControlType::kResetToken)) return on_reset_token(body);
    if (body[0] == static_cast<uint8_t>(wire::ControlType::kCredit)) return on_credit(body);
  }
  ++traffic_.messages_received;
  ++context_.totals.traffic.messages_received;
  if (message.is_fragment()) return deliver_fragment(message, payload);
  const Verdict verdict =
      context_.handler.on_message(handle_, static_cast<Channel>(message.channel), flags_of(message.flags),
                                  message.body, context_.clock.arrived_ns());
  if (verdict == Verdict::kProtocolError) {
    if (connected()) protocol_error(Refusal::kMessageRefusedByHandler);
    return false;
  }
  return verdict == Verdict::kAccept;
}

bool Connection::deliver_fragment(const wire::Message& message, const Payload& payload) {
  IncomingFragment fragment{message.fragment, message.id, {}};
  if (wire::is_reliable(message.mode)) {
    fragment.next_id = incoming_channels_.reliable(message.channel).next_expected();
  }
  const FragmentOutcome outcome =
      context_.handler.on_fragment(handle_, static_cast<Channel>(message.channel), flags_of(message.flags),
                                   fragment, message.body, now_ns());
  if (wire::is_reliable(message.mode)) {
    incoming_channels_.reliable(message.channel)
        .set_incomplete(outcome.oldest_incomplete, outcome.is_crowded);
  }
  if (outcome.is_complete && message.mode == ChannelMode::kUnreliableSequenced) {
    // The message is newer than last_seen: this fragment was, and no message has come in between.
    incoming_channels_.sequenced(message.channel).note(message.id, payload.packet_seq);
  }
  if (outcome.verdict == Verdict::kProtocolError) {
    const Refusal refusal =
        outcome.is_complete ? Refusal::kMessageRefusedByHandler : Refusal::kFragmentUnsupported;
    if (connected()) protocol_error(refusal);
    return false;
  }
  return outcome.verdict == Verdict::kAccept;
}

void Connection::on_keepalive(const base::PathId& from, const connection::SecureLink::Opened& packet) {
  wire::KeepaliveBody body;
  if (!wire::parse_keepalive(packet.plaintext, &body)) {
    protocol_error(Refusal::kBadKeepalive);
    return;
  }
  if (packet.is_newest) stats_.remote_tick = body.tick;
  const uint64_t echoed = (body.flags & wire::kKeepaliveEcho) != 0 ? on_echo(body) : 0;
  apply_ack(packet.packet_seq, body.ack, std::nullopt, echoed);
  if (!connected()) return;
  on_path_flags(from, body);
  if (body.flags & wire::kKeepaliveProbe) {
    probes_.on_peers_probe(body.probe_us, now_ns());
  }
  acks_.on_packet(packet.packet_seq, (body.flags & wire::kKeepaliveAckRequested) != 0, now_ns(),
                  kMaxAckDelayNs, rtt_.unread_share_ns(context_.clock.unread_ns()));
}

uint64_t Connection::on_echo(const wire::KeepaliveBody& body) {
  const std::optional<Probes::Answered> answered = probes_.on_echo(body.echo_us);
  if (!answered) {
    count(Refusal::kEchoUnexpected);
    return 0;
  }
  if (was_cut_off() || !rtt_.tells(answered->sent_ns)) return answered->packet_seq;
  rtt_.add_delayed_sample({now_ns() - answered->sent_ns, uint64_t{body.echo_delay_us} * 1000,
                           context_.clock.unread_ns(), context_.clock.reading_every_ns()},
                          now_ns());
  return answered->packet_seq;
}

void Connection::on_disconnect(const connection::SecureLink::Opened& packet) {
  wire::DisconnectBody body;
  if (!wire::parse_disconnect(packet.plaintext, &body)) {
    count(Refusal::kBadDisconnect);
    if (connected()) disconnect(connection::DisconnectReason::kProtocolError, "bad_disconnect");
    return;
  }
  if (!lifecycle_.allows(connection::Event::kPeerDisconnect)) return;  // Ended already, waiting to be freed.
  const bool was_connected = connected();
  if (!body.is_acknowledgement) send_disconnect(true);
  lifecycle_.apply(connection::Event::kPeerDisconnect);
  if (was_connected) {
    const crypto::Role teller = is_incoming_ ? crypto::Role::kClient : crypto::Role::kServer;
    if (!connection::is_reason_of_a_peer(teller, body.reason)) count(Refusal::kReasonReserved);
    note_end(connection::reason_from_peer(teller, body.reason), 0,
             {reinterpret_cast<const char*>(body.text.data()), body.text.size()});
    stats_.ended_by_peer = true;
  }
  list_ending();
}

}  // namespace lattice::reliability
