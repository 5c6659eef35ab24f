// Stateless resets (states.md, "Stateless reset"): what a server says about a connection it does not know.
//
//   outer header of the question, with type Keepalive · random 11 · reset token 16
//
// To whoever does not have the token it is a bare Keepalive that does not open. The token of a connection
// came to its client in a control message:
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
/// Behind the header: as long as a bare Keepalive, sealed.
inline constexpr size_t kResetBodyBytes = kResetRandomBytes + kResetTokenBytes;
inline constexpr size_t kMaxResetBytes = kMaxHeaderBytes + kResetBodyBytes;
inline constexpr size_t kResetTokenMessageBytes = 1 + kResetTokenBytes;

using ResetToken = std::array<uint8_t, kResetTokenBytes>;

/// True when a reset would be shorter than this packet of `datagram_bytes`, whose header has `header_bytes`.
/// A reset itself is not.
inline bool may_be_answered_by_reset(size_t datagram_bytes, size_t header_bytes) {
  return datagram_bytes > header_bytes + kResetBodyBytes;
}

/// Writes the reset that answers a packet with the header `question`. `out` holds kMaxResetBytes; returns the
/// size.
size_t encode_reset(const PacketHeader& question, std::span<const uint8_t, kResetRandomBytes> random,
                    const ResetToken& token, std::span<uint8_t> out);

/// What would be the token if this datagram, with a header of `header_bytes`, were a reset; empty when no
/// reset has its size.
std::span<const uint8_t> reset_token_in(std::span<const uint8_t> datagram, size_t header_bytes);

/// The control message; any other length is refused. `body` includes the type byte.
bool parse_reset_token(std::span<const uint8_t> body, ResetToken* out);
std::array<uint8_t, kResetTokenMessageBytes> encode_reset_token(const ResetToken& token);

}  // namespace lattice::wire
