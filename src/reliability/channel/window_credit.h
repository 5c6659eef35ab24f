// How many messages of a reliable channel this side lets the peer have under way. A window of
// 256 messages holds a path of 100 ms to 2.5 MB/s of long ones, so the window doubles where the peer makes
// use of it. What comes beyond the share of the channel takes memory for growth; where that runs out, the
// window falls back to the share.
//
//   peer ─▶ message ─▶ on_message() ─┐
//                      on_refused() ─┴─▶ a credit to tell the peer
//
// Must stay true: a message that any credit allowed is never beyond the window, because the peer may have
// sent it before it learned of a lower one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "reliability/limits.h"

namespace lattice::reliability {

class WindowCredit {
 public:
  /// Messages with ids up to this far beyond the next one expected are accepted: the largest credit so far.
  int32_t accepted() const { return accepted_; }

  /// A message was accepted. `spare_messages`: how many there is memory for beyond the shares.
  std::optional<uint16_t> on_message(uint64_t now_ns, uint64_t srtt_ns, uint64_t spare_messages) {
    // Where the window holds the peer up, a whole one comes in each round trip. Four are allowed, so that the
    // next window comes before that happens.
    if (now_ns - since_ns_ > std::max(kLeastTimeNs, 4 * srtt_ns)) {
      taken_ = 0;
      since_ns_ = now_ns;
    }
    if (++taken_ < credit_) return std::nullopt;
    taken_ = 0;
    since_ns_ = now_ns;
    if (now_ns < not_before_ns_ || credit_ >= kMaxReliableWindow) return std::nullopt;
    if (spare_messages < 4 * static_cast<uint64_t>(credit_)) return std::nullopt;
    credit_ *= 2;
    accepted_ = std::max(accepted_, credit_);
    return static_cast<uint16_t>(credit_);
  }

  /// A message was refused for want of memory.
  std::optional<uint16_t> on_refused(uint64_t now_ns) {
    not_before_ns_ = now_ns + kPauseNs;
    if (credit_ == kReliableWindow) return std::nullopt;
    credit_ = kReliableWindow;
    return static_cast<uint16_t>(credit_);
  }

 private:
  static constexpr uint64_t kLeastTimeNs = 200'000'000;
  static constexpr uint64_t kPauseNs = 10'000'000'000;

  int32_t credit_ = kReliableWindow;
  int32_t accepted_ = kReliableWindow;
  int32_t taken_ = 0;  // since then
  uint64_t since_ns_ = 0;
  uint64_t not_before_ns_ = 0;  // no larger credit before
};

}  // namespace lattice::reliability
