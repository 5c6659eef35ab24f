// Decides when a sender leaves out a packet number. A dishonest peer may acknowledge packets that it
// never received, to get a higher rate or to pretend that it holds a baseline. It cannot know which numbers
// were left out, so sooner or later it acknowledges one of them. The gaps come from the entropy used for
// keys: a peer could compute the state of a seeded generator from the numbers that arrive.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "transport/crypto/entropy.h"

namespace lattice::reliability {

/// Packets between two numbers left out: 1 to 999, 500 on average.
inline constexpr uint32_t kMeanSkipInterval = 500;

class NumberSkipper {
 public:
  /// To be called once per packet. True: leave a number out before it. Never before the first packet.
  bool skip_before_next(crypto::EntropySource& entropy) {
    const bool skip = packets_left_ == 0 && has_begun_;
    if (packets_left_ == 0) {
      std::array<uint8_t, 2> drawn;
      entropy.fill(drawn);
      packets_left_ = 1 + static_cast<uint32_t>(drawn[0] | drawn[1] << 8) % (2 * kMeanSkipInterval - 1);
      has_begun_ = true;
    }
    --packets_left_;
    return skip;
  }

 private:
  uint32_t packets_left_ = 0;
  bool has_begun_ = false;
};

/// How many numbers up to `highest_received` are missing when `received` packets arrived, less those that a
/// sender leaves out on average and two more: a sender may be ahead of the average.
constexpr uint64_t missing_packets(uint64_t highest_received, uint64_t received) {
  const uint64_t accounted = received + highest_received / kMeanSkipInterval + 2;
  return highest_received > accounted ? highest_received - accounted : 0;
}

/// How much of what a receiver misses in a second is loss. A number left out looks like a lost packet, so
/// gaps are forgiven: two at first, one more for each 400 numbers received, three at once. That is a fifth
/// more than a sender leaves out on average. On a link that loses nothing, less than one second in a hundred
/// then shows a gap; of real loss, a packet in 400 is not shown.
class SkipAllowance {
 public:
  /// Of the `numbers` that a second has brought, `missing` more than before are missing; below 0 when more
  /// packets of earlier seconds arrived late. Returns how many packets were lost, in fractions too.
  double lost_of(uint64_t numbers, int64_t missing) {
    constexpr int64_t kMost = 3 * kNumbersPerGap;
    left_ = std::min(kMost, left_ + static_cast<int64_t>(std::min<uint64_t>(numbers, kMost)));
    // A peer chooses its numbers and may leap far ahead.
    const int64_t gaps = std::clamp(missing, -kMostGaps, kMostGaps);
    left_ = std::min(kMost, left_ - gaps * kNumbersPerGap);
    const int64_t beyond = std::max<int64_t>(0, -left_);
    left_ += beyond;
    return static_cast<double>(beyond) / kNumbersPerGap;
  }

 private:
  static constexpr int64_t kNumbersPerGap = 400;
  static constexpr int64_t kMostGaps = int64_t{1} << 40;
  int64_t left_ = 2 * kNumbersPerGap;
};

}  // namespace lattice::reliability
