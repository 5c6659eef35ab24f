// The responder's half of the handshake (§4.2; H-01…H-11, P-03).
//
//   1 ConnectionRequest  ─▶  size, version, token layout and fields, per-prefix rate, budget
//   2 Challenge         ◀─   bucket key, cookie. No memory and no curve operation up to here
//   3 ChallengeResponse  ─▶  budget → cookie → rate → token fields → wait for its turn
//                            verify(): es, ee → open → Ed25519 → claim → admit
//   4 ConnectionAccepted ◀─  or ConnectionRefused, both sealed
//   7 SchemaDifference  ─▶   of a client refused for its schema: checked as a message 3, refused again
//
// Must stay true: nothing about a peer is kept before the cookie of its message 3 came back, and then only
// the message until it is verified (response_queue.h bounds it); no answer is larger than the message that it
// answers; a token is claimed once and only for the key it names; a refusal leaves it unclaimed; message 4 is
// sealed once per claim and then repeated byte for byte, so no key seals twice.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/path_id.h"
#include "transport/connection/bucket_keys.h"
#include "transport/connection/claim_table.h"
#include "transport/connection/datagram_sink.h"
#include "transport/connection/disconnect_reason.h"
#include "transport/connection/half_open_table.h"
#include "transport/connection/prefix_rate.h"
#include "transport/connection/rate_subject.h"
#include "transport/connection/reason_text.h"
#include "transport/connection/response_queue.h"
#include "transport/crypto/ed25519.h"
#include "transport/crypto/key_schedule.h"
#include "transport/crypto/locked.h"
#include "transport/wire/handshake_bodies.h"
#include "transport/wire/packet_header.h"
#include "transport/wire/token.h"

namespace lattice::connection {

// Why a message was refused. Down to kHalfOpenLimit the peer gets no answer; the later ones are sent to it,
// sealed.
enum class ServerRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_SERVER(id, name, text) id,
#include "base/events.def"
  kCount,
};

const char* server_refusal_name(ServerRefusal refusal);

struct ServerHandshakeConfig {
  uint32_t protocol_id = wire::kProtocolId;
  uint64_t schema_id = 0;
  /// The text that schema_id is the hash of, told to clients with another (S-44). Empty: told to nobody.
  std::string schema_text = {};
  uint32_t features = 0;            ///< Offered; the connection uses those that both sides have.
  uint16_t mtu_hint_bytes = 1200;   ///< UDP payload, 1200 … 1472.
  uint16_t tick_rate_hz = 60;       ///< A client's tick rate must be the same.
  uint32_t max_objects = 0;         ///< A client must have room for this many objects.
  wire::PlacedSummary placed = {};  ///< A client must have placed the same objects.
  uint64_t started_unix_s = 0;  ///< Tokens issued kTokenGraceS earlier are refused: their claims may be lost.
  uint32_t max_claims = 8192;   ///< Tokens remembered until expiry + 60 s; see claim_table.h for the bound.
  uint32_t max_half_open = 64;
  uint32_t max_half_open_per_prefix = 16;
  // Per rate subject, which on UDP is a /24 or /56.
  uint32_t requests_per_s = 200, request_burst = 400;    ///< Message 1.
  uint32_t responses_per_s = 100, response_burst = 200;  ///< Message 3 with a valid cookie.
  uint64_t half_open_ns = 10'000'000'000;
  // Of the whole server, as max_half_open and max_claims: each route has a part.
  /// Messages 3 whose curve operations are done (H-08), and how many of them at once.
  uint32_t verified_per_s = 500, verified_burst = 16;
  /// Messages 1 answered, and cookies of messages 3 recomputed: bounds the hashing for spoofed sources. A
  /// message beyond this rate is only received and dropped; an honest client repeats it.
  uint32_t hashed_per_s = 20'000, hashed_burst = 1000;
};

/// The current times, and the tick that a ConnectionAccepted made now carries.
struct ServerMoment {
  uint64_t now_ns = 0;
  uint64_t unix_s = 0;
  uint32_t server_tick = 0;
};

/// A client that asks to be admitted: verified, schema equal, token not yet claimed. Spans live for the call.
struct AdmissionRequest {
  base::PathId address;
  wire::TokenFields token;
  uint32_t features = 0;
  bool has_place = false;  ///< A half-open connection ends if this client is admitted.
};

/// `refusal` kNone admits. Otherwise kServerFull, kKicked or an application reason (≥ 256), with a text of at
/// most 64 bytes of UTF-8 that must outlive the call to on_datagram.
struct Admission {
  DisconnectReason refusal = DisconnectReason::kNone;
  std::string_view text;
  uint64_t peer_id = 0;
};

