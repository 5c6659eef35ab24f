// What the application may know of a connection: the statistics of its parts, put together when they are
// asked for.
#include <algorithm>

#include "base/durations.h"
#include "reliability/endpoint/connection.h"
#include "reliability/recovery/connection_quality.h"

namespace lattice::reliability {
namespace {

constexpr double kNsPerMs = 1e6;

}  // namespace

const ConnectionStats& Connection::stats() {
  if (connected()) update_loss_window();
  ConnectionStats& out = stats_;
  out.srtt_ns = rtt_.srtt_ns();
  out.rttvar_ns = rtt_.rttvar_ns();
  out.rto_ns = rtt_.rto_ns();
  out.min_rtt_ns = rtt_.min_rtt_ns(now_ns());
  out.latest_rtt_ns = rtt_.latest_ns();
  out.rtt_samples = rtt_.sample_count();
  const HistoryCounters& history = history_.counters();
  out.packets_acked = history.acked;
  out.packets_lost = history.lost - history.lost_in_silence;
  out.packets_lost_spurious = history.lost_spurious;
  out.loss_out = losses_.out();
  out.loss_in = losses_.in();
  out.traffic = traffic_;
  if (link_) {
    out.connected_ns = now_ns() - connected_at_ns_;
    out.silent_ns = now_ns() - timers_->heard_at_ns();
    out.key_epoch = link_->newest_epoch();
    out.datagram_bytes = path_.datagram_bytes();
    out.packets_missing = missing_packets(link_->highest_received(), out.traffic.packets_received);
  }
  const OutgoingChannels::Queued queued = outgoing_channels_.reliable();
  out.reliable_messages_queued = static_cast<uint32_t>(queued.messages);
  out.reliable_bytes_queued = static_cast<uint32_t>(queued.bytes);
  fill_congestion_stats();
  return out;
}

// The rate is an upper bound. A path that is full carries a window in each round trip.
uint64_t Connection::queue_ns() const {
  if (stats_.rate_bytes_per_s == Pacer::kUnlimited) return 0;
  const double at_rate = static_cast<double>(base::kSecondNs) / static_cast<double>(stats_.rate_bytes_per_s);
  const bool has_window = stats_.window_bytes != CongestionController::kNoWindow;
  const double at_window =
      has_window ? static_cast<double>(rtt_.srtt_ns()) / static_cast<double>(stats_.window_bytes) : 0;
  return static_cast<uint64_t>(static_cast<double>(stats_.waiting_bytes) * std::max(at_rate, at_window));
}

void Connection::fill_congestion_stats() {
  stats_.jitter_ns = rtt_.jitter_ns();
  stats_.congestion_mode = context_.config.congestion.mode;
  stats_.congestion_phase = pacer_.phase();
  stats_.bytes_in_flight = history_.bytes_in_flight();
  stats_.window_bytes = pacer_.window_bytes();
  stats_.rate_bytes_per_s = pacer_.rate_bytes_per_s();
  const OutgoingChannels& waiting = outgoing_channels_;
  stats_.waiting_bytes =
      waiting.reliable_waiting_bytes() + waiting.engine_bytes() + waiting.application_bytes();
  stats_.queue_ns = queue_ns();
  stats_.quality = !connected() ? 0
                                : connection_quality({static_cast<double>(stats_.srtt_ns) / kNsPerMs,
                                                      static_cast<double>(stats_.jitter_ns) / kNsPerMs,
                                                      std::max(stats_.loss_out, stats_.loss_in)});
}

}  // namespace lattice::reliability
