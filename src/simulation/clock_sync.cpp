#include "simulation/clock_sync.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "simulation/fixed_tick.h"

namespace lattice::simulation {

namespace {
// The server's phase is the plain mean of the first 32 arrivals. After that, each arrival counts 1/32. At
// 30 snapshots per second that is a time constant of one second: slow against jitter, and fast against the
// drift of two quartz clocks (< 100 ppm).
constexpr uint32_t kArrivalMemory = 32;
// An arrival that counts 1/32 moves the phase by at most 2/32 tick, however late the packet was.
constexpr double kMaxArrivalPull = 2.0;
// When so many arrivals in a row are off by more than the resync distance, the server's phase has moved.
// Fewer are late packets.
constexpr uint32_t kOutliersToReset = 4;
constexpr double kPathGain = 1.0 / 8.0;
constexpr double kMaxPathTicks = 512.0;
constexpr double kMaxIntervalTicks = 60.0;
// A distance between snapshots counts as at most twice the interval, but no less than this: the first ones
// must be able to raise it.
constexpr double kLeastOfMostIntervalTicks = 8.0;

// The steps of the stochastic approximation of the margin's miss quantile; see the header.
constexpr double kMissStep = 0.5;
constexpr double kMissQuantile = 0.0025;
constexpr double kHitStep = kMissStep * kMissQuantile;
// After so many hits in a row the margin falls faster: one bad moment must not cost a minute of latency. At
// the target quantile, such long runs of hits are too rare to matter.
constexpr double kHitsToHurry = 600.0;
// Steering needs about so many ticks to move the clock by half a miss step.
constexpr uint32_t kTicksToRealiseStep = 8;
// When the margin is further than this below the wanted margin, the client is still converging. A miss then
// says nothing about the wanted margin.
constexpr double kConvergedTicks = 0.75;
constexpr double kSteeringGain = 0.1;  // T-02
}  // namespace

ClockSync::ClockSync(const ClockSyncConfig& config)
    : config_(config),
      tick_ns_(static_cast<double>(kNsPerSecond) / config.tick_rate_hz),
      wanted_(config.min_wanted_ticks) {
  LATTICE_CHECK(config.tick_rate_hz >= kMinTickRateHz && config.tick_rate_hz <= kMaxTickRateHz);
  LATTICE_CHECK(config.min_wanted_ticks <= config.max_wanted_ticks && config.resync_ticks > 0.0);
}

double ClockSync::ticks_at(uint64_t now_ns) const {
  return now_ns >= origin_ns_ ? static_cast<double>(now_ns - origin_ns_) / tick_ns_
                              : -static_cast<double>(origin_ns_ - now_ns) / tick_ns_;
}

double ClockSync::phase_of(TickTime time, uint64_t now_ns) const {
  return ticks_since(time, origin_tick_) - ticks_at(now_ns);
}

TickTime ClockSync::time_of(double phase, uint64_t now_ns) const {
  return moved(TickTime{origin_tick_, 0.0}, phase + ticks_at(now_ns));
}

double ClockSync::path_ticks() const {
  return margin_reports_ > 0 ? path_ : std::ceil(srtt_ticks_);
}

void ClockSync::start(Tick server_tick, uint64_t received_ns, uint64_t srtt_ns) {
  origin_tick_ = server_tick;
  origin_ns_ = received_ns;
  started_ = true;
  stalled_ = false;
  server_phase_ = 0.0;
  arrivals_ = 1;
  outliers_ = 0;
  newest_snapshot_tick_ = server_tick;
  interval_ticks_ = 1.0;
  stated_interval_ticks_ = 0;
  lateness_count_ = 0;
  jitter_ns_ = 0;
  srtt_ticks_ = static_cast<double>(srtt_ns) / tick_ns_;
  margin_reports_ = 0;
  sent_count_ = 0;
  newest_sent_tick_ = 0;
  batch_count_ = 0;
  usual_batch_ = 1;
  wanted_ = config_.min_wanted_ticks;
  hits_in_row_ = 0;
  lead_settled_tick_ = server_tick;
  projected_margin_ = 0.0;
}

void ClockSync::on_snapshot(const SnapshotTiming& timing) {
  if (timing.server_tick == 0) return;
  if (!started_) start(timing.server_tick - 1, timing.received_ns, timing.srtt_ns);
  if (!base::tick_after(timing.server_tick, newest_snapshot_tick_)) {
    ++stats_.stale_snapshots;
    return;
  }
  ++stats_.snapshots;
  fold_interval(timing.server_tick, timing.interval_ticks);
  newest_snapshot_tick_ = timing.server_tick;
  if (timing.srtt_ns != 0) srtt_ticks_ = static_cast<double>(timing.srtt_ns) / tick_ns_;
  fold_arrival(timing.server_tick, timing.received_ns);
  if (timing.last_input_tick == 0) return;
  fold_margin(timing);
  fold_hit_or_miss(timing);
}

// A silence of the server says nothing about the interval. One that the client does not know of, because the
// snapshot before it was lost, counts as one lost snapshot.
void ClockSync::fold_interval(Tick server_tick, uint32_t stated_ticks) {
  const bool silent = stated_interval_ticks_ != 0;
  stated_interval_ticks_ = stated_ticks;
  double sample = base::tick_distance(server_tick, newest_snapshot_tick_);
  if (stated_ticks != 0) {
    sample = std::min<double>(stated_ticks, kMaxIntervalTicks);
    interval_ticks_ = std::max(interval_ticks_, sample);
  } else if (silent || stats_.snapshots == 1) {
    return;
  }
  const double most = std::min(std::max(2.0 * interval_ticks_, kLeastOfMostIntervalTicks), kMaxIntervalTicks);
  interval_ticks_ += (std::min(sample, most) - interval_ticks_) / 8.0;
}

void ClockSync::fold_arrival(Tick server_tick, uint64_t received_ns) {
  const double phase = phase_of(TickTime{server_tick, 0.0}, received_ns);
  const double early = phase - server_phase_;
  if (std::abs(early) > config_.resync_ticks) {
    // While the phase rests on ConnectionAccepted alone, one outlier replaces it: that tick may be as old as
    // the resends of the handshake.
    if (++outliers_ < kOutliersToReset && arrivals_ > 1) return;
    server_phase_ = phase;
    arrivals_ = 1;
    outliers_ = 0;
    lateness_count_ = 0;
    ++stats_.server_line_resets;
    return;
  }
  outliers_ = 0;
  if (arrivals_ < kArrivalMemory) ++arrivals_;
  server_phase_ += std::clamp(early, -kMaxArrivalPull, kMaxArrivalPull) / arrivals_;
  fold_lateness(-early);
}

void ClockSync::fold_lateness(double lateness_ticks) {
  lateness_[lateness_count_ % kLatenessSamples] = static_cast<float>(lateness_ticks);
  ++lateness_count_;
  const size_t count = std::min<size_t>(lateness_count_, kLatenessSamples);
  std::array<float, kLatenessSamples> sorted = lateness_;
  const size_t rank = (count * 95 + 99) / 100 - 1;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(rank),
                   sorted.begin() + static_cast<ptrdiff_t>(count));
  jitter_ns_ = static_cast<uint64_t>(std::max(0.0, static_cast<double>(sorted[rank])) * tick_ns_);
}