class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;
  /// Called once per message 3 that is about to be accepted; must not call back into the handshake.
  virtual Admission admit(const AdmissionRequest& request) = 0;
  /// False: there is no place for a newcomer unless a half-open connection ends.
  virtual bool has_place() const = 0;
  /// Called once for a client that is admitted and for which no half-open connection ends; has_place() is
  /// true.
  virtual void make_place() = 0;
};

struct ServerAccepted {
  uint64_t connection_id = 0;
  uint64_t peer_id = 0;
  crypto::Key master;  ///< m_0, for SecureLink in the role kServer.
  base::PathId address;
  crypto::PublicKey client{};
  wire::Id16 token_id{}, player{}, session{};
  std::array<uint8_t, wire::kMaxTokenUserBytes> user_data{};
  uint16_t user_bytes = 0;
  uint32_t features = 0;            ///< The features that both sides offered.
  uint16_t max_datagram_bytes = 0;  ///< What the client can receive; ≥ 1200.
};

/// Whom a refusal is about, as far as it is known.
struct RefusedPlayer {
  wire::Id16 player{};     ///< As the token says; zero when no token was read.
  bool is_proven = false;  ///< The token is the issuer's. Before that anybody may have written the name.
};

/// A client that was not let in, for the log. `text` is what the client was told, or empty; it and
/// `schema_lines` live for the call.
struct RefusedClient {
  base::PathId from;
  ServerRefusal refusal = ServerRefusal::kNone;
  std::string_view text;
  RefusedPlayer who;
  /// Not empty: the client told what differs in the schemas (message 7, S-47). Printable ASCII, tabs and line
  /// ends, at most wire::kMaxSchemaLinesBytes; whether it is true, only the client knows.
  std::string_view schema_lines = {};
};

struct ServerResult {
  ServerRefusal refusal = ServerRefusal::kNone;
  RefusedPlayer refused;
  uint64_t remote_schema_id = 0;  ///< With kSchemaMismatch: the client's schema.
  std::string schema_lines;       ///< With kSchemaMismatch: see RefusedClient.
  ReasonText text;                ///< The text sent to the client with the reason.
  std::optional<ServerAccepted> accepted;
  /// With `accepted`: the half-open connection that gave way, which is to end at once; 0: none.
  uint64_t gave_way = 0;
};

struct ServerArrival {
  ServerRefusal refusal = ServerRefusal::kNone;
  bool waits = false;  ///< A message 3 that is to be verified.
  RefusedPlayer refused = {};
  /// Who sent the message that gave way to this one. The refusal is about that one then.
  std::optional<base::PathId> displaced = std::nullopt;
};

class ServerHandshake {
 public:
  static constexpr size_t kMaxIssuers = 4;

  /// `identity` is this process's static key S, made from entropy at start and registered with the issuers;
  /// it is never stored. `issuers` (at most kMaxIssuers) sign the tokens accepted here. `socket` says how
  /// many routes there are and who the rate subjects of its paths are; null: UDP alone. `entropy`, `policy`
  /// and `socket` are borrowed and must outlive this.
  ServerHandshake(const ServerHandshakeConfig& config, crypto::KeyPair identity,
                  std::span<const crypto::PublicKey> issuers, crypto::EntropySource& entropy,
                  AdmissionPolicy& policy, const socket::DatagramSocket* socket = nullptr);

  /// The public half of S: the `aud` of every token for this process.
  const crypto::PublicKey& identity() const { return identity_->public_key(); }
  /// Replaces the accepted issuers (key rotation of the director).
  void set_issuers(std::span<const crypto::PublicKey> issuers);

