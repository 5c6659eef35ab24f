#include "reliability/congestion/pacer.h"

#include <algorithm>

#include "base/assert.h"
#include "base/durations.h"

namespace lattice::reliability {
namespace {

using base::kSecondNs;
/// A send gets the budget of at most this much time, so that a late send is not one large burst ...
constexpr uint64_t kMaxBurstNs = 100'000'000;
/// ... or of the time before the last send, if every send is as late, under a controller alone.
constexpr uint64_t kMaxSlowBurstNs = 1'000'000'000;
/// This much of the window stays free for messages that come later. A larger reserve would keep the window
/// from being used, and from growing.
constexpr uint64_t kWindowReserveBytes = 2 * kDatagramBytes;

}  // namespace

Pacer::Pacer(const Setup& setup)
    : controller_(place_congestion_controller(setup.config, setup.now_ns, room_)),
      max_rate_bytes_per_s_(setup.config.max_rate_bytes_per_s),
      limited_(controller_ != nullptr || setup.config.max_rate_bytes_per_s != 0),
      send_began_ns_(setup.now_ns),
      bucket_(2 * kDatagramBytes, setup.now_ns),
      last_sent_ns_(setup.now_ns),
      last_ack_ns_(setup.now_ns) {
  begin_round(setup.now_ns, 0);
}

void Pacer::restart(uint64_t now_ns) {
  if (controller_) controller_->restart(now_ns);
  lost_since_ack_ = 0;
  last_ack_ns_ = now_ns;
  begin_round(now_ns, 0);
}

uint64_t Pacer::limited_rate(const PathState& path) const {
  uint64_t rate = controller_ ? controller_->rate_bytes_per_s(path) : kMaxRateBytesPerS;
  if (max_rate_bytes_per_s_ != 0) rate = std::min(rate, max_rate_bytes_per_s_);
  return rate;
}

// C-03: two datagrams, or the bytes of one tick. Under a ceiling also what the last tick left of a datagram:
// the ceiling is to be used. A controller finds a rate that fits without.
uint64_t Pacer::cap_bytes() const {
  const uint64_t left_bytes = rate_bytes_per_s_ == max_rate_bytes_per_s_ ? kDatagramBytes : 0;
  return std::max(2 * kDatagramBytes, rate_bytes_per_s_ * tick_ns_ / kSecondNs + left_bytes);
}

void Pacer::begin_send(const PathState& path, uint64_t last_tick_ns) {
  if (path.now_ns != send_began_ns_) {
    const uint64_t since_ns = path.now_ns - std::max(send_began_ns_, last_tick_ns);
    const bool may_be_slow = max_rate_bytes_per_s_ == 0;
    const uint64_t most_ns =
        may_be_slow ? std::clamp(last_since_ns_, kMaxBurstNs, kMaxSlowBurstNs) : kMaxBurstNs;
    tick_ns_ = std::min(since_ns, most_ns);
    last_since_ns_ = since_ns;
    send_began_ns_ = path.now_ns;
  }
  update(path);
}

void Pacer::update(const PathState& path) {
  if (!limited_) return;
  if (controller_) controller_->update(path);
  rate_bytes_per_s_ = limited_rate(path);
  bucket_.refill(path.now_ns, rate_bytes_per_s_, cap_bytes());
}

uint64_t Pacer::window_bytes() const {
  return controller_ ? controller_->window_bytes() : CongestionController::kNoWindow;
}

CongestionPhase Pacer::phase() const {
  return controller_ ? controller_->phase() : CongestionPhase::kUnlimited;
}

uint64_t Pacer::allowance_bytes(uint64_t bytes_in_flight, uint64_t least_bytes) const {
  if (!limited_) return kUnlimited;
  const int64_t balance = bucket_.balance_bytes();
  const uint64_t window = window_bytes();
  const uint64_t room = window > bytes_in_flight ? window - bytes_in_flight : 0;
  const uint64_t bytes = balance > 0 ? static_cast<uint64_t>(balance) : 0;
  return bytes < least_bytes || room < kDatagramBytes ? 0 : std::min(bytes, room);
}

uint64_t Pacer::allowance_bytes_during(uint64_t during_ns, const PathState& path,
                                       uint64_t bytes_in_flight) const {
  const auto without = [](uint64_t bytes, uint64_t part) { return bytes - std::min(bytes, part); };
  const uint64_t now = allowance_bytes(bytes_in_flight);
  if (now == kUnlimited || now == 0) return now;
  if (rate_bytes_per_s_ * std::min(during_ns, kSecondNs) / kSecondNs <= cap_bytes()) return now;
  const uint64_t until_last_send_ns = std::min(without(during_ns, tick_ns_), kSecondNs);
  const uint64_t gained = rate_bytes_per_s_ * until_last_send_ns / kSecondNs;
  uint64_t bytes = without(static_cast<uint64_t>(bucket_.balance_bytes()) + gained, kDatagramBytes);
  if (window_bytes() != CongestionController::kNoWindow) {
    // One round trip acknowledges all that is in flight now.
    const uint64_t acked = until_last_send_ns >= path.srtt_ns
                               ? bytes_in_flight
                               : bytes_in_flight * until_last_send_ns / path.srtt_ns;
    bytes = std::min(bytes, without(window_bytes() - bytes_in_flight + acked, kWindowReserveBytes));
  }
  return std::max(now, bytes);
}

uint64_t Pacer::urgent_allowance_bytes() const {
  if (!limited_) return kUnlimited;
  const int64_t bytes = bucket_.balance_bytes() + static_cast<int64_t>(kDatagramBytes);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

void Pacer::on_sent(const Sent& sent) {
  next_seq_ = sent.packet_seq + 1;
  if (!limited_) return;
  if (sent.charge != Charge::kFree) bucket_.take(sent.bytes);
  const bool was_idle = sent.bytes_in_flight <= sent.bytes;
  if (was_idle && controller_ && sent.now_ns > last_sent_ns_) {
    const uint64_t idle_ns = sent.now_ns - last_sent_ns_;
    controller_->on_idle(idle_ns - std::min(idle_ns, last_since_ns_));  // a rare send is no idleness
  }
  last_sent_ns_ = sent.now_ns;
  peak_bytes_in_flight_ = std::max(peak_bytes_in_flight_, sent.bytes_in_flight);
}

void Pacer::begin_round(uint64_t now_ns, uint64_t bytes_in_flight) {
  round_began_ns_ = now_ns;
  round_end_seq_ = next_seq_;
  peak_bytes_in_flight_ = bytes_in_flight;
  smallest_rtt_ns_ = smallest_answer_ns_ = UINT64_MAX;
  rtt_samples_ = acked_packets_ = 0;
  acked_bytes_ = 0;
  lost_packets_ = 0;
}

void Pacer::end_round(const AckFeedback& feedback) {
  RoundSummary round;
  round.path = feedback.path;
  round.duration_ns = feedback.path.now_ns - round_began_ns_;
  round.acked_packets = acked_packets_;
  round.acked_bytes = acked_bytes_;
  round.lost_packets = lost_packets_ > 0 ? static_cast<uint32_t>(lost_packets_) : 0;
  round.peak_bytes_in_flight = peak_bytes_in_flight_;
  round.rtt_samples = rtt_samples_;
  if (rtt_samples_ != 0) {
    round.smallest_rtt_ns = smallest_rtt_ns_;
    round.smallest_answer_ns = smallest_answer_ns_;
  }
  const int64_t owed = std::min<int64_t>(lost_packets_, 0);
  controller_->on_round(round);
  begin_round(feedback.path.now_ns, feedback.bytes_in_flight);
  lost_packets_ = owed;
}

void Pacer::on_feedback(const AckFeedback& feedback, uint64_t largest_acked) {
  const uint64_t now_ns = feedback.path.now_ns;
  if (feedback.acked_packets != 0 || feedback.spurious_packets != 0) {
    last_ack_ns_ = now_ns;
    lost_since_ack_ = 0;
  } else {
    lost_since_ack_ += feedback.lost_packets;
  }
  if (!controller_) return;
  acked_packets_ += feedback.acked_packets;
  acked_bytes_ += feedback.acked_bytes;
  lost_packets_ +=
      static_cast<int64_t>(feedback.lost_packets) - static_cast<int64_t>(feedback.spurious_packets);
  if (feedback.has_rtt) {
    smallest_rtt_ns_ = std::min(smallest_rtt_ns_, feedback.rtt_ns);
    smallest_answer_ns_ = std::min(smallest_answer_ns_, feedback.answer_ns);
    ++rtt_samples_;
  }
  controller_->on_feedback(feedback);
  if (lost_since_ack_ >= kSilentPackets && now_ns - last_ack_ns_ >= 2 * feedback.path.rto_ns) {
    controller_->on_silence(now_ns);
  }
  if (largest_acked >= round_end_seq_ && now_ns - round_began_ns_ >= kMinRoundNs) end_round(feedback);
}

}  // namespace lattice::reliability
