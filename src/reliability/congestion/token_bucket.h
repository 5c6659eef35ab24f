// Meters bytes out at a rate (§6.2, C-03). Plain arithmetic over now_ns.
//
// Must stay true: over any time t at least as long as one tick, the bytes taken are at most rate × t + cap +
// one overdraft.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lattice::reliability {

class TokenBucket {
 public:
  /// Starts full at `now_ns`, with room for `cap_bytes`.
  TokenBucket(uint64_t cap_bytes, uint64_t now_ns)
      : balance_(static_cast<int64_t>(cap_bytes) * kScale), refilled_ns_(now_ns) {}

  /// Adds the bytes that `rate_bytes_per_s` gave since the last call, up to a balance of `cap_bytes`. A
  /// `now_ns` before the last one adds nothing. Rate and cap are at most 4·10⁹.
  void refill(uint64_t now_ns, uint64_t rate_bytes_per_s, uint64_t cap_bytes) {
    const int64_t cap = static_cast<int64_t>(cap_bytes) * kScale;
    const uint64_t elapsed_ns = std::min(now_ns - std::min(refilled_ns_, now_ns), kMaxElapsedNs);
    refilled_ns_ = std::max(refilled_ns_, now_ns);
    // A byte per second is one nano-byte per nanosecond, so nothing is ever rounded away.
    balance_ = std::min(cap, balance_ + static_cast<int64_t>(rate_bytes_per_s * elapsed_ns));
  }

  /// Whole bytes in the bucket; negative after an overdraft.
  int64_t balance_bytes() const {
    return balance_ >= 0 ? balance_ / kScale : -((-balance_ + kScale - 1) / kScale);
  }
  /// Takes `bytes` even if the bucket holds less. The caller decides which datagrams may overdraw.
  void take(uint64_t bytes) { balance_ -= static_cast<int64_t>(bytes) * kScale; }

 private:
  static constexpr int64_t kScale = 1'000'000'000;  // nano-bytes
  static constexpr uint64_t kMaxElapsedNs = 1'000'000'000;

  int64_t balance_;
  uint64_t refilled_ns_;
};

}  // namespace lattice::reliability
