// Keeps snapshots and inputs alive behind reliable traffic: they get a quarter of the bytes while they
// wait. A quarter of each packet, which PacketFiller leaves free, is not enough by itself: a snapshot part is
// as large as a packet and would wait for ever behind a transfer that fills each one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reliability/congestion_config.h"

namespace lattice::reliability {

class EngineShare {
 public:
  /// True when the next packet should begin with the engine's message of `front_bytes`.
  bool first(uint64_t front_bytes) const { return owed_bytes_ >= front_bytes; }

  /// A packet of `packet_bytes` left while engine messages waited, with `engine_bytes` of them in it. What
  /// they are owed beyond that is kept for the next to wait, up to one datagram.
  void on_packet(uint64_t packet_bytes, uint64_t engine_bytes) {
    owed_bytes_ += packet_bytes / 4;
    owed_bytes_ = std::min(owed_bytes_ - std::min(owed_bytes_, engine_bytes), kDatagramBytes);
  }

 private:
  uint64_t owed_bytes_ = 0;
};

}  // namespace lattice::reliability
