// The acknowledgement block (§3.3, §3.4, R-01): the same six bytes in a reliable message's header, in
// the ack message of channel 14 and in a Keepalive.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lattice::wire {

inline constexpr size_t kAckBlockBytes = 6;
/// Unit of the optional ack_delay field of the ack message.
inline constexpr uint64_t kAckDelayUnitNs = 32'000;

struct AckBlock {
  uint16_t ack_seq = 0;       ///< Low 16 bits of the highest packet_seq received.
  uint32_t ack_bitfield = 0;  ///< Bit n: packet ack_seq - (n + 1) was received.

  friend bool operator==(const AckBlock&, const AckBlock&) = default;
};

}  // namespace lattice::wire
