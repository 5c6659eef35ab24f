/// @file
/// Statistics. They are always on.
#ifndef LATTICE_STATS_H
#define LATTICE_STATS_H

#include "lattice/config.h"
#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What the congestion controller of a connection is doing.
typedef enum lattice_congestion_phase {
  LATTICE_CONGESTION_PHASE_UNLIMITED = 0,  ///< LATTICE_CONGESTION_NONE: nothing
  LATTICE_CONGESTION_PHASE_GOOD = 1,       ///< LATTICE_CONGESTION_GOOD_BAD: the path is good
  LATTICE_CONGESTION_PHASE_BAD = 2,        ///< LATTICE_CONGESTION_GOOD_BAD: the path is bad
  LATTICE_CONGESTION_PHASE_STARTUP = 3,    ///< LATTICE_CONGESTION_DELAY: doubling until a queue shows
  LATTICE_CONGESTION_PHASE_STEADY = 4,     ///< holding the queue at its target
  LATTICE_CONGESTION_PHASE_DRAIN = 5,      ///< letting the queue run empty, to measure the path without it
  LATTICE_CONGESTION_PHASE_BLACKOUT = 6    ///< nothing comes back
} lattice_congestion_phase;

/// Statistics of one connection. Counts are of its whole life.
typedef struct lattice_conn_stats {
  uint32_t struct_size;         ///< set by lattice_conn_stats_init()
  uint32_t reserved;            ///< 0
  double rtt_ms;                ///< round trip, smoothed; 0 before the first
  double rtt_variance_ms;       ///< mean deviation of round trips (rttvar of RFC 6298)
  double min_rtt_ms;            ///< shortest round trip of the last 10 s
  double rto_ms;                ///< how long an acknowledgement is waited for before sending again
  double send_loss_percent;     ///< of our datagrams, over the connection's life, by their acknowledgements
  double receive_loss_percent;  ///< of the peer's, over the connection's life, by gaps in their numbers
  uint64_t packets_sent;        ///< datagrams
  uint64_t packets_received;    ///< datagrams that opened
  uint64_t bytes_sent;          ///< UDP payload
  uint64_t bytes_received;      ///< UDP payload
  uint64_t messages_resent;     ///< reliable messages that were sent again
  uint64_t packets_lost;        ///< of packets_sent, those that were given up
  uint64_t packets_refused;     ///< replays, failed opens, bad framing
  uint32_t key_epoch;           ///< how often the keys were replaced; 0 before the first time
  uint32_t datagram_bytes;      ///< largest datagram the path is known to carry, UDP payload: 1200 to 1472
  uint64_t path_moves;          ///< how often the peer was followed to another address; 0 on a client
  double jitter_ms;             ///< mean difference of consecutive round trips, smoothed
  double send_loss_recent_percent;     ///< of our datagrams, in the last whole second that had some
  double receive_loss_recent_percent;  ///< of the peer's, in the last whole second that had some
  double queue_ms;                     ///< what a message queued now waits before it is first sent
  uint64_t queue_bytes;                ///< of messages that were never sent yet
  uint64_t send_budget_bytes_per_s;    ///< what congestion control allows now; UINT64_MAX: no limit
  uint64_t send_window_bytes;          ///< what may be in flight; UINT64_MAX: no limit
  uint64_t bytes_in_flight;            ///< sent, and neither acknowledged nor lost
  uint32_t congestion_mode;            ///< a lattice_congestion_mode
  uint32_t congestion_phase;           ///< a lattice_congestion_phase
  /// 0 to 100: 100 * L * R * J, with L = 1 - 5 * loss of the worse direction in the last second (at least 0),
  /// R = 1 - (rtt - 50 ms) / 500 ms (0.1 to 1) and J = 1 - jitter / 100 ms (0.1 to 1)
  uint32_t quality;
  uint32_t reserved_1;  ///< 0
} lattice_conn_stats;

/// All zero, with struct_size. Does nothing when `stats` is NULL. Does not set lattice_last_result().
static inline void lattice_conn_stats_init(lattice_conn_stats* stats) {
  if (stats == NULL) return;
  memset(stats, 0, sizeof *stats);
  stats->struct_size = (uint32_t)sizeof *stats;
}

