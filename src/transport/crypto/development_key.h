// The development key, with which a client signs connect tokens for itself: the public key of a server and
// the seed of that server's development issuer. Its form is a text of a fixed length, which a server writes
// to a private file and a client reads:
//
//   lattice development key 1\n
//   server_public_key <64 hexadecimal digits>\n
//   issuer_seed <64 hexadecimal digits>\n
//
// The seed is a secret: any reader of the text can admit players. Source:
// docs/decisions/0016-development-tokens.md.
#pragma once

#include <cstdint>
#include <span>

#include "transport/crypto/secret.h"

namespace lattice::crypto {

struct DevelopmentKey {
  PublicKey server_public_key{};
  Key issuer_seed;
};

inline constexpr size_t kDevelopmentKeyTextBytes = 26 + (18 + 64 + 1) + (12 + 64 + 1);

void write_development_key(const DevelopmentKey& key, std::span<uint8_t, kDevelopmentKeyTextBytes> out);

/// Reads exactly the text that write_development_key() writes, with hexadecimal digits of either case. False
/// for any other text; `out` is then unchanged.
bool read_development_key(std::span<const uint8_t> text, DevelopmentKey* out);

}  // namespace lattice::crypto
