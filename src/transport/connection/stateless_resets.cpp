#include "transport/connection/stateless_resets.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "transport/crypto/secret.h"

namespace lattice::connection {

wire::ResetToken make_reset_token(const crypto::HmacKey& reset_key, uint64_t connection_id) {
  std::array<uint8_t, 8> id;
  platform::store_u64_le(id.data(), connection_id);
  const crypto::Digest digest = reset_key.hmac({crypto::text("lattice/v1/stateless-reset"), id});
  wire::ResetToken token;
  std::copy_n(digest.begin(), token.size(), token.begin());
  return token;
}

bool is_reset(std::span<const uint8_t> datagram, size_t header_bytes, const wire::ResetToken& token) {
  const std::span<const uint8_t> claimed = wire::reset_token_in(datagram, header_bytes);
  return !claimed.empty() && crypto::equal_constant_time(claimed, token);
}

StatelessResets::StatelessResets(const crypto::Key& reset_key, const ResetLimits& limits,
                                 crypto::EntropySource& entropy, const socket::DatagramSocket* socket)
    : key_(crypto::HmacKey(reset_key.bytes())), entropy_(entropy), subjects_(socket, entropy) {
  const size_t routes = socket != nullptr ? socket->route_count() : 1;
  const uint32_t part = part_of_route(limits.in_all_per_s, routes);
  routes_.reserve(routes);
  for (size_t i = 0; i < routes; ++i) {
    routes_.push_back({PrefixRate(limits.per_s, limits.burst, entropy), Budget(part, part)});
  }
}

StatelessResets::Outcome StatelessResets::answer(const base::PathId& from, const wire::PacketHeader& header,
                                                 size_t header_bytes, size_t datagram_bytes, uint64_t now_ns,
                                                 DatagramSink& sink) {
  // A client that sends Disconnect needs no answer.
  if (header.type == wire::PacketType::kDisconnect) return Outcome::kNone;
  if (!wire::may_be_answered_by_reset(datagram_bytes, header_bytes)) return Outcome::kNone;
  LATTICE_CHECK(from.route < routes_.size());
  Route& route = routes_[from.route];
  if (!route.rate.take(subjects_.of(from).id, now_ns)) return Outcome::kPrefixRate;
  if (!route.budget.take(now_ns)) return Outcome::kBudget;
  std::array<uint8_t, wire::kResetRandomBytes> random;
  entropy_.fill(random);
  std::array<uint8_t, wire::kMaxResetBytes> out;
  const size_t bytes = wire::encode_reset(header, random, token_of(header.connection_id), out);
  LATTICE_CHECK(bytes != 0 && bytes < datagram_bytes);
  sink.emit(from, std::span(out).first(bytes));
  return Outcome::kSent;
}

}  // namespace lattice::connection
