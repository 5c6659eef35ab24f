// Decides which acknowledgement blocks are unambiguous. A block names a packet by 16 bits of its number
// . If a block was delayed while much was sent and little of it arrived, these 16 bits may mean two
// packets.
//
//   packets of the peer    … before …   64 or more   … last …     late     newest
//   their blocks name      ≥ before.acked            ≥ last.acked   x      ≥ largest acked
//
// The number that a peer's blocks name never falls from packet to packet. So the number x, named by a packet
// at most 64 below the newest, is at least before.acked and at most the last number sent. If these two differ
// by less than 2¹⁶, x is unambiguous.
//
// A block beside the echo of a probe names the packet of the probe or a later one: the peer had received it.
// So after 2¹⁶ packets without a readable block the next echo makes the blocks readable again.
#pragma once

#include <cstdint>

#include "reliability/limits.h"

namespace lattice::reliability {

class AckBlockOrder {
 public:
  /// Whether the block of the peer's packet `packet_seq` may be applied. `newest` is the highest number
  /// opened, `largest_acked` the largest number that earlier blocks named, `last_sent` the last number this
  /// side sent, `echoed` the number of its packet whose probe is echoed beside the block, or 0.
  bool is_certain(uint64_t packet_seq, uint64_t newest, uint64_t largest_acked, uint64_t last_sent,
                  uint64_t echoed = 0) const {
    if (echoed != 0 && last_sent - echoed <= UINT16_MAX) return true;
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
