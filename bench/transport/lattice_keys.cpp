#include "transport/lattice_keys.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include "platform/clock.h"
#include "transport/crypto/entropy.h"
#include "transport/crypto/token_signature.h"
#include "transport/wire/token.h"

namespace bench {
namespace {

using namespace lattice;

constexpr uint64_t kTokenLifetimeS = 1800;
constexpr uint8_t kServerSecretFill = 0x22;

std::array<uint8_t, 32> fixed_secret(uint8_t fill) {
  std::array<uint8_t, 32> secret;
  secret.fill(fill);
  return secret;
}

}  // namespace

crypto::SigningKeyPair token_issuer() {
  return crypto::SigningKeyPair::from_seed(fixed_secret(0x11));
}

crypto::KeyPair server_identity() {
  return crypto::KeyPair::from_secret(fixed_secret(kServerSecretFill));
}

std::array<uint8_t, 64> server_identity_bytes() {
  std::array<uint8_t, 64> bytes;
  bytes.fill(kServerSecretFill);
  return bytes;
}

std::vector<uint8_t> make_token(const crypto::PublicKey& bearer, uint32_t index) {
  static const crypto::SigningKeyPair issuer = token_issuer();
  static const crypto::KeyPair server = server_identity();
  wire::TokenFields fields;
  std::memcpy(fields.token_id.data(), &index, sizeof index);
  std::memcpy(fields.token_id.data() + sizeof index, bearer.data(), sizeof(uint64_t));
  fields.issued_s = platform::unix_seconds();
  fields.expires_s = fields.issued_s + kTokenLifetimeS;
  fields.aud = server.public_key();
  fields.cnf = bearer;
  fields.player = fields.token_id;
  std::vector<uint8_t> token(wire::kMaxTokenBytes);
  token.resize(crypto::sign_token(fields, issuer, token));
  return token;
}

double curve_operations_us(uint32_t rounds) {
  crypto::SystemEntropy entropy;
  const crypto::KeyPair server = server_identity(), ephemeral = crypto::KeyPair::generate(entropy);
  const crypto::PublicKey issuer = token_issuer().public_key();
  const crypto::PublicKey client = crypto::KeyPair::generate(entropy).public_key();
  const std::vector<uint8_t> token = make_token(client, 0);
  crypto::Key shared;
  bool good = true;
  const uint64_t began_ns = platform::process_cpu_ns();
  for (uint32_t i = 0; i < rounds; ++i) {
    good = crypto::x25519(server.secret(), client, &shared) && good;
    good = crypto::x25519(ephemeral.secret(), client, &shared) && good;
    good = crypto::verify_connect_token(token, issuer) && good;
  }
  if (!good) std::abort();  // Its own token.
  return static_cast<double>(platform::process_cpu_ns() - began_ns) / 1e3 / rounds;
}

}  // namespace bench
