// Replay protection (§8.3, K-03; RFC 6479's ring of words). A number is tested before the packet is opened
// and marked after, so a forged number changes nothing. One window serves all key epochs, because packet
// numbers never repeat across epochs.
//
// Must stay true: highest() only grows; a number is fresh at most once; each number whose age is below the
// window size is tracked exactly, and an older number is too old. The age is highest − seq with seq ≤
// highest, so it never underflows.
#pragma once

#include <array>
#include <cstdint>

#include "base/compiler.h"

namespace lattice::crypto {

/// The default size, and the largest one: storage and the bounds of docs/decisions/0013 are made for it.
inline constexpr uint64_t kReplayWindowPackets = 1024;
/// The smallest size. Acknowledgements and reliable messages are taken from packets up to 64 late.
inline constexpr uint64_t kMinReplayWindowPackets = 64;
/// The first packet number that no connection uses; a connection closes before it.
inline constexpr uint64_t kPacketSeqLimit = uint64_t{1} << 62;

enum class Replay : uint8_t { kFresh, kDuplicate, kTooOld, kOutOfRange };

class ReplayWindow {
 public:
  /// `packets` is in [kMinReplayWindowPackets, kReplayWindowPackets].
  explicit ReplayWindow(uint64_t packets = kReplayWindowPackets);

  /// Whether `packet_seq` may be accepted now. Number 0 and numbers ≥ 2^62 are kOutOfRange. Changes nothing.
  Replay test(uint64_t packet_seq) const;

  /// Marks an authenticated packet. test(packet_seq) must be kFresh.
  void mark(uint64_t packet_seq);

  /// The highest number marked; 0 before the first.
  uint64_t highest() const { return highest_; }

  /// What every test reads lies between `this` and here; then prefetch() fetches the mark of the next number.
  /// A hint.
  const void* hot_end() const { return &seen_; }
  void prefetch() const { base::prefetch(&seen_[((highest_ + 1) / 64) % kWords]); }

 private:
  // Twice the window, so that whole words ahead can be cleared without touching the last 1024 numbers.
  static constexpr uint64_t kWords = 32;
  static_assert(kWords * 64 >= kReplayWindowPackets + 64 && (kWords & (kWords - 1)) == 0);

  uint64_t packets_;
  uint64_t highest_ = 0;
  std::array<uint64_t, kWords> seen_{};
};

}  // namespace lattice::crypto
