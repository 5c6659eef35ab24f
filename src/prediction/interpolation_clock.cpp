#include "prediction/interpolation_clock.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace lattice::prediction {

using simulation::TickTime;

namespace {
constexpr double kMaxSlew = 0.1;  // S-05: of real time
// A deviation is corrected over this time, so that noise in the estimate of server time does not cause full
// slew.
constexpr double kSettleNs = 200e6;
}  // namespace

InterpolationClock::InterpolationClock(const InterpolationClockConfig& config)
    : config_(config), wanted_delay_ns_(config.configured_delay_ns) {
  LATTICE_CHECK(config.tick_rate_hz > 0);
}

TickTime InterpolationClock::update(uint64_t now_ns, TickTime server_time, uint64_t snapshot_interval_ns,
                                    uint64_t jitter_ns) {
  const double tick_ns = static_cast<double>(simulation::kNsPerSecond) / config_.tick_rate_hz;
  wanted_delay_ns_ = std::max({config_.configured_delay_ns, 2 * snapshot_interval_ns,
                               jitter_ns + jitter_ns / 4 + snapshot_interval_ns});
  wanted_delay_ns_ = std::min(wanted_delay_ns_, kMostDelayIntervals * snapshot_interval_ns);
  const TickTime target = simulation::moved(server_time, -static_cast<double>(wanted_delay_ns_) / tick_ns);

  if (!started_) {
    started_ = true;
    render_time_ = target;
  } else if (now_ns > last_ns_) {
    const auto elapsed_ns = static_cast<double>(now_ns - last_ns_);
    const double elapsed_ticks = elapsed_ns / tick_ns;
    const double behind = simulation::ticks_between(target, render_time_) - elapsed_ticks;
    double advance = 0.0;
    if (std::abs(behind) * tick_ns > static_cast<double>(kRenderResyncNs)) {
      ++resyncs_;
      advance = std::max(0.0, elapsed_ticks + behind);
    } else {
      const double correction = behind * std::min(1.0, elapsed_ns / kSettleNs);
      advance = elapsed_ticks + std::clamp(correction, -kMaxSlew * elapsed_ticks, kMaxSlew * elapsed_ticks);
    }
    render_time_ = simulation::moved(render_time_, advance);
  }
  last_ns_ = std::max(last_ns_, now_ns);
  delay_ticks_ = simulation::ticks_between(server_time, render_time_);
  return render_time_;
}

void InterpolationClock::skip_to(TickTime time) {
  const double skipped = simulation::ticks_between(time, render_time_);
  if (!started_ || skipped <= 0.0) return;
  render_time_ = time;
  delay_ticks_ -= skipped;
}

}  // namespace lattice::prediction
