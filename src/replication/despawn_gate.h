// Decides when one object may leave a client. A removal names how many reliable RPCs on the object the
// authority sent before it. The object stays until that many have arrived (D-35), at most kMaxWaitNs (D-36).
//
// Counts wrap at 2^32 on both sides, so only the distance of two counts is used.
#pragma once

#include <cstdint>

namespace lattice::replication {

class DespawnGate {
 public:
  static constexpr uint64_t kMaxWaitNs = 10'000'000'000;

  DespawnGate() = default;
  /// The gate of an object that comes; so many reliable RPCs on it arrived before, in earlier stays too.
  explicit DespawnGate(uint32_t arrived) : arrived_(arrived) {}

  void rpc_arrived() { ++arrived_; }
  /// True when the object may go; `rpc_count` is the count that its removal names. The wait begins with the
  /// first call that returns false.
  bool may_go(uint64_t now_ns, uint32_t rpc_count) {
    awaited_ = rpc_count;
    if (complete()) return true;
    if (!waiting_) since_ns_ = now_ns;
    waiting_ = true;
    gave_up_ = now_ns - since_ns_ >= kMaxWaitNs;
    return gave_up_;
  }
  /// Ends the wait: the removal is void.
  void stay() { waiting_ = false; }

  /// What the next stay counts on from. What was given up counts as arrived, or it would be waited for again.
  uint32_t count() const { return gave_up_ ? awaited_ : arrived_; }
  bool waiting() const { return waiting_; }
  /// True when the object waits and an RPC is still missing.
  bool overdue() const { return waiting_ && !complete(); }

 private:
  bool complete() const { return static_cast<int32_t>(arrived_ - awaited_) >= 0; }

  uint32_t arrived_ = 0;
  uint32_t awaited_ = 0;
  uint64_t since_ns_ = 0;
  bool waiting_ = false;
  bool gave_up_ = false;
};

}  // namespace lattice::replication
