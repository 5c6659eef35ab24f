// Where the server's clock is and how far ahead of it a client must run (§10.2, T-02, T-03).
//
// Everything is a *phase*: a tick position minus elapsed real time in ticks. A clock that runs at the
// nominal rate has a constant phase, so each quantity below is a constant being measured, not a ramp:
//
//   server phase   σ   from (server_tick, arrival time) of each snapshot; includes the downlink delay
//   client phase   φ   ours; moves only because we steer
//   path           P   = φ(when the input was sent) − σ − margin(reported): downlink + uplink delay in
//                        ticks as the inputs themselves experienced it. Before any report: ceil(srtt/DT)
//   wanted         w   the margin we aim for (T-02: 1–2 ticks; more when the path needs it)
//   target         φ*  = σ + P + w, that is T-02's server_tick + (now − received)/DT + ceil(srtt/DT) + lead
//
// The rate is clamp(1 − 0.1·(margin − w), 0.9, 1.1) as T-02 says, with `margin` carried forward from the
// report to now (φ(now) − σ − P). Without that the loop acts on news one round trip old, and at a gain of
// 6/s it oscillates as soon as the round trip exceeds about a quarter of a second. P does not depend on
// our own steering, so there is no delayed feedback at all.
//
// The wanted margin is learned from what happened, not guessed from jitter. A snapshot of tick T reports the
// newest input applied: T is a hit, an older tick is a miss. A miss raises w by half a tick, once per round
// trip, because reports in flight describe the old lead. Each hit lowers w by a tiny step. The two balance
// where one report in 400 is a miss: w follows the 0.25 % quantile (stochastic approximation). That is the
// smallest lead for this miss rate, whatever the distribution of jitter and loss. The spread of snapshot
// arrivals gives the first value only.
//
// Must stay true: the client never stamps an input older than one it has already sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulation/tick_time.h"

namespace lattice::simulation {

struct ClockSyncConfig {
  uint32_t tick_rate_hz = 60;      // [1, 1000]
  double min_wanted_ticks = 1.0;   // T-02: never aim for less
  double max_wanted_ticks = 12.0;  // bound of the adaptation; the jitter buffer holds 32
  double resync_ticks = 10.0;      // T-03
};

/// The timing fields of one received snapshot.
struct SnapshotTiming {
  Tick server_tick = 0;             // the tick the server had just run when it sent
  Tick last_input_tick = 0;         // newest of our inputs it has applied, 0 none
  int8_t margin_quarter_ticks = 0;  // meaningless while last_input_tick is 0
  uint64_t received_ns = 0;
  uint64_t srtt_ns = 0;
};

enum class ClockEvent : uint8_t {
  kNone,
  kJump,        // T-03: continue at Steering::newest_tick
  kStallBegin,  // T-03: too far ahead and cannot go back; the rate is 0 until the server has caught up
  kStallEnd,
};

/// What to do in this frame.
struct Steering {
  double rate_factor = 1.0;  // for FixedTick: in [0.9, 1.1], or 0 while stalled
  ClockEvent event = ClockEvent::kNone;
  Tick newest_tick = 0;  // kJump: act as if this tick had just been run, and restart the accumulator
};

struct ClockSyncStats {
  uint64_t snapshots = 0;
  uint64_t stale_snapshots = 0;  // not newer than the newest: no use for timing
  uint64_t jumps = 0;
  uint64_t stalls = 0;
  uint64_t server_line_resets = 0;  // the server's time line moved by more than the filter follows
  uint64_t missed_inputs = 0;       // reports that our input was not there in time
};

class ClockSync {
 public:
  explicit ClockSync(const ClockSyncConfig& config);

  /// First knowledge of the server's clock (ConnectionAccepted). Forgets everything else.
  void start(Tick server_tick, uint64_t received_ns, uint64_t srtt_ns);
  bool started() const { return started_; }

  /// Folds one snapshot in. Any part of a tick will do; later parts of the same tick and older ticks are
  /// ignored. Peer-controlled values are clamped, never trusted.
  void on_snapshot(const SnapshotTiming& timing);

  /// Notes that an input message left at `now_ns` while the client stood at `position`.
  void on_input_sent(TickTime position, uint64_t now_ns);

  /// The decision for this frame. `position` is FixedTick::position_at of the client's newest tick;
  /// `newest_sent_tick` is the newest input already sent (0 none). Call once per frame, before
  /// FixedTick::advance. On kJump the answer already reckons with the new position.
  Steering steer(TickTime position, Tick newest_sent_tick, uint64_t now_ns);

  /// Server time as it reaches this client: the tick a snapshot arriving now would carry. This is the time
  /// line interpolation runs on (S-05); it is one downlink delay behind the server's own clock.
  TickTime server_time(uint64_t now_ns) const;
  /// Where the client's tick should be.
  TickTime target_time(uint64_t now_ns) const;

  double wanted_ticks() const { return wanted_; }
  /// Margin of an input sent at the last steer(), as far as it is known: what the server will report.
  double projected_margin_ticks() const { return projected_margin_; }
  /// 95th percentile of how late snapshots arrive against server_time(), over the last 64.
  uint64_t jitter_ns() const { return jitter_ns_; }
  /// Mean distance between received snapshots; one tick until two have come.
  uint64_t snapshot_interval_ns() const;
  const ClockSyncStats& stats() const { return stats_; }

 private:
  struct SentPhase {
    uint64_t sent_ns;
    double phase;  // φ smoothed 7/8, as the server smooths the margins it reports
  };
  static constexpr size_t kSentPhases = 256;
  static constexpr size_t kLatenessSamples = 64;

  double ticks_at(uint64_t now_ns) const;
  double phase_of(TickTime time, uint64_t now_ns) const;
  TickTime time_of(double phase, uint64_t now_ns) const;
  double path_ticks() const;
  double target_phase() const { return server_phase_ + path_ticks() + wanted_; }
  void fold_arrival(Tick server_tick, uint64_t received_ns);
  void fold_lateness(double lateness_ticks);
  void fold_margin(const SnapshotTiming& timing);
  void fold_hit_or_miss(const SnapshotTiming& timing);
  const SentPhase* sent_before(uint64_t ns) const;

  ClockSyncConfig config_;
  double tick_ns_;
  Tick origin_tick_ = 0;  // phases are relative to this point
  uint64_t origin_ns_ = 0;
  bool started_ = false;
  bool stalled_ = false;

  double server_phase_ = 0.0;
  uint32_t arrivals_ = 0;  // how many are in server_phase_, saturating
  uint32_t outliers_ = 0;  // consecutive arrivals far off server_phase_
  Tick newest_snapshot_tick_ = 0;
  double interval_ticks_ = 1.0;

  std::array<float, kLatenessSamples> lateness_{};
  uint32_t lateness_count_ = 0;
  uint64_t jitter_ns_ = 0;

  double srtt_ticks_ = 0.0;
  double path_ = 0.0;
  uint32_t margin_reports_ = 0;
  std::array<SentPhase, kSentPhases> sent_{};
  uint32_t sent_count_ = 0;
  double sent_phase_ = 0.0;
  Tick newest_sent_tick_ = 0;

  double wanted_;
  uint32_t hits_in_row_ = 0;
  Tick newest_position_ = 0;    // client's tick at the last steer()
  Tick lead_settled_tick_ = 0;  // misses before this tick tell about an older lead
  double projected_margin_ = 0.0;
  ClockSyncStats stats_;
};

}  // namespace lattice::simulation
