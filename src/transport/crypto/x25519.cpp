#include "transport/crypto/x25519.h"

#include <sodium.h>

namespace lattice::crypto {

KeyPair KeyPair::generate(EntropySource& entropy) {
  Key secret;
  entropy.fill(secret.mutable_bytes());
  return from_secret(secret.bytes());
}

KeyPair KeyPair::from_secret(std::span<const uint8_t, 32> secret) {
  KeyPair pair;
  pair.secret_ = Key(secret);
  crypto_scalarmult_base(pair.public_.data(), pair.secret_.data());
  return pair;
}

KeyPair KeyPair::clone() const {
  KeyPair pair;
  pair.secret_ = secret_.clone();
  pair.public_ = public_;
  return pair;
}

void KeyPair::erase() {
  secret_.erase();
  public_ = {};
}

bool x25519(const Key& secret, const PublicKey& peer, Key* out) {
  if (crypto_scalarmult(out->mutable_bytes().data(), secret.data(), peer.data()) == 0) return true;
  out->erase();
  return false;
}

}  // namespace lattice::crypto
