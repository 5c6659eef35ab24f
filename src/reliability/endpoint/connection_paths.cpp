// Applies the rules of path.h to packets: which may be opened, what challenges an address (L-04), what tries
// a size (L-06).
#include <algorithm>

#include "base/assert.h"
#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_notifier.h"

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

void Connection::note_source(const base::PathId& from, size_t bytes, bool is_newest) {
  if (!is_incoming_ || !connected()) return;
  if (path_.on_authentic(from, bytes, is_newest, now_ns(), context_.entropy)) {
    ++stats_.path_trials;
  }
}

void Connection::on_path_flags(const base::PathId& from, const wire::KeepaliveBody& body) {
  if (body.flags & wire::kKeepalivePathChallenge) {
    path_.on_challenge(body.challenge);
  }
  if ((body.flags & wire::kKeepalivePathResponse) == 0) return;
  const base::PathId before = path_.address();
  if (is_incoming_ && path_.on_response(from, body.response, path_limits(from), now_ns())) {
    on_path_moved();
    context_.handler.on_path_moved(handle_, before, path_.address());
  } else {
    count(Refusal::kPathResponseStray);
  }
}

void Connection::on_path_moved() {
  ++stats_.path_moves;
  rtt_.restart();
  pacer_.restart(now_ns());
  probes_.restart();
  history_.reset_black_hole();
}

void Connection::update_path() {
  path_.update(now_ns(), rtt_.rto_ns());
  if (path_.on_trial()) send_path_challenge();
}

void Connection::update_mtu() {
  if (history_.black_hole()) {
    history_.reset_black_hole();
    if (path_.datagram_bytes() > wire::kFloorDatagramBytes) {
      path_.mtu().on_black_hole(now_ns());
      ++stats_.mtu_black_holes;
    }
  }
  path_.mtu().update(now_ns());
  // Without a round-trip time the end cannot tell when a probe is lost.
  const uint32_t bytes = rtt_.has_sample() ? path_.mtu().probe_due(now_ns()) : 0;
  if (bytes == 0) return;
  pacer_.update(path_state());
  if (may_probe(pacer_, context_.config.congestion.max_rate_bytes_per_s, bytes)) send_mtu_probe(bytes);
}

void Connection::send_path_challenge() {
  wire::KeepaliveBody body;
  body.flags = wire::kKeepalivePathChallenge;
  body.ack = acks_.block();
  body.tick = context_.server_tick;
  body.challenge = path_.trial().challenge();
  constexpr size_t kMaxBytes = wire::kMaxHeaderBytes + wire::kMaxKeepaliveBodyBytes + wire::kTagBytes;
  if (!path_.trial().challenge_due(kMaxBytes, now_ns(), rtt_.rto_ns())) return;
  Outgoing packet;
  packet.charge = Charge::kFree;
  packet.type = wire::PacketType::kKeepalive;
  packet.to = &path_.trial().candidate();
  packet.is_experiment = true;
  packet.buffer = begin_packet();
  packet.plaintext_bytes = wire::encode_keepalive(body, packet.buffer.subspan(wire::kMaxHeaderBytes));
  const size_t sent_bytes = transmit(packet);
  if (sent_bytes != 0) path_.on_challenge_sent(sent_bytes, now_ns());
}

void Connection::send_mtu_probe(uint32_t datagram_bytes) {
  wire::KeepaliveBody body;
  body.flags = wire::kKeepaliveMtuProbe | wire::kKeepaliveAckRequested;
  body.ack = acks_.block();
  body.tick = context_.server_tick;
  Outgoing packet;
  // A cap counts every datagram, and all sizes together are much of a small one.
  packet.charge = context_.config.congestion.max_rate_bytes_per_s != 0 ? Charge::kUrgent : Charge::kFree;
  packet.type = wire::PacketType::kKeepalive;
  packet.buffer = begin_packet();
  const std::span<uint8_t> plaintext =
      packet.buffer.subspan(wire::kMaxHeaderBytes, datagram_bytes - link_->next_overhead_bytes());
  const size_t body_bytes = wire::encode_keepalive(body, plaintext);
  std::fill(plaintext.begin() + static_cast<ptrdiff_t>(body_bytes), plaintext.end(), uint8_t{0});
  packet.plaintext_bytes = plaintext.size();
  packet.is_experiment = true;
  const uint64_t packet_seq = link_->next_packet_seq();
  if (transmit(packet) == 0) return;
  // The same patience as for a packet without a later acked packet.
  path_.mtu().on_probe_sent(packet_seq, now_ns(), 2 * rtt_.rto_ns() + kMaxAckDelayNs);
  ++stats_.mtu_probes_sent;
}

void Connection::note_probe_ack() {
  const auto is_acked = [&](uint64_t probe) { return probe != 0 && history_.is_acked(probe); };
  if (is_acked(path_.mtu().probe_in_flight()) || is_acked(path_.mtu().probe_given_up()))
    path_.mtu().on_probe_acked();
}

}  // namespace lattice::reliability
