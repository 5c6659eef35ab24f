// A traffic key, prepared for the AEAD of its connection.
//
//   kChaCha20Poly1305   RFC 8439; every peer supports it, and it is the default of every connection
//   kAes256Gcm          NIST SP 800-38D, 96-bit nonce; only if both processors have AES instructions
//
// Key length, nonce, associated data and the 16-byte tag are the same, so only the bytes of a sealed packet
// differ. AES never runs on tables: libsodium supports it only in hardware.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transport/crypto/aead.h"

namespace lattice::crypto {

enum class Cipher : uint8_t { kChaCha20Poly1305, kAes256Gcm };

/// Whether this processor supports AES-256-GCM. The answer never changes within a process.
bool has_aes256gcm();

class PacketKey {
 public:
  PacketKey() = default;
  /// This processor must support `cipher`.
  PacketKey(Cipher cipher, Key key);
  ~PacketKey() { erase(); }
  PacketKey(PacketKey&& other) noexcept { *this = std::move(other); }
  PacketKey& operator=(PacketKey&& other) noexcept;
  PacketKey(const PacketKey&) = delete;
  PacketKey& operator=(const PacketKey&) = delete;

  /// The same as seal_in_place() and open_in_place() of aead.h, the nonce ledger included.
  void seal_in_place(const Nonce& nonce, std::span<const uint8_t> aad, std::span<uint8_t> buffer) const;
  bool open_in_place(const Nonce& nonce, std::span<const uint8_t> aad, std::span<uint8_t> sealed) const;

  /// Prefetches the memory that sealing and opening read. A hint.
  void prefetch() const;

  /// Wipes the key; nothing may be sealed or opened afterwards.
  void erase();

 private:
  static constexpr size_t kScheduleBytes = 512;

  Cipher cipher_ = Cipher::kChaCha20Poly1305;
  Key key_;
  /// AES only: round keys and powers of the hash key, which would otherwise be computed for every packet.
  alignas(16) std::array<uint8_t, kScheduleBytes> schedule_{};
};

}  // namespace lattice::crypto
