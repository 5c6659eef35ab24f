/// @file
/// Statistics. They are always on. docs/guide/statistics.md explains each number.
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
  LATTICE_CONGESTION_PHASE_UNLIMITED = 0,  ///< LATTICE_CONGESTION_NONE: it limits nothing
  LATTICE_CONGESTION_PHASE_GOOD = 1,       ///< LATTICE_CONGESTION_GOOD_BAD: the path is good
  LATTICE_CONGESTION_PHASE_BAD = 2,        ///< LATTICE_CONGESTION_GOOD_BAD: the path is bad
  /// LATTICE_CONGESTION_DELAY: it doubles the rate until a queue shows.
  LATTICE_CONGESTION_PHASE_STARTUP = 3,
  LATTICE_CONGESTION_PHASE_STEADY = 4,  ///< LATTICE_CONGESTION_DELAY: it holds the queue at its target
  /// LATTICE_CONGESTION_DELAY: it lets the queue run empty to measure the path without it.
  LATTICE_CONGESTION_PHASE_DRAIN = 5,
  LATTICE_CONGESTION_PHASE_BLACKOUT = 6  ///< LATTICE_CONGESTION_DELAY: nothing comes back from the peer
} lattice_congestion_phase;

/// Statistics of one connection. A count is of the whole life of the connection.
typedef struct lattice_conn_stats {
  uint32_t struct_size;         ///< set by lattice_conn_stats_init()
  uint32_t reserved;            ///< always 0
  double rtt_ms;                ///< round-trip time, smoothed; 0 before the first sample
  double rtt_variance_ms;       ///< mean deviation of round trips (rttvar of RFC 6298)
  double min_rtt_ms;            ///< shortest round trip of the last 10 s
  double rto_ms;                ///< how long a message waits for its acknowledgement before it is sent again
  double send_loss_percent;     ///< share of our datagrams that was lost, over the life of the connection
  double receive_loss_percent;  ///< share of the peer's datagrams that is missing, over the same time
  uint64_t packets_sent;        ///< datagrams sent
  uint64_t packets_received;    ///< datagrams received and authenticated
  uint64_t bytes_sent;          ///< bytes of UDP payload sent
  uint64_t bytes_received;      ///< bytes of UDP payload received
  uint64_t messages_resent;     ///< reliable messages that were sent again
  uint64_t packets_lost;        ///< datagrams of packets_sent that count as lost
  uint64_t packets_refused;     ///< packets and messages refused: copies, forgeries, bad framing
  uint32_t key_epoch;           ///< how often the keys were replaced; 0 before the first time
  uint32_t datagram_bytes;      ///< largest datagram the path is known to carry, UDP payload: 1200 to 1472
  uint64_t path_moves;          ///< how often the client came from a new address; 0 on a client
  double jitter_ms;             ///< mean difference of consecutive round trips, smoothed
  double send_loss_recent_percent;     ///< send_loss_percent of the last whole second with datagrams
  double receive_loss_recent_percent;  ///< receive_loss_percent of the last whole second with datagrams
  double queue_ms;                     ///< how long all that waits now takes to leave for the first time
  uint64_t queue_bytes;                ///< bytes of messages that were not sent yet
  uint64_t send_budget_bytes_per_s;    ///< rate that congestion control allows; UINT64_MAX: no limit
  uint64_t send_window_bytes;          ///< bytes that may be in flight; UINT64_MAX: no limit
  uint64_t bytes_in_flight;            ///< bytes sent, and neither acknowledged nor lost
  uint32_t congestion_mode;            ///< a lattice_congestion_mode, as configured
  uint32_t congestion_phase;           ///< a lattice_congestion_phase, now
  /// How good the connection is, 0 to 100; 0 while there is none yet, or none any more. 100 * L * R * J, with
  /// L = 1 - 5 * loss of the worse direction in the last second (at least 0), R = 1 - (rtt - 50 ms) / 500 ms
  /// (0.1 to 1) and J = 1 - jitter / 100 ms (0.1 to 1)
  uint32_t quality;
  uint32_t reserved_1;  ///< always 0
  double connected_ms;  ///< since on_connected; 0 before
  double silent_ms;     ///< since the last packet of the peer that was authenticated; 0 before the first
} lattice_conn_stats;

/// All zero, with struct_size. Does nothing when `stats` is NULL. Does not set lattice_last_result().
static inline void lattice_conn_stats_init(lattice_conn_stats* stats) {
  if (stats == NULL) return;
  memset(stats, 0, sizeof *stats);
  stats->struct_size = (uint32_t)sizeof *stats;
}

