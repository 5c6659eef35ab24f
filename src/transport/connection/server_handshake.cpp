#include "transport/connection/server_handshake.h"

#include <algorithm>

#include "base/assert.h"
#include "base/events.h"
#include "platform/byte_order.h"
#include "transport/connection/handshake_rules.h"
#include "transport/crypto/cookie.h"
#include "transport/crypto/hash.h"

// Message 1, and the code that messages 1 and 3 share. Messages 3 and 7 and their answers are in
// server_response.cpp.

namespace lattice::connection {
namespace {

/// With a kept identity, a token may be this much older than the process: the clocks of server and issuer may
/// differ by so much.
constexpr uint64_t kTokenGraceS = 5;
constexpr uint64_t kMaxTokenLifetimeS = 3600;
constexpr uint32_t kDenialsPerSecond = 10;
constexpr size_t kChallengeDatagramBytes = wire::kMinHeaderBytes + wire::kChallengeBodyBytes;
constexpr size_t kDenialDatagramBytes = wire::kMinHeaderBytes + wire::kConnectionDeniedBodyBytes;
static_assert(kChallengeDatagramBytes <= wire::kFloorDatagramBytes, "no answer larger than its question");

uint64_t random_u64(crypto::EntropySource& entropy) {
  std::array<uint8_t, 8> bytes;
  entropy.fill(bytes);
  return platform::load_u64_le(bytes.data());
}

size_t routes_of(const socket::DatagramSocket* socket) {
  return socket != nullptr ? socket->route_count() : 1;
}

}  // namespace

const char* server_refusal_name(ServerRefusal refusal) {
  static constexpr const char* kNames[] = {
      "none",
#define LATTICE_EVENT_SERVER(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, refusal);
}

ServerHandshake::ServerHandshake(const ServerHandshakeConfig& config, crypto::KeyPair identity,
                                 std::span<const crypto::PublicKey> issuers, crypto::EntropySource& entropy,
                                 AdmissionPolicy& policy, const socket::DatagramSocket* socket)
    : config_(config),
      started_unix_s_(config.started_unix_s),
      identity_(std::move(identity)),
      entropy_(entropy),
      policy_(policy),
      buckets_(entropy),
      claims_(config.max_claims, random_u64(entropy), routes_of(socket)),
      half_open_(config.max_half_open, config.max_half_open_per_prefix, config.half_open_ns,
                 routes_of(socket)),
      subjects_(socket, entropy) {
  set_issuers(issuers);
  const size_t count = routes_of(socket);
  const uint32_t hashed_per_s = part_of_route(config.hashed_per_s, count);
  const uint32_t hashed_burst = part_of_route(config.hashed_burst, count);
  routes_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    routes_.push_back({.request_rate = {config.requests_per_s, config.request_burst, entropy},
                       .response_rate = {config.responses_per_s, config.response_burst, entropy},
                       .denial_rate = {kDenialsPerSecond, kDenialsPerSecond, entropy},
                       .request_budget = {hashed_per_s, hashed_burst},
                       .cookie_budget = {hashed_per_s, hashed_burst},
                       .verify_budget = {part_of_route(config.verified_per_s, count),
                                         part_of_route(config.verified_burst, count)},
                       .waiting = {}});
  }
}

ServerHandshake::Route& ServerHandshake::route_of(const base::PathId& path) {
  LATTICE_CHECK(path.route < routes_.size());
  return routes_[path.route];
}

void ServerHandshake::set_issuers(std::span<const crypto::PublicKey> issuers) {
  LATTICE_CHECK(issuers.size() <= kMaxIssuers);
  issuer_count_ = issuers.size();
  for (size_t i = 0; i < issuer_count_; ++i) issuers_[i] = {crypto::issuer_key_id(issuers[i]), issuers[i]};
}

void ServerHandshake::update(const ServerMoment& moment) {
  buckets_.current(moment.now_ns);
  claims_.sweep(moment.unix_s);
  // A clock that was ahead at the start was set right: the process did not start in the future.
  started_unix_s_ = std::min(started_unix_s_, moment.unix_s);
}

void ServerHandshake::on_ended(uint64_t connection_id, uint64_t now_ns) {
  half_open_.end(connection_id, now_ns);
  claims_.on_connection_ended(connection_id);
}

ServerArrival ServerHandshake::on_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                                           const ServerMoment& moment, DatagramSink& sink) {
  wire::PacketHeader header;
  size_t header_bytes = 0;
  ServerArrival arrival;
  switch (wire::parse_packet_header(datagram, config_.protocol_id, &header, &header_bytes)) {
    case wire::HeaderStatus::kOk:
      break;
    case wire::HeaderStatus::kWrongVersion:
      maybe_deny(from, datagram, header, moment.now_ns, sink);
      arrival.refusal = ServerRefusal::kWrongVersion;
      break;
    default:
      arrival.refusal = ServerRefusal::kMalformed;
      break;
  }
  if (arrival.refusal == ServerRefusal::kNone) {
    const std::span<const uint8_t> body = datagram.subspan(header_bytes);
    const auto is = [&header, &body](wire::HandshakeMessage message) {
      return header.type == wire::PacketType::kHandshake && wire::peek_handshake_message(body) == message;
    };
    if (header.connection_id != 0 || header.key_epoch != 0 || header.packet_seq != 0) {
      arrival.refusal = ServerRefusal::kMalformed;
    } else if (header.type == wire::PacketType::kChallengeResponse ||
               is(wire::HandshakeMessage::kSchemaDifference)) {
      arrival = on_response(from, datagram, moment);
    } else if (is(wire::HandshakeMessage::kConnectionRequest)) {
      arrival = on_request(from, body, moment, sink);
    } else {
      arrival.refusal = ServerRefusal::kUnexpectedMessage;
    }
  }
  count(arrival.refusal);
  return arrival;
}

