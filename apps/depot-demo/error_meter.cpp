#include "error_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

void ErrorMeter::add(Window& own, const Window& other, const Sighting& sighting) {
  if (sighting.tick == 0) return;
  if (sighting.disturbed && static_cast<int32_t>(sighting.tick - disturbed_tick_) > 0) {
    disturbed_tick_ = sighting.tick;
  }
  own[sighting.tick % kWindowTicks] = sighting;
  const Sighting& counterpart = other[sighting.tick % kWindowTicks];
  if (counterpart.tick == sighting.tick) compare(sighting, counterpart);
}

void ErrorMeter::compare(const Sighting& a, const Sighting& b) {
  const double dx = std::abs(a.x - b.x), dy = std::abs(a.y - b.y);
  const double error_mm = std::sqrt(dx * dx + dy * dy) * 1000;
  // Sightings are printed to the micrometre: allow two micrometres of rounding.
  const bool beyond = std::max(dx, dy) > step_m_ + 2e-6;
  // A client runs ahead of the server: its newest disturbance may be later than the tick that is compared.
  const uint32_t age = a.tick - disturbed_tick_;
  const bool undisturbed = disturbed_tick_ == 0 || (age >= settle_ticks_ && age < UINT32_MAX / 2);
  recent_mm_ = std::max(recent_mm_.value_or(0), error_mm);
  ++totals_.ticks;
  totals_.beyond_step_all += beyond ? 1 : 0;
  totals_.undisturbed_ticks += undisturbed ? 1 : 0;
  totals_.beyond_step += beyond && undisturbed ? 1 : 0;
  totals_.max_mm = std::max(totals_.max_mm, error_mm);
  errors_mm_.push_back(static_cast<float>(error_mm));
}

std::optional<double> ErrorMeter::take_recent_mm() {
  return std::exchange(recent_mm_, std::nullopt);
}

void ErrorMeter::start_measuring() {
  totals_ = {};
  errors_mm_.clear();
}

ErrorSummary ErrorMeter::summary() const {
  ErrorSummary summary = totals_;
  if (errors_mm_.empty()) return summary;
  double sum = 0;
  for (const float error : errors_mm_) sum += static_cast<double>(error);
  summary.mean_mm = sum / static_cast<double>(errors_mm_.size());
  std::vector<float> sorted = errors_mm_;
  const auto rank = static_cast<std::ptrdiff_t>(sorted.size() * 99 / 100);
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  summary.p99_mm = static_cast<double>(sorted[static_cast<size_t>(rank)]);
  return summary;
}

}  // namespace app
