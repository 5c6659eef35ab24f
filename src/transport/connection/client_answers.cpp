// The datagrams that reach a client during its handshake: challenges (unauthenticated, so several are kept),
// a denial (advisory), and the sealed acceptance or refusal. Only the last two end the handshake.

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/config_difference.h"
#include "transport/connection/handshake_rules.h"
#include "transport/crypto/aead.h"
#include "transport/crypto/hash.h"

namespace lattice::connection {

ClientResult ClientHandshake::drop(ClientDrop reason) {
  ++drops_[static_cast<size_t>(reason)];
  ClientResult result;
  result.drop = reason;
  return result;
}

ClientResult ClientHandshake::on_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                                          uint64_t now_ns, DatagramSink& sink) {
  const State state = lifecycle_.state();
  if (state != State::kConnecting && state != State::kHandshake) {
    return drop(ClientDrop::kUnexpectedMessage);
  }
  if (from != server_) return drop(ClientDrop::kForeignAddress);
  wire::PacketHeader header;
  size_t header_bytes = 0;
  switch (wire::parse_packet_header(datagram, config_.protocol_id, &header, &header_bytes)) {
    case wire::HeaderStatus::kOk:
      break;
    case wire::HeaderStatus::kWrongVersion:
      return drop(ClientDrop::kWrongVersion);
    default:
      return drop(ClientDrop::kMalformed);
  }
  if (header.type != wire::PacketType::kHandshake) return drop(ClientDrop::kUnexpectedMessage);
  if (header.key_epoch != 0 || header.packet_seq != 0) return drop(ClientDrop::kMalformed);

  const std::span<const uint8_t> body = datagram.subspan(header_bytes);
  const std::optional<wire::HandshakeMessage> message = wire::peek_handshake_message(body);
  if (!message) return drop(ClientDrop::kMalformed);
  switch (*message) {
    case wire::HandshakeMessage::kChallenge:
      return on_challenge(body, now_ns, sink);
    case wire::HandshakeMessage::kConnectionDenied:
      return on_denied(body);
    case wire::HandshakeMessage::kConnectionAccepted:
    case wire::HandshakeMessage::kConnectionRefused:
      return on_answer(datagram, header_bytes, header, now_ns, sink);
    case wire::HandshakeMessage::kConnectionRequest:
    case wire::HandshakeMessage::kPunch:
    case wire::HandshakeMessage::kSchemaDifference:
      break;
  }
  return drop(ClientDrop::kUnexpectedMessage);
}

ClientResult ClientHandshake::on_denied(std::span<const uint8_t> body) {
  wire::ConnectionDenied denied;
  if (!wire::parse_connection_denied(body, &denied)) return drop(ClientDrop::kMalformed);
  // A denial has only this one meaning. With any other reason a forger could choose the error text.
  if (denied.reason != static_cast<uint16_t>(DisconnectReason::kVersionMismatch)) {
    return drop(ClientDrop::kMalformed);
  }
  advisory_ = DisconnectReason::kVersionMismatch;
  denied_protocol_id_ = denied.protocol_id;
  return drop(ClientDrop::kAdvisoryDenial);
}

ClientHandshake::Candidate* ClientHandshake::find_candidate(const wire::Challenge& challenge) {
  for (Candidate& candidate : candidates_) {
    if (candidate.live && candidate.challenge.bucket_pub == challenge.bucket_pub &&
        crypto::equal_constant_time(candidate.challenge.challenge_nonce, challenge.challenge_nonce) &&
        candidate.challenge.key_index == challenge.key_index) {
      return &candidate;
    }
  }
  return nullptr;
}

bool ClientHandshake::take_challenge_allowance(uint64_t now_ns) {
  const uint64_t second = now_ns / 1'000'000'000;
  if (second != allowance_second_) {
    allowance_second_ = second;
    allowance_used_ = 0;
  }
  if (allowance_used_ >= kChallengesPerSecond) return false;
  ++allowance_used_;
  return true;
}