/// Writes the statistics of a connection, from lattice_connect() or on_connected until on_disconnected has
/// returned; with record_events for as long as lattice_conn_get_info(). `out` must have been initialised.
///
///     lattice_conn_stats stats;
///     lattice_conn_stats_init(&stats);
///     if (lattice_conn_get_stats(conn, &stats) == LATTICE_OK) printf("%.0f ms\n", stats.rtt_ms);
LATTICE_API lattice_result lattice_conn_get_stats(lattice_conn* conn, lattice_conn_stats* out);

/// Statistics of one world. A count is of the whole life of the world and of all its connections.
typedef struct lattice_world_stats {
  uint32_t struct_size;       ///< set by lattice_world_stats_init()
  uint32_t tick;              ///< the last tick that ran
  uint32_t connections;       ///< connections that are established now; on a client 0 or 1
  uint32_t objects;           ///< objects that are alive now
  uint64_t packets_sent;      ///< packets of connections; handshakes are not counted
  uint64_t packets_received;  ///< packets received and authenticated, without handshakes
  uint64_t bytes_sent;        ///< bytes of UDP payload sent
  uint64_t bytes_received;    ///< bytes of UDP payload received
  /// Datagrams and messages that the transport refused: the sum of its counters in lattice_world_refusal().
  uint64_t datagrams_refused;
  uint64_t handshakes_refused;  ///< handshake messages among those; lattice_world_refusal() has reasons
  uint64_t ticks_dropped_ns;    ///< simulated time given up because too many ticks were due
  uint64_t inputs_received;     ///< authority: inputs that arrived, in time or late; copies are not counted
  uint64_t inputs_used;         ///< authority: ticks that had the client's own input
  uint64_t inputs_late;         ///< authority: inputs that arrived after their tick
  uint64_t inputs_repeated;   ///< authority: ticks that used the input before, because the new one is missing
  uint64_t inputs_defaulted;  ///< authority: ticks that had no input of the client to use
  uint64_t snapshots_sent;    ///< authority: snapshots to all clients
  uint64_t snapshot_bytes_sent;  ///< authority: bytes of those snapshots, without headers of packets
  /// Client: snapshots that arrived whole and were applied. A rate below the server's snapshot rate is loss.
  uint64_t snapshots_applied;
  uint64_t rollbacks;          ///< client: corrections that ran past ticks again
  uint64_t resimulated_ticks;  ///< client: ticks that ran again in those corrections
  /// Client: corrections without a prediction to compare with. The object had just appeared; or the state was
  /// of a tick that this client had not run yet, after a pause longer than its lead; or it was older than the
  /// prediction window.
  uint64_t hard_resets;
  uint32_t max_rollback_ticks;       ///< client: most ticks that one correction ran again
  uint32_t unacked_inputs;           ///< client: inputs that the next input message carries, at most 32
  uint64_t interpolation_samples;    ///< client: poses drawn from snapshots
  uint64_t interpolation_underruns;  ///< client: of those, with no word of what comes next or that it rests
  uint64_t clock_resyncs;            ///< client: how often its clock jumped or stood still
  double interpolation_delay_ms;     ///< client: how far in the past others are drawn; 0 before that
  /// Client: how many ticks early its inputs arrive, as the authority reports. Below 0: they arrive late.
  double input_margin_ticks;
  double server_tick_estimate;  ///< client: the authority's tick, as its snapshots reach this client now
  uint64_t rpcs_sent;           ///< RPCs sent
  uint64_t rpcs_received;       ///< RPCs received, those refused afterwards included
  uint64_t rpcs_refused;        ///< RPCs not delivered; lattice_world_refusal() has reasons
  /// Authority: handshake messages whose keys and signature were checked, about 0.15 ms each. Strangers can
  /// cause them, 500 a second at most with the default configuration.
  uint64_t handshakes_verified;
  /// Longest time from the beginning of a pump to the beginning of the next, in the last 5 to 10 s: whatever
  /// kept the program from pumping. 0 before the second pump.
  uint64_t pump_gap_max_ns;
  /// Connections that this side has ended and whose peer has not answered that yet. A program that ends pumps
  /// until it is 0: within a round trip, or within a second if the peer is gone.
  uint32_t connections_leaving;
  uint32_t reserved;  ///< 0
} lattice_world_stats;

/// All zero, with struct_size. Does nothing when `stats` is NULL. Does not set lattice_last_result().
static inline void lattice_world_stats_init(lattice_world_stats* stats) {
  if (stats == NULL) return;
  memset(stats, 0, sizeof *stats);
  stats->struct_size = (uint32_t)sizeof *stats;
}

/// Writes the statistics of a world. `out` must have been initialised.
///
///     lattice_world_stats stats;
///     lattice_world_stats_init(&stats);
///     if (lattice_world_get_stats(world, &stats) == LATTICE_OK) printf("tick %u\n", (unsigned)stats.tick);
LATTICE_API lattice_result lattice_world_get_stats(lattice_world* world, lattice_world_stats* out);