/// P-03: the only answer to a client of another version. It has that client's version, so that the client can
/// read it; it is never larger than the client's datagram; at most 10/s per prefix.
void ServerHandshake::maybe_deny(const base::PathId& from, std::span<const uint8_t> datagram,
                                 const wire::PacketHeader& header, uint64_t now_ns, DatagramSink& sink) {
  if (header.type != wire::PacketType::kHandshake || datagram.size() < wire::kFloorDatagramBytes) return;
  static_assert(kDenialDatagramBytes <= wire::kFloorDatagramBytes);
  if (!route_of(from).denial_rate.take(subjects_.of(from).id, now_ns)) return;

  std::array<uint8_t, kDenialDatagramBytes> out;
  wire::PacketHeader answer;
  answer.protocol_id = header.protocol_id;
  const size_t header_bytes = wire::encode_packet_header(answer, out);
  wire::ConnectionDenied denied;
  denied.reason = static_cast<uint16_t>(DisconnectReason::kVersionMismatch);
  denied.protocol_id = config_.protocol_id;
  const size_t body_bytes = wire::encode_connection_denied(denied, std::span(out).subspan(header_bytes));
  LATTICE_CHECK(header_bytes + body_bytes == out.size());
  sink.emit(from, out);
  ++denial_count_;
}

ServerRefusal ServerHandshake::check_token_times(const wire::TokenFields& fields, uint64_t unix_s) const {
  if (fields.expires_s < fields.issued_s || fields.expires_s - fields.issued_s > kMaxTokenLifetimeS) {
    return ServerRefusal::kTokenLifetime;
  }
  if (unix_s > fields.expires_s && unix_s - fields.expires_s > kClockSkewS) {
    return ServerRefusal::kTokenExpired;
  }
  if (fields.issued_s > unix_s && fields.issued_s - unix_s > kClockSkewS) {
    return ServerRefusal::kTokenNotYetValid;
  }
  if (fields.issued_s + kTokenGraceS < started_unix_s_) return ServerRefusal::kTokenBeforeStart;
  return ServerRefusal::kNone;
}

/// Checks everything about a token that needs no curve operation.
ServerRefusal ServerHandshake::check_token(std::span<const uint8_t> token, const crypto::PublicKey& client,
                                           uint64_t unix_s, wire::TokenFields* fields) const {
  const wire::TokenStatus status = wire::parse_token(token, fields);
  if (status == wire::TokenStatus::kBadKind) return ServerRefusal::kTokenKind;
  if (status == wire::TokenStatus::kBadRole) return ServerRefusal::kTokenRole;
  if (status != wire::TokenStatus::kOk) return ServerRefusal::kTokenMalformed;
  if (fields->kind != wire::TokenKind::kConnect) return ServerRefusal::kTokenKind;
  if (fields->protocol_id != config_.protocol_id) return ServerRefusal::kTokenProtocol;
  if (fields->aud != identity_->public_key()) return ServerRefusal::kTokenForeign;
  if (fields->cnf != client) return ServerRefusal::kTokenKeyMismatch;
  if (client == identity_->public_key()) return ServerRefusal::kOwnKey;
  const ServerRefusal times = check_token_times(*fields, unix_s);
  if (times != ServerRefusal::kNone) return times;
  if (fields->role != wire::TokenRole::kInitiator) return ServerRefusal::kTokenRole;
  return ServerRefusal::kNone;
}

ServerArrival ServerHandshake::on_request(const base::PathId& from, std::span<const uint8_t> body,
                                          const ServerMoment& moment, DatagramSink& sink) {
  wire::ConnectionRequest request;
  if (!wire::parse_connection_request(body, &request)) return {ServerRefusal::kMalformed};
  wire::TokenFields fields;
  const ServerRefusal token = check_token(request.token, request.client_pub, moment.unix_s, &fields);
  ServerArrival arrival;
  arrival.refused.player = fields.player;
  const auto refused = [&arrival](ServerRefusal refusal) {
    arrival.refusal = refusal;
    return arrival;
  };
  if (token != ServerRefusal::kNone) return refused(token);
  // Anybody can forge sources of a prefix, so a prefix over its rate is turned away only when the hashes for
  // all run low: a lesser flood keeps nobody out, and a greater one leaves half to the other prefixes.
  Route& route = route_of(from);
  const bool within_rate = route.request_rate.take(subjects_.of(from).id, moment.now_ns);
  if (!within_rate && route.request_budget.is_low(moment.now_ns)) return refused(ServerRefusal::kRequestRate);
  if (!route.request_budget.take(moment.now_ns)) return refused(ServerRefusal::kRequestBudget);

  const Bucket& bucket = buckets_.current(moment.now_ns);
  const crypto::Digest token_hash = crypto::sha256({request.token});
  wire::Challenge challenge;
  challenge.token_echo = wire::token_echo(token_hash);
  challenge.bucket_pub = bucket.pair.public_key();
  challenge.key_index = bucket.key_index();
  challenge.challenge_nonce = crypto::make_cookie(bucket.cookie_secret, from, config_.protocol_id,
                                                  request.client_pub, token_hash, challenge.bucket_pub);

  std::array<uint8_t, kChallengeDatagramBytes> out;
  wire::PacketHeader header;
  header.protocol_id = config_.protocol_id;
  const size_t header_bytes = wire::encode_packet_header(header, out);
  const size_t body_bytes = wire::encode_challenge(challenge, std::span(out).subspan(header_bytes));
  LATTICE_CHECK(header_bytes + body_bytes == out.size());
  sink.emit(from, out);
  ++challenge_count_;
  return {};
}

}  // namespace lattice::connection
