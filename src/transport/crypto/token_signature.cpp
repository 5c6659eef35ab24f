#include "transport/crypto/token_signature.h"

#include <cstring>

namespace lattice::crypto {
namespace {

constexpr std::string_view kConnectDomain = "lattice/v1/connect-token";
constexpr std::string_view kRelayDomain = "lattice/v1/relay-token";
static_assert(kConnectDomain.size() + wire::kMaxTokenBytes <= kMaxSignedBytes);

std::string_view domain_of(wire::TokenKind kind) {
  return kind == wire::TokenKind::kConnect ? kConnectDomain : kRelayDomain;
}

bool user_data_fits_kind(const wire::TokenFields& fields) {
  return fields.kind == wire::TokenKind::kConnect || fields.user_data.size() == kRelayTokenUserBytes;
}

bool verify_kind(std::span<const uint8_t> token, wire::TokenKind kind, const PublicKey& issuer) {
  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) return false;
  if (fields.kind != kind || !user_data_fits_kind(fields)) return false;
  return verify_signature(issuer, domain_of(kind), wire::token_signed_part(token),
                          wire::token_signature(token).first<wire::kTokenSignatureBytes>());
}

}  // namespace

size_t sign_token(wire::TokenFields fields, const SigningKeyPair& issuer, std::span<uint8_t> out) {
  if (!user_data_fits_kind(fields)) return 0;
  fields.issuer_key_id = issuer_key_id(issuer.public_key());
  const size_t signed_bytes = wire::encode_token_fields(fields, out);
  if (signed_bytes == 0) return 0;
  const Signature signature = issuer.sign(domain_of(fields.kind), out.first(signed_bytes));
  std::memcpy(out.data() + signed_bytes, signature.data(), signature.size());
  return signed_bytes + signature.size();
}

bool verify_connect_token(std::span<const uint8_t> token, const PublicKey& issuer) {
  return verify_kind(token, wire::TokenKind::kConnect, issuer);
}

bool verify_relay_token(std::span<const uint8_t> token, const PublicKey& issuer) {
  return verify_kind(token, wire::TokenKind::kRelay, issuer);
}

}  // namespace lattice::crypto
