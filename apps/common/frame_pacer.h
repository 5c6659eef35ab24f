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

}  // namespace app
