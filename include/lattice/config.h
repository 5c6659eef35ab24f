/// @file
/// The configuration of a world. It has an _init() that fills every default and sets struct_size, and new
/// members are only appended. lattice_world_create() checks every value once; a refusal names member, value
/// and bound in lattice_last_error().
#ifndef LATTICE_CONFIG_H
#define LATTICE_CONFIG_H

#include "lattice/backend.h"
#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How important a line of the log is.
typedef enum lattice_log_level {
  LATTICE_LOG_ERROR = 0,    ///< something failed and the program must act
  LATTICE_LOG_WARNING = 1,  ///< something that should not happen; the world goes on
  LATTICE_LOG_INFO = 2,     ///< an event of normal operation, such as a new connection
  LATTICE_LOG_DEBUG = 3     ///< details for a developer
} lattice_log_level;

/// How fast a connection may send. Each side chooses the mode for what it sends itself.
typedef enum lattice_congestion_mode {
  LATTICE_CONGESTION_DELAY = 0,  ///< sends as fast as the path carries without a long queue
  /// 30 to 60 datagrams per second, and 10 on a bad path (docs/spec/reliability.md).
  LATTICE_CONGESTION_GOOD_BAD = 1,
  LATTICE_CONGESTION_NONE = 2  ///< no limit: for loopback, a network of your own, and measurements
} lattice_congestion_mode;

/// Which objects a client gets (interest.h).
typedef enum lattice_interest_kind {
  LATTICE_INTEREST_NONE = 0,   ///< all of them
  LATTICE_INTEREST_RULES = 1,  ///< what owner, teams, rooms and on_relevant let through, from any distance
  /// The same, and distance counts. Places lie in a grid of cubic cells: for most worlds.
  LATTICE_INTEREST_GRID = 2,
  /// The same in a tree of cubes, for worlds of sparse and crowded places far apart.
  LATTICE_INTEREST_TREE = 3
} lattice_interest_kind;

/// Gets one line of the log. `category` names a part of the library, such as "connection"; `text` is English.
/// Both are valid during the call. Called on the thread that uses the world. Must not call back into the
/// world.
typedef void (*lattice_log_fn)(void* ctx, lattice_log_level level, const char* category, const char* text);

/// Returns the time of a monotonic clock in nanoseconds. Only differences matter: the clock may start at 0
/// and must never go back.
typedef uint64_t (*lattice_clock_fn)(void* ctx);

/// Does one share of a batch: packets to encrypt or decrypt, or snapshots to build. It may run on any thread,
/// takes ten to some hundred microseconds, never waits, and calls nothing of the application. Shares of one
/// batch may run at the same time. The library starts no thread of its own: docs/threads.md.
typedef void (*lattice_task_fn)(void* task, uint32_t index);

/// Has the application call run(task, index) once for each index below `count` (2..256). The calls may happen
/// here and now, on other threads, or in lattice_finish_tasks_fn. The handle that is returned goes to
/// lattice_finish_tasks_fn; it may be NULL. The library does a share itself when nobody ran it. Called on the
/// pumping thread from lattice_world_recv(), lattice_world_tick() and lattice_world_send(), one batch at a
/// time for each world. Must not call back into the world.
typedef void* (*lattice_enqueue_tasks_fn)(void* ctx, lattice_task_fn run, void* task, uint32_t count);

/// Returns when no call of run() for `handle` is under way and none will come. The pumping thread must then
/// see everything that the calls wrote: a lock, a join or an acquire does that. Called from where
/// lattice_enqueue_tasks_fn is called. Must not call back into the world.
typedef void (*lattice_finish_tasks_fn)(void* ctx, void* handle);

