// Token bytes through parsing and both verification functions; then the parsed fields, signed by a known
// issuer, which must verify as their own kind and as no other.
#include <array>
#include <cstdlib>

#include "transport/crypto/token_signature.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lattice;
  static const crypto::SigningKeyPair issuer = [] {
    std::array<uint8_t, 32> seed;
    seed.fill('D');
    return crypto::SigningKeyPair::from_seed(seed);
  }();
  const std::span<const uint8_t> token(data, size);
  const bool is_connect = crypto::verify_connect_token(token, issuer.public_key());
  const bool is_relay = crypto::verify_relay_token(token, issuer.public_key());
  require(!(is_connect && is_relay));

  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) {
    require(!is_connect && !is_relay);
    return 0;
  }
  std::array<uint8_t, wire::kMaxTokenBytes> out;
  const size_t n = crypto::sign_token(fields, issuer, out);
  const bool relay = fields.kind == wire::TokenKind::kRelay;
  if (relay && fields.user_data.size() != crypto::kRelayTokenUserBytes) {
    require(n == 0 && !is_relay);
    return 0;
  }
  require(n == size);
  const std::span<const uint8_t> made = std::span(out).first(n);
  require(crypto::verify_connect_token(made, issuer.public_key()) == !relay);
  require(crypto::verify_relay_token(made, issuer.public_key()) == relay);
  // Another byte anywhere breaks it.
  out[size / 2] ^= 1;
  require(!crypto::verify_connect_token(made, issuer.public_key()));
  return 0;
}
