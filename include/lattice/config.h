/// @file
/// The configuration of a world. It has an _init() that fills every default and sets struct_size, and new
/// members are only appended. lattice_world_create() checks every value once; a refusal names member, value
/// and bound in lattice_last_error().
#ifndef LATTICE_CONFIG_H
#define LATTICE_CONFIG_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How important a line of the log is.
typedef enum lattice_log_level {
  LATTICE_LOG_ERROR = 0,
  LATTICE_LOG_WARNING = 1,
  LATTICE_LOG_INFO = 2,
  LATTICE_LOG_DEBUG = 3
} lattice_log_level;

/// How fast a connection may send. Either end chooses for what it sends.
typedef enum lattice_congestion_mode {
  LATTICE_CONGESTION_DELAY = 0,  ///< keeps the queue of the path short, and otherwise takes what there is
  /// 30 to 60 datagrams per second, 10 on a bad path (docs/spec/reliability.md)
  LATTICE_CONGESTION_GOOD_BAD = 1,
  LATTICE_CONGESTION_NONE = 2  ///< no limit: loopback, a LAN of one's own, measurements
} lattice_congestion_mode;

/// Called on the pumping thread. `text` is valid during the call. Must not call back into the world.
typedef void (*lattice_log_fn)(void* ctx, lattice_log_level level, const char* category, const char* text);

/// A monotonic clock in nanoseconds. Only differences matter; it may start at 0 and must never go back.
typedef uint64_t (*lattice_clock_fn)(void* ctx);

/// One share of a batch of packets to encrypt or decrypt. It may run on any thread, takes some microseconds,
/// never waits, and calls nothing of the application. Shares of one batch may run at the same time. The
/// library starts no thread of its own: docs/threads.md.
typedef void (*lattice_task_fn)(void* task, uint32_t index);

/// run(task, index) is to be called once for each index below `count` (2..256): here and now, on other
/// threads, or in lattice_finish_tasks_fn, which gets the handle that is returned; NULL is as good as any.
/// The library does a share itself that nobody ran. Called on the pumping thread from lattice_world_recv(),
/// lattice_world_tick() and lattice_world_send(), one batch at a time for each world. Must not call back into
/// the world.
typedef void* (*lattice_enqueue_tasks_fn)(void* ctx, lattice_task_fn run, void* task, uint32_t count);

/// Returns when no call of run() for `handle` is under way, and none will come. What the calls wrote must
/// then be visible to the pumping thread: the end of a lock, a join, an acquire. Called as
/// lattice_enqueue_tasks_fn is.
typedef void (*lattice_finish_tasks_fn)(void* ctx, void* handle);

