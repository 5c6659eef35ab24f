// Ed25519 signatures (RFC 8032) with a domain prefix in front of the message, so that a signature made for
// one kind of document never verifies as another.
#pragma once

#include <span>
#include <string_view>

#include "transport/crypto/entropy.h"
#include "transport/crypto/secret.h"

namespace lattice::crypto {

/// Longest domain + message of either function: more than a token (480 bytes at most) and its prefix.
inline constexpr size_t kMaxSignedBytes = 1024;

/// An issuer's signing pair. Move-only; wipes itself.
class SigningKeyPair {
 public:
  SigningKeyPair() = default;
  static SigningKeyPair generate(EntropySource& entropy);
  /// The pair of a given 32-byte seed (RFC 8032 §5.1.5).
  static SigningKeyPair from_seed(std::span<const uint8_t, 32> seed);

  const PublicKey& public_key() const { return public_; }
  /// Signs domain ‖ message. domain.size() + message.size() ≤ kMaxSignedBytes.
  Signature sign(std::string_view domain, std::span<const uint8_t> message) const;

 private:
  Secret<64> secret_;
  PublicKey public_{};
};

/// True when `signature` is `key`'s over domain ‖ message; false also when that exceeds kMaxSignedBytes.
bool verify_signature(const PublicKey& key, std::string_view domain, std::span<const uint8_t> message,
                      std::span<const uint8_t, 64> signature);

/// First 8 bytes of SHA-256 of an issuer's public key; names the key in a token.
IssuerKeyId issuer_key_id(const PublicKey& issuer);

}  // namespace lattice::crypto
