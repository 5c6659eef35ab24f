// When one object of a client may go: a removal names how many reliable RPCs on the object the authority sent
// before it, and the object stays until that many have arrived (D-35), at most kMaxWaitNs (D-36).
//
// Counts wrap at 2^32 on both sides; only their distance is looked at.
#pragma once

#include <cstdint>

namespace lattice::replication {

class DespawnGate {
 public:
  static constexpr uint64_t kMaxWaitNs = 10'000'000'000;

  DespawnGate() = default;
  /// A new life; `early` reliable RPCs on the object arrived before it.
  explicit DespawnGate(uint32_t early) : arrived_(early) {}

  void rpc_arrived() { ++arrived_; }
  /// Whether the object may go, given what its removal names. From the first refusal on it waits.
  bool may_go(uint64_t now_ns, uint32_t rpc_count) {
    awaited_ = rpc_count;
    if (complete()) return true;
    if (!waiting_) since_ns_ = now_ns;
    waiting_ = true;
    return now_ns - since_ns_ >= kMaxWaitNs;
  }
  /// The removal is void.
  void stay() { waiting_ = false; }

  bool waiting() const { return waiting_; }
  /// It goes although an RPC is missing.
  bool overdue() const { return waiting_ && !complete(); }

 private:
  bool complete() const { return static_cast<int32_t>(arrived_ - awaited_) >= 0; }

  uint32_t arrived_ = 0;
  uint32_t awaited_ = 0;
  uint64_t since_ns_ = 0;
  bool waiting_ = false;
};

}  // namespace lattice::replication
