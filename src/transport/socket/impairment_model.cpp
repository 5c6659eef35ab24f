// The decisions of one direction, in the order of a real line: is the link up, does the datagram fit the MTU,
// has the sender's queue room, does the medium lose the datagram, how long does the path take. Source:
// Gilbert (1960), "Capacity of a burst-noise channel", with loss 1 in the bad state.
#include "transport/socket/impairment_model.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::socket {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerS = 1e9;

}  // namespace

void ImpairmentModel::configure(const Impairment& impairment) {
  LATTICE_CHECK(impairment_error(impairment) == nullptr);
  impairment_ = impairment;
  if (impairment_.burst_enter == 0) in_burst_ = false;
  if (impairment_.rate_bits_per_s == 0) link_free_ns_ = 0;
}

Fate ImpairmentModel::offer(size_t payload_bytes, uint64_t now_ns, ImpairmentStats& stats) {
  ++stats.offered;
  stats.offered_bytes += payload_bytes;
  Draws draws;
  draws.burst = random_.next_unit();
  draws.loss = random_.next_unit();
  draws.duplicate = random_.next_unit();
  draws.reorder = random_.next_unit();
  draws.jitter = random_.next_unit();
  draws.copy_jitter = random_.next_unit();

  Fate fate;
  if (impairment_.blackout) {
    ++stats.lost_blackout;
    return fate;
  }
  if (impairment_.mtu_bytes != 0 && payload_bytes > impairment_.mtu_bytes) {
    ++stats.lost_mtu;
    return fate;
  }
  uint64_t departs_ns = now_ns;
  if (!pass_rate_limit(payload_bytes, now_ns, &departs_ns)) {
    ++stats.dropped_rate;
    return fate;
  }
  if (lose(draws, stats)) return fate;

  uint64_t arrives_ns = arrival(departs_ns, draws.jitter);
  if (draws.reorder < impairment_.reorder) {
    ++stats.reordered;
    arrives_ns += static_cast<uint64_t>(impairment_.reorder_delay_ms * kNsPerMs);
  } else {
    arrives_ns = keep_order(arrives_ns, stats);
  }
  fate.deliver_at_ns[fate.copies++] = arrives_ns;
  if (draws.duplicate < impairment_.duplicate) {
    ++stats.duplicated;
    const uint64_t copy_ns = arrival(departs_ns, draws.copy_jitter);
    fate.deliver_at_ns[fate.copies++] = std::max(copy_ns, arrives_ns);
  }
  return fate;
}

/// The burst state changes before it decides, so a burst also loses the datagram that starts it.
bool ImpairmentModel::lose(const Draws& draws, ImpairmentStats& stats) {
  in_burst_ = in_burst_ ? draws.burst >= impairment_.burst_leave : draws.burst < impairment_.burst_enter;
  if (in_burst_) {
    ++stats.lost_burst;
    return true;
  }
  if (draws.loss < impairment_.loss) {
    ++stats.lost_random;
    return true;
  }
  return false;
}

/// The queue is not stored. Its length follows from the time at which the link will have sent every accepted
/// datagram. An idle link takes any datagram; a busy link only one that fits its queue.
bool ImpairmentModel::pass_rate_limit(size_t payload_bytes, uint64_t now_ns, uint64_t* departs_ns) {
  if (bottleneck_ != nullptr) return bottleneck_->pass(payload_bytes, now_ns, departs_ns);
  if (impairment_.rate_bits_per_s == 0) return true;
  const double bytes_per_ns = static_cast<double>(impairment_.rate_bits_per_s) / 8.0 / kNsPerS;
  const double wire_bytes = static_cast<double>(payload_bytes + kWireOverheadBytes);
  const uint64_t starts_ns = std::max(now_ns, link_free_ns_);
  if (starts_ns > now_ns) {
    const double waiting_bytes = static_cast<double>(starts_ns - now_ns) * bytes_per_ns;
    if (waiting_bytes + wire_bytes > static_cast<double>(impairment_.queue_bytes)) return false;
  }
  link_free_ns_ = starts_ns + static_cast<uint64_t>(wire_bytes / bytes_per_ns);
  *departs_ns = link_free_ns_;
  return true;
}

uint64_t ImpairmentModel::arrival(uint64_t departs_ns, double jitter_draw) const {
  const double jitter_ms = impairment_.jitter_ms * (2.0 * jitter_draw - 1.0);
  const double total_ms = std::max(0.0, impairment_.delay_ms + jitter_ms);
  return departs_ns + static_cast<uint64_t>(total_ms * kNsPerMs);
}

uint64_t ImpairmentModel::keep_order(uint64_t arrives_ns, ImpairmentStats& stats) {
  if (arrives_ns < last_arrival_ns_) {
    // This also covers a delay that was shortened meanwhile: on a path that keeps the order, no datagram
    // overtakes an earlier one.
    if (!impairment_.jitter_reorders) return last_arrival_ns_;
    ++stats.overtaking;
    return arrives_ns;
  }
  last_arrival_ns_ = arrives_ns;
  return arrives_ns;
}

}  // namespace lattice::socket
