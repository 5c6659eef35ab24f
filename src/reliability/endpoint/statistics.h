// The counters of an Endpoint, per connection and in total. Plain values; read them at any time between
// calls.
#pragma once

#include <cstdint>

#include "reliability/congestion/congestion_controller.h"
#include "reliability/endpoint/refusal.h"
#include "transport/connection/client_handshake.h"

namespace lattice::reliability {

/// Bytes are UDP payload bytes (header, plaintext, tag).
struct TrafficStats {
  uint64_t packets_sent = 0;
  uint64_t bytes_sent = 0;
  uint64_t packets_received = 0;  ///< Opened; forged and replayed ones are only in the refusals.
  uint64_t bytes_received = 0;
  uint64_t messages_sent = 0;      ///< First transmissions.
  uint64_t messages_resent = 0;    ///< Retransmissions.
  uint64_t messages_received = 0;  ///< Delivered to the handler.

  void add(const TrafficStats& other) {
    packets_sent += other.packets_sent;
    bytes_sent += other.bytes_sent;
    packets_received += other.packets_received;
    bytes_received += other.bytes_received;
    messages_sent += other.messages_sent;
    messages_resent += other.messages_resent;
    messages_received += other.messages_received;
  }
};

struct ConnectionStats {
  // Round trip. All zero, and rto 500 ms, before the first sample.
  uint64_t srtt_ns = 0;
  uint64_t rttvar_ns = 0;
  uint64_t rto_ns = 0;
  uint64_t min_rtt_ns = 0;  ///< Over the last 10 s.
  uint64_t latest_rtt_ns = 0;
  uint64_t rtt_samples = 0;
  uint64_t jitter_ns = 0;

  // Loss out: of packets that ask for an ack. Loss in: gaps in the numbers received.
  uint64_t packets_acked = 0;
  uint64_t packets_lost = 0;           ///< Declared lost; a late ack does not take it back.
  uint64_t packets_lost_spurious = 0;  ///< Of those, acked after all.
  /// Packet numbers below the highest received that have not arrived, less those left out, about.
  uint64_t packets_missing = 0;
  double loss_out = 0;  ///< Ratio in the last whole second that had traffic.
  double loss_in = 0;

  TrafficStats traffic;
  RefusalCounters refusals;

  uint32_t datagram_bytes = 0;  ///< Largest datagram the path is known to carry (L-06).
  uint32_t mtu_probes_sent = 0;
  uint32_t mtu_black_holes = 0;           ///< Falls back to 1200 bytes.
  uint32_t path_trials = 0;               ///< Addresses that were challenged (L-04).
  uint32_t path_moves = 0;                ///< Of those, the addresses that answered: the path moved there.
  uint32_t key_epoch = 0;                 ///< Newest epoch this side opens (K-05).
  uint32_t remote_tick = 0;               ///< From the peer's newest Keepalive.
  uint32_t reliable_messages_queued = 0;  ///< Waiting for the window or for an ack, all channels.
  uint32_t reliable_bytes_queued = 0;

  // Congestion (C-01…C-03).
  CongestionMode congestion_mode = CongestionMode::kDelay;
  CongestionPhase congestion_phase = CongestionPhase::kStartup;
  uint64_t bytes_in_flight = 0;
  uint64_t window_bytes = 0;      ///< UINT64_MAX: none.
  uint64_t rate_bytes_per_s = 0;  ///< The budget as of the last send; UINT64_MAX: none.
  uint64_t waiting_bytes = 0;     ///< Bodies that were never sent, all channels.
  uint64_t queue_ns = 0;          ///< waiting_bytes at rate_bytes_per_s: how long a new message waits.
  uint32_t quality = 0;           ///< 0 to 100: connection_quality.h; 0 unless connected.

  uint64_t connected_ns = 0;  ///< How long it has been, or was, connected.
  uint64_t silent_ns = 0;     ///< Since the last packet that opened, or since the beginning.

  bool ended_by_peer = false;  ///< The peer ended it, with reason and text of its own. Until then false.
};

struct EndpointStats {
  TrafficStats traffic;      ///< All connections, ended ones included; handshake datagrams too.
  RefusalCounters refusals;  ///< Everything refused, with or without a known connection.
  connection::ClientDropCounters client_drops;  ///< Answers that this side's own handshakes refused.
  uint64_t connections_opened = 0;
  uint64_t connections_closed = 0;
  uint32_t connections_leaving = 0;       ///< Now: this side has ended them, and the peer has not answered.
  uint64_t handshake_datagrams_sent = 0;  ///< Resets included.
  uint64_t resets_sent = 0;
  uint64_t connections_serviced = 0;  ///< By updates. An update skips a connection with nothing to do.
  uint64_t receipts_acked = 0;
  uint64_t receipts_lost = 0;
};

}  // namespace lattice::reliability