  /// Takes one datagram of packet type Handshake or ChallengeResponse from the network. Answers a message 1
  /// through `sink` at most once; a message 3 or 7 waits for verify(). A refused datagram is counted under
  /// the refusal returned.
  ServerArrival on_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                            const ServerMoment& moment, DatagramSink& sink);
  /// The message 3 or 7 whose turn it is, for verify(). Nothing when none waits, or when their rate is used
  /// up.
  std::optional<ResponseQueue::Response> take_waiting(uint64_t now_ns);
  /// Whether a message 3 or 7 waits for its turn.
  bool has_waiting() const {
    return std::any_of(routes_.begin(), routes_.end(),
                       [](const Route& route) { return !route.waiting.empty(); });
  }
  /// Verifies a message 3 or 7 and answers it through `sink` at most once. A refusal is counted.
  ServerResult verify(const ResponseQueue::Response& waited, const ServerMoment& moment, DatagramSink& sink);

  /// Rotates bucket keys and drops expired claims; call about once a second.
  void update(const ServerMoment& moment);

  /// The first packet of this connection opened: it is no longer half-open.
  void on_confirmed(uint64_t connection_id) { half_open_.confirm(connection_id); }
  /// The connection is gone: from now on its message 3 gets no answer.
  void on_ended(uint64_t connection_id, uint64_t now_ns);

  uint64_t refusal_count(ServerRefusal refusal) const { return refusals_[static_cast<size_t>(refusal)]; }
  uint64_t accepted_count() const { return accepted_count_; }
  /// Messages 3 whose curve operations were done.
  uint64_t verified_count() const { return verified_count_; }
  uint64_t challenge_count() const { return challenge_count_; }
  uint64_t repeated_accept_count() const { return repeated_accept_count_; }
  uint64_t denial_count() const { return denial_count_; }
  uint32_t claim_count() const { return claims_.size(); }

 private:
  struct Issuer {
    crypto::IssuerKeyId id{};
    crypto::PublicKey key{};
  };
  struct Response;  // Message 3 or 7 as far as it has been checked.
  /// What the strangers of one route may cost. Nobody on another route can use it up.
  struct Route {
    PrefixRate request_rate, response_rate, denial_rate;
    Budget request_budget, cookie_budget, verify_budget;
    ResponseQueue waiting;
  };
  Route& route_of(const base::PathId& path);

  ServerArrival on_request(const base::PathId& from, std::span<const uint8_t> body,
                           const ServerMoment& moment, DatagramSink& sink);
  ServerArrival on_response(const base::PathId& from, std::span<const uint8_t> datagram,
                            const ServerMoment& moment);
  ServerResult verified(const ResponseQueue::Response& waited, const ServerMoment& moment,
                        DatagramSink& sink);
  void maybe_deny(const base::PathId& from, std::span<const uint8_t> datagram,
                  const wire::PacketHeader& header, uint64_t now_ns, DatagramSink& sink);
  void count(ServerRefusal refusal) {
    if (refusal != ServerRefusal::kNone) ++refusals_[static_cast<size_t>(refusal)];
  }
  ServerRefusal check_token(std::span<const uint8_t> token, const crypto::PublicKey& client, uint64_t unix_s,
                            wire::TokenFields* fields) const;
  ServerRefusal check_token_times(const wire::TokenFields& fields, uint64_t unix_s) const;
  ServerRefusal check_cookie(const base::PathId& from, const ServerMoment& moment, Response* response);
  ServerRefusal open_response(std::span<const uint8_t> datagram, Response* response);
  ServerRefusal open_difference(std::span<const uint8_t> aad, Response* response) const;
  ServerRefusal verify_signature(const Response& response) const;
  std::optional<ReasonText> config_difference(const Response& response) const;
  HalfOpenTable::Owner half_open_owner(const base::PathId& from, const Response& response) const;
  ClaimTable::Owner claim_owner(const base::PathId& from, const Response& response) const;
  ServerResult settle(const base::PathId& from, const ServerMoment& moment, Response& response,
                      DatagramSink& sink);
  ServerAccepted accept(const base::PathId& from, const ServerMoment& moment, Response& response,
                        uint64_t connection_id, uint64_t peer_id, Claim& claim, DatagramSink& sink);
  /// Sends the client a refusal, and stores its text in `result`.
  void refuse(const base::PathId& to, Response& response, DisconnectReason reason, std::string_view text,
              DatagramSink& sink, ServerResult* result);
  void add_schema_page(uint8_t of_client, wire::ConnectionRefusedSealed* refused);
  uint64_t new_connection_id();

  ServerHandshakeConfig config_;
  uint64_t started_unix_s_ = 0;
  crypto::Locked<crypto::KeyPair> identity_;
  std::array<Issuer, kMaxIssuers> issuers_{};
  size_t issuer_count_ = 0;
  crypto::EntropySource& entropy_;
  AdmissionPolicy& policy_;
  BucketKeys buckets_;
  ClaimTable claims_;
  HalfOpenTable half_open_;
  RateSubjects subjects_;
  std::vector<Route> routes_;
  size_t last_route_ = 0;  // its message was the last to be taken for verification
  std::array<uint64_t, static_cast<size_t>(ServerRefusal::kCount)> refusals_{};
  uint64_t accepted_count_ = 0;
  uint64_t verified_count_ = 0;
  uint64_t challenge_count_ = 0;
  uint64_t repeated_accept_count_ = 0;
  uint64_t denial_count_ = 0;
  /// Pages of the schema that were told, counted for the clients whose key begins with the same byte.
  std::array<uint16_t, 256> schema_pages_told_{};
};

}  // namespace lattice::connection
