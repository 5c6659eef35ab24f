// Connects the packets of a connection with its Pacer: acks and losses go in, the send budget comes out
// (§6; C-01…C-03, R-07, R-14).
#include <algorithm>

#include "reliability/connection_quality.h"
#include "reliability/endpoint_core.h"
#include "reliability/peer_ack_notifier.h"

namespace lattice::reliability {
namespace {

constexpr double kNsPerMs = 1e6;

uint64_t reliable_waiting_bytes(const Peer& peer) {
  uint64_t bytes = 0;
  for (const auto& channel : peer.reliable) {
    if (channel) bytes += channel->send.waiting_bytes();
  }
  return bytes;
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
  feedback.bytes_in_flight = peer.history.bytes_in_flight();
  peer.pacer.on_feedback(feedback, peer.history.largest_acked());
}

uint64_t Endpoint::Core::send_budget_bytes(Peer& peer, uint64_t at_ns) {
  if (!peer.connected() || peer.history.is_full()) return 0;
  PathState path = path_state(peer);
  path.now_ns = std::max(at_ns, now_ns);
  peer.pacer.update(path);
  const uint64_t allowance = peer.pacer.allowance_bytes(peer.history.bytes_in_flight());
  if (allowance == Pacer::kUnlimited) return allowance;
  if (allowance == 0) return 0;
  // Reliable messages go first, but leave a quarter. EngineShare hands it out datagram by datagram.
  const uint64_t reliable = std::min(reliable_waiting_bytes(peer), allowance - allowance / 4);
  const uint64_t taken = reliable + peer.engine_queue.bytes();
  const uint64_t left = allowance > taken ? allowance - taken : 0;
  return peer.engine_queue.empty() ? std::max(left, kDatagramBytes) : left;
}

void Endpoint::Core::fill_congestion_stats(const Peer& peer, ConnectionStats* out) const {
  out->jitter_ns = peer.rtt.jitter_ns();
  out->congestion_mode = config.congestion.mode;
  out->congestion_phase = peer.pacer.phase();
  out->bytes_in_flight = peer.history.bytes_in_flight();
  out->window_bytes = peer.pacer.window_bytes();
  out->rate_bytes_per_s = peer.pacer.rate_bytes_per_s();
  out->waiting_bytes =
      reliable_waiting_bytes(peer) + peer.engine_queue.bytes() + peer.application_queue.bytes();
  out->queue_ns = out->rate_bytes_per_s == Pacer::kUnlimited
                      ? 0
                      : out->waiting_bytes * 1'000'000'000 / out->rate_bytes_per_s;
  out->quality = connection_quality({static_cast<double>(out->srtt_ns) / kNsPerMs,
                                     static_cast<double>(out->jitter_ns) / kNsPerMs,
                                     std::max(out->loss_out, out->loss_in)});
}

}  // namespace lattice::reliability
