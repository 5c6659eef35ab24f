#include "transport/crypto/cookie.h"

#include <algorithm>

#include "platform/byte_order.h"

namespace lattice::crypto {

ChallengeNonce make_cookie(const HmacKey& cookie_secret, const base::PathId& client, uint32_t protocol_id,
                           const PublicKey& client_key, const Digest& token_hash, const PublicKey& bucket) {
  const bool is_udp = client.route == base::kUdpRoute && base::is_ip(client);
  std::array<uint8_t, 1 + 1 + 16 + 2 + 4> where;
  where[0] = client.route;
  where[1] = static_cast<uint8_t>(client.form);
  std::copy(client.bytes.begin(), client.bytes.end(), where.begin() + 2);
  platform::store_u16_le(where.data() + 18, client.number);
  platform::store_u32_le(where.data() + 20, protocol_id);
  const std::span<const uint8_t> covered = std::span(where).subspan(is_udp ? 1 : 0);

  const std::string_view label = is_udp ? "lattice/v1/cookie" : "lattice/v1/cookie-route";
  const Digest mac = cookie_secret.hmac({text(label), covered, client_key, token_hash, bucket});
  ChallengeNonce nonce;
  std::copy_n(mac.begin(), nonce.size(), nonce.begin());
  return nonce;
}

}  // namespace lattice::crypto
