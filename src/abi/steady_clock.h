// Time that does not go back, whatever the clock does that it is read from.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lattice::abi {

/// A step back of the clock below counts as no time: this clock goes on from where it was.
class SteadyClock {
 public:
  uint64_t read(uint64_t clock_ns) {
    clock_ns = std::min(clock_ns, kMost);
    if (clock_ns < last_clock_ns_) {
      last_step_ns_ = last_clock_ns_ - clock_ns;
      offset_ns_ = std::min(offset_ns_ + last_step_ns_, kMost);
      ++steps_;
    }
    last_clock_ns_ = clock_ns;
    last_ns_ = std::max(last_ns_, clock_ns + offset_ns_);
    return last_ns_;
  }
  /// How often the clock below went back, and by how much the last time.
  uint64_t steps() const { return steps_; }
  uint64_t last_step_ns() const { return last_step_ns_; }

 private:
  static constexpr uint64_t kMost = uint64_t{1} << 62;  // 146 years

  uint64_t last_clock_ns_ = 0;
  uint64_t offset_ns_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t steps_ = 0;
  uint64_t last_step_ns_ = 0;
};

}  // namespace lattice::abi
