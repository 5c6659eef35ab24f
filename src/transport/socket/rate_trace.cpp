#include "transport/socket/rate_trace.h"

#include <algorithm>

#include "base/durations.h"
#include "base/random.h"

namespace lattice::socket {
namespace {
using base::kMsNs;
constexpr uint32_t kStepMs = 20;  // the capacity is constant during one step
}  // namespace

RateTrace::RateTrace(std::vector<uint32_t> times_ms)
    : times_ms_(std::move(times_ms)),
      valid_(!times_ms_.empty() && std::is_sorted(times_ms_.begin(), times_ms_.end())) {}

// Capacity is a random walk with steps of up to a sixth of itself, reflected at the bounds. The
// opportunities of a step fall at random times. The length of an outage is uniform.
RateTrace RateTrace::cellular(const CellularConfig& config) {
  base::Random random(config.seed);
  const double min_rate = config.min_kbit_per_s;
  const double max_rate = config.max_kbit_per_s;
  double kbit_per_s = (min_rate + max_rate) / 2;
  uint32_t dark_until_ms = 0;
  std::vector<uint32_t> times_ms;
  for (uint32_t ms = 0; ms < config.seconds * 1000; ++ms) {
    if (ms % kStepMs == 0) {
      kbit_per_s *= 1.0 + (random.next_unit() - 0.5) / 3.0;
      kbit_per_s = std::clamp(kbit_per_s, min_rate, max_rate);
      if (random.chance(config.outages_per_s * kStepMs / 1000.0)) {
        dark_until_ms = ms + static_cast<uint32_t>(random.next_below(config.max_outage_ms + uint64_t{1}));
      }
    }
    const double packets = kbit_per_s / 8.0 / kOpportunityBytes;
    const auto sure = static_cast<uint32_t>(packets);
    uint32_t now = sure + (random.chance(packets - sure) ? 1u : 0u);
    if (ms < dark_until_ms) now = 0;
    times_ms.insert(times_ms.end(), now, ms);
  }
  if (times_ms.empty()) times_ms.push_back(config.seconds * 1000);
  return RateTrace(std::move(times_ms));
}

uint64_t RateTrace::time_ns(uint64_t index) const {
  const uint64_t round = index / times_ms_.size();
  return (round * period_ms() + times_ms_[index % times_ms_.size()]) * kMsNs;
}

uint64_t RateTrace::first_at(uint64_t now_ns) const {
  const uint64_t now_ms = (now_ns + kMsNs - 1) / kMsNs;
  const uint64_t round = now_ms / period_ms();
  const auto within = std::lower_bound(times_ms_.begin(), times_ms_.end(), now_ms % period_ms());
  return round * times_ms_.size() + static_cast<uint64_t>(within - times_ms_.begin());
}

uint64_t RateTrace::bytes_per_s() const {
  return times_ms_.size() * kOpportunityBytes * 1000 / period_ms();
}

}  // namespace lattice::socket
