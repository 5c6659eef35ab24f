// From queues and timers to the socket: due work, packing, sealing, the batch.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "reliability/endpoint/endpoint_core.h"
#include "reliability/endpoint/peer_ack_notifier.h"
#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
/// Memory that nobody needed for so long goes back to the system.
constexpr uint64_t kIdleMemorySeconds = 10;
constexpr uint64_t kThinFlightBytes = 4 * wire::kFloorDatagramBytes;
/// The largest datagram that is neither a message nor a probe: a Disconnect with a long text.
constexpr uint64_t kMaxUrgentBytes = wire::kMaxHeaderBytes + wire::kMaxDisconnectBodyBytes + wire::kTagBytes;

/// How long a message waits for its ack. On a path with a steady round trip, rto leaves no room for a
/// delayed ack, and the message would be sent twice. With much in flight, the ack may be shared with packets
/// whose acks wait longer. With little in flight, a late message costs the game more than a repeated one.
uint64_t resend_after_ns(const Peer& peer) {
  const bool thin = peer.history.bytes_in_flight() <= kThinFlightBytes;
  return peer.rtt.rto_ns() + (thin ? reliable_ack_delay_ns(peer.rtt.srtt_ns()) : kMaxAckDelayNs);
}

// Separate acks take a quarter of a rate at most, but one may go every 25 ms: the least ceilings that
// configurations accept have room for that.
uint64_t ack_pause_ns(uint64_t rate_bytes_per_s) {
  constexpr uint64_t kBytes = wire::kMinHeaderBytes + wire::kAckMessageWithDelayBytes + wire::kTagBytes;
  if (rate_bytes_per_s == 0 || rate_bytes_per_s == Pacer::kUnlimited) return 0;
  return std::min(kMaxAckDelayNs, 4 * kBytes * kSecondNs / rate_bytes_per_s);
}

}  // namespace

void Endpoint::Core::begin_update() {
  if (std::exchange(update_begun, true)) return;
  batch.set_now(now_ns);
  if (has_updated) note_update_interval(now_ns - last_update_ns);
  previous_update_ns = last_update_ns;
  last_update_ns = now_ns;
  has_updated = true;
  if (server && (last_server_update_ns == 0 || now_ns - last_server_update_ns >= kSecondNs)) {
    server->update(moment());
    last_server_update_ns = now_ns;
  }
  finish_phase();
}

void Endpoint::Core::update_and_send() {
  begin_update();
  update_begun = woken = false;
  service_due();
  const uint64_t second = now_ns / kSecondNs;
  if (second / kIdleMemorySeconds != last_update_second / kIdleMemorySeconds) {
    pool.give_back_idle();
    receive_memory.give_back_idle();
  }
  last_update_second = second;
  finish_phase();
  batch.flush();
}

void Endpoint::Core::update_handshake(Peer& peer) {
  if (!peer.handshake_started) {
    peer.handshake_started = true;
    const connection::DisconnectReason reason = peer.handshake->start(now_ns, batch);
    if (reason != connection::DisconnectReason::kNone) {
      peer.handshake.reset();
      note_end(peer, reason, 0, {});
    }
    return;
  }
  connection::ClientResult result = peer.handshake->update(now_ns, unix_s, batch);
  on_handshake_result(peer, result);
}

void Endpoint::Core::update_link(Peer& peer) {
  connection::ConnectionTimers& timers = *peer.timers;
  if (peer.lifecycle.state() == connection::State::kDisconnecting) {
    peer.pacer.update(path_state(peer));
    if (peer.pacer.urgent_allowance_bytes() >= kMaxUrgentBytes && timers.take_disconnect_send(now_ns)) {
      send_disconnect(peer, false);
    }
    if (timers.disconnect_finished(now_ns) || peer.link->closed() != connection::LinkClosed::kOpen) {
      peer.lifecycle.apply(connection::Event::kDisconnectFinish);
      list_ending(peer);
    }
    return;
  }
  if (timers.timed_out(now_ns) && !(timeout_paused && peer.connected())) {
    peer.lifecycle.apply(connection::Event::kSilence);
    note_end(peer, connection::DisconnectReason::kTimeout, 0, why_silent(peer));
    return;
  }
  if (peer.link->closed() != connection::LinkClosed::kOpen) {
    disconnect(peer, connection::DisconnectReason::kResourceLimit, "link_closed");
    return;
  }
  if (!peer.connected()) return;  // Half-open: no packet until the client has confirmed (H-11).
  update_loss_window(peer);
  detect_losses(peer, nullptr, kNoSample);
  if (!peer.connected()) return;
  peer.outgoing_channels.expire(now_ns);
  give_up_stale(peer);
  update_rotation(peer);
  update_path(peer);
  send_payloads(peer);
  send_chunks(peer);
  if (!peer.connected()) return;
  send_keepalive_if_needed(peer);
  update_mtu(peer);
#if defined(LATTICE_VALIDATION)
  LATTICE_CHECK(peer.history.validate());
  LATTICE_CHECK(peer.outgoing_channels.validate());
#endif
}

