#include "reliability/endpoint/endpoint_clock.h"

namespace lattice::reliability {

bool EndpointClock::begin_update() {
  const bool has_grown = has_updated_ && note_update_interval(now_ns_ - last_update_ns_);
  previous_update_ns_ = last_update_ns_;
  last_update_ns_ = now_ns_;
  has_updated_ = true;
  return has_grown;
}

bool EndpointClock::note_update_interval(uint64_t interval_ns) {
  constexpr uint64_t kStepNs = 4'000'000;
  const auto in_steps = [](uint64_t ns) { return (ns / kStepNs + 1) * kStepNs; };
  until_next_update_ns_ = std::min(interval_ns, kMaxAckDelayNs);
  if (now_ns_ / base::kSecondNs != last_update_second_) {
    ack_lead_ns_ = in_steps(longest_interval_ns_);
    longest_interval_ns_ = 0;
  }
  longest_interval_ns_ = std::max(longest_interval_ns_, until_next_update_ns_);
  if (until_next_update_ns_ <= ack_lead_ns_) return false;
  ack_lead_ns_ = in_steps(until_next_update_ns_);
  return true;
}

}  // namespace lattice::reliability
