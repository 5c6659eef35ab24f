// Everything an Endpoint keeps about one association: handshake, keys, clocks, acks and channels. Plain
// members; the rules are in endpoint_*.cpp. Made when a connection starts, freed when it ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "reliability/ack_tracker.h"
#include "reliability/bulk_source.h"
#include "reliability/endpoint_handler.h"
#include "reliability/engine_share.h"
#include "reliability/mtu_search.h"
#include "reliability/number_skipper.h"
#include "reliability/path_validator.h"
#include "reliability/receive_channel.h"
#include "reliability/rtt_estimator.h"
#include "reliability/send_channel.h"
#include "reliability/send_governor.h"
#include "reliability/sent_packet_history.h"
#include "reliability/statistics.h"
#include "reliability/unreliable_queue.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/connection_timers.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/lifecycle.h"
#include "transport/connection/secure_link.h"
#include "transport/wire/channel_table.h"

namespace lattice::reliability {

struct ReliableChannel {
  ReliableChannel(base::BlockPool& pool, bool ordered) : send(pool), receive(pool, ordered) {}
  SendChannel send;
  ReceiveChannel receive;
};

/// Sequence state of one unreliable-sequenced channel and kind of traffic.
struct SequencedState {
  base::Sequence16 next_sent;
  base::Sequence16 last_seen;
  bool has_seen = false;
};

/// Probes of ours that were not echoed yet; the oldest is forgotten when a fifth is sent.
struct ProbeTimes {
  static constexpr size_t kKept = 4;
  std::array<uint64_t, kKept> sent_ns{};
  std::array<bool, kKept> live{};
  size_t next = 0;
};

struct Peer {
  Peer(base::BlockPool& pool, CarriedItems& items, const wire::ChannelTable& channels,
       const SendGovernor::Setup& pace)
      : history(pool, items), governor(pace), engine_queue(pool), application_queue(pool) {
    for (uint8_t i = 0; i < wire::kChannelCount; ++i) {
      if (!wire::is_reliable(channels.mode(i))) continue;
      reliable[i] =
          std::make_unique<ReliableChannel>(pool, channels.mode(i) == ChannelMode::kReliableOrdered);
    }
  }

  bool connected() const { return lifecycle.state() == connection::State::kConnected; }

  // Who and where.
  ConnectionHandle handle;
  platform::Address path;  ///< Where packets go and come from; move_path() changes it.
  bool incoming = false;
  uint64_t peer_id = 0;
  wire::Id16 player{};
  wire::Id16 session{};
  std::array<uint8_t, wire::kMaxTokenUserBytes> user_data{};
  uint16_t user_bytes = 0;
  uint32_t features = 0;
  uint32_t server_tick = 0;
  uint16_t tick_rate_hz = 0;

  // Lifecycle. `handshake` exists on a connecting client only, and then its own lifecycle is the one that
  // counts.
  connection::Lifecycle lifecycle;
  std::unique_ptr<connection::ClientHandshake> handshake;
  bool handshake_started = false;
  std::optional<connection::SecureLink> link;
  std::optional<connection::KeyRotation> rotation;  ///< Together with `link`.
  std::optional<connection::ConnectionTimers> timers;
  uint64_t accepted_at_ns = 0;
  uint64_t accepts_repeated_then =
      0;  ///< The server's count when message 4 was made: tells a clean first RTT.

  // The end.
  bool announced =
      false;  ///< on_connected() was called, or connect() returned kOk: on_disconnected() is owed.
  bool report_pending = false;
  bool is_listed = false;  ///< In Core::ending.
  connection::DisconnectReason end_reason = connection::DisconnectReason::kNone;
  uint64_t end_schema_id = 0;
  std::array<char, wire::kMaxReasonTextBytes> end_text{};
  uint8_t end_text_bytes = 0;

  // Packets.
  RttEstimator rtt;
  AckTracker acks;
  SentPacketHistory history;
  SendGovernor governor;
  NumberSkipper skipper;
  ProbeTimes probes;
  uint64_t last_sent_ns = 0;
  uint64_t last_probe_ns = 0;
  uint64_t last_payload_ns = 0;
  bool has_sent_payload = false;
  bool keepalive_wanted = false;  ///< At the next chance: on Accepted, on the first packet (H-11).
  bool echo_pending = false;
  uint64_t echo_us = 0;
  uint64_t echo_received_ns = 0;

  // The path.
  PathValidator validator;     ///< Used by the side that accepted.
  uint64_t path_since_ns = 0;  ///< Packets sent before went elsewhere.
  bool path_response_pending = false;
  PathValidator::Challenge path_response{};
  MtuSearch mtu;
  uint32_t mtu_agreed_bytes = wire::kFloorDatagramBytes;  ///< The largest datagram the peer takes.

  // Channels.
  std::array<std::unique_ptr<ReliableChannel>, wire::kChannelCount> reliable;
  std::array<SequencedState, wire::kChannelCount> sequenced{};
  SequencedState engine;  ///< Channel 1, is_snapshot.
  bool engine_sequence_used = false;
  /// Since when no message that needed memory was accepted for want of it; empty while there is enough.
  std::optional<uint64_t> memory_refused_since_ns;
  UnreliableQueue engine_queue;
  EngineShare engine_share;
  UnreliableQueue application_queue;
  BulkSource* bulk = nullptr;  ///< The endpoint's, or null.

  // Statistics.
  mutable ConnectionStats stats;
  uint64_t window_second = 0;
  uint64_t window_tracked = 0;
  uint64_t window_lost = 0;
  uint64_t window_spurious = 0;
  uint64_t window_highest = 0;
  uint64_t window_missing = 0;
};

}  // namespace lattice::reliability