// How long a side may send nothing before it probes. The accepting side waits a round trip longer. Otherwise
// both sides of a quiet connection would always probe at the same moment, and each would also answer the
// other's probe. The probe of the connecting side and its answer keep both sides alive.
uint64_t Endpoint::Core::idle_ns(const Peer& peer) const {
  const uint64_t idle_ns = config.timers.keepalive_idle_ns;
  if (!peer.incoming) return idle_ns;
  return idle_ns + idle_ns / 4 + std::min(peer.rtt.srtt_ns(), idle_ns);
}

// The server keeps a place for a client that has not confirmed, but not for long (S-42). So the first packet
// is repeated until the server is heard.
uint64_t Endpoint::Core::repeat_first_ns(const Peer& peer) const {
  constexpr uint64_t kRepeatNs = 500'000'000;
  const bool is_unheard = !peer.incoming && peer.traffic.packets_received == 0;
  return is_unheard ? peer.probes.last_sent_ns() + kRepeatNs : base::DeadlineTable::kNever;
}

void Endpoint::Core::send_payloads(Peer& peer) {
  OutgoingChannels& outgoing = peer.outgoing_channels;
  if (!outgoing.has_work() && !has_chunks(peer)) return;
  peer.pacer.begin_send(path_state(peer), previous_update_ns);
  // The parts of a snapshot leave together and differ little in length.
  const bool is_run = outgoing.engine_count() > 1 && socket.favours_equal_lengths(peer.path.address());
  const size_t padded_bytes = is_run ? outgoing.longest_engine_bytes() : 0;
  while (peer.connected() && outgoing.has_work() && items.has_room() && !peer.history.is_full()) {
    const uint64_t allowance_bytes =
        peer.pacer.allowance_bytes(peer.history.bytes_in_flight(), outgoing.next_datagram_bytes());
    const bool control_only = allowance_bytes == 0;
    if (control_only && !outgoing.has_control()) break;
    if (!send_one_payload(peer, control_only ? peer.pacer.urgent_allowance_bytes() : allowance_bytes,
                          control_only, padded_bytes)) {
      break;
    }
  }
  outgoing.end_sequence();
}

bool Endpoint::Core::send_one_payload(Peer& peer, uint64_t allowance_bytes, bool control_only,
                                      size_t padded_bytes) {
  const auto datagram_bytes =
      static_cast<size_t>(std::min<uint64_t>(peer.path.datagram_bytes(), allowance_bytes));
  if (datagram_bytes <= wire::kMaxHeaderBytes + wire::kTagBytes) return false;
  const std::span<uint8_t> buffer = begin_packet(peer);
  const size_t budget_bytes = datagram_bytes - peer.link->next_overhead_bytes();
  PacketBuilder builder(buffer.subspan(wire::kMaxHeaderBytes, budget_bytes), peer.acks.block(),
                        peer.acks.delay_ns(now_ns));
  const OutgoingChannels::Filled filled =
      peer.outgoing_channels.fill({.packet_seq = peer.link->next_packet_seq(),
                                   .now_ns = now_ns,
                                   .resend_after_ns = resend_after_ns(peer),
                                   .budget_bytes = budget_bytes,
                                   .padded_bytes = padded_bytes,
                                   .control_only = control_only},
                                  builder, items);
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
  transmit_payload(peer, packet, filled.first_count, filled.resent_count);
  return true;
}

void Endpoint::Core::transmit_payload(Peer& peer, const Outgoing& packet, uint32_t first_count,
                                      uint32_t resent_count) {
  peer.traffic.messages_sent += first_count;
  peer.traffic.messages_resent += resent_count;
  stats.traffic.messages_sent += first_count;
  stats.traffic.messages_resent += resent_count;
  peer.probes.on_payload(now_ns);
  transmit(peer, packet);
}

void Endpoint::Core::send_keepalive_if_needed(Peer& peer) {
  const Probes& probes = peer.probes;
  const bool idle_due = peer.timers->keepalive_due(now_ns) && now_ns - probes.last_sent_ns() >= idle_ns(peer);
  const bool busy_due = now_ns >= probes.busy_at_ns(peer.rtt, peer.history.is_unheard(), now_ns);
  const bool probe = idle_due || busy_due || probes.quiet_due(peer.rtt, now_ns) || probes.is_wanted() ||
                     now_ns >= repeat_first_ns(peer);
  if (probe || probes.echo_waits() || peer.path.answer_waits()) {
    send_keepalive(peer, probe);
  } else if (peer.acks.ack_due(now_ns, until_next_update_ns)) {
    send_ack(peer);
  }
}

