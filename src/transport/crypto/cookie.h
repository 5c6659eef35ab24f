// The address cookie of message 2 (H-03). It proves, without memory on the server, that the sender of message
// 3 receives at its address, and that bucket key, token and client key are those of the challenge.
//
//   first 16 of HMAC(K, "lattice/v1/cookie" ‖ family u8 (4/6) ‖ address 16 (v4 mapped) ‖ port u16 ‖
//                       protocol_id ‖ C_pub ‖ SHA-256(token) ‖ E_pub)
#pragma once

#include "platform/address.h"
#include "transport/crypto/key_schedule.h"

namespace lattice::crypto {

/// The cookie for these inputs. Compare with equal_constant_time.
ChallengeNonce make_cookie(const HmacKey& cookie_secret, const platform::Address& client_address,
                           uint32_t protocol_id, const PublicKey& client, const Digest& token_hash,
                           const PublicKey& bucket);

}  // namespace lattice::crypto
