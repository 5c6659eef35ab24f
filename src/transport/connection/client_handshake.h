// The initiator's half of the handshake (§4.2; H-04, H-05, H-12, P-03).
//
//   Connecting: send message 1, again after 250, 500, 1000 … ms ± 10 %       ── Challenge ──▶ Handshake
//   Handshake:  send message 3 of the newest Challenges, at the same times   ── 3 unanswered ──▶ Connecting
//   Either:     ends with a message 4 or 6 that opens; gives up after 10 s
//
// A client that is refused for its schema first learns the server's (schema_pages.h), then tells what differs
// with message 7, up to three times, until the server has answered.
//
// Must stay true: only a sealed answer that opens can end or steer the handshake, so no forged challenge,
// denial or acceptance can; at most 16 challenges are kept; the bytes of a message 3 depend only on its
// challenge, so they are the same when it is sent again, and when it is made again after forgeries pushed it
// out; a message 7 is made once, and its key depends on its text; the client's key, and everything derived
// from it, is erased when the handshake ends.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/counters.h"
#include "base/path_id.h"
#include "base/random.h"
#include "transport/connection/datagram_sink.h"
#include "transport/connection/disconnect_reason.h"
#include "transport/connection/lifecycle.h"
#include "transport/connection/reason_text.h"
#include "transport/connection/schema_pages.h"
#include "transport/crypto/key_schedule.h"
#include "transport/crypto/x25519.h"
#include "transport/wire/handshake_bodies.h"
#include "transport/wire/packet_header.h"
#include "transport/wire/token.h"

namespace lattice::connection {

enum class ClientDrop : uint8_t {
  kNone,
#define LATTICE_EVENT_CLIENT(id, name, text) id,
#include "base/events.def"
  kCount,
};

const char* client_drop_name(ClientDrop drop);
using ClientDropCounters = base::Counters<ClientDrop, static_cast<size_t>(ClientDrop::kCount)>;

struct ClientHandshakeConfig {
  uint32_t protocol_id = wire::kProtocolId;
  uint64_t schema_id = 0;
  uint32_t features = 0;
  uint16_t max_datagram_bytes = 1200;  ///< What this side can receive, ≥ 1200.
  uint16_t tick_rate_hz = 60;          ///< The server's tick rate must be the same.
  uint32_t max_objects = 0;            ///< Room for objects; the server may require more.
  wire::PlacedSummary placed = {};     ///< The server must have placed the same objects.
  uint64_t budget_ns = 10'000'000'000;
  /// The first interval between two sendings of one message. The second is twice as long, all later ones are
  /// four times as long.
  uint64_t first_retry_ns = 250'000'000;
  uint64_t jitter_seed = 0;  ///< Of the retry intervals; no secret.
  /// What the server is told of the difference, given its schema_id and its schema text or the front of it:
  /// lines as in message 7 (S-47), or nothing. Called once, at the end of a refusal for the schema.
  std::function<std::string(uint64_t schema_id, std::string_view text)> schema_lines = {};
};

struct ClientAccepted {
  uint64_t connection_id = 0;
  crypto::Key master;  ///< m_0, for SecureLink in the role kClient.
  uint32_t server_tick = 0;
  uint16_t mtu_hint_bytes = 0;
  uint16_t tick_rate_hz = 0;
  uint64_t peer_id = 0;
  uint32_t features = 0;
  uint64_t first_rtt_ns = 0;  ///< Message 3 to message 4 when it was sent once (Karn), else 0.
  /// From the first copy of a message to its answer: of messages 1 and 3, the shorter time.
  uint64_t most_rtt_ns = 0;
};

enum class ClientOutcome : uint8_t { kPending, kAccepted, kRefused, kGaveUp };

struct ClientResult {
  ClientOutcome outcome = ClientOutcome::kPending;
  ClientDrop drop = ClientDrop::kNone;                ///< Why the datagram was refused.
  DisconnectReason reason = DisconnectReason::kNone;  ///< With kRefused and kGaveUp.
  bool is_told_by_server = false;   ///< With kRefused: the server's message 6 has reason and text.
  bool is_reason_reserved = false;  ///< With kRefused: the server told another, which no peer may.
  uint64_t remote_schema_id = 0;    ///< With kRefused: the server's.
  /// With kRefused for another schema: the server's schema text, or the front of it, or nothing.
  std::string remote_schema_text;
  ReasonText text;  ///< With kRefused and kGaveUp.
  std::optional<ClientAccepted> accepted;
};

class ClientHandshake {
 public:
  /// Challenges that the client keeps. A newer one replaces the one that came first, so few forgeries must
  /// not push out that of the server.
  static constexpr size_t kMaxChallenges = 16;
  /// Message 3 is repeated for so many of them, those that came last.
  static constexpr size_t kRepeatedChallenges = 4;
  /// Unanswered sends of message 3 before a fresh request (H-12).
  static constexpr uint32_t kResponsesBeforeFallBack = 3;