void ClockSync::fold_margin(const SnapshotTiming& timing) {
  // The server made the report one downlink delay ago. It is about inputs that were sent one uplink delay
  // earlier.
  const auto round_trip_ns = static_cast<uint64_t>(srtt_ticks_ * tick_ns_);
  if (timing.received_ns < round_trip_ns) return;
  const SentPhase* sent = sent_before(timing.received_ns - round_trip_ns);
  if (sent == nullptr) return;
  const double margin = timing.margin_quarter_ticks / 4.0;
  const double path = std::clamp(sent->phase - server_phase_ - margin, 0.0, kMaxPathTicks);
  if (margin_reports_ == 0) {
    path_ = path;
    wanted_ = std::min(config_.min_wanted_ticks + static_cast<double>(jitter_ns_) / tick_ns_,
                       config_.max_wanted_ticks);
  } else {
    path_ += (path - path_) * kPathGain;
  }
  if (margin_reports_ != UINT32_MAX) ++margin_reports_;
}

void ClockSync::fold_hit_or_miss(const SnapshotTiming& timing) {
  const Tick tick = timing.server_tick;
  if (!base::tick_after(tick, lead_settled_tick_)) return;
  if (newest_sent_tick_ == 0) return;
  // No input had left for this tick. Where that is one of the usual pauses between two, it comes too late.
  const bool paused = base::tick_distance(tick, newest_sent_tick_) > static_cast<int32_t>(usual_batch_);
  if (paused) return;
  if (base::tick_after(tick, timing.last_input_tick)) {
    ++stats_.missed_inputs;
    hits_in_row_ = 0;
    wanted_ = std::min(wanted_ + kMissStep, config_.max_wanted_ticks);
    lead_settled_tick_ = newest_position_ + kTicksToRealiseStep;
  } else {
    if (hits_in_row_ != UINT32_MAX) ++hits_in_row_;
    wanted_ =
        std::max(wanted_ - kHitStep * std::max(1.0, hits_in_row_ / kHitsToHurry), config_.min_wanted_ticks);
  }
}