ClientResult ClientHandshake::on_challenge(std::span<const uint8_t> body, uint64_t now_ns,
                                           DatagramSink& sink) {
  wire::Challenge challenge;
  if (!wire::parse_challenge(body, &challenge)) return drop(ClientDrop::kMalformed);
  if (challenge.token_echo != token_echo_) return drop(ClientDrop::kForeignChallenge);
  if (telling_) return drop(ClientDrop::kUnexpectedMessage);  // this client is refused
  const bool first_of_round = lifecycle_.state() == State::kConnecting;
  Candidate* candidate = find_candidate(challenge);
  if (candidate != nullptr && !first_of_round) return {};  // Already answered; its retries are scheduled.
  if (candidate == nullptr) {
    if (!take_challenge_allowance(now_ns)) return drop(ClientDrop::kChallengeRate);
    // If all places are taken, the oldest is replaced: earlier forgeries must not keep out the honest
    // challenge.
    Candidate& slot =
        *std::min_element(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
          return (a.live ? a.came_order : 0) < (b.live ? b.came_order : 0);
        });
    if (!build_response(challenge, &slot)) return drop(ClientDrop::kLowOrderKey);
    slot.asked_for_ns = now_ns - asked_ns_;
    candidate = &slot;
  }
  candidate->came_order = ++challenges_came_;
  lifecycle_.apply(Event::kChallenge);
  was_challenged_ = true;
  is_unreachable_ = false;
  if (first_of_round) start_round(now_ns);
  send_response(*candidate, now_ns, sink);
  return {};
}

bool ClientHandshake::build_response(const wire::Challenge& challenge, Candidate* candidate) {
  crypto::Key ee;
  if (!crypto::x25519(client_.secret(), challenge.bucket_pub, &ee)) return false;
  const crypto::Digest th2 = crypto::transcript_challenge(th1_, challenge.bucket_pub,
                                                          challenge.challenge_nonce, challenge.key_index);
  candidate->prk = crypto::handshake_secret(th2, es_, ee);
  candidate->challenge = challenge;

  const std::span<uint8_t> out(candidate->response);
  wire::PacketHeader header;
  header.protocol_id = config_.protocol_id;
  header.type = wire::PacketType::kChallengeResponse;
  wire::ChallengeResponseClear clear;
  clear.client_pub = client_.public_key();
  clear.challenge_nonce = challenge.challenge_nonce;
  clear.key_index = challenge.key_index;
  clear.token = std::span<const uint8_t>(token_).first(token_bytes_);
  size_t front_bytes = wire::encode_packet_header(header, out);
  front_bytes += wire::encode_challenge_response_clear(clear, out.subspan(front_bytes));

  wire::ChallengeResponseSealed sealed;
  sealed.challenge_nonce = challenge.challenge_nonce;
  sealed.token_id = token_id_;
  sealed.schema_id = config_.schema_id;
  sealed.features = config_.features;
  sealed.max_datagram = config_.max_datagram_bytes;
  sealed.tick_rate = config_.tick_rate_hz;
  sealed.max_objects = config_.max_objects;
  sealed.placed = config_.placed;
  const size_t plaintext_bytes = wire::encode_challenge_response_sealed(sealed, out.subspan(front_bytes));
  LATTICE_CHECK(plaintext_bytes == wire::kChallengeResponseSealedBytes);

  const std::span<uint8_t> ciphertext = out.subspan(front_bytes, plaintext_bytes + crypto::kTagBytes);
  crypto::seal_in_place(crypto::client_handshake_key(candidate->prk), kHandshakeNonce, out.first(front_bytes),
                        ciphertext);
  candidate->th3 = crypto::transcript_response(th2, ciphertext);
  candidate->response_bytes = front_bytes + ciphertext.size();
  candidate->made_order = ++candidates_made_;
  candidate->send_count = 0;
  candidate->live = true;
  return true;
}