  /// `token` is copied; `client` is the pair whose public half the token names.
  ClientHandshake(const ClientHandshakeConfig& config, const base::PathId& server,
                  std::span<const uint8_t> token, crypto::KeyPair client);

  /// Checks the token against key and configuration and sends the first request. Returns kNone, or why
  /// connecting cannot succeed: kTokenInvalid, kVersionMismatch, kSchemaMismatch (the token states another
  /// schema). Call once.
  DisconnectReason start(uint64_t now_ns, DatagramSink& sink);

  /// Takes one datagram of packet type Handshake. After a result other than kPending the object must not be
  /// used.
  ClientResult on_datagram(const base::PathId& from, std::span<const uint8_t> datagram, uint64_t now_ns,
                           DatagramSink& sink);

  /// Repeats messages that are due. At the end of the budget: kGaveUp with the most likely cause and a text
  /// (L-7). None of the causes is proved, so none ends the handshake earlier.
  ClientResult update(uint64_t now_ns, uint64_t unix_s, DatagramSink& sink);

  /// The network reports that the server's address is unreachable. The report only adds a hint to kGaveUp,
  /// because anyone can forge it.
  void on_unreachable() {
    is_unreachable_ = true;
    requests_since_report_ = 0;
  }

  /// kConnecting or kHandshake while in progress, then kConnected, kDisconnected (refused) or kTimeout.
  const Lifecycle& lifecycle() const { return lifecycle_; }
  const base::PathId& server() const { return server_; }
  /// The next time at which update() has work.
  uint64_t next_deadline_ns() const;
  uint64_t drop_count(ClientDrop drop) const { return drops_[static_cast<size_t>(drop)]; }
  size_t challenge_count() const;

  /// The application gave up: erases the keys; the lifecycle is kDisconnected.
  void cancel();

 private:
  static constexpr size_t kMaxResponseBytes = wire::kMinHeaderBytes + 32 + 16 + 1 + 2 + wire::kMaxTokenBytes +
                                              wire::kChallengeResponseSealedBytes + wire::kTagBytes;
  /// How long a client waits for the answer to its message 7.
  static constexpr uint64_t kTellSchemaNs = 1'000'000'000;
  /// How long a refused client asks for pages of the server's schema.
  static constexpr uint64_t kSchemaPagesNs = 8'000'000'000;
  /// New challenges answered per second at most; a server sends one per request.
  static constexpr uint32_t kChallengesPerSecond = 64;

  struct Candidate {
    bool live = false;
    wire::Challenge challenge;
    crypto::Key prk;
    crypto::Digest th3{};
    std::array<uint8_t, kMaxResponseBytes> response{};
    size_t response_bytes = 0;
    uint64_t made_order = 0;
    uint64_t came_order = 0;    // of the challenge; a later round may bring it again
    uint64_t asked_for_ns = 0;  // from the first message 1 of the round to the challenge
    uint64_t first_sent_ns = 0;
    uint32_t send_count = 0;
  };

