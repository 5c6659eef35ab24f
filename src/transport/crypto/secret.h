// Fixed-size byte types of the crypto layer. Public values are plain arrays. Secrets are move-only and wipe
// themselves on destruction, move and reassignment, so that a key has one owner and no copy outlives it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lattice::crypto {

using PublicKey = std::array<uint8_t, 32>;   ///< X25519 or Ed25519.
using Digest = std::array<uint8_t, 32>;      ///< SHA-256 output.
using Signature = std::array<uint8_t, 64>;   ///< Ed25519.
using IssuerKeyId = std::array<uint8_t, 8>;  ///< First 8 bytes of SHA-256 of an issuer's public key.

/// Overwrites `n` bytes in a way the compiler may not drop.
void wipe(void* bytes, size_t n);

/// True when the two spans have equal content. Time depends on the lengths only; lengths are public.
bool equal_constant_time(std::span<const uint8_t> a, std::span<const uint8_t> b);

/// `N` secret bytes with one owner.
template <size_t N>
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::span<const uint8_t, N> bytes) { std::memcpy(bytes_.data(), bytes.data(), N); }
  ~Secret() { wipe(bytes_.data(), N); }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { wipe(other.bytes_.data(), N); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      bytes_ = other.bytes_;
      wipe(other.bytes_.data(), N);
    }
    return *this;
  }

  /// An explicit copy with its own owner.
  Secret clone() const { return Secret(std::span<const uint8_t, N>(bytes_)); }
  void erase() { wipe(bytes_.data(), N); }
  std::span<const uint8_t, N> bytes() const { return bytes_; }
  std::span<uint8_t, N> mutable_bytes() { return bytes_; }
  const uint8_t* data() const { return bytes_.data(); }

 private:
  std::array<uint8_t, N> bytes_{};
};

using Key = Secret<32>;

}  // namespace lattice::crypto
