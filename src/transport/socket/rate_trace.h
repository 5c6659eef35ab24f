// A link whose capacity changes from moment to moment. Each entry is a time at which one packet of 1500 bytes
// may leave, as recorded on cellular networks (Winstein, Sivaraman, Balakrishnan, "Stochastic Forecasts
// Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013; the format of mahimahi's link
// shell).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lattice::socket {

/// A synthetic cellular link. Its capacity wanders between the bounds, with outages now and then.
struct CellularConfig {
  uint64_t seed = 1;
  uint32_t seconds = 60;
  uint32_t min_kbit_per_s = 200;
  uint32_t max_kbit_per_s = 10000;
  double outages_per_s = 0.05;
  uint32_t max_outage_ms = 1500;
};

class RateTrace {
 public:
  static constexpr uint32_t kOpportunityBytes = 1500;

  /// `times_ms` must not decrease; a time repeats when several packets may leave. After its last entry the
  /// trace starts again, one millisecond later. An empty trace is refused: see valid().
  explicit RateTrace(std::vector<uint32_t> times_ms);
  /// A synthetic link. The same configuration gives the same link everywhere.
  static RateTrace cellular(const CellularConfig& config);

  /// False when there is no entry, or times decrease. Then no other function may be called.
  bool valid() const { return valid_; }
  /// When opportunity `index` comes, counted from 0 over all repetitions.
  uint64_t time_ns(uint64_t index) const;
  /// The first opportunity at or after `now_ns`.
  uint64_t first_at(uint64_t now_ns) const;
  /// Mean capacity.
  uint64_t bytes_per_s() const;
  size_t size() const { return times_ms_.size(); }

 private:
  uint64_t period_ms() const { return uint64_t{times_ms_.back()} + 1; }

  std::vector<uint32_t> times_ms_;
  bool valid_;
};

}  // namespace lattice::socket
