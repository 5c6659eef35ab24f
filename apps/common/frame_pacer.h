// How a program with one or more worlds waits. It sleeps until the next tick is due, but never longer than a
// poll interval, so that it reads datagrams soon after they arrive.
#pragma once

#include <cstdint>

namespace app {

/// How often a program reads its socket between ticks. Each read costs a system call. A datagram waits up to
/// this long, and measured round trips contain the wait.
inline constexpr uint64_t kPollIntervalNs = 2'000'000;

/// due() is true once every `interval_ns`. After a long gap it is true once; the missed times are skipped.
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

/// Counts the stalls of this process: sleeps that end far too late, because the machine ran something else.
/// A tick that is late after a stall is no fault of the network or the program.
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
