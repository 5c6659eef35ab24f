#include "reliability/congestion/delay_controller.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/assert.h"
#include "base/durations.h"
#include "reliability/limits.h"

namespace lattice::reliability {
namespace {

using base::kSecondNs;
constexpr uint64_t kMillisecondNs = 1'000'000;
constexpr uint32_t kMaxBoost = 4;              // 4/16: a quarter per round trip
constexpr uint32_t kLossSamplePackets = 64;    // at 5 % loss, one sample in 170 loses more than 1/8 by chance
constexpr uint32_t kToleratedLossInverse = 8;  // 1/8
constexpr uint32_t kCalmLossInverse = 50;      // 1/50
constexpr uint32_t kStuckRounds = 6;
constexpr uint32_t kSamplesOfProof = 12;
constexpr double kShareWeight = 2.0;

uint64_t above(uint64_t value, uint64_t base) {
  return value > base ? value - base : 0;
}

}  // namespace

DelayController::DelayController(const DelayConfig& config, uint64_t now_ns) : config_(config) {
  restart(now_ns);
}

void DelayController::restart(uint64_t now_ns) {
  phase_ = CongestionPhase::kStartup;
  window_bytes_ = sampled_window_bytes_ = config_.initial_window_bytes;
  emptied_ns_ = now_ns;
  noise_ns_ = foreign_ns_ = last_smallest_ns_ = 0;
  stuck_rounds_ = calm_rounds_ = sample_acked_ = sample_lost_ = latest_count_ = 0;
  lossy_ = has_rtt_ = leaving_startup_ = refilling_ = after_blackout_ = false;
  doubted_smallest_ns_ = UINT64_MAX;
  doubted_samples_ = 0;
}

void DelayController::set_window(uint64_t bytes) {
  window_bytes_ = std::clamp(bytes, config_.min_window_bytes, config_.max_window_bytes);
}

void DelayController::scale_window(uint64_t numerator, uint64_t denominator) {
  LATTICE_ASSERT(denominator != 0);
  set_window(window_bytes_ * numerator / denominator);
}

uint64_t DelayController::target_ns() const {
  // IEEE 754 rounds the square root correctly, so this result is the same on every machine.
  const double datagrams = static_cast<double>(window_bytes_) / static_cast<double>(kDatagramBytes);
  const double share = std::min(1.0, kShareWeight / std::sqrt(datagrams));
  return config_.target_ns + static_cast<uint64_t>(static_cast<double>(config_.target_ns) * share) +
         std::min(noise_ns_ * 3 / 4, config_.max_noise_ns);
}

uint64_t DelayController::base_rtt_ns(const PathState& path) const {
  return std::max(path.min_rtt_ns, foreign_ns_);
}

uint64_t DelayController::rate_bytes_per_s(const PathState& path) const {
  // A little more than a window per round trip, so that the window limits sending and not the pace. In
  // startup the pace is two windows, because the window doubles within the round trip.
  const uint64_t quarters = phase_ == CongestionPhase::kStartup ? 8 : 5;
  const uint64_t rtt_ns = std::max<uint64_t>(path.srtt_ns, 1);
  return std::clamp<uint64_t>(window_bytes_ * quarters / 4 * kSecondNs / rtt_ns, 1, kMaxRateBytesPerS);
}

// After idle time the old window says little about the path (RFC 2861): each second halves the window, down
// to the initial one.
void DelayController::on_idle(uint64_t idle_ns) {
  for (; idle_ns >= kSecondNs && window_bytes_ > config_.initial_window_bytes; idle_ns -= kSecondNs) {
    set_window(std::max(window_bytes_ / 2, config_.initial_window_bytes));
  }
}

void DelayController::on_silence(uint64_t) {
  phase_ = CongestionPhase::kBlackout;
  after_blackout_ = true;
  sample_acked_ = sample_lost_ = 0;
  set_window(config_.min_window_bytes);
}

void DelayController::on_feedback(const AckFeedback& feedback) {
  if (phase_ == CongestionPhase::kBlackout && feedback.acked_packets + feedback.spurious_packets != 0) {
    phase_ = CongestionPhase::kStartup;
    latest_count_ = 0;
  }
  if (!feedback.has_rtt) return;
  note_noise(feedback.rtt_ns);
  const uint64_t base_ns = base_rtt_ns(feedback.path);
  if (feedback.rtt_ns < foreign_ns_) foreign_ns_ = feedback.rtt_ns;
  if (above(feedback.rtt_ns, base_ns) <= config_.target_ns / 4 + kMillisecondNs) {
    emptied_ns_ = feedback.path.now_ns;
  }
  if (phase_ != CongestionPhase::kStartup) return;
  // Doubling overshoots until the round ends, so three samples in a row are enough to stop.
  latest_rtt_ns_[latest_count_++ % latest_rtt_ns_.size()] = feedback.rtt_ns;
  if (latest_count_ < latest_rtt_ns_.size()) return;
  const uint64_t smallest_ns = *std::min_element(latest_rtt_ns_.begin(), latest_rtt_ns_.end());
  const uint64_t target = target_ns();
  if (above(smallest_ns, base_ns) <= target || feedback.bytes_in_flight * 2 < window_bytes_) return;
  phase_ = CongestionPhase::kSteady;
  leaving_startup_ = true;
  // The packets of these samples left a round trip ago, when half as much was in flight: that half caused
  // this queue.
  const uint64_t then_bytes = std::min(feedback.bytes_in_flight, window_bytes_) / 2;
  shorten_queue(smallest_ns - base_ns, std::max(smallest_ns, feedback.answer_ns));
  set_window(std::min(window_bytes_, std::max(then_bytes, config_.initial_window_bytes)));
}

void DelayController::note_noise(uint64_t rtt_ns) {
  const uint64_t step_ns = rtt_ns > last_rtt_ns_ ? rtt_ns - last_rtt_ns_ : last_rtt_ns_ - rtt_ns;
  if (has_rtt_) noise_ns_ = (15 * noise_ns_ + step_ns) / 16;
  last_rtt_ns_ = rtt_ns;
  has_rtt_ = true;
}

bool DelayController::used_window(const RoundSummary& round) const {
  // A transfer leaves two datagrams of the window free for messages, and less than one more datagram of room.
  return round.peak_bytes_in_flight + 2 * kDatagramBytes + kLargestDatagramBytes >= window_bytes_ ||
         round.peak_bytes_in_flight * 5 >= window_bytes_ * 4;
}

void DelayController::on_round(const RoundSummary& round) {
  // What the silence lost says nothing of the path that there is now.
  if (!std::exchange(after_blackout_, phase_ == CongestionPhase::kBlackout)) judge_loss(round);
  if (round.rtt_samples != 0 && phase_ != CongestionPhase::kBlackout) judge_queue(round);
}

void DelayController::judge_loss(const RoundSummary& round) {
  sample_acked_ += round.acked_packets;
  sample_lost_ += round.lost_packets;
  const uint32_t packets = sample_acked_ + sample_lost_;
  if (packets < kLossSamplePackets) return;
  lossy_ = uint64_t{sample_lost_} * kCalmLossInverse > packets;
  if (uint64_t{sample_lost_} * kToleratedLossInverse > packets) {
    if (phase_ == CongestionPhase::kStartup) phase_ = CongestionPhase::kSteady;
    calm_rounds_ = 0;
    const uint64_t floor_bytes = config_.loss_floor_bytes_per_s * round.path.srtt_ns / kSecondNs;
    const uint64_t reduced = window_bytes_ - window_bytes_ * sample_lost_ / (2 * packets);
    set_window(std::min(window_bytes_, std::max(reduced, floor_bytes)));
  }
  sample_acked_ = sample_lost_ = 0;
}

void DelayController::judge_queue(const RoundSummary& round) {
  const uint64_t base_ns = base_rtt_ns(round.path);
  doubted_smallest_ns_ = std::min(doubted_smallest_ns_, round.smallest_rtt_ns);
  doubted_samples_ += round.rtt_samples;
  const uint64_t queue_ns = above(doubted_smallest_ns_, base_ns);
  const uint64_t now_ns = round.path.now_ns;
  if (phase_ == CongestionPhase::kDrain) {
    phase_ = CongestionPhase::kSteady;
    set_window(window_before_drain_);
    emptied_ns_ = now_ns;
    refilling_ = true;
    return;
  }
  if (refilling_) {
    refilling_ = false;
    return;
  }
  const bool too_long = queue_ns > target_ns();
  if (too_long && queue_ns <= target_ns() + 2 * noise_ns_ && doubted_samples_ < kSamplesOfProof) return;
  doubted_smallest_ns_ = UINT64_MAX;
  doubted_samples_ = 0;
  const uint64_t window_then_bytes = std::exchange(sampled_window_bytes_, window_bytes_);
  if (too_long) {
    shrink(round, base_ns, queue_ns);
  } else {
    stuck_rounds_ = 0;
    calm_rounds_ = queue_ns < target_ns() / 2 ? calm_rounds_ + 1 : 0;
    // What the window grew since the packets of these samples left will lengthen the queue too.
    const uint64_t loop_ns = std::max(round.smallest_answer_ns, base_ns + queue_ns);
    const uint64_t unseen_ns = loop_ns * above(window_bytes_, window_then_bytes) / window_bytes_;
    if (used_window(round)) grow(queue_ns, unseen_ns);
  }
  last_smallest_ns_ = round.smallest_rtt_ns;
  if (phase_ == CongestionPhase::kSteady && now_ns - emptied_ns_ >= config_.drain_interval_ns) {
    phase_ = CongestionPhase::kDrain;
    window_before_drain_ = window_bytes_;
    const uint64_t loop_ns = std::max(round.smallest_answer_ns, base_ns + target_ns());
    scale_window((loop_ns - target_ns()) * 7 / 8, loop_ns);
  }
}

// The window fills the loop from a packet to its acknowledgement: the path with its queue, and the time until
// both ends read what came.
void DelayController::shorten_queue(uint64_t queue_ns, uint64_t loop_ns) {
  scale_window(loop_ns - above(queue_ns, target_ns()), loop_ns);
}

void DelayController::shrink(const RoundSummary& round, uint64_t base_ns, uint64_t queue_ns) {
  calm_rounds_ = 0;
  if (phase_ == CongestionPhase::kStartup) {
    phase_ = CongestionPhase::kSteady;
    leaving_startup_ = true;
  }
  const uint64_t target = target_ns();
  const uint64_t before_bytes = window_bytes_;
  const uint64_t loop_ns = std::max(round.smallest_answer_ns, base_ns + queue_ns);
  if (leaving_startup_) {
    leaving_startup_ = false;
    const uint64_t arrived_bytes = round.acked_bytes * (loop_ns - (queue_ns - target)) / round.duration_ns;
    shorten_queue(queue_ns, loop_ns);
    set_window(std::min(window_bytes_, std::max(arrived_bytes, config_.initial_window_bytes)));
  } else if (used_window(round)) {
    shorten_queue(queue_ns, loop_ns);
  } else if (queue_ns > 4 * target) {
    // The application sends little, but the queue is long: the window shrinks to its use.
    set_window(std::min(window_bytes_, std::max(round.peak_bytes_in_flight, uint64_t{1})));
    shorten_queue(queue_ns, loop_ns);
  } else {
    shorten_queue(queue_ns, loop_ns);
    set_window(std::max(window_bytes_, std::min(before_bytes, config_.initial_window_bytes)));
  }
  notice_foreign_queue(round);
}

// At the smallest window this flow makes almost no queue. If the delay still does not fall, the path has
// become longer or other traffic fills the queue. Then this delay becomes the base, so that the flow does not
// starve.
void DelayController::notice_foreign_queue(const RoundSummary& round) {
  const bool improving = round.smallest_rtt_ns < last_smallest_ns_ - last_smallest_ns_ / 8;
  stuck_rounds_ = window_bytes_ > config_.min_window_bytes || improving ? 0 : stuck_rounds_ + 1;
  if (stuck_rounds_ < kStuckRounds) return;
  stuck_rounds_ = 0;
  foreign_ns_ = round.smallest_rtt_ns;
}

void DelayController::grow(uint64_t queue_ns, uint64_t unseen_ns) {
  const uint64_t target = target_ns();
  if (phase_ == CongestionPhase::kStartup) {
    if (queue_ns <= target / 2) {
      scale_window(2, 1);
      return;
    }
    phase_ = CongestionPhase::kSteady;
  }
  const uint64_t room_ns = above(target, queue_ns + unseen_ns);
  uint64_t boost = 0;
  if (calm_rounds_ != 0) boost = std::min(1u << std::min(calm_rounds_ / 2, 8u), lossy_ ? 1u : kMaxBoost);
  const uint64_t step_bytes = kDatagramBytes + window_bytes_ * boost / 16;
  set_window(window_bytes_ + step_bytes * room_ns / target);
}

}  // namespace lattice::reliability
