// The layout of connect and relay tokens (handshake.md, "Token"): the fields and the place of the signature.
// No cryptography: the layers above verify the signature and judge the fields.
//
//   off  size            off  size
//     0     4  "LTK1"     40    8  schema_id        128   16  player
//     4     1  kind       48    8  issued           144   16  session
//     5     1  role       56    8  expires          160    n  user data
//     6     2  n          64   32  aud            160+n   64  Ed25519 signature of 0 … 160+n-1
//     8     8  key id     96   32  cnf
//    16    16  token_id
//    32     4  protocol_id
//    36     4  zero
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/wire/constants.h"

namespace lattice::wire {

inline constexpr size_t kTokenFixedBytes = 160;
inline constexpr size_t kTokenSignatureBytes = 64;
inline constexpr size_t kMaxTokenUserBytes = 256;
inline constexpr size_t kMinTokenBytes = kTokenFixedBytes + kTokenSignatureBytes;
inline constexpr size_t kMaxTokenBytes = kMinTokenBytes + kMaxTokenUserBytes;
inline constexpr size_t kIssuerKeyIdBytes = 8;
static_assert(kMinTokenBytes == 224);

enum class TokenKind : uint8_t { kConnect = 1, kRelay = 2 };
enum class TokenRole : uint8_t { kInitiator = 1, kResponder = 2 };

/// The signed fields of a token. `user_data` points into the parsed bytes (or the caller's buffer).
struct TokenFields {
  TokenKind kind = TokenKind::kConnect;
  TokenRole role = TokenRole::kInitiator;
  std::array<uint8_t, kIssuerKeyIdBytes> issuer_key_id{};
  Id16 token_id{};
  uint32_t protocol_id = kProtocolId;
  uint64_t schema_id = 0;  ///< 0 means "not stated".
  uint64_t issued_s = 0;   ///< Unix seconds.
  uint64_t expires_s = 0;  ///< Unix seconds.
  PublicKey aud{};         ///< Key of the server (or relay) process the token is for.
  PublicKey cnf{};         ///< Key of the bearer.
  Id16 player{};
  Id16 session{};
  std::span<const uint8_t> user_data;  ///< At most kMaxTokenUserBytes.
};

enum class TokenStatus : uint8_t {
  kOk,
  kBadLength,  ///< Not exactly 224 + n, or n above 256.
  kBadMagic,
  kBadKind,
  kBadRole,
  kBadReserved,  ///< The four bytes at 36 are not zero.
};

/// Reads the fields of a token of exactly `bytes`; `out` is filled only on kOk.
TokenStatus parse_token(std::span<const uint8_t> bytes, TokenFields* out);

/// Writes everything but the signature; returns 160 + n, or 0 when `out` is shorter than the whole
/// token or the user data is too long. The caller writes the signature into the next 64 bytes.
size_t encode_token_fields(const TokenFields& fields, std::span<uint8_t> out);

/// The signed bytes of a well-formed token, and its signature.
inline std::span<const uint8_t> token_signed_part(std::span<const uint8_t> token) {
  return token.first(token.size() - kTokenSignatureBytes);
}
inline std::span<const uint8_t> token_signature(std::span<const uint8_t> token) {
  return token.last(kTokenSignatureBytes);
}

}  // namespace lattice::wire
