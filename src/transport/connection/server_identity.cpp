#include "transport/connection/server_identity.h"

namespace lattice::connection {

ServerIdentity ServerIdentity::generate(crypto::EntropySource& entropy) {
  ServerIdentity identity;
  identity.key = crypto::KeyPair::generate(entropy);
  entropy.fill(identity.reset_key.mutable_bytes());
  return identity;
}

ServerIdentity ServerIdentity::from_bytes(std::span<const uint8_t, kServerIdentityBytes> bytes) {
  ServerIdentity identity;
  identity.key = crypto::KeyPair::from_secret(bytes.first<32>());
  identity.reset_key = crypto::Key(bytes.last<32>());
  return identity;
}

}  // namespace lattice::connection
