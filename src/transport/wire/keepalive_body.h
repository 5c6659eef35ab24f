// Plaintext of a Keepalive (L-02).
//
//   flags u8 · ack_seq u16 · ack_bitfield u32 · tick u32
//   · [probe_us u64]                      flag 1
//   · [echo_us u64 · echo_delay_us u32]   flag 2
//   · [challenge 8]                       flag 4
//   · [response 8]                        flag 8
//   · zero padding to the end             (an MTU probe is padded, flag 16)
//
// Timestamps are monotonic microseconds of the sender. The peer echoes them and does not interpret them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/wire/ack_block.h"

namespace lattice::wire {

enum KeepaliveFlag : uint8_t {
  kKeepaliveProbe = 1,
  kKeepaliveEcho = 2,
  kKeepalivePathChallenge = 4,
  kKeepalivePathResponse = 8,
  kKeepaliveMtuProbe = 16,
  kKeepaliveAckRequested = 32,
};
inline constexpr uint8_t kKeepaliveKnownFlags = 63;

struct KeepaliveBody {
  uint8_t flags = 0;
  AckBlock ack;
  uint32_t tick = 0;
  uint64_t probe_us = 0;
  uint64_t echo_us = 0;
  uint32_t echo_delay_us = 0;  ///< Time between receiving the probe and sending this echo.
  std::array<uint8_t, 8> challenge{};
  std::array<uint8_t, 8> response{};

  friend bool operator==(const KeepaliveBody&, const KeepaliveBody&) = default;
};

/// Everything a Keepalive can hold, without padding.
inline constexpr size_t kMaxKeepaliveBodyBytes = 1 + kAckBlockBytes + 4 + 8 + 12 + 8 + 8;

/// Refuses truncation, unknown flags and padding that is not zero.
bool parse_keepalive(std::span<const uint8_t> plaintext, KeepaliveBody* out);
/// Writes the fields the flags name; returns their size, or 0 when `out` is too short.
size_t encode_keepalive(const KeepaliveBody& body, std::span<uint8_t> out);

}  // namespace lattice::wire
