// Issues connect tokens, for a director or for a server's embedded development issuer.
#include <algorithm>
#include <cstring>

#include "abi/call.h"
#include "abi/key_check.h"
#include "abi/struct_size.h"
#include "abi/token.h"
#include "lattice/lattice.h"
#include "platform/clock.h"
#include "platform/entropy.h"
#include "transport/connection/server_identity.h"
#include "transport/crypto/ed25519.h"
#include "transport/crypto/token_signature.h"
#include "transport/wire/token.h"

namespace {

using lattice::abi::Call;
using lattice::abi::fail;
using lattice::connection::ServerIdentity;
using lattice::crypto::SigningKeyPair;

constexpr uint32_t kMaxLifetimeSeconds = 3600;  // handshake.md: lifetime of at most one hour
static_assert(LATTICE_SERVER_IDENTITY_BYTES == lattice::connection::kServerIdentityBytes);
static_assert(LATTICE_TOKEN_MAX_BYTES == lattice::wire::kMaxTokenBytes);
static_assert(LATTICE_TOKEN_USER_DATA_MAX_BYTES == lattice::wire::kMaxTokenUserBytes);

SigningKeyPair issuer_of(const uint8_t* seed) {
  return SigningKeyPair::from_seed(std::span<const uint8_t, 32>(seed, 32));
}

lattice_result zero_seed(const char* function) {
  return fail(LATTICE_ERROR_INVALID_ARGUMENT,
              "%s: the issuer's seed is all zero, which everybody knows. Make one with "
              "lattice_issuer_generate().",
              function);
}

lattice::wire::TokenFields fields_of(const lattice_token_request& request) {
  lattice::wire::TokenFields fields;
  lattice::platform::fill_entropy(fields.token_id.data(), fields.token_id.size());
  fields.schema_id = request.schema_id;
  fields.issued_s = request.issued_unix_s != 0 ? request.issued_unix_s : lattice::platform::unix_seconds();
  fields.expires_s = fields.issued_s + request.lifetime_s;
  std::memcpy(fields.aud.data(), request.server_public_key, fields.aud.size());
  std::memcpy(fields.cnf.data(), request.client_public_key, fields.cnf.size());
  std::memcpy(fields.player.data(), request.player, fields.player.size());
  std::memcpy(fields.session.data(), request.session, fields.session.size());
  fields.user_data = {request.user_data, request.user_data_bytes};
  return fields;
}

}  // namespace

lattice_result lattice::abi::check_token_request(const lattice_token_request& request) {
  if (request.lifetime_s < 1 || request.lifetime_s > kMaxLifetimeSeconds) {
    return fail(LATTICE_ERROR_CONFIG, "lattice_token_request.lifetime_s is %u. Give 1..%u seconds.",
                request.lifetime_s, kMaxLifetimeSeconds);
  }
  if (request.user_data == nullptr && request.user_data_bytes != 0) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_token_request.user_data is NULL and user_data_bytes is %u. Give the data, or 0 bytes.",
        request.user_data_bytes);
  }
  if (request.user_data_bytes > LATTICE_TOKEN_USER_DATA_MAX_BYTES) {
    return fail(LATTICE_ERROR_CONFIG, "lattice_token_request.user_data_bytes is %u. Give at most %u bytes.",
                request.user_data_bytes, LATTICE_TOKEN_USER_DATA_MAX_BYTES);
  }
  return LATTICE_OK;
}

lattice_result lattice::abi::issue_token(const uint8_t* issuer_seed, const lattice_token_request& request,
                                         std::span<uint8_t> out, size_t* out_bytes) {
  const std::span<uint8_t> room = out.first(std::min<size_t>(out.size(), LATTICE_TOKEN_MAX_BYTES));
  const size_t bytes = crypto::sign_token(fields_of(request), issuer_of(issuer_seed), room);
  if (bytes == 0) {
    return fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "A token takes up to %u bytes; the buffer has %zu.",
                LATTICE_TOKEN_MAX_BYTES, out.size());
  }
  *out_bytes = bytes;
  return LATTICE_OK;
}

