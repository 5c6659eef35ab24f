// Keeps the queue of the path short: a window of bytes in flight, adjusted once per round trip by the
// queueing delay (round trip minus the smallest of the last 10 s), and a pace of 5/4 windows per round trip
// (two windows in STARTUP).
//
//              queue shows, or loss                      nothing comes back
//   STARTUP ─────────────────────────▶ STEADY ─────────────────────────────────▶ BLACKOUT
//   × 2 per round                      ▲    │ 5 s without an empty queue          2 datagrams
//      ▲                               │    ▼                                          │ an ack
//      │                               └─ DRAIN, less than base holds for one round    │
//      └───────────────────────────────────────────────────────────────────────────────┘
//
// One decision per round, where T is the target and q is the smallest queueing delay in the round. Late
// threads, delayed acks and jitter can only add to a sample; what rare readings may have added is taken off
// (rtt_estimator.h). If jitter could explain q, the decision waits for more samples.
//
//   q > T:  window × (loop − (q − T)) / loop: exactly the excess leaves the queue within a round trip. The
//   loop
//           is the time until acks are read: base + q, or more where readings are rare.
//   q ≤ T:  window + (1200 + window · boost / 16) · (T − q − u) / T, if the round used the window. boost is 0
//           near the target, where the additive part makes flows converge to equal shares. It grows 1, 2, 2,
//           4 with the rounds that showed less than T / 2, so that returning capacity is used quickly. u is
//           what the last growth adds to the queue: the packets of the samples left before it. Without u the
//           window swings about the target.
//
// T is target_ns · (1 + min(1, 2 / √n)) for a window of n datagrams, plus 3/4 of the path's jitter (mean
// difference of consecutive round trips). The root makes flows that share a queue equal: the flow with the
// smaller window accepts a longer queue, and grows while the other flow shrinks. The root also allows for the
// time that one datagram takes on a slow link. Loss up to 1/8 changes only the boost, because radio links
// lose packets without being full. A higher loss ratio shrinks the window by half that ratio, down to
// loss_floor_bytes_per_s.
//
// Must stay true: an application that does not fill its window keeps at least the initial one, unless the
// queue is over 4 T; the window is in [min_window_bytes, max_window_bytes].
//
// Related work: the once-per-round proportional cut comes from Swift (SIGCOMM 2020), delay as the signal and
// its minimum as the base from TCP Vegas and LEDBAT (RFC 6817), the drain from BBR. Numbers are measured on
// the links of bench/congestion.
#pragma once

#include <array>

#include "reliability/congestion/congestion_controller.h"

namespace lattice::reliability {

class DelayController final : public CongestionController {
 public:
  /// `config` must pass congestion_config_error().
  DelayController(const DelayConfig& config, uint64_t now_ns);

  void restart(uint64_t now_ns) override;
  void on_idle(uint64_t idle_ns) override;
  void on_feedback(const AckFeedback& feedback) override;
  void on_round(const RoundSummary& round) override;
  void on_silence(uint64_t now_ns) override;
  void update(const PathState&) override {}

  uint64_t rate_bytes_per_s(const PathState& path) const override;
  uint64_t window_bytes() const override { return window_bytes_; }
  CongestionPhase phase() const override { return phase_; }

  /// The current T.
  uint64_t target_ns() const;
  /// The round trip of the path without a queue, as far as it is known.
  uint64_t base_rtt_ns(const PathState& path) const;

 private:
  void set_window(uint64_t bytes);
  void scale_window(uint64_t numerator, uint64_t denominator);
  bool used_window(const RoundSummary& round) const;
  void note_noise(uint64_t rtt_ns);
  void judge_loss(const RoundSummary& round);
  void judge_queue(const RoundSummary& round);
  void shorten_queue(uint64_t queue_ns, uint64_t loop_ns);
  void shrink(const RoundSummary& round, uint64_t base_ns, uint64_t queue_ns);
  void grow(uint64_t queue_ns, uint64_t unseen_ns);
  void notice_foreign_queue(const RoundSummary& round);

  DelayConfig config_;
  CongestionPhase phase_ = CongestionPhase::kStartup;
  uint64_t window_bytes_ = 0;
  uint64_t window_before_drain_ = 0;
  uint64_t sampled_window_bytes_ = 0;  ///< When the packets of the present samples left.
  uint64_t emptied_ns_ = 0;            ///< When a sample last showed an empty queue, or a drain ended.
  uint64_t noise_ns_ = 0;              ///< Mean difference of consecutive samples, smoothed 15/16.
  uint64_t last_rtt_ns_ = 0;
  bool has_rtt_ = false;
  uint64_t doubted_smallest_ns_ = UINT64_MAX;  ///< Of rounds whose queue jitter could explain.
  uint32_t doubted_samples_ = 0;
  uint64_t foreign_ns_ = 0;  ///< A base above the minimum, set by notice_foreign_queue(); 0: none.
  uint64_t last_smallest_ns_ = 0;
  uint32_t stuck_rounds_ = 0;     ///< Rounds at the smallest window, over the target, without improvement.
  bool leaving_startup_ = false;  ///< The next shrink uses the bytes that arrived, not the window.
  bool refilling_ = false;        ///< The round after a drain: its samples still show the drain.
  uint32_t calm_rounds_ = 0;      ///< In a row with less than half the target.
  uint32_t sample_acked_ = 0;     ///< Loss is judged per sample of kLossSamplePackets and at least a round.
  uint32_t sample_lost_ = 0;
  bool lossy_ = false;           ///< The last sample lost more than 1/50.
  bool after_blackout_ = false;  ///< The next round tells of losses in a silence.
  std::array<uint64_t, 3> latest_rtt_ns_{};
  uint32_t latest_count_ = 0;
};

}  // namespace lattice::reliability
