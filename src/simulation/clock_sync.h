// Finds where the server's clock is, and how far ahead of it the client must run (§10.2, T-02, T-03).
//
// Every quantity is a *phase*: a tick position minus the elapsed real time in ticks. A clock that runs at the
// nominal rate has a constant phase. So each quantity below is a constant that is measured, not a ramp:
//
//   server phase   σ   from (server_tick, arrival time) of each snapshot; includes the downlink delay
//   client phase   φ   of our own clock; it changes only because we steer
//   path           P   = φ(when the input was sent) − σ − margin(reported): downlink + uplink delay in
//                        ticks as the inputs themselves experienced it. Before any report: ceil(srtt/DT)
//   batch          b   inputs that usually leave together. Whoever draws less often than it ticks, or sends
//                        every second tick, makes b ticks at once: the first waited for b − 1 others
//   wanted         w   the margin to aim for, of the first input of a batch (T-02: 1–2 ticks; more when the
//                        path needs it)
//   target         φ*  = σ + P + b − 1 + w, that is T-02's
//                        server_tick + (now − received)/DT + ceil(srtt/DT) + lead
//
// The rate is clamp(1 − 0.1·(margin − w), 0.9, 1.1) as T-02 says. `margin` is carried forward from the report
// to the present, and is that of the first of a batch: φ(now) − σ − P − (b − 1). Otherwise the loop would act
// on reports that are one round trip old, and at a gain of 6/s it would oscillate as soon as the round trip
// exceeds about a quarter of a second. P does not depend on our own steering, so there is no delayed
// feedback.
//
// The wanted margin is learned from misses and hits, not guessed from jitter. A snapshot of tick T reports
// the newest input applied: T is a hit, an older tick is a miss. Where the input of T has not even left, that
// is a miss too, unless this side made a longer pause than it usually does. A miss raises w by half a tick.
// It does so once per round trip, because reports in flight describe the old lead. Each hit lowers w by a
// tiny step. The two balance when one report in 400 is a miss: w follows the 0.25 % quantile (stochastic
// approximation). That is the smallest lead for this miss rate, whatever the distribution of jitter and loss.
// The spread of snapshot arrivals gives only the first value.
//
// Must stay true: the client never stamps an input with a tick older than one it has already sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulation/tick_time.h"

namespace lattice::simulation {

struct ClockSyncConfig {
  uint32_t tick_rate_hz = 60;      // [1, 1000]
  double min_wanted_ticks = 1.0;   // T-02: never aim for less
  double max_wanted_ticks = 12.0;  // upper bound of the wanted margin; the jitter buffer holds 32 ticks
  double resync_ticks = 10.0;      // T-03
};

/// The timing fields of one received snapshot.
struct SnapshotTiming {
  Tick server_tick = 0;             // the tick that the server had just run when it sent
  Tick last_input_tick = 0;         // tick of the newest of our inputs that it has applied; 0: none
  int8_t margin_quarter_ticks = 0;  // meaningless while last_input_tick is 0
  uint64_t received_ns = 0;
  uint64_t srtt_ns = 0;
  /// Of a snapshot in which nothing changed, after which the server may be silent (D-44): the ticks between
  /// its snapshots while something changes. 0: not stated.
  uint32_t interval_ticks = 0;
};

enum class ClockEvent : uint8_t {
  kNone,
  kJump,        // T-03: continue at Steering::newest_tick
  kStallBegin,  // T-03: the client is too far ahead and cannot go back; the rate is 0 until the server has
                // caught up
  kStallEnd,
};

/// What the client's clock must do in this frame.
struct Steering {
  double rate_factor = 1.0;  // for FixedTick: in [0.9, 1.1], or 0 while stalled
  ClockEvent event = ClockEvent::kNone;
  Tick newest_tick = 0;  // kJump: act as if this tick had just been run, and restart the accumulator
};

struct ClockSyncStats {
  uint64_t snapshots = 0;
  uint64_t stale_snapshots = 0;  // snapshots not newer than the newest: of no use for timing
  uint64_t jumps = 0;
  uint64_t stalls = 0;
  uint64_t server_line_resets = 0;  // the server's time line moved by more than the filter can follow
  uint64_t missed_inputs = 0;       // reports that our input did not arrive in time
};

class ClockSync {
 public:
  explicit ClockSync(const ClockSyncConfig& config);