extern "C" {

lattice_result lattice_issuer_generate(uint8_t seed[LATTICE_KEY_BYTES],
                                       uint8_t public_key[LATTICE_KEY_BYTES]) {
  const Call call;
  if (seed == nullptr || public_key == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_issuer_generate needs two buffers of 32 bytes.");
  }
  lattice::platform::fill_entropy(seed, LATTICE_KEY_BYTES);
  std::memcpy(public_key, issuer_of(seed).public_key().data(), LATTICE_KEY_BYTES);
  return LATTICE_OK;
}

lattice_result lattice_issuer_public_key(const uint8_t seed[LATTICE_KEY_BYTES],
                                         uint8_t public_key[LATTICE_KEY_BYTES]) {
  const Call call;
  if (seed == nullptr || public_key == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "An issuer key needs a seed and an output of 32 bytes each.");
  }
  if (lattice::abi::is_all_zero(seed)) return zero_seed("lattice_issuer_public_key");
  std::memcpy(public_key, issuer_of(seed).public_key().data(), LATTICE_KEY_BYTES);
  return LATTICE_OK;
}

lattice_result lattice_server_identity_generate(uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES]) {
  const Call call;
  if (identity == nullptr)
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_server_identity_generate needs 64 bytes to write to.");
  lattice::platform::fill_entropy(identity, LATTICE_SERVER_IDENTITY_BYTES);
  return LATTICE_OK;
}

lattice_result lattice_server_identity_public_key(const uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES],
                                                  uint8_t public_key[LATTICE_KEY_BYTES]) {
  const Call call;
  if (identity == nullptr || public_key == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_server_identity_public_key needs 64 bytes to read and 32 to write to.");
  }
  if (lattice::abi::has_zero_half(identity)) {
    return fail(
        LATTICE_ERROR_INVALID_ARGUMENT,
        "lattice_server_identity_public_key: the identity holds a key of zeros, which everybody knows. "
        "Make one with lattice_server_identity_generate().");
  }
  const auto server = ServerIdentity::from_bytes(
      std::span<const uint8_t, LATTICE_SERVER_IDENTITY_BYTES>(identity, LATTICE_SERVER_IDENTITY_BYTES));
  std::memcpy(public_key, server.key.public_key().data(), LATTICE_KEY_BYTES);
  return LATTICE_OK;
}

lattice_result lattice_token_request_init_sized(lattice_token_request* request, uint32_t struct_size) {
  const Call call;
  lattice_token_request value{};
  value.lifetime_s = 300;
  return lattice::abi::write_defaults(value, request, struct_size);
}

lattice_result lattice_token_issue(const uint8_t issuer_seed[LATTICE_KEY_BYTES],
                                   const lattice_token_request* request, uint8_t* out, size_t capacity,
                                   size_t* out_bytes) {
  const Call call;
  lattice_token_request value;
  lattice_token_request_init(&value);
  if (issuer_seed == nullptr || out == nullptr || out_bytes == nullptr) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "lattice_token_issue needs an issuer seed, a buffer, and a place for the length.");
  }
  if (const lattice_result bad = lattice::abi::read_struct(request, &value, "lattice_token_request"))
    return bad;
  if (const lattice_result bad = lattice::abi::check_token_request(value)) return bad;
  if (lattice::abi::is_all_zero(value.server_public_key)) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_token_request.server_public_key is all zero. Fill it in from "
                "lattice_world_public_key() of the server.");
  }
  if (lattice::abi::is_all_zero(value.client_public_key)) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_token_request.client_public_key is all zero. Fill it in from "
                "lattice_world_new_client_key() of the client.");
  }
  if (lattice::abi::is_all_zero(issuer_seed)) return zero_seed("lattice_token_issue");
  return lattice::abi::issue_token(issuer_seed, value, {out, capacity}, out_bytes);
}

}  // extern "C"