/// Writes the statistics of a connection, from lattice_connect() or on_connected until on_disconnected has
/// returned. `out` must have been initialised.
LATTICE_API lattice_result lattice_conn_get_stats(lattice_conn* conn, lattice_conn_stats* out);

/// Statistics of one world. Counts are of its whole life and of all its connections.
typedef struct lattice_world_stats {
  uint32_t struct_size;       ///< set by lattice_world_stats_init()
  uint32_t tick;              ///< last tick that ran
  uint32_t connections;       ///< connected now; on a client 0 or 1
  uint32_t objects;           ///< alive now
  uint64_t packets_sent;      ///< datagrams
  uint64_t packets_received;  ///< datagrams
  uint64_t bytes_sent;        ///< UDP payload
  uint64_t bytes_received;    ///< UDP payload
  /// everything the transport refused, datagrams and messages: the sum of its counters in
  /// lattice_world_refusal()
  uint64_t datagrams_refused;
  uint64_t handshakes_refused;   ///< of those, handshake messages; lattice_world_refusal() has reasons
  uint64_t ticks_dropped_ns;     ///< time that was given up because too many ticks were due
  uint64_t inputs_received;      ///< authority: inputs that arrived, in time or late
  uint64_t inputs_used;          ///< authority: ticks that had the client's own input
  uint64_t inputs_late;          ///< authority: inputs that arrived after their tick
  uint64_t inputs_repeated;      ///< authority: ticks that used the input before, for want of a new one
  uint64_t inputs_defaulted;     ///< authority: ticks that had no input to use
  uint64_t snapshots_sent;       ///< authority
  uint64_t snapshot_bytes_sent;  ///< authority: of snapshot messages
  /// client: snapshots that arrived whole and were applied. Their rate is the server's snapshot rate; less is
  /// loss.
  uint64_t snapshots_applied;
  uint64_t rollbacks;          ///< client: corrections that replayed history
  uint64_t resimulated_ticks;  ///< client: ticks replayed for them
  /// client: corrections without a prediction to compare with: outside the prediction window, or just after
  /// joining
  uint64_t hard_resets;
  uint32_t max_rollback_ticks;       ///< client: the longest replay
  uint32_t unacked_inputs;           ///< client: inputs the next input message carries, at most 32
  uint64_t interpolation_samples;    ///< client: poses drawn from snapshots
  uint64_t interpolation_underruns;  ///< client: of those, drawn past the newest snapshot
  uint64_t clock_resyncs;            ///< client: times its clock jumped or stood still
  double interpolation_delay_ms;     ///< client: how far in the past others are drawn, now
  /// client: how early its inputs arrive, as the authority says; below 0: late
  double input_margin_ticks;
  double server_tick_estimate;  ///< client: the authority's tick now
  uint64_t rpcs_sent;           ///< RPC messages
  uint64_t rpcs_received;       ///< RPC messages
  uint64_t rpcs_refused;        ///< RPC messages not delivered; lattice_world_refusal() has reasons
} lattice_world_stats;

/// All zero, with struct_size. Does nothing when `stats` is NULL. Does not set lattice_last_result().
static inline void lattice_world_stats_init(lattice_world_stats* stats) {
  if (stats == NULL) return;
  memset(stats, 0, sizeof *stats);
  stats->struct_size = (uint32_t)sizeof *stats;
}

/// Writes the statistics of a world. `out` must have been initialised.
LATTICE_API lattice_result lattice_world_get_stats(lattice_world* world, lattice_world_stats* out);

/// Everything that came from the network and was not acted on, and what could not be sent, counted by reason
/// (docs/attack-bounds.md). Writes the value of counter `index`, counted from 0, and returns its name, which
/// lives as long as the library. NULL and LATTICE_ERROR_NOT_FOUND past the last. Names are stable and occur
/// once, such as "link_duplicate"; indexes change between versions, so look for a name.
LATTICE_API const char* lattice_world_refusal(lattice_world* world, uint32_t index, uint64_t* value);

#ifdef __cplusplus
}
#endif
#endif
