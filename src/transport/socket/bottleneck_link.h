// The bottleneck of a path, which several directions of a SimulatedNetwork may share: a first-in, first-out
// queue in front of a link that has a fixed rate or a RateTrace. It runs in virtual time. The time at which a
// datagram departs is decided when the datagram is offered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "transport/socket/rate_trace.h"

namespace lattice::socket {

struct BottleneckConfig {
  uint64_t rate_bits_per_s = 10'000'000;  ///< Without a trace; above 0.
  const RateTrace* trace = nullptr;       ///< Valid, borrowed; or null.
  uint64_t queue_bytes = 0;               ///< Most bytes that may wait, headers included; 0: unlimited.
};

struct BottleneckStats {
  uint64_t passed = 0;
  uint64_t dropped = 0;
  uint64_t passed_bytes = 0;  ///< UDP payload.
};

class BottleneckLink {
 public:
  explicit BottleneckLink(const BottleneckConfig& config) : config_(config) {}

  /// Applies to datagrams offered from now on. Those in the queue keep their times.
  void set_rate(uint64_t rate_bits_per_s) { config_.rate_bits_per_s = rate_bits_per_s; }

  /// Offers a datagram at `now_ns`, which must not go back. False: the queue is full. Otherwise `*departs_ns`
  /// is when its last byte has left.
  bool pass(size_t payload_bytes, uint64_t now_ns, uint64_t* departs_ns);

  /// Called with the time each passed datagram spends in queue and link; null to remove.
  using Observer = void (*)(void* context, uint64_t waited_ns, size_t payload_bytes);
  void set_observer(Observer observer, void* context) {
    observer_ = observer;
    context_ = context;
  }

  /// Bytes in queue and link at `now_ns`.
  uint64_t waiting_bytes(uint64_t now_ns);
  const BottleneckStats& stats() const { return stats_; }

 private:
  uint64_t depart_at_rate(uint64_t wire_bytes, uint64_t now_ns);
  uint64_t depart_by_trace(uint64_t wire_bytes, uint64_t now_ns);

  BottleneckConfig config_;
  struct Waiting {
    uint64_t departs_ns;
    uint64_t wire_bytes;
  };
  std::deque<Waiting> queue_;
  uint64_t queued_bytes_ = 0;
  uint64_t free_ns_ = 0;      ///< Fixed rate: when every accepted datagram has left.
  uint64_t opportunity_ = 0;  ///< Trace: the opportunity in use.
  uint32_t opportunity_left_ = RateTrace::kOpportunityBytes;
  BottleneckStats stats_;
  Observer observer_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace lattice::socket
