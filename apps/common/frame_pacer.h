// How a program with one or more worlds waits: until the next tick is due, but never longer than a poll
// interval, so that datagrams are read soon after they arrive.
#pragma once

#include <cstdint>

namespace app {

/// How often a socket is looked at between ticks. Costs a system call each time; delays what arrives by up
/// to this much, so it shows in measured round trips.
inline constexpr uint64_t kPollIntervalNs = 2'000'000;

/// True once every `interval_ns`, catching up by skipping.
class Every {
 public:
  explicit Every(uint64_t interval_ns) : interval_ns_(interval_ns) {}
  bool due(uint64_t now_ns) {
    if (now_ns < next_ns_) return false;
    next_ns_ = next_ns_ + interval_ns_ > now_ns ? next_ns_ + interval_ns_ : now_ns + interval_ns_;
    return true;
  }

 private:
  uint64_t interval_ns_;
  uint64_t next_ns_ = 0;
};

/// Notices when the machine does not let this process run: sleeps that end far too late. Ticks that came
/// late for that reason are no fault of the network or the program.
class StallWatch {
 public:
  static constexpr uint64_t kStallNs = 50'000'000;

  void slept(uint64_t wanted_wake_ns, uint64_t now_ns) {
    const uint64_t late_ns = now_ns > wanted_wake_ns ? now_ns - wanted_wake_ns : 0;
    if (late_ns < kStallNs) return;
    ++stalls_;
    if (late_ns > longest_ns_) longest_ns_ = late_ns;
  }
  uint64_t stalls() const { return stalls_; }
  double longest_ms() const { return static_cast<double>(longest_ns_) / 1e6; }

 private:
  uint64_t stalls_ = 0;
  uint64_t longest_ns_ = 0;
};

}  // namespace app