/// Everything that a world can be told at its creation.
typedef struct lattice_world_config {
  uint32_t struct_size;  ///< set by lattice_world_config_init()

  // ---- Simulation ----
  uint32_t tick_rate_hz;  ///< ticks per second, 1..240, default 60; authority and client must agree
  /// at least so many snapshots per second, 1..tick_rate_hz; their interval is tick_rate_hz /
  /// snapshot_rate_hz ticks, rounded down. 0, default: 30, or tick_rate_hz where that is less; authority only
  uint32_t snapshot_rate_hz;
  uint32_t max_objects;  ///< live NetworkObjects, 1..65535, default 4096; a client's at least the authority's
  /// 1: members are rounded to their wire value after each tick, so that a correct prediction is exact. Must
  /// be alike on both ends; nothing checks it, and a difference shows as rollbacks. 0 or 1, default 1
  uint32_t quantize_simulation;
  uint64_t seed;  ///< for everything random that is not a key; default 1

  // ---- Network ----
  /// "0.0.0.0:27015", "[::]:27015"; NULL: any IPv4 address, any free port. With netsim set: the virtual
  /// address. Copied.
  const char* bind_address;
  lattice_netsim* netsim;    ///< attach to this simulated network instead of a UDP socket; default NULL
  uint32_t max_connections;  ///< 1..16384, default 64; a client needs 1
  /// requested for each direction; the OS may grant less. 4096..2^30, default 4 MiB
  uint32_t socket_buffer_bytes;
  uint32_t connect_budget_ms;  ///< how long a client tries to connect; 1000..60000, default 10000
  /// silence that ends a connection; 1000..600000, default 10000. Below 4000 only with a smaller
  /// keepalive_interval_ms
  uint32_t connection_timeout_ms;
  /// per client and snapshot, 0..2^20; 0: as much as 15 datagrams hold; default 0
  uint32_t snapshot_budget_bytes;

  /// Authority: whose tokens are honoured. 1 or 2 Ed25519 public keys, 32 bytes each, back to back. Copied.
  const uint8_t* issuer_public_keys;
  uint32_t issuer_public_key_count;    ///< how many keys, 0..2, default 0; an authority needs one
  uint32_t connects_per_s_per_prefix;  ///< handshakes per second from one /24 or /56, 1..100000, default 100
  uint32_t max_half_open_per_prefix;   ///< unconfirmed connections from one /24 or /56, 1..16384, default 4

  // ---- What a client sees ----
  /// how far in the past others are drawn, 0..1000, default 100. At least two snapshot intervals; rises by
  /// itself with jitter
  uint32_t interpolation_delay_ms;
  uint32_t extrapolation_max_ms;  ///< how long they go on without news, 0..1000, default 250
  uint32_t smoothing_tau_ms;      ///< time constant of eased corrections, 1..1000, default 60
  /// corrections beyond this many position units snap; above 0 to 1e9, default 4.0
  double snap_distance;

  // ---- Environment ----
  lattice_clock_fn clock;  ///< NULL: the platform's monotonic clock
  void* clock_ctx;         ///< handed to `clock`
  lattice_clock_fn
      unix_seconds;        ///< for token expiry; returns whole seconds since 1970. NULL: the platform's
  void* unix_seconds_ctx;  ///< handed to `unix_seconds`
  lattice_log_fn log;      ///< NULL: no log
  void* log_ctx;           ///< handed to `log`

  // ---- Sending rate ----
  uint32_t congestion_mode;  ///< a lattice_congestion_mode, default LATTICE_CONGESTION_DELAY
  /// ceiling for each connection in any mode, UDP payload bytes; 0: none, else 1200..4000000000; default 0
  uint32_t max_send_bytes_per_s;

  // ---- Large transfers (transfer.h) ----
  uint64_t max_transfer_bytes;  ///< larger ones are neither offered nor accepted; 1..2^34, default 256 MiB
  /// the channel they use, 4..13, alike on both ends: it is part of the schema; 0: none, default
  uint32_t transfer_channel;
  uint32_t reserved_transfer;  ///< 0

  // ---- Worker threads. What is sent and delivered is the same, bit for bit, for any number of them. ----
  /// threads that work at a time, the pumping one included; 1..64, default 1: the pumping thread does it all,
  /// and the rest here is not used
  uint32_t worker_count;
  lattice_enqueue_tasks_fn enqueue_tasks;  ///< needed, like the next, when worker_count is above 1
  lattice_finish_tasks_fn finish_tasks;    ///< see there
  void* tasks_ctx;                         ///< handed to both

  /// Authority: which server it is (lattice_server_identity_generate()). NULL: a new one in every process,
  /// default. A restarted server that keeps its identity has the public key its clients know. It refuses
  /// tokens issued more than 5 s before its world was created, because it no longer knows which of them were
  /// used. Read and not kept: the caller may wipe the bytes after lattice_world_create().
  const uint8_t* server_identity;  ///< LATTICE_SERVER_IDENTITY_BYTES bytes, secret

  /// Authority: 1 makes the world an issuer of its own, for development. Clients of the same user on this
  /// machine then get tokens with lattice_dev_token(), and no key is configured anywhere. The issuer's secret
  /// lies in a file that only this user can read, until the world is destroyed
  /// (lattice_world_development_file()). Only for a bind_address on 127.0.0.0/8 or [::1], and for simulated
  /// networks, where there is no file: lattice_world_create() refuses any other address. Tokens of
  /// issuer_public_keys, if given too, count as well. 0 or 1, default 0.
  uint32_t development_tokens;
  uint32_t reserved_development;  ///< 0

  // ---- Transport. Each side sets these for itself; the two sides need not agree. ----

  /// Bounds of the retransmission timeout. The upper one is also the longest interval between two repetitions
  /// of a reliable message. 5..1000, default 50; rto_min_ms..5000, default 1000.
  uint32_t rto_min_ms;
  uint32_t rto_max_ms;  ///< see rto_min_ms
  /// A side that has sent nothing for so long sends a keepalive, and the peer answers it. 100..30000 and at
  /// most connection_timeout_ms / 4, default 1000. Routers forget a silent UDP flow after 30 s or more.
  uint32_t keepalive_interval_ms;
  /// Client: time until an unanswered handshake message is first repeated. The second repetition waits twice
  /// as long, all others four times as long. 50..1000 and at most connect_budget_ms / 4, default 250.
  uint32_t connect_retry_ms;
  /// Received packets so many or more behind the newest one are refused. 64..1024, default 1024.
  uint32_t replay_window_packets;
  /// Session keys are replaced at this age, or after so many bytes of one direction, when either side wants
  /// it first; not more often than every 10 s. 10..86400, default 900; 2^20..2^32, default 2^30.
  uint32_t rekey_interval_s;
  uint64_t rekey_bytes;  ///< see rekey_interval_s
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
  /// round trips then receive whole states instead of differences. 8..64, default 64.
  uint32_t history_ticks;
  /// Client: how many inputs that were sent before and are not acknowledged each input message repeats at
  /// most. 0..31, default 31.
  uint32_t input_redundancy;
} lattice_world_config;

/// Fills every default of the first `struct_size` bytes: what lattice_world_config_init() calls with the size
/// the caller was compiled with, so that an older program's structure is never overrun.
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
