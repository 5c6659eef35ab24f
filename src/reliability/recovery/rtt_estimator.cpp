#include "reliability/recovery/rtt_estimator.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::reliability {
namespace {
constexpr uint64_t kSecondNs = 1'000'000'000;
}

uint64_t RttEstimator::add_delayed_sample(uint64_t elapsed_ns, uint64_t told_delay_ns, uint64_t now_ns) {
  least_elapsed_ns_ = std::min(least_elapsed_ns_, elapsed_ns);
  const uint64_t sample_ns = elapsed_ns - std::min(told_delay_ns, elapsed_ns - least_elapsed_ns_);
  add_sample(sample_ns, now_ns);
  return sample_ns;
}

void RttEstimator::add_sample(uint64_t sample_ns, uint64_t now_ns) {
  const uint64_t sample = std::min(sample_ns, kMaxRttSampleNs);
  least_elapsed_ns_ = std::min(least_elapsed_ns_, sample);
  if (sample_count_ == 0) {
    srtt_ns_ = sample;
    rttvar_ns_ = sample / 2;
  } else {
    // rttvar first, with the old srtt.
    const uint64_t deviation = srtt_ns_ > sample ? srtt_ns_ - sample : sample - srtt_ns_;
    rttvar_ns_ = (3 * rttvar_ns_ + deviation) / 4;
    srtt_ns_ = (7 * srtt_ns_ + sample) / 8;
    const uint64_t step = latest_ns_ > sample ? latest_ns_ - sample : sample - latest_ns_;
    jitter_ns_ = (15 * jitter_ns_ + step) / 16;
  }
  rto_ns_ = std::clamp(srtt_ns_ + 4 * rttvar_ns_, bounds_.min_ns, bounds_.max_ns);
  latest_ns_ = sample;
  sampled_at_ns_ = now_ns;
  ++sample_count_;

  const uint64_t second = now_ns / kSecondNs;
  MinSlot& slot = minima_[second % kMinSlots];
  if (slot.second != second || slot.min_ns == UINT64_MAX) slot = {second, sample};
  slot.min_ns = std::min(slot.min_ns, sample);
  window_min_ns_ = window_second_ == second ? std::min(window_min_ns_, sample) : smallest_as_of(second);
  window_second_ = second;
  LATTICE_ASSERT(rto_ns_ >= bounds_.min_ns && rto_ns_ <= bounds_.max_ns);
}

uint64_t RttEstimator::min_rtt_ns(uint64_t now_ns) const {
  const uint64_t second = now_ns / kSecondNs;
  return second == window_second_ ? window_min_ns_ : smallest_as_of(second);
}

// The smallest sample of the window that ends with `second`.
uint64_t RttEstimator::smallest_as_of(uint64_t second) const {
  uint64_t smallest = UINT64_MAX;
  for (const MinSlot& slot : minima_) {
    if (slot.min_ns != UINT64_MAX && slot.second + kMinSlots > second)
      smallest = std::min(smallest, slot.min_ns);
  }
  return smallest == UINT64_MAX ? srtt_ns_ : smallest;
}

}  // namespace lattice::reliability
