#include "simulation/fixed_tick.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace lattice::simulation {

namespace {
// The largest product formed by advance() and alpha_at(): one clamped frame on top of an unfinished tick.
constexpr uint64_t kFactorMaxQ16 = 72090;  // 1.1
static_assert(kMaxFrameNs * kMaxTickRateHz * kFactorMaxQ16 < (uint64_t{1} << 62));
}  // namespace

FixedTick::FixedTick(uint32_t tick_rate_hz) : tick_rate_hz_(tick_rate_hz) {
  LATTICE_CHECK(tick_rate_hz >= kMinTickRateHz && tick_rate_hz <= kMaxTickRateHz);
}

TickAdvance FixedTick::advance(uint64_t now_ns) {
  if (!started_) {
    restart(now_ns);
    return {};
  }
  if (now_ns <= last_ns_) return {};

  TickAdvance result;
  uint64_t elapsed_ns = now_ns - last_ns_;
  last_ns_ = now_ns;
  if (elapsed_ns > kMaxFrameNs) {
    result.dropped_ns = elapsed_ns - kMaxFrameNs;
    elapsed_ns = kMaxFrameNs;
  }
  accumulated_ += elapsed_ns * units_per_ns();

  uint64_t ticks = accumulated_ / kUnitsPerTick;
  accumulated_ %= kUnitsPerTick;
  if (ticks > most_at_once()) {
    // Ticks came due, so the rate factor is not 0.
    result.dropped_ns += (ticks - most_at_once()) * kUnitsPerTick / units_per_ns();
    ticks = most_at_once();
  }
  result.ticks = static_cast<uint32_t>(ticks);
  dropped_ns_total_ += result.dropped_ns;
  return result;
}

void FixedTick::set_rate_factor(double factor) {
  if (factor == 0.0) {
    factor_q16_ = 0;
    return;
  }
  const double clamped = std::clamp(factor, kMinRateFactor, kMaxRateFactor);
  factor_q16_ = std::min<uint64_t>(static_cast<uint64_t>(std::llround(clamped * 65536.0)), kFactorMaxQ16);
}

double FixedTick::rate_factor() const {
  return static_cast<double>(factor_q16_) / 65536.0;
}

void FixedTick::restart(uint64_t now_ns) {
  last_ns_ = now_ns;
  accumulated_ = 0;
  started_ = true;
}

double FixedTick::alpha() const {
  return static_cast<double>(accumulated_) / static_cast<double>(kUnitsPerTick);
}

double FixedTick::alpha_at(uint64_t now_ns) const {
  if (!started_ || now_ns <= last_ns_) return alpha();
  const uint64_t elapsed_ns = std::min(now_ns - last_ns_, kMaxFrameNs);
  return static_cast<double>(accumulated_ + elapsed_ns * units_per_ns()) / static_cast<double>(kUnitsPerTick);
}

double FixedTick::drops_at(uint64_t now_ns) const {
  const double kept = std::min(std::floor(alpha_at(now_ns)), static_cast<double>(most_at_once()));
  return std::max(std::floor(passed_at(now_ns)) - kept, 0.0);
}

double FixedTick::passed_at(uint64_t at_ns) const {
  if (!started_ || at_ns <= last_ns_) return alpha();
  const double ticks_per_ns = static_cast<double>(units_per_ns()) / static_cast<double>(kUnitsPerTick);
  return alpha() + static_cast<double>(at_ns - last_ns_) * ticks_per_ns;
}

TickTime FixedTick::position_at(Tick newest_tick, uint64_t now_ns) const {
  return moved(TickTime{newest_tick, 0.0}, alpha_at(now_ns));
}

}  // namespace lattice::simulation
