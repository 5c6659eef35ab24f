// From queues and timers to the batch: packing, keepalives, acks, sealing.
#include <algorithm>

#include "base/assert.h"
#include "base/durations.h"
#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_notifier.h"
#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

using base::kSecondNs;
constexpr uint64_t kThinFlightBytes = 4 * wire::kFloorDatagramBytes;
// Separate acks take a quarter of a rate at most, but one may go every 25 ms: the least ceilings that
// configurations accept have room for that.
uint64_t ack_pause_ns(uint64_t rate_bytes_per_s) {
  constexpr uint64_t kBytes = wire::kMinHeaderBytes + wire::kAckMessageWithDelayBytes + wire::kTagBytes;
  if (rate_bytes_per_s == 0 || rate_bytes_per_s == Pacer::kUnlimited) return 0;
  return std::min(kMaxAckDelayNs, 4 * kBytes * kSecondNs / rate_bytes_per_s);
}

}  // namespace

// How long a message waits for its ack. On a path with a steady round trip, rto leaves no room for a
// delayed ack, and the message would be sent twice. With much in flight, the ack may be shared with packets
// whose acks wait longer. With little in flight, a late message costs the game more than a repeated one.
uint64_t Connection::resend_after_ns() const {
  const bool thin = history_.bytes_in_flight() <= kThinFlightBytes;
  return rtt_.rto_ns() + (thin ? reliable_ack_delay_ns(rtt_.srtt_ns()) : kMaxAckDelayNs);
}

void Connection::send_payloads() {
  OutgoingChannels& outgoing = outgoing_channels_;
  if (!outgoing.has_work() && !has_chunks()) return;
  pacer_.begin_send(path_state(), context_.clock.previous_update_ns());
  // The parts of a snapshot leave together and differ little in length.
  const bool is_run = outgoing.engine_count() > 1 && context_.socket.favours_equal_lengths(path_.address());
  const size_t padded_bytes = is_run ? outgoing.longest_engine_bytes() : 0;
  while (connected() && outgoing.has_work() && context_.items.has_room() && !history_.is_full()) {
    const uint64_t allowance_bytes =
        pacer_.allowance_bytes(history_.bytes_in_flight(), outgoing.next_datagram_bytes());
    const bool control_only = allowance_bytes == 0;
    if (control_only && !outgoing.has_control()) break;
    if (!send_one_payload(control_only ? pacer_.urgent_allowance_bytes() : allowance_bytes, control_only,
                          padded_bytes)) {
      break;
    }
  }
  outgoing.end_sequence();
}

bool Connection::send_one_payload(uint64_t allowance_bytes, bool control_only, size_t padded_bytes) {
  const auto datagram_bytes =
      static_cast<size_t>(std::min<uint64_t>(path_.datagram_bytes(), allowance_bytes));
  if (datagram_bytes <= wire::kMaxHeaderBytes + wire::kTagBytes) return false;
  const std::span<uint8_t> buffer = begin_packet();
  const size_t budget_bytes = datagram_bytes - link_->next_overhead_bytes();
  PacketBuilder builder(buffer.subspan(wire::kMaxHeaderBytes, budget_bytes), acks_.block(),
                        acks_.delay_ns(now_ns()));
  OutgoingChannels::Filled filled;
  outgoing_channels_.fill({.carrier = {link_->next_packet_seq(), now_ns(), resend_after_ns()},
                           .budget_bytes = budget_bytes,
                           .padded_bytes = padded_bytes,
                           .control_only = control_only},
                          builder, context_.items, filled);
  if (builder.empty()) {
    // send() accepts only messages that fit a whole packet.
    LATTICE_CHECK(control_only);
    return false;
  }
  Outgoing packet;
  packet.type = wire::PacketType::kPayload;
  packet.buffer = buffer;
  packet.plaintext_bytes = builder.size();
  packet.ack_eliciting = true;
  packet.charge = control_only ? Charge::kUrgent : Charge::kOrdinary;
  packet.items = filled.items;
  transmit_payload(packet, filled.first_count, filled.resent_count);
  return true;
}

void Connection::transmit_payload(const Outgoing& packet, uint32_t first_count, uint32_t resent_count) {
  traffic_.messages_sent += first_count;
  traffic_.messages_resent += resent_count;
  context_.totals.traffic.messages_sent += first_count;
  context_.totals.traffic.messages_resent += resent_count;
  probes_.on_payload(now_ns());
  transmit(packet);
}

void Connection::send_keepalive_if_needed() {
  const Probes& probes = probes_;
  const bool idle_due = timers_->keepalive_due(now_ns()) && now_ns() - probes.last_sent_ns() >= idle_ns();
  const bool busy_due = now_ns() >= probes.busy_at_ns(rtt_, history_.is_unheard(), now_ns());
  const bool probe = idle_due || busy_due || probes.quiet_due(rtt_, now_ns()) || probes.is_wanted() ||
                     now_ns() >= repeat_first_ns();
  if (probe || probes.echo_waits() || path_.answer_waits()) {
    send_keepalive(probe);
  } else if (acks_.ack_due(now_ns(), context_.clock.until_next_update_ns())) {
    send_ack();
  }
}