/// Everything that a world can be told at its creation. Fill it with lattice_world_config_init(), then change
/// what differs from the defaults.
///
///     lattice_world_config config;
///     lattice_world_config_init(&config);
///     config.bind_address = "0.0.0.0:27015";
typedef struct lattice_world_config {
  uint32_t struct_size;  ///< set by lattice_world_config_init()

  // ---- Simulation ----
  uint32_t tick_rate_hz;  ///< ticks per second, 1..240, default 60; authority and client must agree
  /// Authority: how many snapshots per second each client gets, 1..tick_rate_hz, spread over the ticks of a
  /// second as evenly as ticks allow. 0, the default, means 30, or tick_rate_hz where that is less.
  uint32_t snapshot_rate_hz;
  /// Live objects, 1..1048576, default 4096. A client needs at least the authority's. It may show twice as
  /// many, while despawned ones still wait for their last RPCs.
  uint32_t max_objects;
  /// 1: after each tick every member is rounded to its value on the wire, so that a correct prediction is
  /// exact. 0: only types with LATTICE_TYPE_QUANTIZE_SIMULATION are rounded. Must be equal on both sides:
  /// nothing checks it, and a difference shows as rollbacks. Default 1.
  uint32_t quantize_simulation;
  /// Seeds everything random that is not a key. On a simulated network the keys follow from it too. Default
  /// 1.
  uint64_t seed;

  // ---- Network ----
  /// Where the socket listens, as "0.0.0.0:27015", or "[::]:27015" for IPv6 and IPv4. NULL, the default: any
  /// free port, for a client at any address of both families, else at any IPv4 address. With netsim set: the
  /// virtual address. Copied.
  const char* bind_address;
  lattice_netsim* netsim;    ///< attaches to this simulated network instead of a UDP socket; default NULL
  uint32_t max_connections;  ///< clients of an authority at a time, 1..16384, default 64; a client ignores it
  /// Bytes of the socket's buffer in each direction. The operating system may grant less. 4096..2^30, default
  /// 4 MiB.
  uint32_t socket_buffer_bytes;
  /// How long a client tries to connect, 1000..60000, default 10000. From the first answer of a server on, its
  /// token is good for 10 s: a longer time is of use while the server cannot be reached at all.
  uint32_t connect_budget_ms;
  /// A connection ends when nothing was heard for so long. 1000..600000, default 10000. A value below 4000
  /// needs a smaller keepalive_interval_ms.
  uint32_t connection_timeout_ms;
  /// Authority: most bytes of one snapshot for one client, 64 + 2 * predicted_set_bytes to 2^20. 0, the
  /// default: as much as 15 datagrams hold. A longer state goes in pieces; below 91 bytes it is not sent, and
  /// the refusal counter snapshot_over_budget counts it once per snapshot.
  uint32_t snapshot_budget_bytes;

  /// Authority: the Ed25519 public keys of the issuers whose tokens are honoured, 32 bytes each, back to
  /// back. Two keys let an issuer change its key. A key that is all zero is refused. Copied. NULL, the
  /// default, when the count is 0.
  const uint8_t* issuer_public_keys;
  /// How many keys there are, 0..2, default 0. An authority needs one, unless development_tokens is 1.
  uint32_t issuer_public_key_count;
  /// Authority: handshakes per second from one network, which is a /24 of IPv4 or a /56 of IPv6, or what a
  /// back end states (lattice_datagram_backend.rate_subject). 1..100000, default 100.
  uint32_t connects_per_s_per_prefix;
  /// Authority: connections from one such network whose handshake is not complete. 1..16384, default 16. One
  /// player has half as many at most. At the bound, one that is 2.5 s old ends when a client comes.
  uint32_t max_half_open_per_prefix;

  // ---- What a client sees ----
  /// How far in the past objects of others are drawn, 0..1000, default 100. The delay in use is never below
  /// two snapshot intervals, and it rises with jitter. It is never above 56 intervals between snapshots that
  /// arrive, which are 933 ms at 60 a second without loss: a client has the newest states only.
  uint32_t interpolation_delay_ms;
  uint32_t extrapolation_max_ms;  ///< how long they move on without news, 0..1000, default 250
  uint32_t smoothing_tau_ms;      ///< time constant of eased corrections, 1..1000, default 60
  /// A correction of more position units than this is shown at once instead of eased. Above 0 to 1e9, default
  /// 4.0.
  double snap_distance;

  // ---- Environment ----
  lattice_clock_fn clock;  ///< the world's clock; NULL, the default: the platform's monotonic clock
  void* clock_ctx;         ///< handed to `clock`
  /// Returns whole seconds since 1970, for the expiry of tokens. NULL, the default: the platform's clock.
  lattice_clock_fn unix_seconds;
  void* unix_seconds_ctx;  ///< handed to `unix_seconds`
  lattice_log_fn log;      ///< gets the log; NULL, the default: no log
  void* log_ctx;           ///< handed to `log`

  // ---- Sending rate ----
  uint32_t congestion_mode;  ///< a lattice_congestion_mode, default LATTICE_CONGESTION_DELAY
  /// Most bytes of UDP payload per second that each connection sends, in any mode, up to 4000000000: one
  /// ceiling, the same for all connections. 0, the default, for no ceiling. No second has more than this and
  /// what may leave at once: 2400 bytes, or, if that is more, the bytes of the time between two pumps at this
  /// rate. Acknowledgements, control messages and the search for larger datagrams may come 1200 bytes before
  /// their time. That search takes a tenth of the ceiling at most, and with less than some 70,000 it waits
  /// until the rate is not used. The handshake and the keepalives that measure the round trip are not
  /// counted. The least is what the connection needs in any case: 40 packets per second or more of 53 bytes
  /// with acknowledgements, and in them snapshots of 64 + 2 * predicted_set_bytes bytes at the snapshot rate:
  /// 5960 with the defaults. On a client inputs of 16 bytes at the tick rate: 4140. With transport_only 2120.
  /// A refusal says the least and what it is made of. Messages of the game come on top: beside many of them
  /// inputs come late, and snapshots get as little as a tenth, until the ceiling is 20000 or so. Inputs come
  /// late on a client with the least also where the authority sends many: each is repeated until a snapshot
  /// acknowledges it.
  uint32_t max_send_bytes_per_s;

  // ---- Large transfers (transfer.h) ----
  uint64_t max_transfer_bytes;  ///< a larger transfer is not offered or accepted; 1..2^34, default 256 MiB
  /// The channel of transfers, 4..13, or 0, the default, for no transfers. It is part of the schema: both
  /// sides name the same.
  uint32_t transfer_channel;
  uint32_t reserved_transfer;  ///< leave at 0

  // ---- Worker threads. What is sent and delivered is the same, bit for bit, for any number of them. ----
  /// Threads that work at a time, the pumping one included. 1..64, default 1: the pumping thread does all
  /// work, and the next three members are not used.
  uint32_t worker_count;
  lattice_enqueue_tasks_fn enqueue_tasks;  ///< starts a batch; needed when worker_count is above 1
  lattice_finish_tasks_fn finish_tasks;    ///< waits for a batch; needed when worker_count is above 1
  void* tasks_ctx;                         ///< handed to enqueue_tasks and finish_tasks

  /// Authority: the secret identity of this server, LATTICE_SERVER_IDENTITY_BYTES bytes from
  /// lattice_server_identity_generate(). NULL, the default: a new identity in every process. A server that
  /// keeps its identity over a restart has the public key that its clients know. It refuses tokens issued
  /// more than 5 s before its world was created, because it no longer knows which of them were used. The
  /// bytes are read and not kept: the caller may wipe them after lattice_world_create().
  const uint8_t* server_identity;

  /// Authority: 1 makes the world an issuer of its own, for development. Clients of the same user on this
  /// machine then get tokens with lattice_dev_token(), and no key is configured anywhere. The issuer's secret
  /// lies in a file that only this user can read, until the world is destroyed
  /// (lattice_world_development_file()). Only for a bind_address on 127.0.0.0/8 or [::1], and for simulated
  /// networks, where there is no file: lattice_world_create() refuses any other address, and back ends.
  /// Tokens of issuer_public_keys, if given too, count as well. 0 or 1, default 0.
  uint32_t development_tokens;
  uint32_t reserved_development;  ///< leave at 0

  // ---- Transport. Each side sets these for itself; the two sides need not agree. ----

  uint32_t rto_min_ms;  ///< least retransmission timeout, 5..1000, default 50
  /// Largest retransmission timeout, and longest interval between two repetitions of a reliable message.
  /// rto_min_ms..5000, default 1000.
  uint32_t rto_max_ms;
  /// A side that has sent nothing for so long sends a keepalive, and the peer answers it. 100..30000 and at
  /// most connection_timeout_ms / 4, default 1000. Routers forget a silent UDP flow after 30 s or more.
  uint32_t keepalive_interval_ms;
  /// Client: time until an unanswered handshake message is first repeated. The second repetition waits twice
  /// as long, all others four times as long. 50..1000 and at most connect_budget_ms / 4, default 250.
  uint32_t connect_retry_ms;
  /// A received packet that is so many or more behind the newest one is refused. 64..1024, default 1024.
  uint32_t replay_window_packets;
  /// Session keys are replaced at this age. The side that reaches its limit first decides, and not more often
  /// than every 10 s. 10..86400, default 900.
  uint32_t rekey_interval_s;
  uint64_t rekey_bytes;  ///< ... or after so many bytes of one direction; 2^20..2^32, default 2^30
  /// The largest datagram before the path has been measured, as UDP payload: rounded down to 1200, 1280,
  /// 1350, 1400, 1452 or 1472. Raise it only where every path carries it, as in a LAN; elsewhere large
  /// packets are lost until the connection falls back to 1200. 1200..max_datagram_bytes, default 1200.
  uint32_t initial_datagram_bytes;
  /// The largest datagram that is sent, or announced to the peer as receivable, as UDP payload. With 1200 no
  /// path is measured. 1200..1472, default 1472.
  uint32_t max_datagram_bytes;

  // ---- Prediction and history. Each side sets these for itself. ----

  /// Client: how many ticks back a prediction can be corrected. An authoritative state that is older replaces
  /// the present one. 8..256, default 64.
  uint32_t prediction_window_ticks;
  /// Authority: how many ticks of each object's past are kept. Less takes less memory; clients with longer
  /// round trips then receive whole states instead of differences. What a player saw is believed as far back
  /// (lattice_input_sight): a client whose interpolation_delay_ms and round trip are longer together is taken
  /// to have seen the oldest tick. 8..64, default 64.
  uint32_t history_ticks;
  /// Client: most inputs that an input message repeats, of those sent before and not acknowledged. 0..31,
  /// default 31.
  uint32_t input_redundancy;

  // ---- Interest (interest.h). A client ignores these. ----

  uint32_t interest_kind;  ///< Authority: a lattice_interest_kind, default LATTICE_INTEREST_NONE
  /// Authority: how long an object stays with a client at least, unless a rule hides it, it is attached to one
  /// that the client does not get, or 512 others came after it. 0..60000, default 1000.
  uint32_t interest_stay_ms;
  /// Authority: an object this near to a viewer comes, in position units. Above 0 to 1e6, default 64. The same
  /// for all viewers, and for the life of the world.
  double interest_radius;
  /// Authority: an object farther away than this goes. interest_radius..2e6. 0, the default, means 1.2 times
  /// interest_radius.
  double interest_leave_radius;
  /// Authority: edge of a cell in position units, a sixteenth of interest_leave_radius to 2e6. Movements
  /// below an eighth of it are not looked at. 0, the default, means half of interest_radius.
  double interest_cell;

  // ---- Prediction, continued. ----

  /// Client: how many ticks one lattice_world_recv() runs again to correct a prediction, beyond the ticks
  /// that ran since the one before. What is left runs in the next ones; until the present is reached, the old
  /// prediction is shown and stepped. 0..256; 0, the default, corrects at once, however many ticks that
  /// takes.
  uint32_t resimulation_budget_ticks;

  // ---- Caps and rates of snapshots. A client ignores these. ----

  /// Authority: bytes that the states of the objects that one client predicts take in a snapshot. Count what
  /// else it owns and changes as well: only a snapshot with room for all confirms what did not change. The
  /// least max_send_bytes_per_s and snapshot_budget_bytes follow from it, so that each snapshot can correct
  /// the client and has as much room for what others do. While reliable messages wait under such a cap,
  /// snapshots have a quarter of it and fewer leave. 1..65536, default 32.
  uint32_t predicted_set_bytes;
  /// Authority: within this distance states come with each snapshot, in position units. 0..interest_radius,
  /// default 0.
  double interest_near_radius;
  /// Authority: how many states per second a client gets of an object at interest_radius or farther, 1 to the
  /// snapshot rate. Between interest_near_radius and interest_radius the time between two states grows with
  /// the distance. 0, the default: as many as of a near one.
  uint32_t interest_far_rate_hz;
  uint32_t reserved_interest;  ///< leave at 0

  // ---- Connections and messages alone ----

  /// 1: this world has connections, messages and large transfers, and nothing else: no types, objects, ticks,
  /// snapshots, inputs and RPCs. Both sides must have the same: a world without types does not connect to one
  /// with types. docs/guide/transport-only.md. 0 or 1, default 0.
  uint32_t transport_only;
  /// 1: what happens to connections is recorded for lattice_world_events(), and on_connected,
  /// on_disconnected, on_message and on_receipt are not called. 0 or 1, default 0.
  uint32_t record_events;

  // ---- Back ends (backend.h) ----

  /// Other ways than UDP for datagrams: an array of pointers to back ends. The back end at index i has the
  /// route i + 1. Each route has an equal part of what a server spends on newcomers, so give no back end that
  /// nobody uses. Array and structures are copied. NULL, the default, when the count is 0.
  const lattice_datagram_backend* const* backends;
  uint32_t backend_count;  ///< how many there are, 0..7, default 0
  /// 1: the world opens no UDP socket, and only back ends carry datagrams; bind_address and netsim are NULL
  /// then. 0 or 1, default 0.
  uint32_t without_udp;
} lattice_world_config;

/// Fills the defaults of the first `struct_size` bytes. lattice_world_config_init() calls it with the size
/// the caller was compiled with, so the structure of an older program is never overrun.
/// LATTICE_ERROR_INVALID_ARGUMENT when `struct_size` is below 4 or above 4096.
LATTICE_API lattice_result lattice_world_config_init_sized(lattice_world_config* config,
                                                           uint32_t struct_size);
/// Fills every default. Call it before you set a member.
static inline void lattice_world_config_init(lattice_world_config* config) {
  lattice_world_config_init_sized(config, (uint32_t)sizeof *config);
}

#ifdef __cplusplus
}
#endif
#endif
