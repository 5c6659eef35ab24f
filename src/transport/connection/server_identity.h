// The identity of a server (handshake.md, "Keys"): the static key that tokens name, and the key of its
// stateless resets. A server makes both at its start, or the operator stores them, so that a restarted server
// is the same server to its clients.
//
// Must stay true: the two keys are independent, so that neither reveals anything about the other; two servers
// that run at the same time never share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/crypto/entropy.h"
#include "transport/crypto/secret.h"
#include "transport/crypto/x25519.h"

namespace lattice::connection {

/// What an operator keeps: X25519 secret 32 ‖ reset key 32.
inline constexpr size_t kServerIdentityBytes = 64;

struct ServerIdentity {
  crypto::KeyPair key;
  crypto::Key reset_key;

  static ServerIdentity generate(crypto::EntropySource& entropy);
  /// Any 64 bytes make an identity; random ones a secret one.
  static ServerIdentity from_bytes(std::span<const uint8_t, kServerIdentityBytes> bytes);
};

}  // namespace lattice::connection
