// Whose turn it is to fill a packet, among the channels of one connection that wait: deficit round
// robin, so that each gets bytes of a full link by its weight.
//
//   next() ─▶ a message of that source goes into the packet ─▶ charge()
//
// A turn lasts until its bytes are used up; the last message may exceed them, and its source has less in the
// next turn. A source also ends its turn when it has nothing to send, and what is left of the turn is lost.
//
// Must stay true: no credit is above a turn of its source or below -kTurnBytes, so a source that waits is
// served after at most two turns of each of the others.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"

namespace lattice::reliability {

class ChannelTurns {
 public:
  static constexpr size_t kSourceCount = 16;
  /// Of weight 1. About a datagram: less would gain nothing, because large messages fill a packet each.
  static constexpr int32_t kTurnBytes = 1200;
  static constexpr uint32_t kMaxWeight = 16;

  /// A turn of `source` has so many times the bytes; 1 to kMaxWeight, and 1 at first.
  void set_weight(uint8_t source, uint32_t weight) {
    LATTICE_ASSERT(weight >= 1 && weight <= kMaxWeight);
    more_[source] = static_cast<uint8_t>(weight - 1);
  }

  /// The source that sends next. A bit of `waiting` is a source with something to send, a bit of `fitting`
  /// one whose next message may still fit in this packet. `fitting` is not 0 and part of `waiting`. When the
  /// source of this turn does not fit, another one fills the packet, and the turn goes on in the next.
  uint8_t next(uint32_t waiting, uint32_t fitting) {
    LATTICE_ASSERT(fitting != 0 && (fitting & ~waiting) == 0 && waiting < uint32_t{1} << kSourceCount);
    // Debts are at most one turn, so the loop ends in the third round.
    while ((waiting & bit(turn_)) == 0 || credit_[turn_] <= 0) {
      turn_ = following(waiting, turn_);
      credit_[turn_] = std::min(credit_[turn_], 0) + kTurnBytes * (1 + more_[turn_]);
    }
    return (fitting & bit(turn_)) != 0 ? turn_ : following(fitting, turn_);
  }

  /// `source` put `bytes` into the packet, in its turn or in another's.
  void charge(uint8_t source, size_t bytes) {
    const int64_t left = int64_t{credit_[source]} - static_cast<int64_t>(bytes);
    credit_[source] = static_cast<int32_t>(std::max<int64_t>(left, -kTurnBytes));
  }

 private:
  static constexpr uint32_t bit(uint8_t source) { return uint32_t{1} << source; }
  /// The lowest of `sources` above `source`; after the highest comes the lowest.
  static uint8_t following(uint32_t sources, uint8_t source) {
    const uint32_t above = sources & (~uint32_t{1} << source);
    return static_cast<uint8_t>(std::countr_zero(above != 0 ? above : sources));
  }

  uint8_t turn_ = 0;
  std::array<uint8_t, kSourceCount> more_{};  // the weight less 1
  std::array<int32_t, kSourceCount> credit_{};
};

}  // namespace lattice::reliability