void Connection::send_keepalive(bool probe) {
  wire::KeepaliveBody body;
  body.ack = acks_.block();
  body.tick = context_.server_tick;
  if (probe) {
    body.flags |= wire::kKeepaliveProbe | wire::kKeepaliveAckRequested;
    body.probe_us = now_ns() / 1000;
  }
  if (probes_.echo_waits()) {
    const Probes::Echo echo = probes_.take_echo(now_ns());
    body.flags |= wire::kKeepaliveEcho;
    body.echo_us = echo.probe_us;
    body.echo_delay_us = echo.delay_us;
  }
  if (path_.answer_waits()) {
    body.flags |= wire::kKeepalivePathResponse;
    body.response = path_.take_answer();
  }
  Outgoing packet;
  packet.type = wire::PacketType::kKeepalive;
  packet.buffer = begin_packet();
  if (probe) probes_.on_probe(now_ns(), link_->next_packet_seq());
  packet.plaintext_bytes = wire::encode_keepalive(body, packet.buffer.subspan(wire::kMaxHeaderBytes));
  packet.ack_eliciting = probe;
  packet.charge = Charge::kFree;
  transmit(packet);
}

// A separate ack is a Payload with only the ack message. Unlike a Keepalive it states its delay. So one-way
// traffic measures the round trip with every ack, not with one probe per second.
void Connection::send_ack() {
  const bool has_ceiling = context_.config.congestion.max_rate_bytes_per_s != 0;
  if (has_ceiling) {
    pacer_.update(path_state());
    if (pacer_.urgent_allowance_bytes() < kMaxUrgentBytes) return;
  }
  Outgoing packet;
  packet.buffer = begin_packet();
  PacketBuilder builder(packet.buffer.subspan(wire::kMaxHeaderBytes, wire::kAckMessageWithDelayBytes),
                        acks_.block(), acks_.delay_bound_ns(now_ns()));
  builder.add_ack_only();
  packet.plaintext_bytes = builder.size();
  packet.charge = has_ceiling ? Charge::kUrgent : Charge::kFree;
  acks_.on_separate_ack(now_ns(), ack_pause_ns(pacer_.rate_bytes_per_s()), has_ceiling);
  transmit(packet);
}

void Connection::send_disconnect(bool is_acknowledgement) {
  wire::DisconnectBody body;
  body.reason = static_cast<uint16_t>(end_.reason());
  body.is_acknowledgement = is_acknowledgement;
  if (!is_acknowledgement) {
    body.text = {reinterpret_cast<const uint8_t*>(end_.text().data()), end_.text().size()};
  }
  Outgoing packet;
  packet.type = wire::PacketType::kDisconnect;
  packet.buffer = begin_packet();
  packet.plaintext_bytes = wire::encode_disconnect(body, packet.buffer.subspan(wire::kMaxHeaderBytes));
  LATTICE_CHECK(packet.plaintext_bytes != 0);
  packet.charge = Charge::kUrgent;
  transmit(packet);
}

std::span<uint8_t> Connection::begin_packet() {
  if (skipper_.skip_before_next(context_.entropy)) {
    Notifier notifier(*this);
    history_.on_skipped(link_->skip_packet_seq(), notifier);
  }
  return context_.batch.begin();
}

size_t Connection::transmit(const Outgoing& packet) {
  const auto begun =
      link_->begin_seal(packet.type, packet.buffer, wire::kMaxHeaderBytes, packet.plaintext_bytes);
  if (!begun) {
    // Packet numbers are used up, and update_link() closes the connection. The items of the packet are lost.
    uint32_t chain = packet.items;
    Notifier notifier(*this);
    context_.items.remove_if(&chain, [&notifier](const CarriedItem& item) {
      notify_once(item, false, notifier);
      return true;
    });
    return 0;
  }
  const size_t bytes = begun->datagram.size();
  context_.batch.commit(packet.to == nullptr ? path_.address() : *packet.to, handle_.slot, *link_, *begun);
  rotation_->on_sealed(bytes);
  if (!packet.is_experiment) {
    if (packet.type != wire::PacketType::kDisconnect) {
      acks_.on_block_sent(now_ns(), ack_pause_ns(context_.config.congestion.max_rate_bytes_per_s));
    }
    timers_->on_sent(now_ns());
    probes_.on_sent(now_ns());
  }
  ++traffic_.packets_sent;
  traffic_.bytes_sent += bytes;
  ++context_.totals.traffic.packets_sent;
  context_.totals.traffic.bytes_sent += bytes;
  Notifier notifier(*this);
  history_.on_sent({begun->packet_seq, now_ns(), packet.ack_eliciting, bytes > wire::kFloorDatagramBytes,
                    packet.items, static_cast<uint16_t>(bytes)},
                   notifier);
  pacer_.on_sent({now_ns(), begun->packet_seq, bytes, history_.bytes_in_flight(), packet.charge});
  return bytes;
}

}  // namespace lattice::reliability