  /// Takes the first knowledge of the server's clock, from ConnectionAccepted. Forgets everything else.
  void start(Tick server_tick, uint64_t received_ns, uint64_t srtt_ns);
  bool started() const { return started_; }

  /// Folds in one snapshot. The first part of a tick counts; later parts of the same tick, and older ticks,
  /// are ignored. Values that the peer controls are clamped, never trusted.
  void on_snapshot(const SnapshotTiming& timing);

  /// Notes that an input message left at `now_ns`, while the client's clock was at `position`.
  void on_input_sent(TickTime position, uint64_t now_ns);

  /// Decides for this frame. `position` is FixedTick::position_at of the client's newest tick.
  /// `newest_sent_tick` is the tick of the newest input already sent; 0: none. Call it once per frame, before
  /// FixedTick::advance. After kJump, this object already uses the new position.
  Steering steer(TickTime position, Tick newest_sent_tick, uint64_t now_ns);
  /// A kJump to target_time(), whatever the distance. For a frame that was too long for its ticks.
  Steering jump(uint64_t now_ns);

  /// Server time as it reaches this client: the tick of a snapshot that would arrive now. Interpolation runs
  /// on this time line (S-05). It is one downlink delay behind the server's own clock.
  TickTime server_time(uint64_t now_ns) const;
  /// The tick position at which the client should be.
  TickTime target_time(uint64_t now_ns) const;

  double wanted_ticks() const { return wanted_; }
  /// Inputs that usually leave together, 1 or more.
  uint32_t usual_batch() const { return usual_batch_; }
  /// The expected margin of the newest input sent at the last steer(): what the server will probably report.
  double projected_margin_ticks() const { return projected_margin_; }
  /// How late snapshots arrive against server_time(): the 95th percentile of the last 64.
  uint64_t jitter_ns() const { return jitter_ns_; }
  /// The mean distance between received snapshots while something changes; one tick until two have come. It
  /// is not measured across a silence of the server, and never below what the server last stated.
  uint64_t snapshot_interval_ns() const;
  const ClockSyncStats& stats() const { return stats_; }

 private:
  struct SentPhase {
    uint64_t sent_ns;
    double phase;  // φ smoothed 7/8, as the server smooths the margins it reports
  };
  static constexpr size_t kSentPhases = 256;
  static constexpr size_t kLatenessSamples = 64;
  static constexpr size_t kBatchSamples = 15;

  double ticks_at(uint64_t now_ns) const;
  double phase_of(TickTime time, uint64_t now_ns) const;
  TickTime time_of(double phase, uint64_t now_ns) const;
  double path_ticks() const;
  /// How far the first of a batch is behind the newest, in ticks.
  double batch_lag() const { return usual_batch_ - 1.0; }
  double target_phase() const { return server_phase_ + path_ticks() + batch_lag() + wanted_; }
  void fold_interval(Tick server_tick, uint32_t stated_ticks);
  void fold_arrival(Tick server_tick, uint64_t received_ns);
  void fold_lateness(double lateness_ticks);
  void fold_margin(const SnapshotTiming& timing);
  void fold_hit_or_miss(const SnapshotTiming& timing);
  void fold_batch(Tick newest);
  const SentPhase* sent_before(uint64_t ns) const;

  ClockSyncConfig config_;
  double tick_ns_;
  Tick origin_tick_ = 0;  // phases are relative to this tick and origin_ns_
  uint64_t origin_ns_ = 0;
  bool started_ = false;
  bool stalled_ = false;

  double server_phase_ = 0.0;
  uint32_t arrivals_ = 0;  // how many arrivals server_phase_ contains, saturating
  uint32_t outliers_ = 0;  // consecutive arrivals far off server_phase_
  Tick newest_snapshot_tick_ = 0;
  double interval_ticks_ = 1.0;
  uint32_t stated_interval_ticks_ = 0;  // of the newest snapshot; 0: not stated, so no silence follows it

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
  std::array<uint8_t, kBatchSamples> batches_{};
  uint32_t batch_count_ = 0;
  uint32_t usual_batch_ = 1;  // their median, so that one long frame means nothing

  double wanted_;
  uint32_t hits_in_row_ = 0;
  Tick newest_position_ = 0;    // the client's tick at the last steer()
  Tick lead_settled_tick_ = 0;  // hits and misses up to this tick are about an older lead
  double projected_margin_ = 0.0;
  ClockSyncStats stats_;
};

}  // namespace lattice::simulation
