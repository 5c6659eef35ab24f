#include "transport/socket/bottleneck_link.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/socket/impairment.h"

namespace lattice::socket {

uint64_t BottleneckLink::waiting_bytes(uint64_t now_ns) {
  while (!queue_.empty() && queue_.front().departs_ns <= now_ns) {
    queued_bytes_ -= queue_.front().wire_bytes;
    queue_.pop_front();
  }
  return queued_bytes_;
}

bool BottleneckLink::pass(size_t payload_bytes, uint64_t now_ns, uint64_t* departs_ns) {
  const uint64_t wire_bytes = payload_bytes + kWireOverheadBytes;
  const uint64_t waiting = waiting_bytes(now_ns);
  // An idle link takes any datagram; a busy link only one that fits its queue.
  if (config_.queue_bytes != 0 && waiting != 0 && waiting + wire_bytes > config_.queue_bytes) {
    ++stats_.dropped;
    return false;
  }
  *departs_ns =
      config_.trace != nullptr ? depart_by_trace(wire_bytes, now_ns) : depart_at_rate(wire_bytes, now_ns);
  LATTICE_ASSERT(*departs_ns >= now_ns);
  queue_.push_back({*departs_ns, wire_bytes});
  queued_bytes_ += wire_bytes;
  ++stats_.passed;
  stats_.passed_bytes += payload_bytes;
  if (observer_ != nullptr) observer_(context_, *departs_ns - now_ns, payload_bytes);
  return true;
}

uint64_t BottleneckLink::depart_at_rate(uint64_t wire_bytes, uint64_t now_ns) {
  LATTICE_CHECK(config_.rate_bits_per_s != 0);
  free_ns_ = std::max(free_ns_, now_ns) + wire_bytes * 8 * 1'000'000'000 / config_.rate_bits_per_s;
  return free_ns_;
}

// An opportunity that passes while nothing waits is lost. Datagrams share an opportunity while its bytes
// last.
uint64_t BottleneckLink::depart_by_trace(uint64_t wire_bytes, uint64_t now_ns) {
  const RateTrace& trace = *config_.trace;
  const auto take = [this](uint64_t index) {
    opportunity_ = index;
    opportunity_left_ = RateTrace::kOpportunityBytes;
  };
  if (const uint64_t first = trace.first_at(now_ns); first > opportunity_) take(first);
  while (wire_bytes > opportunity_left_) {
    wire_bytes -= opportunity_left_;
    take(opportunity_ + 1);
  }
  opportunity_left_ -= static_cast<uint32_t>(wire_bytes);
  return trace.time_ns(opportunity_);
}

}  // namespace lattice::socket
