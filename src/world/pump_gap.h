// The longest time between two pumps of late: whatever kept the program from pumping kept everyone's packets
// waiting.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lattice::world {

class PumpGap {
 public:
  static constexpr uint64_t kWindowNs = 5'000'000'000;

  void on_pump(uint64_t now_ns) {
    if (!has_pumped_) window_since_ns_ = last_ns_ = now_ns;
    has_pumped_ = true;
    if (now_ns - window_since_ns_ >= kWindowNs) {
      before_ns_ = now_ns - window_since_ns_ < 2 * kWindowNs ? longest_ns_ : 0;
      longest_ns_ = 0;
      window_since_ns_ = now_ns;
    }
    longest_ns_ = std::max(longest_ns_, now_ns - last_ns_);
    last_ns_ = now_ns;
  }

  /// Of this window and the one before; 0 before the second pump.
  uint64_t max_ns() const { return std::max(longest_ns_, before_ns_); }

 private:
  bool has_pumped_ = false;
  uint64_t last_ns_ = 0;
  uint64_t window_since_ns_ = 0;
  uint64_t longest_ns_ = 0;
  uint64_t before_ns_ = 0;
};

}  // namespace lattice::world
