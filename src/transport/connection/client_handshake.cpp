#include "transport/connection/client_handshake.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"
#include "base/events.h"
#include "transport/connection/config_difference.h"
#include "transport/connection/handshake_rules.h"
#include "transport/crypto/aead.h"
#include "transport/crypto/hash.h"

// Sending, retries and the end of the budget. client_answers.cpp processes received datagrams.

namespace lattice::connection {
namespace {

constexpr uint32_t kRetryDoublings = 2;
constexpr double kRetryJitter = 0.1;

// Texts for the most likely causes of an exhausted budget. A server does not answer a token that it refuses,
// and does not answer clients beyond its limits: the client cannot distinguish the two.
constexpr ReasonText kNeverAccepted("challenged, never accepted: token refused, or server too busy");
constexpr ReasonText kNobodyListens("nobody listens at the server's address");
constexpr ReasonText kLooksExpired("no answer, and the token has expired by this clock");
constexpr ReasonText kNoAnswer("no answer: server absent or its key changed");

}  // namespace

const char* client_drop_name(ClientDrop drop) {
  static constexpr const char* kNames[] = {
      "none",
#define LATTICE_EVENT_CLIENT(id, name, text) name,
#include "base/events.def"
  };
  return base::event_name(kNames, drop);
}

ClientHandshake::ClientHandshake(const ClientHandshakeConfig& config, const base::PathId& server,
                                 std::span<const uint8_t> token, crypto::KeyPair client)
    : config_(config),
      server_(server),
      client_(std::move(client)),
      token_bytes_(std::min(token.size(), token_.size() + 1)),
      jitter_(config.jitter_seed) {
  if (token.size() <= token_.size()) std::copy(token.begin(), token.end(), token_.begin());
}

DisconnectReason ClientHandshake::start(uint64_t now_ns, DatagramSink& sink) {
  if (token_bytes_ > token_.size()) return DisconnectReason::kTokenInvalid;
  const std::span<const uint8_t> token = std::span(token_).first(token_bytes_);
  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk ||
      fields.kind != wire::TokenKind::kConnect || fields.role != wire::TokenRole::kInitiator ||
      fields.cnf != client_.public_key() || fields.aud == client_.public_key()) {
    return DisconnectReason::kTokenInvalid;
  }
  if (fields.protocol_id != config_.protocol_id) return DisconnectReason::kVersionMismatch;
  if (fields.schema_id != 0 && fields.schema_id != config_.schema_id) {
    return DisconnectReason::kSchemaMismatch;
  }
  if (!crypto::x25519(client_.secret(), fields.aud, &es_)) return DisconnectReason::kTokenInvalid;
  token_id_ = fields.token_id;
  token_expires_s_ = fields.expires_s;
  const crypto::Digest token_hash = crypto::sha256({token});
  token_echo_ = wire::token_echo(token_hash);
  th1_ = crypto::transcript_request(config_.protocol_id, fields.aud, token_hash, client_.public_key());
  lifecycle_.apply(Event::kConnect);
  started_ns_ = asked_ns_ = now_ns;
  start_round(now_ns);
  send_request(sink);
  return DisconnectReason::kNone;
}

void ClientHandshake::start_round(uint64_t now_ns) {
  retry_count_ = 0;
  schedule_retry(now_ns);
}

void ClientHandshake::schedule_retry(uint64_t now_ns) {
  const uint64_t plain_ns = config_.first_retry_ns << std::min(retry_count_, kRetryDoublings);
  const double factor = 1.0 + kRetryJitter * (2.0 * jitter_.next_unit() - 1.0);
  retry_at_ns_ = now_ns + static_cast<uint64_t>(static_cast<double>(plain_ns) * factor);
  ++retry_count_;
}

void ClientHandshake::send_request(DatagramSink& sink) {
  constexpr uint32_t kMostUnreported = 3;  // reports are rare, and get lost too
  if (++requests_since_report_ > kMostUnreported) is_unreachable_ = false;
  std::array<uint8_t, wire::kFloorDatagramBytes> out;
  wire::PacketHeader header;
  header.protocol_id = config_.protocol_id;
  const size_t header_bytes = wire::encode_packet_header(header, out);
  wire::ConnectionRequest request;
  request.client_pub = client_.public_key();
  request.token = std::span<const uint8_t>(token_).first(token_bytes_);
  const size_t body_bytes = wire::encode_connection_request(request, std::span(out).subspan(header_bytes));
  LATTICE_CHECK(header_bytes + body_bytes == out.size());
  sink.emit(server_, out);
}

