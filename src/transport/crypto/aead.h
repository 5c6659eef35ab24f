// ChaCha20-Poly1305 IETF (RFC 8439): 32-byte key, 96-bit nonce, 16-byte tag behind the ciphertext.
//
// Nonce (K-01):  byte  0 … 7   packet_seq, little-endian
//                byte  8 … 10  zero
//                byte  11      key_epoch, the low byte of the 32-bit epoch
//
// Must stay true (I3): one (key, nonce) seals at most one plaintext. Numbers never repeat because packet_seq
// never resets, and the handshake keys, which seal under nonce 0, are each used for one message.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "platform/byte_order.h"
#include "transport/crypto/secret.h"

namespace lattice::crypto {

inline constexpr size_t kTagBytes = 16;
using Nonce = std::array<uint8_t, 12>;

/// The nonce of a packet. packet_seq 0 and epoch 0 give the all-zero nonce of the handshake keys.
/// In whole words: what is written byte by byte can only be read as words once all writes before it are done.
inline Nonce make_nonce(uint64_t packet_seq, uint8_t key_epoch) {
  Nonce nonce;
  platform::store_u64_le(nonce.data(), packet_seq);
  platform::store_u32_le(nonce.data() + 8, uint32_t{key_epoch} << 24);  // the last byte
  return nonce;
}

/// Seals buffer[0, buffer.size() − 16) in place and writes the tag into the last 16 bytes.
/// buffer.size() ≥ 16. Validation builds abort when (key, nonce) was used to seal before (nonce_ledger.h).
void seal_in_place(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad,
                   std::span<uint8_t> buffer);

/// Opens `sealed` (ciphertext and tag) in place; the plaintext is its first size − 16 bytes. False when it is
/// shorter than a tag or does not authenticate: then the ciphertext bytes are zero or unchanged.
bool open_in_place(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad,
                   std::span<uint8_t> sealed);

/// Like open_in_place, but leaves `sealed` alone. out.size() ≥ sealed.size() − 16; not overlapping.
bool open(const Key& key, const Nonce& nonce, std::span<const uint8_t> aad, std::span<const uint8_t> sealed,
          std::span<uint8_t> out);

/// AES-256-GCM under an expanded key, with the same shapes. Callers use packet_key.h instead. `schedule` was
/// made from `key`, which the nonce ledger needs.
void aes256gcm_seal_in_place(const Key& key, std::span<const uint8_t> schedule, const Nonce& nonce,
                             std::span<const uint8_t> aad, std::span<uint8_t> buffer);
bool aes256gcm_open_in_place(std::span<const uint8_t> schedule, const Nonce& nonce,
                             std::span<const uint8_t> aad, std::span<uint8_t> sealed);

}  // namespace lattice::crypto
