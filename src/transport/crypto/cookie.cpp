#include "transport/crypto/cookie.h"

#include <cstring>

#include "platform/byte_order.h"

namespace lattice::crypto {

ChallengeNonce make_cookie(const HmacKey& cookie_secret, const platform::Address& client_address,
                           uint32_t protocol_id, const PublicKey& client, const Digest& token_hash,
                           const PublicKey& bucket) {
  std::array<uint8_t, 1 + 16 + 2 + 4> where;
  where[0] = client_address.family;
  std::memcpy(where.data() + 1, client_address.ip.data(), 16);
  platform::store_u16_le(where.data() + 17, client_address.port);
  platform::store_u32_le(where.data() + 19, protocol_id);

  const Digest mac = cookie_secret.hmac({text("lattice/v1/cookie"), where, client, token_hash, bucket});
  ChallengeNonce nonce;
  std::memcpy(nonce.data(), mac.data(), nonce.size());
  return nonce;
}

}  // namespace lattice::crypto
