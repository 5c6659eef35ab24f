// Good or bad: two states, two rates and hysteresis (§6.1; C-01, C-02).
//
//          srtt > 250 ms and > 1.5 · min_rtt, or more than 5 % of ≥ 32 packets lost in a second
//   GOOD ─────────────────────────────────────────────────────────────────────────────────────▶ BAD
//    30 Hz, +10 per T_good, up to 60                                                             10 Hz
//        ◀───────────────────────────────── none of it for T_good ──────────────────────────────
//
// T_good is 1 s; a demotion within 10 s of a promotion doubles it, up to 60 s; every 10 s of GOOD halve it.
// A rate of n Hz is n datagrams of 1200 bytes per second.
#pragma once

#include "reliability/congestion/congestion_controller.h"
#include "reliability/congestion/loss_window.h"

namespace lattice::reliability {

class GoodBadController final : public CongestionController {
 public:
  /// Starts in GOOD. `config` must pass congestion_config_error().
  GoodBadController(const GoodBadConfig& config, uint64_t now_ns);

  void restart(uint64_t now_ns) override;
  void on_idle(uint64_t) override {}
  void on_feedback(const AckFeedback& feedback) override;
  void on_round(const RoundSummary&) override {}
  void on_silence(uint64_t) override {}
  void update(const PathState& path) override;

  uint64_t rate_bytes_per_s(const PathState&) const override { return rate_hz_ * kDatagramBytes; }
  uint64_t window_bytes() const override { return kNoWindow; }
  CongestionPhase phase() const override { return good_ ? CongestionPhase::kGood : CongestionPhase::kBad; }

  uint32_t rate_hz() const { return rate_hz_; }
  /// T_good.
  uint64_t good_time_ns() const { return good_time_ns_; }

 private:
  bool looks_bad(const PathState& path) const;
  void demote(uint64_t now_ns);
  void promote(uint64_t now_ns);

  GoodBadConfig config_;
  LossWindow loss_;
  bool good_ = true;
  bool was_promoted_ = false;
  uint32_t rate_hz_ = 0;
  uint64_t good_time_ns_ = 0;
  uint64_t promoted_ns_ = 0;  ///< Last BAD → GOOD; meaningless without was_promoted_.
  uint64_t since_ns_ = 0;     ///< GOOD: the last step up. BAD: the last time it looked bad.
  uint64_t halved_ns_ = 0;    ///< GOOD: when T_good was last halved, or GOOD began.
};

}  // namespace lattice::reliability
