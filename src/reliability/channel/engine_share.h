// Keeps snapshots and inputs moving behind reliable traffic: they get a quarter of the bytes while
// they wait. OutgoingChannels leaves a quarter of each packet free, but this is not enough: a snapshot part
// can be as large as a packet, and it would wait for ever behind reliable messages that fill every packet.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reliability/congestion/congestion_config.h"

namespace lattice::reliability {

class EngineShare {
 public:
  /// True when the next packet should begin with the engine's message of `front_bytes`.
  bool first(uint64_t front_bytes) const { return owed_bytes_ >= front_bytes; }

  /// A packet of `packet_bytes` left while engine messages waited; `engine_bytes` of it were engine messages.
  /// The rest of their quarter is kept for the next engine messages that wait, up to one datagram.
  void on_packet(uint64_t packet_bytes, uint64_t engine_bytes) {
    owed_bytes_ += packet_bytes / 4;
    owed_bytes_ = std::min(owed_bytes_ - std::min(owed_bytes_, engine_bytes), kDatagramBytes);
  }

 private:
  uint64_t owed_bytes_ = 0;
};

}  // namespace lattice::reliability
