#include "reliability/recovery/rtt_estimator.h"

#include <algorithm>

#include "base/assert.h"
#include "base/durations.h"

namespace lattice::reliability {
namespace {
using base::kSecondNs;
}

// Who lets every packet wait for d can answer each d only. A burst of answers follows such a silence when the
// peer reads rarely, and the silence counts for all of the burst. It was measured in readings of this side.
uint64_t RttEstimator::believed_delay_ns(const Answer& answer, uint64_t now_ns) {
  const uint64_t since_ns = sample_count_ == 0 ? 0 : now_ns - std::min(now_ns, sampled_at_ns_);
  silence_ns_ = std::max(since_ns, silence_ns_ - std::min(silence_ns_, since_ns));
  return std::min(answer.told_delay_ns, silence_ns_ + answer.unread_ns);
}

uint64_t RttEstimator::add_delayed_sample(const Answer& answer, uint64_t now_ns) {
  least_elapsed_ns_ = std::min(least_elapsed_ns_, answer.elapsed_ns);
  const uint64_t told_ns = std::min(believed_delay_ns(answer, now_ns), kMaxRttSampleNs);
  const uint64_t most_ns = answer.elapsed_ns - least_elapsed_ns_;
  const uint64_t sample_ns = answer.elapsed_ns - std::min({told_ns, most_ns, kMaxInputAckDelayNs});
  const uint64_t delay_ns = told_ns + unread_share_ns(answer.unread_ns);
  const uint64_t path_ns = answer.elapsed_ns - std::min(delay_ns, most_ns);
  fold(sample_ns, path_ns, answer, now_ns);
  return path_ns;
}

// A sample is of the newest packet that the peer read, and that has waited least. Where a peer reads rarely,
// or this side does, what left before it waited longer.
uint64_t RttEstimator::longest_of_late_ns(uint64_t answer_ns, uint64_t now_ns) {
  const uint64_t second = now_ns / kSecondNs;
  if (second != longest_second_) {
    longest_before_ns_ = second == longest_second_ + 1 ? longest_ns_ : 0;
    longest_ns_ = 0;
    longest_second_ = second;
  }
  longest_ns_ = std::max(longest_ns_, std::min(answer_ns, kMaxRttSampleNs));
  return std::max(longest_ns_, longest_before_ns_);
}

uint64_t RttEstimator::unread_share_ns(uint64_t unread_ns) const {
  if (unread_ns >= srtt_ns_) return unread_ns;
  return unread_ns * unread_ns / srtt_ns_;
}

void RttEstimator::fold(uint64_t sample_ns, uint64_t path_ns, const Answer& answer, uint64_t now_ns) {
  const uint64_t sample = std::min(sample_ns, kMaxRttSampleNs);
  const uint64_t path = std::min(path_ns, kMaxRttSampleNs);
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
  const uint64_t usual_ns = srtt_ns_ + std::max(4 * rttvar_ns_, answer.reading_every_ns);
  const uint64_t longest_ns = longest_of_late_ns(answer.longest_ns, now_ns);
  rto_ns_ = std::clamp(std::max(usual_ns, longest_ns), bounds_.min_ns, bounds_.max_ns);
  latest_ns_ = sample;
  sampled_at_ns_ = now_ns;
  ++sample_count_;

  const uint64_t second = now_ns / kSecondNs;
  if (window_second_ != second || path < second_min_ns_) {
    minima_[second % kMinSlots] = {second, path};
    second_min_ns_ = path;
    window_min_ns_ = window_second_ == second ? std::min(window_min_ns_, path) : smallest_as_of(second);
    window_second_ = second;
  }
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
