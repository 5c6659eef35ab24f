// How long ticks take: exact percentiles over the last 600 ticks, which are ten seconds at 60 Hz.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace app {

class TickTimer {
 public:
  void add(uint64_t ns) {
    samples_[next_ % samples_.size()] = static_cast<uint32_t>(std::min<uint64_t>(ns, UINT32_MAX));
    ++next_;
  }
  struct Percentiles {
    double p50_ms = 0, p99_ms = 0;
  };
  Percentiles percentiles() {
    const size_t count = std::min(next_, samples_.size());
    if (count == 0) return {};
    sorted_.assign(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(count));
    return {at(count * 50 / 100), at(count * 99 / 100)};
  }

 private:
  double at(size_t rank) {
    std::nth_element(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(rank), sorted_.end());
    return static_cast<double>(sorted_[rank]) / 1e6;
  }

  std::array<uint32_t, 600> samples_{};
  std::vector<uint32_t> sorted_;
  size_t next_ = 0;
};

}  // namespace app