/// What a client received about the objects of one type, since its connection began.
typedef struct lattice_type_stats {
  uint32_t struct_size;       ///< set by lattice_type_stats_init()
  uint32_t objects;           ///< objects of the type that are alive here now
  uint64_t entries_received;  ///< client: entries of snapshots about such objects
  /// Client: bits of those entries. Not in it: what the entries of a block share, and the headers of packets.
  uint64_t bits_received;
} lattice_type_stats;

/// All zero, with struct_size. Does nothing when `stats` is NULL. Does not set lattice_last_result().
static inline void lattice_type_stats_init(lattice_type_stats* stats) {
  if (stats == NULL) return;
  memset(stats, 0, sizeof *stats);
  stats->struct_size = (uint32_t)sizeof *stats;
}

/// Writes the statistics of one type of objects. `out` must have been initialised. LATTICE_ERROR_NOT_FOUND
/// for a type that is not registered. Costs a walk over all objects.
///
///     lattice_type_stats pawns;
///     lattice_type_stats_init(&pawns);
///     if (lattice_world_get_type_stats(world, PAWN_TYPE, &pawns) == LATTICE_OK)
///       printf("%llu bytes\n", (unsigned long long)(pawns.bits_received / 8));
LATTICE_API lattice_result lattice_world_get_type_stats(lattice_world* world, uint32_t type_id,
                                                        lattice_type_stats* out);

/// How far one member of one type of objects was predicted wrong, since this was last taken.
typedef struct lattice_prediction_error {
  uint32_t struct_size;  ///< set by lattice_prediction_error_init()
  uint32_t type_id;      ///< the type of the objects
  uint32_t prop_id;      ///< the member, as lattice_set_prop() takes it
  uint32_t worst_tick;   ///< the tick of `worst`
  uint64_t count;        ///< states of which the prediction of this member was wrong
  /// The largest error, in the unit of the member: the difference of two numbers, the length of the
  /// difference of two vectors, the angle between two rotations in radians. Of a struct or an array it is the
  /// largest of what is within, and of a custom value what its `distance` says. It is 1 for what has no
  /// distance: bools, enums, texts, bytes, custom values without one, lists, maps and unions.
  double worst;
  lattice_netid worst_object;  ///< the object of `worst`, which may be gone
  /// "behaviour.member", such as "PawnState.position". Valid as long as the world.
  const char* member;
} lattice_prediction_error;

/// All zero, with struct_size. Does nothing when `error` is NULL. Does not set lattice_last_result().
static inline void lattice_prediction_error_init(lattice_prediction_error* error) {
  if (error == NULL) return;
  memset(error, 0, sizeof *error);
  error->struct_size = (uint32_t)sizeof *error;
}

/// Client: takes the prediction errors of one member: writes them to `out`, which must have been initialised,
/// and begins to count them anew. Call it until there are no more. Counting is always on and costs nothing
/// while predictions are right. An error is what causes a rollback: a difference to the authority's state of
/// more than one step of the member's precision. Members with LATTICE_MEMBER_NOT_PREDICTED have none.
///
/// LATTICE_ERROR_NOT_FOUND when there are no more, which is always so on an authority.
///
///     lattice_prediction_error error;
///     lattice_prediction_error_init(&error);
///     while (lattice_world_take_prediction_error(world, &error) == LATTICE_OK)
///       printf("%s was up to %g off, in tick %u\n", error.member, error.worst, (unsigned)error.worst_tick);
LATTICE_API lattice_result lattice_world_take_prediction_error(lattice_world* world,
                                                               lattice_prediction_error* out);

/// Reads a counter of what came from the network and was not acted on, or could not be sent. There is one
/// counter for each reason (docs/attack-bounds.md). Writes the value of counter `index`, counted from 0, and
/// returns its name, which lives as long as the library. NULL and LATTICE_ERROR_NOT_FOUND past the last.
/// Names are stable and occur once, such as "link_duplicate"; indexes change between versions, so look for a
/// name.
///
///     uint64_t count;
///     const char* name;
///     for (uint32_t i = 0; (name = lattice_world_refusal(world, i, &count)) != NULL; ++i) {
///       if (count != 0) printf("%s: %llu\n", name, (unsigned long long)count);
///     }
LATTICE_API const char* lattice_world_refusal(lattice_world* world, uint32_t index, uint64_t* value);

/// What the counter of that name says: a sentence, in English, that lives as long as the library. It says
/// what happened and, where that is clear, whether it is normal or what to do. docs/guide/refusals.md lists
/// all. NULL and LATTICE_ERROR_NOT_FOUND when no counter has the name, NULL and
/// LATTICE_ERROR_INVALID_ARGUMENT for NULL. May be called from any thread.
///
///     printf("%s: %s\n", name, lattice_refusal_text(name));
LATTICE_API const char* lattice_refusal_text(const char* counter);

#ifdef __cplusplus
}
#endif
#endif
