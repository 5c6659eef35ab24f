// Applies the rules of path.h to packets: which may be opened, what challenges an address (L-04), what tries
// a size (L-06).
#include <algorithm>

#include "base/assert.h"
#include "reliability/endpoint/endpoint_core.h"
#include "reliability/endpoint/peer_ack_notifier.h"

namespace lattice::reliability {
namespace {

/// A ceiling counts probes too. Where one would keep a snapshot waiting for long, it goes when nothing else
/// has used the rate.
bool may_probe(const Pacer& pacer, uint64_t ceiling_bytes_per_s, uint32_t bytes) {
  constexpr uint64_t kWaitsPerS = 50;  // of 20 ms
  if (ceiling_bytes_per_s == 0) return true;
  if (uint64_t{bytes} * kWaitsPerS > ceiling_bytes_per_s) return pacer.is_idle();
  return pacer.urgent_allowance_bytes() >= bytes;
}

}  // namespace

bool Endpoint::Core::may_open_from(Peer& peer, const base::PathId& from) {
  if (from == peer.path.address()) return true;
  // Servers do not move, and a client that has not confirmed yet has no address to move from.
  if (!peer.incoming || !peer.connected()) {
    count(Refusal::kForeignAddress, &peer);
    return false;
  }
  // A route may be trusted less, carry less or cost more than another, so a connection keeps its own.
  if (from.route != peer.path.address().route) {
    count(Refusal::kForeignRoute, &peer);
    return false;
  }
  if (!peer.path.may_open_foreign(now_ns)) {
    count(Refusal::kForeignAddressRate, &peer);
    return false;
  }
  return true;
}

void Endpoint::Core::note_source(Peer& peer, const base::PathId& from, size_t bytes, bool is_newest) {
  if (!peer.incoming || !peer.connected()) return;
  if (peer.path.on_authentic(from, bytes, is_newest, now_ns, entropy)) {
    ++peer.stats.path_trials;
  }
}

void Endpoint::Core::on_path_flags(Peer& peer, const base::PathId& from, const wire::KeepaliveBody& body) {
  if (body.flags & wire::kKeepalivePathChallenge) {
    peer.path.on_challenge(body.challenge);
  }
  if ((body.flags & wire::kKeepalivePathResponse) == 0) return;
  if (peer.incoming && peer.path.on_response(from, body.response, path_limits(from), now_ns)) {
    on_path_moved(peer);
  } else {
    count(Refusal::kPathResponseStray, &peer);
  }
}

void Endpoint::Core::on_path_moved(Peer& peer) {
  ++peer.stats.path_moves;
  peer.rtt.restart();
  peer.pacer.restart(now_ns);
  peer.probes.restart();
  peer.history.reset_black_hole();
}

void Endpoint::Core::update_path(Peer& peer) {
  peer.path.update(now_ns, peer.rtt.rto_ns());
  if (peer.path.on_trial()) send_path_challenge(peer);
}

void Endpoint::Core::update_mtu(Peer& peer) {
  if (peer.history.black_hole()) {
    peer.history.reset_black_hole();
    if (peer.path.datagram_bytes() > wire::kFloorDatagramBytes) {
      peer.path.mtu().on_black_hole(now_ns);
      ++peer.stats.mtu_black_holes;
    }
  }
  peer.path.mtu().update(now_ns);
  // Without a round-trip time the end cannot tell when a probe is lost.
  const uint32_t bytes = peer.rtt.has_sample() ? peer.path.mtu().probe_due(now_ns) : 0;
  if (bytes == 0) return;
  peer.pacer.update(path_state(peer));
  if (may_probe(peer.pacer, config.congestion.max_rate_bytes_per_s, bytes)) send_mtu_probe(peer, bytes);
}

void Endpoint::Core::send_path_challenge(Peer& peer) {
  wire::KeepaliveBody body;
  body.flags = wire::kKeepalivePathChallenge;
  body.ack = peer.acks.block();
  body.tick = server_tick;
  body.challenge = peer.path.trial().challenge();
  constexpr size_t kMaxBytes = wire::kMaxHeaderBytes + wire::kMaxKeepaliveBodyBytes + wire::kTagBytes;
  if (!peer.path.trial().challenge_due(kMaxBytes, now_ns, peer.rtt.rto_ns())) return;
  Outgoing packet;
  packet.charge = Charge::kFree;
  packet.type = wire::PacketType::kKeepalive;
  packet.to = &peer.path.trial().candidate();
  packet.is_experiment = true;
  packet.buffer = begin_packet(peer);
  packet.plaintext_bytes = wire::encode_keepalive(body, packet.buffer.subspan(wire::kMaxHeaderBytes));
  const size_t sent_bytes = transmit(peer, packet);
  if (sent_bytes != 0) peer.path.on_challenge_sent(sent_bytes, now_ns);
}

void Endpoint::Core::send_mtu_probe(Peer& peer, uint32_t datagram_bytes) {
  wire::KeepaliveBody body;
  body.flags = wire::kKeepaliveMtuProbe | wire::kKeepaliveAckRequested;
  body.ack = peer.acks.block();
  body.tick = server_tick;
  Outgoing packet;
  // A cap counts every datagram, and all sizes together are much of a small one.
  packet.charge = config.congestion.max_rate_bytes_per_s != 0 ? Charge::kUrgent : Charge::kFree;
  packet.type = wire::PacketType::kKeepalive;
  packet.buffer = begin_packet(peer);
  const std::span<uint8_t> plaintext =
      packet.buffer.subspan(wire::kMaxHeaderBytes, datagram_bytes - peer.link->next_overhead_bytes());
  const size_t body_bytes = wire::encode_keepalive(body, plaintext);
  std::fill(plaintext.begin() + static_cast<ptrdiff_t>(body_bytes), plaintext.end(), uint8_t{0});
  packet.plaintext_bytes = plaintext.size();
  packet.is_experiment = true;
  const uint64_t packet_seq = peer.link->next_packet_seq();
  if (transmit(peer, packet) == 0) return;
  // The same patience as for a packet without a later acked packet.
  peer.path.mtu().on_probe_sent(packet_seq, now_ns, 2 * peer.rtt.rto_ns() + kMaxAckDelayNs);
  ++peer.stats.mtu_probes_sent;
}

void Endpoint::Core::note_probe_ack(Peer& peer) {
  const auto is_acked = [&](uint64_t probe) { return probe != 0 && peer.history.is_acked(probe); };
  if (is_acked(peer.path.mtu().probe_in_flight()) || is_acked(peer.path.mtu().probe_given_up()))
    peer.path.mtu().on_probe_acked();
}

}  // namespace lattice::reliability
