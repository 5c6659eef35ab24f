// Decides when a sender leaves out a packet number. A dishonest peer may acknowledge packets that it
// never received, to get a higher rate or to pretend that it holds a baseline. It cannot know which numbers
// were left out, so sooner or later it acknowledges one of them. The gaps come from the entropy used for
// keys: a peer could compute the state of a seeded generator from the numbers that arrive.
#pragma once

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

/// How many numbers up to `highest_received` are missing when `received` packets arrived, less the numbers
/// that a sender leaves out on average.
constexpr uint64_t missing_packets(uint64_t highest_received, uint64_t received) {
  const uint64_t accounted = received + highest_received / kMeanSkipInterval;
  return highest_received > accounted ? highest_received - accounted : 0;
}

}  // namespace lattice::reliability
