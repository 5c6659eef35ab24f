// What an endpoint is configured with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reliability/channel/receive_memory.h"
#include "reliability/channel/send_memory.h"
#include "reliability/congestion/congestion_config.h"
#include "reliability/endpoint/bulk_source.h"
#include "reliability/endpoint/caller_tasks.h"
#include "reliability/recovery/rtt_estimator.h"
#include "transport/connection/connection_timers.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/secure_link.h"
#include "transport/connection/stateless_resets.h"
#include "transport/crypto/x25519.h"
#include "transport/wire/channel_table.h"
#include "transport/wire/handshake_bodies.h"

namespace lattice::reliability {

struct EndpointConfig {
  uint32_t protocol_id = wire::kProtocolId;
  uint64_t schema_id = 0;
  std::string schema_text = {};  ///< what schema_id is the hash of; a server tells it to clients with another
  /// Offers AES-256-GCM for session packets if this processor supports it; used when the peer offers it too.
  /// It takes half the time of ChaCha20-Poly1305, which every peer supports.
  bool offer_aes256gcm = true;
  wire::ChannelTable channels;      ///< Both ends must declare the same (R-10).
  uint32_t max_connections = 1;     ///< 1 to 65536; incoming and outgoing together.
  uint16_t tick_rate_hz = 60;       ///< Both ends must have the same; a server refuses a client with another.
  uint32_t max_objects = 0;         ///< Room for objects. A server refuses a client with less room.
  wire::PlacedSummary placed = {};  ///< Objects placed before the session. Both ends must have the same.
  connection::TimerConfig timers;   ///< L-02, L-03, L-05, H-11.
  connection::RotationConfig rotation;  ///< K-04, K-07, K-08.
  connection::LinkLimits link_limits;   ///< K-04.
  uint64_t connect_budget_ns = 10'000'000'000;
  uint64_t connect_retry_ns = 250'000'000;  ///< Before message 1 or 3 is first sent again; doubles each time.
  RtoBounds rto;                            ///< R-05.
  CongestionConfig congestion;              ///< How fast each connection may send (C-01…C-03).
  /// Largest datagram this side sends, and tells peers that it can receive; UDP payload, 1200 to 1472. With
  /// 1200 there is no MTU search.
  uint32_t max_datagram_bytes = 1472;
  /// The size at which the search begins; 1200 to max_datagram_bytes. Set more than 1200 only if every path
  /// is known to carry it.
  uint32_t initial_datagram_bytes = 1200;
  uint64_t jitter_seed = 0;  ///< Seeds the handshake's retry intervals, with address and time; no secret.
  /// Source of transfer chunks, which use the remaining budget; borrowed. Null: no transfers.
  BulkSource* bulk = nullptr;
  /// Memory for queued messages beyond the share of every connection (send_memory.h), first come, first
  /// served.
  uint64_t send_growth_bytes = kSendGrowthBytes;
  /// Memory for received messages that cannot be delivered yet, beyond the share of every connection
  /// (receive_memory.h); connections use it first come, first served.
  uint64_t receive_growth_bytes = kReceiveGrowthBytes;
  /// Memory taken at create, so that a steady load within it never allocates.
  uint64_t pool_reserve_bytes_per_connection = 3u << 10;
  CallerTasks tasks;  ///< Threads that seal and open packets; the result is the same without them.

  /// Every update services every connection, not only those that have something to do. The datagrams are the
  /// same and the work is more: tests use this mode as the reference.
  bool service_all = false;

  // Incoming connections (server or host).
  bool accepts_connections = false;
  /// This process's static key; its public half is the audience of every token for this server.
  crypto::KeyPair identity;
  /// The key of stateless resets; store it together with `identity`. Absent: a new random key, so that after
  /// a restart the server cannot reset the connections of this process.
  std::optional<crypto::Key> reset_key;
  connection::ResetLimits reset_limits;
  std::vector<crypto::PublicKey> issuers;  ///< At most 4; tokens signed by another are refused.
  /// When the process started. Tokens that were issued earlier are refused, but for a few seconds. For a
  /// server that keeps its identity: the claims of its last process are lost, so older tokens might be used
  /// twice. 0: no token is refused by this rule.
  uint64_t started_unix_s = 0;
  uint32_t max_claims = 8192;              ///< Used tokens remembered; see claim_table.h.
  uint32_t max_half_open = 64;             ///< H-11.
  uint32_t max_half_open_per_prefix = 16;  ///< S-42; a load generator on one host raises it.
  uint32_t requests_per_s = 200;           ///< Per /24 or /56; a load generator raises it.
  uint32_t responses_per_s = 100;
  uint32_t verified_per_s = 500;   ///< Messages 3 of all prefixes; each costs about 0.15 ms.
  uint32_t hashed_per_s = 20'000;  ///< Per message type, all prefixes together: bounds a flood (S-10, S-12).
};

/// Null, or the field that is refused and its bound.
const char* endpoint_config_error(const EndpointConfig& config);

/// The features that this side offers in the handshake.
uint32_t offered_features(const EndpointConfig& config);

}  // namespace lattice::reliability