void Endpoint::Core::send_keepalive(Peer& peer, bool probe) {
  wire::KeepaliveBody body;
  body.ack = peer.acks.block();
  body.tick = server_tick;
  if (probe) {
    body.flags |= wire::kKeepaliveProbe | wire::kKeepaliveAckRequested;
    body.probe_us = now_ns / 1000;
  }
  if (peer.probes.echo_waits()) {
    const Probes::Echo echo = peer.probes.take_echo(now_ns);
    body.flags |= wire::kKeepaliveEcho;
    body.echo_us = echo.probe_us;
    body.echo_delay_us = echo.delay_us;
  }
  if (peer.path.answer_waits()) {
    body.flags |= wire::kKeepalivePathResponse;
    body.response = peer.path.take_answer();
  }
  Outgoing packet;
  packet.type = wire::PacketType::kKeepalive;
  packet.buffer = begin_packet(peer);
  if (probe) peer.probes.on_probe(now_ns, peer.link->next_packet_seq());
  packet.plaintext_bytes = wire::encode_keepalive(body, packet.buffer.subspan(wire::kMaxHeaderBytes));
  packet.ack_eliciting = probe;
  packet.charge = Charge::kFree;
  transmit(peer, packet);
}

// A separate ack is a Payload with only the ack message. Unlike a Keepalive it states its delay. So one-way
// traffic measures the round trip with every ack, not with one probe per second.
void Endpoint::Core::send_ack(Peer& peer) {
  const bool has_ceiling = config.congestion.max_rate_bytes_per_s != 0;
  if (has_ceiling) {
    peer.pacer.update(path_state(peer));
    if (peer.pacer.urgent_allowance_bytes() < kMaxUrgentBytes) return;
  }
  Outgoing packet;
  packet.buffer = begin_packet(peer);
  PacketBuilder builder(packet.buffer.subspan(wire::kMaxHeaderBytes, wire::kAckMessageWithDelayBytes),
                        peer.acks.block(), peer.acks.delay_bound_ns(now_ns));
  builder.add_ack_only();
  packet.plaintext_bytes = builder.size();
  packet.charge = has_ceiling ? Charge::kUrgent : Charge::kFree;
  peer.acks.on_separate_ack(now_ns, ack_pause_ns(peer.pacer.rate_bytes_per_s()), has_ceiling);
  transmit(peer, packet);
}

void Endpoint::Core::send_disconnect(Peer& peer, bool is_acknowledgement) {
  wire::DisconnectBody body;
  body.reason = static_cast<uint16_t>(peer.end.reason());
  body.is_acknowledgement = is_acknowledgement;
  if (!is_acknowledgement) {
    body.text = {reinterpret_cast<const uint8_t*>(peer.end.text().data()), peer.end.text().size()};
  }
  Outgoing packet;
  packet.type = wire::PacketType::kDisconnect;
  packet.buffer = begin_packet(peer);
  packet.plaintext_bytes = wire::encode_disconnect(body, packet.buffer.subspan(wire::kMaxHeaderBytes));
  LATTICE_CHECK(packet.plaintext_bytes != 0);
  packet.charge = Charge::kUrgent;
  transmit(peer, packet);
}

std::span<uint8_t> Endpoint::Core::begin_packet(Peer& peer) {
  if (peer.skipper.skip_before_next(entropy)) {
    PeerAckNotifier notifier(handler, stats, peer);
    peer.history.on_skipped(peer.link->skip_packet_seq(), notifier);
  }
  return batch.begin();
}

size_t Endpoint::Core::transmit(Peer& peer, const Outgoing& packet) {
  const auto begun =
      peer.link->begin_seal(packet.type, packet.buffer, wire::kMaxHeaderBytes, packet.plaintext_bytes);
  if (!begun) {
    // Packet numbers are used up, and update_link() closes the connection. The items of the packet are lost.
    uint32_t chain = packet.items;
    PeerAckNotifier notifier(handler, stats, peer);
    items.remove_if(&chain, [&notifier](const CarriedItem& item) {
      notify_once(item, false, notifier);
      return true;
    });
    return 0;
  }
  const size_t bytes = begun->datagram.size();
  batch.commit(packet.to == nullptr ? peer.path.address() : *packet.to, peer.handle.slot, *peer.link, *begun);
  peer.rotation->on_sealed(bytes);
  if (!packet.is_experiment) {
    if (packet.type != wire::PacketType::kDisconnect) {
      peer.acks.on_block_sent(now_ns, ack_pause_ns(config.congestion.max_rate_bytes_per_s));
    }
    peer.timers->on_sent(now_ns);
    peer.probes.on_sent(now_ns);
  }
  ++peer.traffic.packets_sent;
  peer.traffic.bytes_sent += bytes;
  ++stats.traffic.packets_sent;
  stats.traffic.bytes_sent += bytes;
  PeerAckNotifier notifier(handler, stats, peer);
  peer.history.on_sent({begun->packet_seq, now_ns, packet.ack_eliciting, bytes > wire::kFloorDatagramBytes,
                        packet.items, static_cast<uint16_t>(bytes)},
                       notifier);
  peer.pacer.on_sent({now_ns, begun->packet_seq, bytes, peer.history.bytes_in_flight(), packet.charge});
  return bytes;
}

// A loss window ends with the first update of a new second. If that update did not service a connection, the
// connection's window ends here, before further packets are counted or the rates are read.
void Endpoint::Core::update_loss_window(Peer& peer) {
  if (!peer.losses.is_over(last_update_second)) return;
  peer.losses.close(last_update_second, peer.history.counters(), peer.link->highest_received(),
                    peer.traffic.packets_received);
}

}  // namespace lattice::reliability
