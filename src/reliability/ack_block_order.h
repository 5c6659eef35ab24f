// Which acknowledgement blocks can only mean one thing. A block names a packet by 16 bits of its number
// one that was held back, while much was sent and little of it arrived, may name two.
//
//   packets of the peer    … before …   64 or more   … last …     late     newest
//   their blocks name      ≥ before.acked            ≥ last.acked   x      ≥ largest acked
//
// What a peer's blocks name never falls from packet to packet. So x of a packet at most 64 below the newest
// is at least before.acked, and at most the last number sent: with less than 2¹⁶ between them it is one
// number.
#pragma once

#include <cstdint>

#include "reliability/limits.h"

namespace lattice::reliability {

class AckBlockOrder {
 public:
  /// Whether the block of the peer's packet `packet_seq` may be read. `newest` is the highest one opened,
  /// `largest_acked` what earlier blocks named, `last_sent` the last number of ours.
  bool is_certain(uint64_t packet_seq, uint64_t newest, uint64_t largest_acked, uint64_t last_sent) const {
    const uint64_t least = packet_seq == newest ? largest_acked : before_.acked;
    return newest - packet_seq <= kMaxNumberedPackets && last_sent - least <= UINT16_MAX;
  }
  /// The block of the newest packet was applied.
  void on_newest(uint64_t packet_seq, uint64_t largest_acked) {
    if (packet_seq - last_.packet_seq < kMaxNumberedPackets) return;
    before_ = last_;
    last_ = {packet_seq, largest_acked};
  }

 private:
  struct Mark {
    uint64_t packet_seq = 0;
    uint64_t acked = 0;
  };
  Mark before_, last_;
};

}  // namespace lattice::reliability