/// Messages 4 and 6: the candidate whose key opens the message has the server's challenge.
ClientResult ClientHandshake::on_answer(std::span<const uint8_t> datagram, size_t header_bytes,
                                        const wire::PacketHeader& header, uint64_t now_ns,
                                        DatagramSink& sink) {
  wire::AnswerClear clear;
  if (!wire::parse_answer_clear(datagram.subspan(header_bytes), &clear)) {
    return drop(ClientDrop::kMalformed);
  }
  const bool is_accept = clear.message == wire::HandshakeMessage::kConnectionAccepted;
  if (is_accept == (header.connection_id == 0)) return drop(ClientDrop::kMalformed);
  const std::span<const uint8_t> aad = datagram.first(datagram.size() - clear.sealed.size());
  if (telling_) return on_answer_to_difference(clear, aad);

  constexpr size_t kLongest =
      std::max(wire::kConnectionAcceptedSealedBytes, wire::kConnectionRefusedMaxSealedBytes);
  std::array<uint8_t, kLongest> plaintext;
  const size_t plaintext_bytes = clear.sealed.size() - crypto::kTagBytes;
  for (Candidate& candidate : candidates_) {
    if (!candidate.live) continue;
    const crypto::Key k4 = crypto::server_handshake_key(candidate.prk, candidate.th3, clear.accept_random);
    if (!crypto::open(k4, kHandshakeNonce, aad, clear.sealed, plaintext)) continue;
    const std::span<const uint8_t> opened = std::span(plaintext).first(plaintext_bytes);
    if (!is_accept) return on_refused(opened, candidate, now_ns, sink);
    return on_accepted(opened, clear.sealed, clear.accept_random, header.connection_id, candidate, now_ns);
  }
  return drop(ClientDrop::kAnswerNotAuthentic);
}

ClientResult ClientHandshake::on_accepted(std::span<const uint8_t> plaintext, std::span<const uint8_t> sealed,
                                          const crypto::AcceptRandom& accept_random,
                                          uint64_t header_connection_id, const Candidate& candidate,
                                          uint64_t now_ns) {
  wire::ConnectionAcceptedSealed fields;
  if (!wire::parse_connection_accepted_sealed(plaintext, &fields) ||
      fields.connection_id != header_connection_id || (fields.features & ~config_.features) != 0) {
    return drop(ClientDrop::kAnswerMismatch);  // It contains a feature that this side did not offer.
  }
  ClientResult result;
  if (fields.schema_id != config_.schema_id) {
    // An honest server refuses this by itself, so the client does not connect to a server that accepts.
    result.outcome = ClientOutcome::kRefused;
    result.reason = DisconnectReason::kSchemaMismatch;
    result.remote_schema_id = fields.schema_id;
    finish(Event::kRefuse);
    return result;
  }
  if (fields.tick_rate != config_.tick_rate_hz) {  // The same reason.
    result.outcome = ClientOutcome::kRefused;
    result.reason = DisconnectReason::kConfigMismatch;
    result.text = tick_rates_differ(fields.tick_rate, config_.tick_rate_hz);
    finish(Event::kRefuse);
    return result;
  }
  ClientAccepted accepted;
  accepted.connection_id = fields.connection_id;
  accepted.master =
      crypto::first_master(candidate.prk, crypto::transcript_accept(candidate.th3, accept_random, sealed));
  accepted.server_tick = fields.server_tick;
  accepted.mtu_hint_bytes = fields.mtu_hint;
  accepted.tick_rate_hz = fields.tick_rate;
  accepted.peer_id = fields.peer_id;
  accepted.features = fields.features;
  if (candidate.send_count == 1) accepted.first_rtt_ns = now_ns - candidate.first_sent_ns;
  accepted.most_rtt_ns = std::min(candidate.asked_for_ns, now_ns - candidate.first_sent_ns);
  result.outcome = ClientOutcome::kAccepted;
  result.accepted = std::move(accepted);
  finish(Event::kConfirm);
  return result;
}

ClientResult ClientHandshake::on_refused(std::span<const uint8_t> plaintext, Candidate& candidate,
                                         uint64_t now_ns, DatagramSink& sink) {
  wire::ConnectionRefusedSealed fields;
  if (!wire::parse_connection_refused_sealed(plaintext, &fields) || fields.reason == 0) {
    return drop(ClientDrop::kAnswerMismatch);
  }
  ClientResult result;
  result.outcome = ClientOutcome::kRefused;
  result.is_told_by_server = true;
  result.reason = reason_from_peer(crypto::Role::kServer, fields.reason);
  result.is_reason_reserved = !is_reason_of_a_peer(crypto::Role::kServer, fields.reason);
  result.remote_schema_id = fields.schema_id;
  result.text = ReasonText({reinterpret_cast<const char*>(fields.text.data()), fields.text.size()});
  refused_ = std::move(result);
  refused_under_ = candidate.made_order;
  // For another reason, or nothing is told.
  if (fields.schema_page.empty()) return leave_refused(now_ns, sink);
  if (!pages_.any()) pages_deadline_ns_ = now_ns + kSchemaPagesNs;
  pages_.take(fields);
  if (pages_.complete()) return leave_refused(now_ns, sink);
  if (pages_.take_question()) {  // the next page comes with the next refusal
    start_round(now_ns);
    send_response(candidate, now_ns, sink);
  }
  return {};
}

