// Sizes and numbers common to all packets (P-01, P-02, P-08, P-09).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::wire {

/// Bytes 'L' 'T' minor major, as a little-endian u32: release 1.0 is 4C 54 00 01 (P-02).
inline constexpr uint32_t kProtocolId = 0x0100544Cu;

struct ProtocolVersion {
  uint32_t major, minor;
};
constexpr ProtocolVersion version_of(uint32_t protocol_id) {
  return {protocol_id >> 24, (protocol_id >> 16) & 0xFF};
}
inline constexpr uint32_t kProtocolMagicMask = 0x0000FFFFu;
inline constexpr uint32_t kProtocolMagic = 0x0000544Cu;

/// Bits of `features` in messages 3 and 4. The connection uses the features that both sides have.
inline constexpr uint32_t kFeatureAes256Gcm = 1u << 0;  ///< Session packets are sealed with AES-256-GCM.

inline constexpr size_t kTagBytes = 16;                ///< Poly1305 tag behind every sealed part (K-02).
inline constexpr size_t kFixedHeaderBytes = 14;        ///< Header without packet_seq (P-08).
inline constexpr size_t kMinHeaderBytes = 15;          ///< packet_seq below 128.
inline constexpr size_t kMaxHeaderBytes = 23;          ///< packet_seq of nine bytes.
inline constexpr size_t kMinSealedDatagramBytes = 31;  ///< Smallest valid encrypted datagram (P-01).
/// UDP payload that every path must carry, header and tag included (P-09, L-06).
inline constexpr size_t kFloorDatagramBytes = 1200;
/// Plaintext that fits the floor whatever the packet number is (P-08).
inline constexpr size_t kFloorPlaintextBytes = kFloorDatagramBytes - kMaxHeaderBytes - kTagBytes;
static_assert(kFloorPlaintextBytes == 1161);

inline constexpr size_t kPublicKeyBytes = 32;
inline constexpr size_t kNonce16Bytes = 16;
/// Longest reason text in ConnectionRefused and Disconnect, UTF-8 (L-05).
inline constexpr size_t kMaxReasonTextBytes = 64;

using PublicKey = std::array<uint8_t, kPublicKeyBytes>;
using Nonce16 = std::array<uint8_t, kNonce16Bytes>;
using Id16 = std::array<uint8_t, 16>;

}  // namespace lattice::wire