  /// A message 7 that waits for its answer.
  struct Telling {
    std::array<uint8_t, wire::kMaxSchemaDifferenceBytes> datagram{};
    size_t datagram_bytes = 0;
    size_t candidate = 0;  // stays, because no challenge is taken any more
    crypto::Digest th7{};
    uint64_t ends_ns = 0;
  };

  ClientResult drop(ClientDrop reason);
  ClientResult on_challenge(std::span<const uint8_t> body, uint64_t now_ns, DatagramSink& sink);
  ClientResult on_answer(std::span<const uint8_t> datagram, size_t header_bytes,
                         const wire::PacketHeader& header, uint64_t now_ns, DatagramSink& sink);
  ClientResult on_accepted(std::span<const uint8_t> plaintext, std::span<const uint8_t> sealed,
                           const crypto::AcceptRandom& accept_random, uint64_t header_connection_id,
                           const Candidate& candidate, uint64_t now_ns);
  ClientResult on_refused(std::span<const uint8_t> plaintext, Candidate& candidate, uint64_t now_ns,
                          DatagramSink& sink);
  /// The client has what it gets of the server's schema: tells what differs, or ends.
  ClientResult leave_refused(uint64_t now_ns, DatagramSink& sink);
  ClientResult end_refused();
  bool build_difference(size_t candidate_index, std::string_view lines);
  ClientResult on_answer_to_difference(const wire::AnswerClear& clear, std::span<const uint8_t> aad);
  ClientResult on_denied(std::span<const uint8_t> body);
  Candidate* find_candidate(const wire::Challenge& challenge);
  bool build_response(const wire::Challenge& challenge, Candidate* candidate);
  bool take_challenge_allowance(uint64_t now_ns);
  void send_request(DatagramSink& sink);
  void send_response(Candidate& candidate, uint64_t now_ns, DatagramSink& sink);
  void repeat_responses(uint64_t now_ns, DatagramSink& sink);
  void start_round(uint64_t now_ns);
  void schedule_retry(uint64_t now_ns);
  ClientResult give_up(uint64_t unix_s);
  bool looks_expired(uint64_t unix_s) const;
  void finish(Event event);

  ClientHandshakeConfig config_;
  base::PathId server_;
  crypto::KeyPair client_;
  std::array<uint8_t, wire::kMaxTokenBytes> token_{};
  size_t token_bytes_ = 0;
  wire::Id16 token_id_{};
  wire::TokenEcho token_echo_{};
  crypto::Digest th1_{};
  crypto::Key es_;
  uint64_t token_expires_s_ = 0;

  Lifecycle lifecycle_;
  base::Random jitter_;
  std::array<Candidate, kMaxChallenges> candidates_;
  uint64_t candidates_made_ = 0;
  uint64_t challenges_came_ = 0;
  uint64_t started_ns_ = 0;
  uint64_t asked_ns_ = 0;  // when the present round of messages 1 began
  uint64_t retry_at_ns_ = 0;
  uint32_t retry_count_ = 0;  // k of the interval, from the last change of state.
  bool was_challenged_ = false;
  // Reported: no datagram came from the server since, and requests went without a report no more than thrice.
  bool is_unreachable_ = false;
  uint32_t requests_since_report_ = 0;
  uint64_t allowance_second_ = 0;
  uint32_t allowance_used_ = 0;
  DisconnectReason advisory_ = DisconnectReason::kNone;
  uint32_t denied_protocol_id_ = 0;  ///< What the denying server speaks.
  SchemaPages pages_;
  ClientResult refused_;        // while pages are awaited, and while the server is told
  uint64_t refused_under_ = 0;  // made_order of the candidate
  std::unique_ptr<Telling> telling_;
  uint64_t pages_deadline_ns_ = 0;
  std::array<uint64_t, static_cast<size_t>(ClientDrop::kCount)> drops_{};
};

}  // namespace lattice::connection
