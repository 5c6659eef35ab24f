// All state of one connection: handshake, keys, clocks, acks and channels. Plain members; the rules are in
// endpoint_*.cpp. Made when a connection starts, freed when it ends.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/late.h"
#include "reliability/ack_block_order.h"
#include "reliability/ack_tracker.h"
#include "reliability/bulk_source.h"
#include "reliability/endpoint_handler.h"
#include "reliability/engine_share.h"
#include "reliability/loss_meter.h"
#include "reliability/mtu_search.h"
#include "reliability/number_skipper.h"
#include "reliability/pacer.h"
#include "reliability/path_validator.h"
#include "reliability/receive_channel.h"
#include "reliability/rtt_estimator.h"
#include "reliability/send_channel.h"
#include "reliability/sent_packet_history.h"
#include "reliability/statistics.h"
#include "reliability/unreliable_queue.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/connection_timers.h"
#include "transport/connection/key_rotation.h"
#include "transport/connection/lifecycle.h"
#include "transport/connection/secure_link.h"
#include "transport/wire/channel_table.h"
#include "transport/wire/stateless_reset.h"

namespace lattice::reliability {

/// Calls visit(number) for each bit that is set, lowest first.
template <class Visit>
void for_each_bit(uint32_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<uint8_t>(std::countr_zero(bits)));
}

struct ReliableChannel {
  ReliableChannel(base::BufferPool& pool, ReceiveMemory& memory, bool ordered,
                  uint64_t max_resend_interval_ns)
      : send(pool, max_resend_interval_ns), receive(pool, memory, ordered) {}
  SendChannel send;
  ReceiveChannel receive;
};

/// Sequence state of one unreliable-sequenced channel and kind of traffic.
struct SequencedState {
  base::Sequence16 next_sent;
  base::Sequence16 last_seen;
  bool has_seen = false;
  uint64_t seen_in = 0;  ///< Number of the packet that carried last_seen.

  /// Later packets carry later sequences. Two sequences are compared only if they cannot have wrapped.
  bool is_news(base::Sequence16 id, uint64_t packet_seq) const {
    return !has_seen || packet_seq > seen_in + kMaxNumberedPackets || base::sequence_greater(id, last_seen);
  }
  void note(base::Sequence16 id, uint64_t packet_seq) {
    last_seen = id;
    has_seen = true;
    seen_in = packet_seq;
  }
};

/// This side's probes that were not echoed yet; a fifth probe replaces the oldest.
struct ProbeTimes {
  static constexpr size_t kKept = 4;
  std::array<uint64_t, kKept> sent_ns{};
  std::array<uint64_t, kKept> packet_seq{};
  std::array<bool, kKept> live{};
  size_t next = 0;

  void note(uint64_t now_ns, uint64_t packet) {
    sent_ns[next] = now_ns;
    packet_seq[next] = packet;
    live[next] = true;
    next = (next + 1) % kKept;
  }
};

struct alignas(64) Peer {
  Peer(base::BufferPool& pool, ReceiveMemory& memory, CarriedItems& items, const wire::ChannelTable& channels,
       const Pacer::Setup& pace, const RtoBounds& rto)
      : history(pool, items), pacer(pace), engine_queue(pool), application_queue(pool), rtt(rto) {
    for (uint8_t i = 0; i < wire::kChannelCount; ++i) {
      if (!wire::is_reliable(channels.mode(i))) continue;
      reliable[i] = std::make_unique<ReliableChannel>(
          pool, memory, channels.mode(i) == ChannelMode::kReliableOrdered, rto.max_ns);
    }
  }

  /// The channel to queue a message in. Every queueing goes through here, so that sending_channels is
  /// complete.
  SendChannel& channel_to_send(uint8_t channel) {
    sending_channels |= uint32_t{1} << channel;
    return reliable[channel]->send;
  }

  bool connected() const { return lifecycle.state() == connection::State::kConnected; }

  // The members that every packet reads come first, in the order of reading. With hundreds of connections
  // none of them is in the cache when the peer is processed, and each cache line is waited for
  // (peer_prefetch.h).
  ConnectionHandle handle;
  platform::Address path;  ///< Where packets go and come from; move_path() changes it.
  bool incoming = false;
  // Lifecycle. `handshake` exists on a connecting client only; while it exists, its own lifecycle counts.
  connection::Lifecycle lifecycle;
  bool is_listed = false;         ///< In Core::ending.
  bool keepalive_wanted = false;  ///< Send one at the next chance: on Accepted, on the first packet (H-11).
  bool echo_pending = false;
  bool path_response_pending = false;
  bool has_sent_payload = false;
  bool engine_sequence_used = false;
  /// One bit per reliable channel that may have a message to send or to be acked. Updates clear the bits of
  /// idle channels. Most channels are idle most of the time, and updates skip them.
  uint32_t sending_channels = 0;
  std::unique_ptr<connection::ClientHandshake> handshake;
  base::Late<connection::ConnectionTimers> timers;  ///< Together with `link`.
  TrafficStats traffic;
  uint64_t last_sent_ns = 0;
  uint64_t last_probe_ns = 0;
  uint64_t last_payload_ns = 0;
  uint64_t accepted_at_ns = 0;
  uint64_t path_since_ns = 0;  ///< Packets sent before this time went to the old address.
  AckTracker acks;
  SentPacketHistory history;
  AckBlockOrder ack_block_order;
  Pacer pacer;
  UnreliableQueue engine_queue;
  UnreliableQueue application_queue;
  EngineShare engine_share;
  NumberSkipper skipper;
  MtuSearch mtu;
  PathValidator validator;  ///< Used by the side that accepted.
  RttEstimator rtt;
  LossMeter losses;
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
  bool announced =
      false;  ///< on_connected() was called, or connect() returned kOk: on_disconnected() is owed.
  bool report_pending = false;
  connection::DisconnectReason end_reason = connection::DisconnectReason::kNone;
  uint64_t end_schema_id = 0;
  std::array<char, wire::kMaxReasonTextBytes> end_text{};
  uint8_t end_text_bytes = 0;

  // Keepalives and their answers.
  ProbeTimes probes;
  uint64_t echo_us = 0;
  uint64_t echo_received_ns = 0;
  PathValidator::Challenge path_response{};
  uint32_t mtu_agreed_bytes = wire::kFloorDatagramBytes;  ///< The largest datagram the peer takes.

  // Channels.
  std::array<std::unique_ptr<ReliableChannel>, wire::kChannelCount> reliable;
  std::array<SequencedState, wire::kChannelCount> sequenced{};
  SequencedState engine;       ///< Channel 1, is_snapshot.
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
