// The outer header: clear on the wire, authenticated as AAD (§3.1, P-01…P-06).
//
//   0        4      5                13          14
//   +--------+------+----------------+-----------+---------------------+
//   | proto  | type | connection_id  | key_epoch | packet_seq (varint) |
//   | u32 LE | u8   | u64 LE         | u8        | 1 to 9 bytes, Y-02  |
//   +--------+------+----------------+-----------+---------------------+
//
// Must stay true: each header value has exactly one encoding (the varint is minimal), so the AAD that a
// receiver checks is the only encoding of the header that it parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/wire/constants.h"

namespace lattice::wire {

enum class PacketType : uint8_t {
  kHandshake = 0x00,
  kPayload = 0x01,
  kKeepalive = 0x02,
  kDisconnect = 0x03,
  kChallengeResponse = 0x04,
  kRelayCtrl = 0x05,
};

struct PacketHeader {
  uint32_t protocol_id = kProtocolId;
  PacketType type = PacketType::kHandshake;
  uint64_t connection_id = 0;
  uint8_t key_epoch = 0;
  uint64_t packet_seq = 0;

  friend bool operator==(const PacketHeader&, const PacketHeader&) = default;
};

enum class HeaderStatus : uint8_t {
  kOk,
  kTooShort,      ///< Ends inside the header.
  kBadMagic,      ///< Not Lattice at all.
  kWrongVersion,  ///< Another version of Lattice; `out` is filled, so that the server may deny (P-03).
  kUnknownType,   ///< P-04: dropped.
  kBadPacketSeq,  ///< Truncated or overlong varint.
};

/// Reads the header in front of `datagram`. `out` and `header_bytes` are filled when the result is
/// kOk or kWrongVersion. `protocol_id` is the version of this side.
HeaderStatus parse_packet_header(std::span<const uint8_t> datagram, uint32_t protocol_id, PacketHeader* out,
                                 size_t* header_bytes);

/// Bytes encode_packet_header() writes for this packet number: 15 to 23.
size_t packet_header_bytes(uint64_t packet_seq);

/// Writes the header; returns its size, or 0 when `out` is too short.
size_t encode_packet_header(const PacketHeader& header, std::span<uint8_t> out);

/// True for the three types sealed under the session keys: Payload, Keepalive, Disconnect.
inline bool is_session_packet(PacketType type) {
  return type == PacketType::kPayload || type == PacketType::kKeepalive || type == PacketType::kDisconnect;
}

}  // namespace lattice::wire
