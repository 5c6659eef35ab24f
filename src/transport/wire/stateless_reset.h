// Stateless resets (states.md, "Stateless reset"): a server's answer to a packet of an unknown connection.
//
//   outer header of the answered packet, with type Keepalive · random 11 · reset token 16
//
// Without the token, a reset looks like a bare Keepalive that does not open. The server sent the client the
// token of its connection in a control message:
//
//   14 ResetToken   u8 14 · token 16
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/wire/packet_header.h"

namespace lattice::wire {

inline constexpr size_t kResetTokenBytes = 16;
inline constexpr size_t kResetRandomBytes = 11;
/// The bytes behind the header: the length of a sealed bare Keepalive.
inline constexpr size_t kResetBodyBytes = kResetRandomBytes + kResetTokenBytes;
inline constexpr size_t kMaxResetBytes = kMaxHeaderBytes + kResetBodyBytes;
inline constexpr size_t kResetTokenMessageBytes = 1 + kResetTokenBytes;

using ResetToken = std::array<uint8_t, kResetTokenBytes>;

/// True when a reset would be shorter than this packet of `datagram_bytes`, whose header has `header_bytes`.
/// So a reset is never answered by a reset.
inline bool may_be_answered_by_reset(size_t datagram_bytes, size_t header_bytes) {
  return datagram_bytes > header_bytes + kResetBodyBytes;
}

/// Writes the reset that answers a packet with the header `question`. `out` holds kMaxResetBytes; returns the
/// size.
size_t encode_reset(const PacketHeader& question, std::span<const uint8_t, kResetRandomBytes> random,
                    const ResetToken& token, std::span<uint8_t> out);

/// The bytes at the place of the token if this datagram, with a header of `header_bytes`, were a reset; empty
/// when the datagram does not have the size of a reset.
std::span<const uint8_t> reset_token_in(std::span<const uint8_t> datagram, size_t header_bytes);

/// The control message; any other length is refused. `body` includes the type byte.
bool parse_reset_token(std::span<const uint8_t> body, ResetToken* out);
std::array<uint8_t, kResetTokenMessageBytes> encode_reset_token(const ResetToken& token);

}  // namespace lattice::wire
