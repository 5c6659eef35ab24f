#include "transport/crypto/ed25519.h"

#include <sodium.h>

#include <array>
#include <cstring>

#include "base/assert.h"
#include "transport/crypto/hash.h"

namespace lattice::crypto {
namespace {

using SignedBuffer = std::array<uint8_t, kMaxSignedBytes>;

/// Joins domain and message; 0 when they do not fit. libsodium's one-shot Ed25519 needs one string; its
/// multi-part form computes Ed25519ph, which is another algorithm.
size_t join(SignedBuffer& out, std::string_view domain, std::span<const uint8_t> message) {
  if (domain.size() > out.size() || message.size() > out.size() - domain.size()) return 0;
  std::memcpy(out.data(), domain.data(), domain.size());
  if (!message.empty()) std::memcpy(out.data() + domain.size(), message.data(), message.size());
  return domain.size() + message.size();
}

}  // namespace

SigningKeyPair SigningKeyPair::generate(EntropySource& entropy) {
  Secret<32> seed;
  entropy.fill(seed.mutable_bytes());
  return from_seed(seed.bytes());
}

SigningKeyPair SigningKeyPair::from_seed(std::span<const uint8_t, 32> seed) {
  SigningKeyPair pair;
  crypto_sign_seed_keypair(pair.public_.data(), pair.secret_.mutable_bytes().data(), seed.data());
  return pair;
}

Signature SigningKeyPair::sign(std::string_view domain, std::span<const uint8_t> message) const {
  SignedBuffer joined;
  const size_t n = join(joined, domain, message);
  LATTICE_CHECK(n > 0 || (domain.empty() && message.empty()));
  Signature out;
  crypto_sign_detached(out.data(), nullptr, joined.data(), n, secret_.data());
  return out;
}

bool verify_signature(const PublicKey& key, std::string_view domain, std::span<const uint8_t> message,
                      std::span<const uint8_t, 64> signature) {
  SignedBuffer joined;
  const size_t n = join(joined, domain, message);
  if (n == 0 && !(domain.empty() && message.empty())) return false;
  return crypto_sign_verify_detached(signature.data(), joined.data(), n, key.data()) == 0;
}

IssuerKeyId issuer_key_id(const PublicKey& issuer) {
  const Digest digest = sha256({issuer});
  IssuerKeyId id;
  std::memcpy(id.data(), digest.data(), id.size());
  return id;
}

}  // namespace lattice::crypto
