// What a client is told of its own joining: how many objects it was to get when it joined, and how many it
// lacks. Spec: X-09, D-48.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "replication/snapshot_format.h"

namespace lattice::replication {

/// The objects that were in a client's set when it joined.
struct JoinCount {
  uint32_t objects = 0;
  uint32_t missing = 0;  // of those, neither acked nor gone
};

class JoinProgress {
 public:
  /// How often a client is told.
  static constexpr uint32_t kPartsPerS = 5;
  static constexpr size_t kMaxPartBytes = 4 + 1 + 5 + 5;

  /// Whether the snapshot of `tick` should have a part about it. False for ever once the client has acked a
  /// part that says that nothing is missing.
  bool due(Tick tick, uint32_t missing, uint32_t tick_rate_hz) const;
  /// Writes that part. Its receipt must reach on_receipt(). Valid until the next call.
  std::span<const uint8_t> write(Tick tick, const JoinCount& count, uint32_t receipt);
  void on_receipt(uint32_t receipt, bool acked);
  /// The client knows that nothing is missing.
  bool done() const { return done_; }

 private:
  bool any_last() const;

  Tick sent_tick_ = 0;
  bool done_ = false;
  /// Of parts on their way that say that nothing is missing; 0: a free place. Where none is free, the next
  /// waits for a verdict: a round trip may take seconds.
  std::array<uint32_t, 8> last_receipts_{};
  std::array<uint8_t, kMaxPartBytes> bytes_{};
};

}  // namespace lattice::replication