ClientResult ClientHandshake::leave_refused(uint64_t now_ns, DatagramSink& sink) {
  LATTICE_ASSERT(!telling_);
  if (refused_.reason != DisconnectReason::kSchemaMismatch) return end_refused();
  refused_.remote_schema_text = pages_.take_front();
  if (!config_.schema_lines || refused_.remote_schema_text.empty()) return end_refused();
  const auto candidate = std::ranges::find_if(
      candidates_, [this](const Candidate& c) { return c.live && c.made_order == refused_under_; });
  if (candidate == candidates_.end()) return end_refused();  // newer challenges took its place
  const std::string lines = config_.schema_lines(refused_.remote_schema_id, refused_.remote_schema_text);
  const auto index = static_cast<size_t>(candidate - candidates_.begin());
  if (lines.empty() || !build_difference(index, lines)) return end_refused();
  telling_->ends_ns = now_ns + kTellSchemaNs;
  start_round(now_ns);
  sink.emit(server_, std::span(telling_->datagram).first(telling_->datagram_bytes));
  return {};
}

/// Message 7. False for lines that may not be told.
bool ClientHandshake::build_difference(size_t candidate_index, std::string_view lines) {
  const Candidate& candidate = candidates_[candidate_index];
  wire::SchemaDifferenceSealed sealed;
  sealed.schema_id = config_.schema_id;
  sealed.lines = crypto::text(lines);
  std::array<uint8_t, wire::kSchemaDifferenceMaxSealedBytes> plaintext;
  const size_t plaintext_bytes = wire::encode_schema_difference_sealed(sealed, plaintext);
  if (plaintext_bytes == 0) return false;

  auto telling = std::make_unique<Telling>();
  const std::span<uint8_t> out(telling->datagram);
  wire::PacketHeader header;
  header.protocol_id = config_.protocol_id;
  wire::SchemaDifferenceClear clear;
  clear.response.client_pub = client_.public_key();
  clear.response.challenge_nonce = candidate.challenge.challenge_nonce;
  clear.response.key_index = candidate.challenge.key_index;
  clear.response.token = std::span<const uint8_t>(token_).first(token_bytes_);
  clear.salt = crypto::schema_difference_salt(candidate.prk, std::span(plaintext).first(plaintext_bytes));
  size_t front_bytes = wire::encode_packet_header(header, out);
  front_bytes += wire::encode_schema_difference_clear(clear, out.subspan(front_bytes));

  std::copy_n(plaintext.begin(), plaintext_bytes, out.subspan(front_bytes).begin());
  const std::span<uint8_t> ciphertext = out.subspan(front_bytes, plaintext_bytes + crypto::kTagBytes);
  crypto::seal_in_place(crypto::schema_difference_key(candidate.prk, clear.salt), kHandshakeNonce,
                        out.first(front_bytes), ciphertext);
  const crypto::Digest th2 =
      crypto::transcript_challenge(th1_, candidate.challenge.bucket_pub, candidate.challenge.challenge_nonce,
                                   candidate.challenge.key_index);
  telling->th7 = crypto::transcript_schema_difference(th2, clear.salt, ciphertext);
  telling->candidate = candidate_index;
  telling->datagram_bytes = front_bytes + ciphertext.size();
  telling_ = std::move(telling);
  return true;
}

/// A refusal that opens says that the server has read the message 7. Other answers are late copies.
ClientResult ClientHandshake::on_answer_to_difference(const wire::AnswerClear& clear,
                                                      std::span<const uint8_t> aad) {
  std::array<uint8_t, wire::kConnectionRefusedMaxSealedBytes> plaintext;
  const Candidate& candidate = candidates_[telling_->candidate];
  const crypto::Key k4 = crypto::server_handshake_key(candidate.prk, telling_->th7, clear.accept_random);
  if (clear.message != wire::HandshakeMessage::kConnectionRefused ||
      !crypto::open(k4, kHandshakeNonce, aad, clear.sealed, plaintext)) {
    return drop(ClientDrop::kUnexpectedMessage);
  }
  return end_refused();
}

ClientResult ClientHandshake::end_refused() {
  finish(Event::kRefuse);
  return std::move(refused_);
}

}  // namespace lattice::connection