void ClientHandshake::send_response(Candidate& candidate, uint64_t now_ns, DatagramSink& sink) {
  if (candidate.send_count == 0) candidate.first_sent_ns = now_ns;
  ++candidate.send_count;
  sink.emit(server_, std::span(candidate.response).first(candidate.response_bytes));
}

ClientResult ClientHandshake::update(uint64_t now_ns, uint64_t unix_s, DatagramSink& sink) {
  const State state = lifecycle_.state();
  if (state != State::kConnecting && state != State::kHandshake) return {};
  if (telling_ && now_ns >= telling_->ends_ns) return end_refused();
  if (!telling_) {
    if (pages_.any() && now_ns >= pages_deadline_ns_) return leave_refused(now_ns, sink);
    if (now_ns - started_ns_ >= config_.budget_ns) {
      return pages_.any() ? leave_refused(now_ns, sink) : give_up(unix_s);
    }
  }
  if (now_ns < retry_at_ns_) return {};
  if (telling_) {
    schedule_retry(now_ns);
    sink.emit(server_, std::span(telling_->datagram).first(telling_->datagram_bytes));
    return {};
  }

  if (state == State::kHandshake && retry_count_ >= kResponsesBeforeFallBack) {
    // H-12: the cookie may have expired. Candidates stay: an answer to one of them may still arrive.
    lifecycle_.apply(Event::kFallBack);
    asked_ns_ = now_ns;
    start_round(now_ns);
    send_request(sink);
    return {};
  }
  schedule_retry(now_ns);
  if (state == State::kConnecting) {
    send_request(sink);
    return {};
  }
  repeat_responses(now_ns, sink);
  return {};
}

void ClientHandshake::repeat_responses(uint64_t now_ns, DatagramSink& sink) {
  std::array<Candidate*, kMaxChallenges> newest{};
  size_t count = 0;
  for (Candidate& candidate : candidates_) {
    if (candidate.live) newest[count++] = &candidate;
  }
  std::sort(newest.begin(), newest.begin() + static_cast<ptrdiff_t>(count),
            [](const Candidate* a, const Candidate* b) { return a->came_order > b->came_order; });
  for (size_t i = 0; i < std::min(count, kRepeatedChallenges); ++i) send_response(*newest[i], now_ns, sink);
}

bool ClientHandshake::looks_expired(uint64_t unix_s) const {
  return unix_s > token_expires_s_ && unix_s - token_expires_s_ > kClockSkewS;
}

ClientResult ClientHandshake::give_up(uint64_t unix_s) {
  ClientResult result;
  result.outcome = ClientOutcome::kGaveUp;
  const auto is = [&result](DisconnectReason reason, const ReasonText& text) {
    result.reason = reason;
    result.text = text;
  };
  if (advisory_ == DisconnectReason::kVersionMismatch) {
    is(DisconnectReason::kVersionMismatch, versions_differ(denied_protocol_id_, config_.protocol_id));
  } else if (was_challenged_) {  // A server challenges only tokens that are valid by its own clock.
    is(DisconnectReason::kTimeout, kNeverAccepted);
  } else if (is_unreachable_) {
    is(DisconnectReason::kUnreachable, kNobodyListens);
  } else if (looks_expired(unix_s)) {
    is(DisconnectReason::kTokenExpired, kLooksExpired);
  } else {
    is(DisconnectReason::kNoAnswer, kNoAnswer);
  }
  finish(Event::kSilence);
  return result;
}

uint64_t ClientHandshake::next_deadline_ns() const {
  if (telling_) return std::min(retry_at_ns_, telling_->ends_ns);
  const uint64_t next = std::min(retry_at_ns_, started_ns_ + config_.budget_ns);
  return pages_.any() ? std::min(next, pages_deadline_ns_) : next;
}

size_t ClientHandshake::challenge_count() const {
  return static_cast<size_t>(std::count_if(candidates_.begin(), candidates_.end(),
                                           [](const Candidate& candidate) { return candidate.live; }));
}

void ClientHandshake::cancel() {
  if (lifecycle_.allows(Event::kDisconnect)) finish(Event::kDisconnect);
}

void ClientHandshake::finish(Event event) {
  lifecycle_.apply(event);
  client_.erase();
  es_.erase();
  for (Candidate& candidate : candidates_) {
    candidate.prk.erase();
    candidate.live = false;
  }
}

}  // namespace lattice::connection
