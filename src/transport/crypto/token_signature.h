// Signs and verifies tokens: Ed25519 over a domain prefix and every byte in front of the signature. The two
// kinds have different prefixes and different functions here, so neither can replace the other. The caller
// judges the fields (audience, issuer, expiry).
//
//   connect  "lattice/v1/connect-token" ‖ bytes 0 … 160+n−1
//   relay    "lattice/v1/relay-token"   ‖ bytes 0 … 160+n−1, n = 24
#pragma once

#include <cstdint>
#include <span>

#include "transport/crypto/ed25519.h"
#include "transport/wire/token.h"

namespace lattice::crypto {

/// User data bytes of every relay token.
inline constexpr size_t kRelayTokenUserBytes = 24;

/// Writes a signed token with `fields` to `out`; returns its size. Takes the issuer key id from `issuer`. 0
/// when `out` is too short, the user data is too long, or the user data of a relay token is not 24 bytes.
size_t sign_token(wire::TokenFields fields, const SigningKeyPair& issuer, std::span<uint8_t> out);

/// True when `token` is a well-formed connect token that `issuer` signed.
bool verify_connect_token(std::span<const uint8_t> token, const PublicKey& issuer);

/// True when `token` is a well-formed relay token that `issuer` signed.
bool verify_relay_token(std::span<const uint8_t> token, const PublicKey& issuer);

}  // namespace lattice::crypto
