// Connects the packets of a connection with its Pacer: acks and losses go in, the send budget comes out
// (§6; C-01…C-03, R-07, R-14).
#include <algorithm>

#include "reliability/endpoint/endpoint_core.h"
#include "reliability/endpoint/peer_ack_notifier.h"
#include "reliability/recovery/connection_quality.h"

namespace lattice::reliability {
namespace {

constexpr double kNsPerMs = 1e6;

// What `allowance` leaves for messages with is_snapshot. Reliable messages go first, but leave a quarter.
// EngineShare hands it out datagram by datagram.
uint64_t engine_part(uint64_t allowance, uint64_t reliable_bytes, uint64_t engine_bytes) {
  const uint64_t taken = std::min(reliable_bytes, allowance - allowance / 4) + engine_bytes;
  return allowance > taken ? allowance - taken : 0;
}

}  // namespace

PathState Endpoint::Core::path_state(const Peer& peer) const {
  return {now_ns, peer.rtt.srtt_ns(), peer.rtt.min_rtt_ns(now_ns), peer.rtt.rto_ns()};
}

void Endpoint::Core::detect_losses(Peer& peer, const AckResult* ack, uint64_t rtt_sample_ns) {
  PeerAckNotifier notifier(handler, stats, peer);
  AckFeedback feedback;
  feedback.lost_packets = peer.history.detect_losses(now_ns, peer.rtt, notifier);
  if (ack != nullptr) {
    feedback.acked_packets = ack->newly_acked;
    feedback.acked_bytes = ack->newly_acked_bytes;
    feedback.spurious_packets = ack->spurious;
  }
  feedback.has_rtt = rtt_sample_ns != kNoSample;
  if (feedback.lost_packets + feedback.acked_packets + feedback.spurious_packets == 0 && !feedback.has_rtt) {
    return;
  }
  feedback.path = path_state(peer);
  feedback.rtt_ns = feedback.has_rtt ? rtt_sample_ns : 0;
  feedback.answer_ns = feedback.has_rtt ? peer.rtt.latest_ns() : 0;
  feedback.bytes_in_flight = peer.history.bytes_in_flight();
  peer.pacer.on_feedback(feedback, peer.history.largest_acked());
}

uint64_t Endpoint::Core::send_budget_bytes(Peer& peer, uint64_t at_ns, uint64_t during_ns) {
  if (!peer.connected() || peer.history.is_full()) return 0;
  PathState path = path_state(peer);
  path.now_ns = std::max(at_ns, now_ns);
  peer.pacer.update(path);
  const uint64_t in_flight = peer.history.bytes_in_flight();
  const uint64_t allowance = peer.pacer.allowance_bytes(in_flight);
  if (allowance == Pacer::kUnlimited) return allowance;
  if (allowance == 0) return 0;
  const uint64_t reliable_bytes = peer.outgoing_channels.reliable_waiting_bytes();
  const uint64_t engine_bytes = peer.outgoing_channels.engine_bytes();
  uint64_t now = engine_part(allowance, reliable_bytes, engine_bytes);
  if (engine_bytes == 0) now = std::max(now, kDatagramBytes);
  // What leaves later is made only together with something that leaves now.
  if (during_ns == 0 || now < kDatagramBytes) return now;
  const uint64_t later = peer.pacer.allowance_bytes_during(during_ns, path, in_flight);
  return std::max(
      now, engine_part(later, reliable_bytes + peer.outgoing_channels.application_bytes(), engine_bytes));
}

void Endpoint::Core::fill_congestion_stats(const Peer& peer, ConnectionStats* out) const {
  out->jitter_ns = peer.rtt.jitter_ns();
  out->congestion_mode = config.congestion.mode;
  out->congestion_phase = peer.pacer.phase();
  out->bytes_in_flight = peer.history.bytes_in_flight();
  out->window_bytes = peer.pacer.window_bytes();
  out->rate_bytes_per_s = peer.pacer.rate_bytes_per_s();
  const OutgoingChannels& waiting = peer.outgoing_channels;
  out->waiting_bytes =
      waiting.reliable_waiting_bytes() + waiting.engine_bytes() + waiting.application_bytes();
  out->queue_ns = out->rate_bytes_per_s == Pacer::kUnlimited
                      ? 0
                      : out->waiting_bytes * 1'000'000'000 / out->rate_bytes_per_s;
  out->quality = !peer.connected() ? 0
                                   : connection_quality({static_cast<double>(out->srtt_ns) / kNsPerMs,
                                                         static_cast<double>(out->jitter_ns) / kNsPerMs,
                                                         std::max(out->loss_out, out->loss_in)});
}

}  // namespace lattice::reliability
