// The path cookie of message 2 (H-03). It proves, without memory on the server, that the sender of message 3
// receives at its path, and that bucket key, token and client key are those of the challenge.
//
//   first 16 of HMAC(K, label ‖ path ‖ protocol_id ‖ C_pub ‖ SHA-256(token) ‖ E_pub)
//
//   UDP      "lattice/v1/cookie"        family u8 (4/6) ‖ address 16 (v4 mapped) ‖ port u16
//   others   "lattice/v1/cookie-route"  route u8 ‖ form u8 ‖ bytes 16 ‖ number u16
//
// Must stay true: no two paths have the same bytes under K. The byte behind "cookie" is 4 or 6 or '-'.
#pragma once

#include "base/path_id.h"
#include "transport/crypto/key_schedule.h"

namespace lattice::crypto {

/// The cookie for these inputs. Compare with equal_constant_time.
ChallengeNonce make_cookie(const HmacKey& cookie_secret, const base::PathId& client, uint32_t protocol_id,
                           const PublicKey& client_key, const Digest& token_hash, const PublicKey& bucket);

}  // namespace lattice::crypto
