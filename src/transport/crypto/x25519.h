// X25519 key pairs and key agreement (RFC 7748). A result of zero (low-order peer key) is refused: it would
// let the peer choose the shared secret.
#pragma once

#include <span>

#include "transport/crypto/entropy.h"
#include "transport/crypto/secret.h"

namespace lattice::crypto {

/// An X25519 pair. Move-only; the secret half wipes itself.
class KeyPair {
 public:
  KeyPair() = default;
  static KeyPair generate(EntropySource& entropy);
  /// The pair of a given secret (any 32 bytes; clamped on use).
  static KeyPair from_secret(std::span<const uint8_t, 32> secret);

  const PublicKey& public_key() const { return public_; }
  const Key& secret() const { return secret_; }
  KeyPair clone() const;
  void erase();

 private:
  Key secret_;
  PublicKey public_{};
};

/// Writes X25519(secret, peer) to `out`. False, and `out` wiped, when the result is zero.
bool x25519(const Key& secret, const PublicKey& peer, Key* out);

}  // namespace lattice::crypto
