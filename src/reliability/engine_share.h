// Keeps snapshots and inputs alive behind reliable traffic: they get a quarter of the bytes while they
// wait. A quarter of each packet, which PacketFiller leaves free, is not enough by itself: a snapshot part is
// as large as a packet and would wait for ever behind a transfer that fills each one.
#pragma once

#include <cstdint>

namespace lattice::reliability {

class EngineShare {
 public:
  /// True when the next packet should begin with the engine's message of `front_bytes`.
  bool first(uint64_t front_bytes) const { return owed_bytes_ >= front_bytes; }

  /// A packet of `packet_bytes` left while engine messages waited, with `engine_bytes` of them in it.
  /// `still_waiting`: the queue is not empty now.
  void on_packet(uint64_t packet_bytes, uint64_t engine_bytes, bool still_waiting) {
    owed_bytes_ += packet_bytes / 4;
    owed_bytes_ = !still_waiting || engine_bytes >= owed_bytes_ ? 0 : owed_bytes_ - engine_bytes;
  }

 private:
  uint64_t owed_bytes_ = 0;
};

}  // namespace lattice::reliability
