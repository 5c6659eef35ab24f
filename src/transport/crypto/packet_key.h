// A traffic key made ready for the AEAD its connection agreed on.
//
//   kChaCha20Poly1305   RFC 8439; every peer has it, and every connection that agreed on nothing else
//   kAes256Gcm          NIST SP 800-38D, 96-bit nonce; only where both processors have AES instructions
//
// Same key length, nonce, associated data and 16-byte tag, so nothing but the bytes of a sealed packet
// differs. AES never runs on tables: libsodium has it in hardware or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transport/crypto/aead.h"

namespace lattice::crypto {

enum class Cipher : uint8_t { kChaCha20Poly1305, kAes256Gcm };

/// Whether this processor can do AES-256-GCM. The same answer for the life of the process.
bool has_aes256gcm();

class PacketKey {
 public:
  PacketKey() = default;
  /// `cipher` must be one this processor has.
  PacketKey(Cipher cipher, Key key);
  ~PacketKey() { erase(); }
  PacketKey(PacketKey&& other) noexcept { *this = std::move(other); }
  PacketKey& operator=(PacketKey&& other) noexcept;
  PacketKey(const PacketKey&) = delete;
  PacketKey& operator=(const PacketKey&) = delete;

  /// As seal_in_place() and open_in_place() of aead.h, the nonce ledger included.
  void seal_in_place(const Nonce& nonce, std::span<const uint8_t> aad, std::span<uint8_t> buffer) const;
  bool open_in_place(const Nonce& nonce, std::span<const uint8_t> aad, std::span<uint8_t> sealed) const;

  /// Brings what sealing and opening read towards the processor. A hint.
  void prefetch() const;

  /// Wipes the key; nothing may be sealed or opened afterwards.
  void erase();

 private:
  static constexpr size_t kScheduleBytes = 512;

  Cipher cipher_ = Cipher::kChaCha20Poly1305;
  Key key_;
  /// AES only: round keys and powers of the hash key, which would otherwise be made for every packet.
  alignas(16) std::array<uint8_t, kScheduleBytes> schedule_{};
};

}  // namespace lattice::crypto
