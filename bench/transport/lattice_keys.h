// Keys that every process of a bench knows, so that a load can make tokens for any server. They
// protect nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transport/crypto/ed25519.h"
#include "transport/crypto/x25519.h"

namespace bench {

lattice::crypto::SigningKeyPair token_issuer();
lattice::crypto::KeyPair server_identity();
/// The same as lattice_world_config.server_identity: the secret key, then a key for resets.
std::array<uint8_t, 64> server_identity_bytes();

/// A connect token for that server, valid half an hour from now, for the bearer of `bearer`. `index` makes
/// its token id different from the others'.
std::vector<uint8_t> make_token(const lattice::crypto::PublicKey& bearer, uint32_t index);

/// Processor time, in microseconds, of the curve operations a server does for one connection: two X25519 and
/// the verification of a token. The mean of `rounds`.
double curve_operations_us(uint32_t rounds);

}  // namespace bench
