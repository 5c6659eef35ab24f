// Messages 3 and 7 at the server, and their answers: budget → cookie → rate → token fields → wait → es, ee →
// open → Ed25519 → claim → admit. The cheap checks come first; only what passed them waits for the curve
// operations. A message 7 is refused like the messages 3 before it, and tells what differs in the schemas.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "transport/connection/config_difference.h"
#include "transport/connection/handshake_rules.h"
#include "transport/connection/server_handshake.h"
#include "transport/crypto/aead.h"
#include "transport/crypto/cookie.h"
#include "transport/crypto/hash.h"
#include "transport/crypto/token_signature.h"
#include "transport/wire/utf8.h"

namespace lattice::connection {

/// Message 3 or 7 as far as it has been checked. Spans point into the received datagram.
struct ServerHandshake::Response {
  wire::ChallengeResponseClear clear;
  wire::ChallengeResponseSealed sealed;  // of a message 7 only schema_id
  bool is_difference = false;            // a message 7
  wire::Nonce16 salt{};                  // the rest with a message 7 only
  std::string lines;
  wire::TokenFields token;
  crypto::Digest token_hash{};
  const Bucket* bucket = nullptr;
  crypto::Key prk;
  crypto::Digest th3{};  // th7 of a message 7

  /// Reads the clear part of a whole datagram whose header was checked.
  bool parse_clear(std::span<const uint8_t> datagram, uint32_t protocol_id);
};

bool ServerHandshake::Response::parse_clear(std::span<const uint8_t> datagram, uint32_t protocol_id) {
  wire::PacketHeader header;
  size_t header_bytes = 0;
  if (wire::parse_packet_header(datagram, protocol_id, &header, &header_bytes) != wire::HeaderStatus::kOk) {
    return false;
  }
  const std::span<const uint8_t> body = datagram.subspan(header_bytes);
  is_difference = header.type != wire::PacketType::kChallengeResponse;
  if (!is_difference) return wire::parse_challenge_response_clear(body, &clear);
  wire::SchemaDifferenceClear difference;
  if (!wire::parse_schema_difference_clear(body, &difference)) return false;
  clear = difference.response;
  salt = difference.salt;
  return true;
}

namespace {

/// Header and clear part of an answer, at the front of `out`; returns their size, which is the AAD.
size_t write_answer_front(uint32_t protocol_id, uint64_t connection_id, wire::HandshakeMessage message,
                          const crypto::AcceptRandom& accept_random, std::span<uint8_t> out) {
  wire::PacketHeader header;
  header.protocol_id = protocol_id;
  header.connection_id = connection_id;
  const size_t header_bytes = wire::encode_packet_header(header, out);
  wire::AnswerClear clear;
  clear.message = message;
  clear.accept_random = accept_random;
  const size_t clear_bytes = wire::encode_answer_clear(clear, out.subspan(header_bytes));
  LATTICE_CHECK(header_bytes == wire::kMinHeaderBytes && clear_bytes == wire::kAnswerClearBytes);
  return header_bytes + clear_bytes;
}

}  // namespace

ServerRefusal ServerHandshake::check_cookie(const base::PathId& from, const ServerMoment& moment,
                                            Response* response) {
  const wire::ChallengeResponseClear& clear = response->clear;
  response->bucket = buckets_.find(clear.key_index, moment.now_ns);
  if (response->bucket == nullptr) return ServerRefusal::kCookie;
  if (!route_of(from).cookie_budget.take(moment.now_ns)) return ServerRefusal::kCookieBudget;
  response->token_hash = crypto::sha256({clear.token});
  const crypto::ChallengeNonce expected =
      crypto::make_cookie(response->bucket->cookie_secret, from, config_.protocol_id, clear.client_pub,
                          response->token_hash, response->bucket->pair.public_key());
  if (!crypto::equal_constant_time(expected, clear.challenge_nonce)) return ServerRefusal::kCookie;
  return ServerRefusal::kNone;
}

ServerRefusal ServerHandshake::open_response(std::span<const uint8_t> datagram, Response* response) {
  const wire::ChallengeResponseClear& clear = response->clear;
  crypto::Key es, ee;
  if (!crypto::x25519(identity_->secret(), clear.client_pub, &es) ||
      !crypto::x25519(response->bucket->pair.secret(), clear.client_pub, &ee)) {
    return ServerRefusal::kLowOrderKey;
  }
  const crypto::Digest th1 = crypto::transcript_request(config_.protocol_id, identity_->public_key(),
                                                        response->token_hash, clear.client_pub);
  const crypto::Digest th2 = crypto::transcript_challenge(th1, response->bucket->pair.public_key(),
                                                          clear.challenge_nonce, clear.key_index);
  response->prk = crypto::handshake_secret(th2, es, ee);
  const std::span<const uint8_t> aad = datagram.first(wire::kMinHeaderBytes + clear.clear_bytes);
  if (response->is_difference) {
    response->th3 = crypto::transcript_schema_difference(th2, response->salt, clear.sealed);
    return open_difference(aad, response);
  }
  response->th3 = crypto::transcript_response(th2, clear.sealed);
  const crypto::Key k3 = crypto::client_handshake_key(response->prk);
  std::array<uint8_t, wire::kChallengeResponseSealedBytes> plaintext;
  if (!crypto::open(k3, kHandshakeNonce, aad, clear.sealed, plaintext)) {
    return ServerRefusal::kResponseNotAuthentic;
  }
  if (!wire::parse_challenge_response_sealed(plaintext, &response->sealed) ||
      !crypto::equal_constant_time(response->sealed.challenge_nonce, clear.challenge_nonce) ||
      !crypto::equal_constant_time(response->sealed.token_id, response->token.token_id) ||
      response->sealed.max_datagram < wire::kFloorDatagramBytes) {
    return ServerRefusal::kResponseMismatch;
  }
  return ServerRefusal::kNone;
}

/// The sealed part of a message 7. A client with the server's schema has nothing to tell.
ServerRefusal ServerHandshake::open_difference(std::span<const uint8_t> aad, Response* response) const {
  const std::span<const uint8_t> sealed = response->clear.sealed;
  const crypto::Key k7 = crypto::schema_difference_key(response->prk, response->salt);
  std::array<uint8_t, wire::kSchemaDifferenceMaxSealedBytes> plaintext;
  if (!crypto::open(k7, kHandshakeNonce, aad, sealed, plaintext)) return ServerRefusal::kResponseNotAuthentic;
  wire::SchemaDifferenceSealed fields;
  if (!wire::parse_schema_difference_sealed(std::span(plaintext).first(sealed.size() - crypto::kTagBytes),
                                            &fields) ||
      fields.schema_id == config_.schema_id) {
    return ServerRefusal::kResponseMismatch;
  }
  response->sealed.schema_id = fields.schema_id;
  response->lines.assign(fields.lines.begin(), fields.lines.end());
  return ServerRefusal::kNone;
}

ServerRefusal ServerHandshake::verify_signature(const Response& response) const {
  for (size_t i = 0; i < issuer_count_; ++i) {
    if (issuers_[i].id != response.token.issuer_key_id) continue;
    return crypto::verify_connect_token(response.clear.token, issuers_[i].key)
               ? ServerRefusal::kNone
               : ServerRefusal::kTokenSignature;
  }
  return ServerRefusal::kUnknownIssuer;
}

ServerArrival ServerHandshake::on_response(const base::PathId& from, std::span<const uint8_t> datagram,
                                           const ServerMoment& moment) {
  Response response;
  if (!response.parse_clear(datagram, config_.protocol_id)) return {ServerRefusal::kMalformed};
  if (const ServerRefusal cookie = check_cookie(from, moment, &response); cookie != ServerRefusal::kNone) {
    return {cookie};
  }
  Route& route = route_of(from);
  const RateSubject subject = subjects_.of(from);
  if (!route.response_rate.take(subject.id, moment.now_ns)) return {ServerRefusal::kResponseRate};
  // A valid cookie already proves these checks, except for the time.
  const ServerRefusal token =
      check_token(response.clear.token, response.clear.client_pub, moment.unix_s, &response.token);
  const RefusedPlayer who = {response.token.player};
  if (token != ServerRefusal::kNone) return {.refusal = token, .refused = who};
  base::PathId displaced;
  switch (route.waiting.push(from, subject, datagram, &displaced)) {
    case ResponseQueue::Push::kWaits:
      return {.waits = true};
    case ResponseQueue::Push::kWaitsAnotherLost:
      return {.refusal = ServerRefusal::kResponseQueue, .waits = true, .displaced = displaced};
    case ResponseQueue::Push::kAlreadyWaits:
      return {};
    case ResponseQueue::Push::kLost:
      break;
  }
  return {.refusal = ServerRefusal::kResponseQueue, .refused = who};
}

std::optional<ResponseQueue::Response> ServerHandshake::take_waiting(uint64_t now_ns) {
  // An attacker with many addresses may delay new clients of his route, but not the ticks of the game.
  for (size_t k = 1; k <= routes_.size(); ++k) {
    const size_t index = (last_route_ + k) % routes_.size();
    Route& route = routes_[index];
    if (route.waiting.empty() || !route.verify_budget.take(now_ns)) continue;
    last_route_ = index;
    return route.waiting.pop();
  }
  return std::nullopt;
}

ServerResult ServerHandshake::verify(const ResponseQueue::Response& waited, const ServerMoment& moment,
                                     DatagramSink& sink) {
  ++verified_count_;
  ServerResult result = verified(waited, moment, sink);
  count(result.refusal);
  return result;
}

/// The curve operations for a message that on_response() let wait, and the answer.
ServerResult ServerHandshake::verified(const ResponseQueue::Response& waited, const ServerMoment& moment,
                                       DatagramSink& sink) {
  const std::span<const uint8_t> datagram = waited.datagram;
  Response response;
  ServerResult result;
  const auto failed = [&result](ServerRefusal refusal) {
    result.refusal = refusal;
    return refusal != ServerRefusal::kNone;
  };
  LATTICE_CHECK(response.parse_clear(datagram, config_.protocol_id));
  response.token_hash = crypto::sha256({response.clear.token});
  response.bucket = buckets_.find(response.clear.key_index, moment.now_ns);
  if (response.bucket == nullptr && failed(ServerRefusal::kCookie))
    return result;  // It was erased meanwhile.
  const bool is_refused =
      failed(check_token(response.clear.token, response.clear.client_pub, moment.unix_s, &response.token));
  result.refused.player = response.token.player;
  if (is_refused) return result;
  if (failed(open_response(datagram, &response))) return result;
  if (failed(verify_signature(response))) return result;
  result = settle(waited.from, moment, response, sink);
  result.refused = {response.token.player, true};
  return result;
}

/// Describes a configuration mismatch. A wrong tick rate would cause hard resets of the client's clock; too
/// little room would break the connection at some object.
std::optional<ReasonText> ServerHandshake::config_difference(const Response& response) const {
  if (response.sealed.tick_rate != config_.tick_rate_hz) {
    return tick_rates_differ(config_.tick_rate_hz, response.sealed.tick_rate);
  }
  if (response.sealed.max_objects < config_.max_objects) {
    return too_few_objects(config_.max_objects, response.sealed.max_objects);
  }
  return std::nullopt;
}

/// The player that the token names; the rate subject of the path if it names none.
ClaimTable::Owner ServerHandshake::claim_owner(const base::PathId& from, const Response& response) const {
  const wire::Id16& player = response.token.player;
  const bool is_named = player != wire::Id16{};
  return {is_named ? claims_.owner_of(player) : claims_.owner_of(subjects_.of(from)), from.route};
}

HalfOpenTable::Owner ServerHandshake::half_open_owner(const base::PathId& from,
                                                      const Response& response) const {
  const wire::Id16& player = response.token.player;
  return {subjects_.of(from), player == wire::Id16{} ? 0 : claims_.owner_of(player)};
}

/// Answers a genuine message 3 or 7. Its token may have been claimed before, or the client may be refused.
ServerResult ServerHandshake::settle(const base::PathId& from, const ServerMoment& moment, Response& response,
                                     DatagramSink& sink) {
  ServerResult result;
  if (const Claim* claim = claims_.find(response.token.token_id)) {
    if (!response.is_difference && claims_.connection_lives(*claim) &&
        crypto::equal_constant_time(claim->client, response.clear.client_pub)) {
      sink.emit(from, claim->accepted_datagram);
      ++repeated_accept_count_;
    } else {
      result.refusal = ServerRefusal::kTokenReused;
    }
    return result;
  }
  const uint64_t token_schema_id = response.token.schema_id;
  if (response.sealed.schema_id != config_.schema_id ||
      (token_schema_id != 0 && token_schema_id != config_.schema_id)) {
    result.refusal = ServerRefusal::kSchemaMismatch;
    result.remote_schema_id = response.sealed.schema_id;
    result.schema_lines = std::move(response.lines);
    refuse(from, response, DisconnectReason::kSchemaMismatch, "schema", sink, &result);
    return result;
  }
  LATTICE_CHECK(!response.is_difference);  // open_difference() took none with this schema
  if (const std::optional<ReasonText> difference = config_difference(response)) {
    result.refusal = ServerRefusal::kConfigMismatch;
    refuse(from, response, DisconnectReason::kConfigMismatch, difference->view(), sink, &result);
    return result;
  }
  if (response.sealed.placed != config_.placed) {
    const ReasonText difference = placed_objects_differ(config_.placed, response.sealed.placed);
    result.refusal = ServerRefusal::kPlacedMismatch;
    refuse(from, response, DisconnectReason::kPlacedMismatch, difference.view(), sink, &result);
    return result;
  }
  // A server that is full of players says so; half-open connections make it full for a moment only.
  const bool needs_place = !policy_.has_place() && half_open_.size(moment.now_ns) != 0;
  const HalfOpenTable::Owner half_open_owner = this->half_open_owner(from, response);
  const std::optional<HalfOpenTable::Room> half_open_room =
      half_open_.room_for(half_open_owner, moment.now_ns, needs_place);
  if (!half_open_room) {
    result.refusal = ServerRefusal::kHalfOpenLimit;
    return result;
  }
  const ClaimTable::Owner owner = claim_owner(from, response);
  if (const ClaimTable::Room room = claims_.room_for(owner, moment.unix_s); room != ClaimTable::Room::kRoom) {
    const bool is_share = room == ClaimTable::Room::kShareUsed;
    result.refusal = is_share ? ServerRefusal::kTokenShare : ServerRefusal::kTokensFull;
    refuse(from, response, DisconnectReason::kServerFull,
           is_share ? "too many used tokens of this player" : "too many used tokens", sink, &result);
    return result;
  }
  const Admission admission =
      policy_.admit({from, response.token, response.sealed.features, half_open_room->gives_way != 0});
  if (admission.refusal != DisconnectReason::kNone) {
    result.refusal = admission.refusal == DisconnectReason::kServerFull ? ServerRefusal::kServerFull
                                                                        : ServerRefusal::kPolicyRefused;
    refuse(from, response, admission.refusal, admission.text, sink, &result);
    return result;
  }
  if (half_open_room->gives_way != 0) {
    result.gave_way = half_open_room->gives_way;
    on_ended(result.gave_way, moment.now_ns);
    count(ServerRefusal::kHalfOpenLimit);
  } else {
    policy_.make_place();
  }
  const uint64_t connection_id = new_connection_id();
  Claim* claim = claims_.insert(response.token.token_id, owner, connection_id,
                                response.token.expires_s + kClaimLingerS, moment.unix_s);
  LATTICE_CHECK(claim != nullptr);
  claim->client = response.clear.client_pub;
  half_open_.insert(connection_id, half_open_owner, moment.now_ns);
  result.accepted = accept(from, moment, response, connection_id, admission.peer_id, *claim, sink);
  ++accepted_count_;
  return result;
}

uint64_t ServerHandshake::new_connection_id() {
  for (;;) {  // Ends at once: a collision of 64 random bits with a bounded table is unlikely.
    std::array<uint8_t, 8> bytes;
    entropy_.fill(bytes);
    const uint64_t id = platform::load_u64_le(bytes.data());
    if (id != 0 && !claims_.has_connection(id)) return id;
  }
}

ServerAccepted ServerHandshake::accept(const base::PathId& from, const ServerMoment& moment,
                                       Response& response, uint64_t connection_id, uint64_t peer_id,
                                       Claim& claim, DatagramSink& sink) {
  crypto::AcceptRandom accept_random;
  entropy_.fill(accept_random);

  wire::ConnectionAcceptedSealed fields;
  fields.connection_id = connection_id;
  fields.server_tick = moment.server_tick;
  fields.mtu_hint = std::min(config_.mtu_hint_bytes, response.sealed.max_datagram);
  fields.tick_rate = config_.tick_rate_hz;
  fields.peer_id = peer_id;
  fields.schema_id = config_.schema_id;
  fields.features = config_.features & response.sealed.features;

  const std::span<uint8_t> out(claim.accepted_datagram);
  const size_t front_bytes = write_answer_front(
      config_.protocol_id, connection_id, wire::HandshakeMessage::kConnectionAccepted, accept_random, out);
  const std::span<uint8_t> sealed = out.subspan(front_bytes);
  const size_t plaintext_bytes = wire::encode_connection_accepted_sealed(fields, sealed);
  LATTICE_CHECK(plaintext_bytes + crypto::kTagBytes == sealed.size());
  const crypto::Key k4 = crypto::server_handshake_key(response.prk, response.th3, accept_random);
  crypto::seal_in_place(k4, kHandshakeNonce, out.first(front_bytes), sealed);
  sink.emit(from, out);

  ServerAccepted accepted;
  accepted.connection_id = connection_id;
  accepted.peer_id = peer_id;
  accepted.master =
      crypto::first_master(response.prk, crypto::transcript_accept(response.th3, accept_random, sealed));
  accepted.address = from;
  accepted.client = response.clear.client_pub;
  accepted.token_id = response.token.token_id;
  accepted.player = response.token.player;
  accepted.session = response.token.session;
  accepted.user_bytes = static_cast<uint16_t>(response.token.user_data.size());
  std::copy(response.token.user_data.begin(), response.token.user_data.end(), accepted.user_data.begin());
  accepted.features = fields.features;
  accepted.max_datagram_bytes = response.sealed.max_datagram;
  return accepted;
}

/// The pages take turns, so that a client that repeats its message 3 gets one after the other. Few clients
/// share a count. After each round one page is left out, or two that do, and ask in turn, would each get
/// every other one for ever.
void ServerHandshake::add_schema_page(uint8_t of_client, wire::ConnectionRefusedSealed* refused) {
  const std::span<const uint8_t> text = crypto::text(config_.schema_text);
  const size_t pages = (text.size() + wire::kSchemaPageBytes - 1) / wire::kSchemaPageBytes;
  if (pages == 0) return;
  refused->pages = static_cast<uint16_t>(std::min(pages, wire::kMaxSchemaPages));
  const unsigned told = schema_pages_told_[of_client]++;
  refused->page = static_cast<uint16_t>((told + told / refused->pages) % refused->pages);
  const size_t first = refused->page * wire::kSchemaPageBytes;
  refused->schema_page = text.subspan(first, std::min(wire::kSchemaPageBytes, text.size() - first));
}

/// Message 6: sealed under its own key (fresh accept_random), so it can be made again for each repetition of
/// message 3 without repeating a nonce. Nothing is kept.
void ServerHandshake::refuse(const base::PathId& to, Response& response, DisconnectReason reason,
                             std::string_view text, DatagramSink& sink, ServerResult* result) {
  result->text = ReasonText(text);
  const std::span<const uint8_t> text_bytes = crypto::text(text);
  LATTICE_ASSERT(text.size() <= wire::kMaxReasonTextBytes && wire::is_valid_reason_text(text_bytes));
  crypto::AcceptRandom accept_random;
  entropy_.fill(accept_random);

  std::array<uint8_t, wire::kMinHeaderBytes + wire::kAnswerClearBytes +
                          wire::kConnectionRefusedMaxSealedBytes + crypto::kTagBytes>
      out;
  const size_t front_bytes = write_answer_front(
      config_.protocol_id, 0, wire::HandshakeMessage::kConnectionRefused, accept_random, out);
  wire::ConnectionRefusedSealed fields;
  fields.reason = static_cast<uint16_t>(reason);
  fields.schema_id = config_.schema_id;
  fields.text = text_bytes;
  if (reason == DisconnectReason::kSchemaMismatch && !response.is_difference) {
    add_schema_page(response.clear.client_pub[0],
                    &fields);  // a client that says what differs has all pages it wants
  }
  size_t plaintext_bytes =
      wire::encode_connection_refused_sealed(fields, std::span(out).subspan(front_bytes));
  if (plaintext_bytes == 0) {  // The policy gave an invalid text: refuse without it.
    fields.text = {};
    plaintext_bytes = wire::encode_connection_refused_sealed(fields, std::span(out).subspan(front_bytes));
  }
  const std::span<uint8_t> datagram = std::span(out).first(front_bytes + plaintext_bytes + crypto::kTagBytes);
  const crypto::Key k4 = crypto::server_handshake_key(response.prk, response.th3, accept_random);
  crypto::seal_in_place(k4, kHandshakeNonce, datagram.first(front_bytes), datagram.subspan(front_bytes));
  sink.emit(to, datagram);
}

}  // namespace lattice::connection