void ClockSync::on_input_sent(TickTime position, uint64_t now_ns) {
  if (!started_) return;
  const double phase = phase_of(position, now_ns);
  sent_phase_ = sent_count_ == 0 ? phase : sent_phase_ + (phase - sent_phase_) / 8.0;
  sent_[sent_count_ % kSentPhases] = SentPhase{now_ns, sent_phase_};
  ++sent_count_;
  fold_batch(position.tick);
  newest_sent_tick_ = position.tick;
}

void ClockSync::fold_batch(Tick newest) {
  if (newest_sent_tick_ == 0 || !base::tick_after(newest, newest_sent_tick_)) return;
  // Of more ticks than that, the first never ran.
  const auto most = static_cast<int32_t>(ticks_at_once(config_.tick_rate_hz));
  const int32_t batch = std::min(base::tick_distance(newest, newest_sent_tick_), most);
  batches_[batch_count_++ % kBatchSamples] = static_cast<uint8_t>(batch);
  if (batch_count_ < kBatchSamples) return;
  std::array<uint8_t, kBatchSamples> sorted = batches_;
  std::nth_element(sorted.begin(), sorted.begin() + kBatchSamples / 2, sorted.end());
  usual_batch_ = sorted[kBatchSamples / 2];
}

const ClockSync::SentPhase* ClockSync::sent_before(uint64_t ns) const {
  const uint32_t held = std::min<uint32_t>(sent_count_, kSentPhases);
  for (uint32_t back = 1; back <= held; ++back) {
    const SentPhase& sent = sent_[(sent_count_ - back) % kSentPhases];
    if (sent.sent_ns <= ns) return &sent;
  }
  return nullptr;
}

Steering ClockSync::steer(TickTime position, Tick newest_sent_tick, uint64_t now_ns) {
  Steering result;
  if (!started_) return result;
  newest_position_ = position.tick;
  projected_margin_ = phase_of(position, now_ns) - server_phase_ - path_ticks();
  const double ahead = projected_margin_ - batch_lag() - wanted_;

  if (stalled_) {
    if (ahead > 0.0) {
      result.rate_factor = 0.0;
      return result;
    }
    stalled_ = false;
    result.event = ClockEvent::kStallEnd;
  } else if (std::abs(ahead) > config_.resync_ticks) {
    const TickTime target = target_time(now_ns);
    if (newest_sent_tick == 0 || base::tick_after(target.tick, newest_sent_tick)) {
      return jump(now_ns);
    }
    ++stats_.stalls;
    stalled_ = true;
    result.event = ClockEvent::kStallBegin;
    result.rate_factor = 0.0;
    return result;
  }
  if (ahead < -kConvergedTicks) lead_settled_tick_ = position.tick;
  result.rate_factor = std::clamp(1.0 - kSteeringGain * ahead, kMinRateFactor, kMaxRateFactor);
  return result;
}

Steering ClockSync::jump(uint64_t now_ns) {
  const TickTime target = target_time(now_ns);
  ++stats_.jumps;
  stalled_ = false;
  newest_position_ = target.tick;
  lead_settled_tick_ = target.tick + 1;  // the inputs of the skipped ticks were never made
  projected_margin_ = wanted_ + batch_lag() - target.fraction;
  Steering result;
  result.event = ClockEvent::kJump;
  result.newest_tick = target.tick;
  return result;
}

TickTime ClockSync::server_time(uint64_t now_ns) const {
  return time_of(server_phase_, now_ns);
}

TickTime ClockSync::target_time(uint64_t now_ns) const {
  return time_of(target_phase(), now_ns);
}

uint64_t ClockSync::snapshot_interval_ns() const {
  return static_cast<uint64_t>(interval_ticks_ * tick_ns_);
}

}  // namespace lattice::simulation
