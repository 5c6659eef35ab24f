// All state of one connection: handshake, keys, clocks, acks and channels. Plain members; the rules are in
// endpoint_*.cpp. Made when a connection starts, freed when it ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/late.h"
#include "reliability/channel/incoming_channels.h"
#include "reliability/channel/outgoing_channels.h"
#include "reliability/congestion/pacer.h"
#include "reliability/endpoint/bulk_source.h"
#include "reliability/endpoint/connection_end.h"
#include "reliability/endpoint/endpoint_handler.h"
#include "reliability/endpoint/statistics.h"
#include "reliability/path/path.h"
#include "reliability/recovery/ack_block_order.h"
#include "reliability/recovery/ack_tracker.h"
#include "reliability/recovery/loss_meter.h"
#include "reliability/recovery/number_skipper.h"
#include "reliability/recovery/probes.h"
#include "reliability/recovery/rtt_estimator.h"
#include "reliability/recovery/sent_packet_history.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/connection_timers.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/lifecycle.h"
#include "transport/connection/secure_link.h"
#include "transport/wire/channel_table.h"
#include "transport/wire/stateless_reset.h"

namespace lattice::reliability {

struct alignas(64) Peer {
  Peer(base::BufferPool& pool, ReceiveMemory& memory, CarriedItems& items, const wire::ChannelTable& channels,
       const Pacer::Setup& pace, const RtoBounds& rto)
      : history(pool, items),
        pacer(pace),
        rtt(rto),
        outgoing_channels(pool, channels, rto.max_ns),
        incoming_channels(pool, memory, channels) {}

  bool connected() const { return lifecycle.state() == connection::State::kConnected; }

  // The members that every packet reads come first, in the order of reading. With hundreds of connections
  // none of them is in the cache when the peer is processed, and each cache line is waited for
  // (peer_prefetch.h).
  ConnectionHandle handle;
  Path path;
  bool incoming = false;
  // Lifecycle. `handshake` exists on a connecting client only; while it exists, its own lifecycle counts.
  connection::Lifecycle lifecycle;
  bool is_listed = false;  ///< In Core::ending.
  std::unique_ptr<connection::ClientHandshake> handshake;
  base::Late<connection::ConnectionTimers> timers;  ///< Together with `link`.
  TrafficStats traffic;
  AckTracker acks;
  SentPacketHistory history;
  AckBlockOrder ack_block_order;
  Pacer pacer;
  NumberSkipper skipper;
  RttEstimator rtt;
  LossMeter losses;
  OutgoingChannels outgoing_channels;
  Probes probes;
  base::Late<connection::KeyRotation> rotation;  ///< Together with `link`.
  base::Late<connection::SecureLink> link;

  // Who.
  uint64_t peer_id = 0;
  wire::Id16 player{};
  wire::Id16 session{};
  std::array<uint8_t, wire::kMaxTokenUserBytes> user_data{};
  uint16_t user_bytes = 0;
  uint32_t features = 0;
  uint32_t server_tick = 0;
  uint16_t tick_rate_hz = 0;

  // The beginning.
  bool handshake_started = false;
  /// The server's count when message 4 was made. If it has not changed, message 4 gives a first RTT sample.
  uint64_t accepts_repeated_then = 0;

  // The end.
  std::optional<wire::ResetToken> reset_token;  ///< On a client, once the server has sent it.
  /// Announced when on_connected() was called, or connect() returned kOk: on_disconnected() is owed.
  ConnectionEnd end;

  IncomingChannels incoming_channels;
  BulkSource* bulk = nullptr;  ///< The endpoint's, or null.

  // Statistics; traffic, round trips, losses and queues are filled in by stats_of().
  mutable ConnectionStats stats;
};

/// Deleter of a Peer in memory that it does not own.
struct DestroyPeer {
  void operator()(Peer* peer) const { std::destroy_at(peer); }
};
using PlacedPeer = std::unique_ptr<Peer, DestroyPeer>;

}  // namespace lattice::reliability
