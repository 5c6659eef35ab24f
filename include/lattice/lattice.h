/* Lattice: the whole public C interface (§19). C17 and C++.
 *
 * One world is used from one thread at a time; different worlds are independent (B-05). The pump order
 * is fixed: lattice_world_recv, then lattice_world_tick once per simulation step that is due, then
 * lattice_world_send; nothing blocks. Callbacks run inside the pump on the calling thread and may call
 * anything except the pump and lattice_world_destroy; spawns, despawns and disconnects made inside a
 * callback take effect at the end of the current phase (B-04). The core copies what it keeps. */
#ifndef LATTICE_LATTICE_H
#define LATTICE_LATTICE_H

#include "lattice/config.h"
#include "lattice/result.h"
#include "lattice/schema.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_ABI_VERSION 1u
#define LATTICE_KEY_BYTES 32u
#define LATTICE_SERVER_IDENTITY_BYTES 64u
#define LATTICE_TOKEN_MAX_BYTES 480u
#define LATTICE_TOKEN_USER_DATA_MAX_BYTES 256u
#define LATTICE_MESSAGE_MAX_BYTES 290816u /* of lattice_send(): 256 fragments of 1136 bytes (F-05) */

/* LATTICE_ABI_VERSION of the library that is loaded; compare before anything else. */
LATTICE_API uint32_t lattice_abi_version(void);
/* "0.1.0" style version of the library. */
LATTICE_API const char* lattice_version(void);

/* ---- Worlds ------------------------------------------------------------------------------------ */

/* Makes a world and opens its socket. NULL on failure; lattice_last_result() and lattice_last_error()
 * say why. The schema must be registered before the first pump or lattice_connect(). */
LATTICE_API lattice_world* lattice_world_create(const lattice_world_config* config,
                                                const lattice_role_context* role);
/* Ends every connection without ceremony and frees everything. Call lattice_disconnect() and pump for
 * 200 ms first for a graceful end. A stale handle is ignored. */
LATTICE_API void lattice_world_destroy(lattice_world* world);

/* "127.0.0.1:27015": the address the socket is bound to. */
LATTICE_API lattice_result lattice_world_address(lattice_world* world, char* out, size_t capacity);

/* ---- The pump ---------------------------------------------------------------------------------- */

LATTICE_API void lattice_world_recv(lattice_world* world);
/* Steps the simulation by one tick. `tick` must equal lattice_world_next_tick(world); otherwise nothing
 * happens and lattice_last_result() is LATTICE_ERROR_OUT_OF_ORDER (B-03). */
LATTICE_API void lattice_world_tick(lattice_world* world, uint32_t tick);
LATTICE_API void lattice_world_send(lattice_world* world);

/* The tick the next lattice_world_tick() must name. A client's jumps when it resynchronises (T-03). */
LATTICE_API uint32_t lattice_world_next_tick(lattice_world* world);
/* How many ticks are due now (0..8, T-01): the accumulator of §10.1, steered towards the authority's
 * clock on a client (T-02). Each call consumes the time since the last. */
LATTICE_API uint32_t lattice_world_ticks_due(lattice_world* world);
/* recv, every tick that is due, send. Returns the number of ticks that ran. */
LATTICE_API uint32_t lattice_world_pump(lattice_world* world);
/* Nanoseconds until the next tick is due (0: now), by the world's clock. For sleeping between pumps. */
LATTICE_API uint64_t lattice_world_time_to_tick_ns(lattice_world* world);

/* ---- Keys, tokens, connections ------------------------------------------------------------------ */

/* The authority's X25519 public key; tokens name it as their audience. It is new in every process, unless
 * lattice_world_config.server_identity keeps it. */
LATTICE_API lattice_result lattice_world_public_key(lattice_world* world, uint8_t out[LATTICE_KEY_BYTES]);

/* Makes a fresh client key pair and writes its public half, which the token must name as its bearer.
 * The private half stays in the world until lattice_connect() uses it; one key per token. Up to 4 unused
 * keys are kept, oldest dropped. */
LATTICE_API lattice_result lattice_world_new_client_key(lattice_world* world, uint8_t out[LATTICE_KEY_BYTES]);

/* Makes the identity of a server from the system's entropy: secret bytes to keep and to give to
 * lattice_world_config.server_identity. One identity is for one server at a time. They hold an X25519 secret key, then
 * the key of the server's stateless resets. */
LATTICE_API lattice_result lattice_server_identity_generate(uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES]);
/* The public key of a server with that identity, as lattice_world_public_key() gives it. */
LATTICE_API lattice_result lattice_server_identity_public_key(
    const uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES], uint8_t public_key[LATTICE_KEY_BYTES]);

/* Makes an Ed25519 issuer key pair: 32-byte seed and 32-byte public key. */
LATTICE_API lattice_result lattice_issuer_generate(uint8_t seed[LATTICE_KEY_BYTES],
                                                   uint8_t public_key[LATTICE_KEY_BYTES]);
/* The public key that belongs to `seed`. */
LATTICE_API lattice_result lattice_issuer_public_key(const uint8_t seed[LATTICE_KEY_BYTES],
                                                     uint8_t public_key[LATTICE_KEY_BYTES]);

typedef struct lattice_token_request {
  uint32_t struct_size;
  uint32_t lifetime_s;                           /* 1..3600, default 300 */
  uint64_t issued_unix_s;                        /* 0: now by the platform's clock */
  uint64_t schema_id;                            /* 0: not stated */
  uint8_t server_public_key[LATTICE_KEY_BYTES];  /* lattice_world_public_key() of the authority */
  uint8_t client_public_key[LATTICE_KEY_BYTES];  /* lattice_world_new_client_key() of the bearer */
  uint8_t player[16];                            /* a pseudonym: readable on the wire */
  uint8_t session[16];
  const uint8_t* user_data; /* given to the authority with the connection; copied */
  uint32_t user_data_bytes; /* 0..256 */
} lattice_token_request;

LATTICE_API void lattice_token_request_init_sized(lattice_token_request* request, uint32_t struct_size);
static inline void lattice_token_request_init(lattice_token_request* request) {
  lattice_token_request_init_sized(request, (uint32_t)sizeof *request);
}

/* Signs a connect token into `out` (at least LATTICE_TOKEN_MAX_BYTES is always enough). */
LATTICE_API lattice_result lattice_token_issue(const uint8_t issuer_seed[LATTICE_KEY_BYTES],
                                               const lattice_token_request* request, uint8_t* out,
                                               size_t capacity, size_t* out_bytes);

/* Makes a connect token for this client and a server on this machine that the same user runs with
 * development_tokens 1: makes the client's key pair, as lattice_world_new_client_key() does, and signs with the
 * server's own issuer.
 *
 * `server` is the address that lattice_connect() will get, such as "127.0.0.1:27015", or the path of the file that
 * lattice_world_development_file() names in the server; a path has a '/', an address has none. `request` gives
 * lifetime, player, session and user data; NULL: the defaults of lattice_token_request_init(). Its two public keys
 * are not looked at. `out` has room for LATTICE_TOKEN_MAX_BYTES.
 *
 * LATTICE_ERROR_NOT_FOUND: no such server left a key here. LATTICE_ERROR_PERMISSION: the file belongs to another
 * user, or others may read it. LATTICE_ERROR_TOKEN: the file is damaged. LATTICE_ERROR_NOT_ALLOWED: `server` is
 * not on loopback, or the world is an authority.
 *
 *   uint8_t token[LATTICE_TOKEN_MAX_BYTES];
 *   size_t token_bytes;
 *   if (lattice_dev_token(world, "127.0.0.1:27015", NULL, token, sizeof token, &token_bytes) == LATTICE_OK)
 *     conn = lattice_connect(world, "127.0.0.1:27015", token, token_bytes); */
LATTICE_API lattice_result lattice_dev_token(lattice_world* world, const char* server,
                                             const lattice_token_request* request, uint8_t* out,
                                             size_t capacity, size_t* out_bytes);

/* Writes the path of the file with the secret of an authority's development issuer, at most 256 bytes: for a
 * client that runs with another XDG_RUNTIME_DIR. LATTICE_ERROR_NOT_FOUND without development_tokens, and on a
 * simulated network. */
LATTICE_API lattice_result lattice_world_development_file(lattice_world* world, char* out, size_t capacity);

/* Starts connecting to "host:port". NULL on failure. Completion is on_connected or on_disconnected.
 * LATTICE_ERROR_TOKEN when the token is malformed or names a client key this world does not hold. */
LATTICE_API lattice_conn* lattice_connect(lattice_world* world, const char* endpoint,
                                          const uint8_t* connect_token, size_t token_len);
/* Ends a connection with reason Requested, or on the authority Kicked. A stale handle is ignored. */
LATTICE_API void lattice_disconnect(lattice_conn* conn);
/* As above with an application reason (>= 256) or a built-in one, and up to 64 bytes of UTF-8. */
LATTICE_API lattice_result lattice_disconnect_with(lattice_conn* conn, int reason, const char* text);

typedef struct lattice_conn_info {
  uint32_t struct_size;
  uint32_t is_connected;
  lattice_peer_id peer_id;       /* on the authority: the client's id; on a client: its own id */
  uint8_t player[16];            /* from the token; zero on a client */
  uint8_t session[16];
  uint8_t user_data[LATTICE_TOKEN_USER_DATA_MAX_BYTES];
  uint32_t user_data_bytes;
  uint64_t remote_schema_id;     /* after a SchemaMismatch: what the other side has; else 0 or equal */
  char remote_address[64];       /* where it is now: a server follows a client whose address changes (L-04) */
  char disconnect_text[80];
  uint32_t is_loaded; /* authority: 1 once the client has acknowledged every object of its join */
  uint32_t reserved;
} lattice_conn_info;

/* Valid from lattice_connect() / on_connected until on_disconnected has returned. */
LATTICE_API lattice_result lattice_conn_get_info(lattice_conn* conn, lattice_conn_info* out);
/* The live connection of `peer` on the authority, or NULL. */
LATTICE_API lattice_conn* lattice_peer_conn(lattice_world* world, lattice_peer_id peer);
/* This world's own peer id: 1 on the authority, 0 on a client that is not connected. */
LATTICE_API lattice_peer_id lattice_local_peer(lattice_world* world);

/* Sends a message of the application's own over one of the four channels (§5): 0 to LATTICE_MESSAGE_MAX_BYTES
 * bytes, copied. One longer than a packet (1147 bytes fit any) travels in fragments of the same channel (§7): a
 * long unreliable message stays unreliable, and is lost when one of its fragments is. The longest takes the
 * whole window of a reliable channel, so that others on it wait; use a channel of its own.
 * LATTICE_ERROR_WOULD_BLOCK when not all of it fits the queue: nothing was sent, try again after the next pump
 * . LATTICE_ERROR_LIMIT when it is too long. */
LATTICE_API lattice_result lattice_send(lattice_conn* conn, lattice_channel channel, const void* data,
                                        size_t bytes);

/* As lattice_send(), and on_receipt will be told once what became of the message. On success a number for it is
 * written to `receipt`: never 0, and not used again in this world before 2^30 others. */
LATTICE_API lattice_result lattice_send_with_receipt(lattice_conn* conn, lattice_channel channel,
                                                     const void* data, size_t bytes, uint32_t* receipt);

/* ---- Schema ------------------------------------------------------------------------------------ */

/* Registers an object type. The description is copied. Refused after the first pump or connect. */
LATTICE_API lattice_result lattice_register_type(lattice_world* world, const lattice_type_desc* desc);
/* Registers the input command every player sends each tick. At most one. */
LATTICE_API lattice_result lattice_register_input(lattice_world* world, const lattice_input_desc* desc);
/* The schema hash (Y-15) of everything registered; final at the first pump or connect. */
LATTICE_API uint64_t lattice_world_schema_id(lattice_world* world);

/* ---- Objects ----------------------------------------------------------------------------------- */

/* Creates an object owned by nobody. Authority only. 0 on failure. Its state starts zeroed. */
LATTICE_API lattice_netid lattice_spawn(lattice_world* world, uint32_t type_id, lattice_authority_mode mode);
/* As above with an owner, who predicts it when its type says so. */
LATTICE_API lattice_netid lattice_spawn_for(lattice_world* world, uint32_t type_id,
                                            lattice_authority_mode mode, lattice_peer_id owner);
LATTICE_API void lattice_despawn(lattice_world* world, lattice_netid object);

/* Typed property access by prop_id = behaviour index << 8 | member index (Y-16). `data` is the member's
 * host value, `len` its exact size. Set: authority, or the predicting owner inside on_tick. */
LATTICE_API lattice_result lattice_set_prop(lattice_world* world, lattice_netid object, uint16_t prop_id,
                                            const void* data, size_t len);
/* Returns the bytes written, 0 when the object, member or capacity does not fit. */
LATTICE_API size_t lattice_get_prop(lattice_world* world, lattice_netid object, uint16_t prop_id, void* out,
                                    size_t cap);

/* The host structure of one behaviour: the simulation's own copy, written in place inside on_tick and
 * compared after it. NULL when there is no such object. Valid until the object despawns. */
LATTICE_API void* lattice_object_state(lattice_world* world, lattice_netid object, uint32_t behaviour);

typedef struct lattice_object_info {
  uint32_t struct_size;
  uint32_t type_id;
  lattice_peer_id owner;
  uint32_t authority_mode;  /* lattice_authority_mode */
  uint32_t spawn_tick;      /* on a client: tick of the first state received */
  uint32_t confirmed_tick;  /* on a client: tick of the newest authoritative state; else the last tick */
  uint32_t is_simulated;    /* 1: on_tick must step it here (authority, or predicted by this client) */
} lattice_object_info;

LATTICE_API lattice_result lattice_object_get_info(lattice_world* world, lattice_netid object,
                                                   lattice_object_info* out);
/* Writes up to `cap` ids in ascending order (type_id 0: all types); returns how many there are. */
LATTICE_API size_t lattice_objects(lattice_world* world, uint32_t type_id, lattice_netid* out, size_t cap);
/* As lattice_objects(), but only those on_tick must step here and now. */
LATTICE_API size_t lattice_simulated_objects(lattice_world* world, uint32_t type_id, lattice_netid* out,
                                             size_t cap);

/* What to draw now: own predicted objects with corrections eased in (S-07), all others interpolated or
 * dead-reckoned on the server's time line (§12). On the authority: the state itself. Bytes written, or 0. */
LATTICE_API size_t lattice_object_view(lattice_world* world, lattice_netid object, uint32_t behaviour,
                                       void* out, size_t cap);
/* The newest authoritative state and its tick, unsmoothed. Bytes written, or 0. */
LATTICE_API size_t lattice_object_confirmed(lattice_world* world, lattice_netid object, uint32_t behaviour,
                                            void* out, size_t cap, uint32_t* tick);

/* A hash of every object's quantized state, equal on two peers that hold the same state. */
LATTICE_API uint64_t lattice_world_state_hash(lattice_world* world);

/* ---- Input ------------------------------------------------------------------------------------- */

/* The local player's input for the ticks to come, until replaced. `bytes` is the input's host size. */
LATTICE_API lattice_result lattice_set_input(lattice_world* world, const void* input, size_t bytes);
/* Inside on_tick: the input of `peer` for this tick. 1: fresh, 2: repeated, 0: none (zeroed `out`). */
LATTICE_API int lattice_get_input(lattice_world* world, lattice_peer_id peer, void* out, size_t bytes);

/* ---- RPC (§16) ---------------------------------------------------------------------------------- */

/* Calls rpc_id on `object`; `args` is the host structure of its argument list, `len` its exact size.
 * The channel must match the RPC's declared reliability. Failure: lattice_last_result().
 * Order at a client: on_spawn, then every reliable call the authority made on the object, then on_despawn. A
 * reliable call made just before lattice_despawn() arrives; the object stays at the client until it has (10 s at
 * most). An unreliable call may be lost; none arrives after on_despawn. A call by a client on an object that the
 * authority has despawned meanwhile is refused and counted there. Source: docs/spec/data.md D-35. */
LATTICE_API void lattice_rpc(lattice_world* world, lattice_netid object, uint16_t rpc_id,
                             lattice_rpc_target target, lattice_channel channel, const void* args, size_t len);
/* LATTICE_RPC_TO_PEER with its peer. */
LATTICE_API lattice_result lattice_rpc_to(lattice_world* world, lattice_netid object, uint16_t rpc_id,
                                          lattice_peer_id peer, lattice_channel channel, const void* args,
                                          size_t len);
/* Inside on_rpc: who sent it. */
LATTICE_API lattice_peer_id lattice_rpc_sender(lattice_world* world);
/* Inside on_rpc: the tick the sender stamped. */
LATTICE_API uint32_t lattice_rpc_tick(lattice_world* world);

/* ---- Callbacks --------------------------------------------------------------------------------- */

typedef struct {
  void (*on_connected)(void* ctx, lattice_conn*);
  void (*on_disconnected)(void* ctx, lattice_conn*, int reason);
  void (*on_spawn)(void* ctx, lattice_netid, uint32_t type_id);
  void (*on_despawn)(void* ctx, lattice_netid);
  void (*on_rpc)(void* ctx, lattice_netid, uint16_t rpc_id, const void* args, size_t len);
  void (*on_authority_changed)(void* ctx, lattice_netid, uint64_t new_owner);
} lattice_callbacks;

LATTICE_API void lattice_set_callbacks(lattice_world* world, lattice_callbacks callbacks, void* ctx);

/* What on_tick is told. */
typedef struct lattice_tick_context {
  uint32_t struct_size;
  uint32_t tick;
  uint32_t tick_rate_hz;
  uint32_t is_resimulating; /* 1: history is being replayed; play no sound, send no RPC (S-04) */
  double dt_s;              /* 1 / tick_rate_hz */
  const lattice_role_context* role;
} lattice_tick_context;

/* The versioned set: everything beside the printed six. */
typedef struct lattice_world_callbacks {
  uint32_t struct_size;
  /* simulate_tick: step every object of lattice_simulated_objects() by one tick (§10.1, §18). */
  void (*on_tick)(void* ctx, lattice_world*, const lattice_tick_context*);
  /* Client, before each tick: write the player's input for `tick` into `input` (host structure, holding
   * the last one). NULL: lattice_set_input() alone decides. */
  void (*on_sample_input)(void* ctx, lattice_world*, uint32_t tick, void* input, size_t bytes);
  /* A message sent with lattice_send(). */
  void (*on_message)(void* ctx, lattice_conn*, lattice_channel, const void* data, size_t bytes);
  /* Authority: may this token holder join? Return 0, or a disconnect reason (ServerFull, Kicked, >= 256). */
  int (*on_admit)(void* ctx, lattice_world*, const lattice_conn_info*);
  /* Client: own clock jumped from one tick to another (T-03). */
  void (*on_resync)(void* ctx, lattice_world*, uint32_t from_tick, uint32_t to_tick);
  /* What became of a message sent with lattice_send_with_receipt(); once for each, before on_disconnected.
   * `acked` 1: the peer's library has all of it (a fragmented message: every fragment). Its application may
   * still never see it on an unreliable channel, where a newer message may have overtaken it. 0: given up; on
   * an unreliable channel a packet with it was lost, on a reliable one the connection ended first. */
  void (*on_receipt)(void* ctx, lattice_conn*, uint32_t receipt, int acked);
} lattice_world_callbacks;

LATTICE_API lattice_result lattice_set_world_callbacks(lattice_world* world,
                                                       const lattice_world_callbacks* callbacks, void* ctx);

/* ---- Switches and bad networks ------------------------------------------------------------------ */

typedef enum lattice_option {
  LATTICE_OPTION_PREDICTION = 0,    /* client: simulate own objects at once; off: wait for the authority */
  LATTICE_OPTION_SMOOTHING = 1,     /* client: ease corrections; off: snap */
  LATTICE_OPTION_INTERPOLATION = 2  /* client: draw others in the past between snapshots; off: newest state */
} lattice_option;

LATTICE_API lattice_result lattice_set_option(lattice_world* world, lattice_option option, int enabled);

/* Impairs this world's own datagrams in one direction from now on. LATTICE_ERROR_CONFIG for a bad value. */
LATTICE_API lattice_result lattice_set_impairment(lattice_world* world, lattice_direction direction,
                                                  const lattice_impairment* impairment);

/* A seeded network in virtual time: every datagram, loss and delay follows from the seed, and so do the
 * keys of the worlds on it, so that a run repeats: nothing there is secret. Worlds attach through
 * lattice_world_config.netsim and should use lattice_netsim_clock as their clock. It must outlive them. */
LATTICE_API lattice_netsim* lattice_netsim_create(uint64_t seed);
LATTICE_API void lattice_netsim_destroy(lattice_netsim* netsim);
/* Applies to every pair of addresses, both directions. */
LATTICE_API lattice_result lattice_netsim_set_impairment(lattice_netsim* netsim,
                                                         const lattice_impairment* impairment);
/* Applies to datagrams from one address to another, e.g. "10.0.0.2:1000". */
LATTICE_API lattice_result lattice_netsim_set_link(lattice_netsim* netsim, const char* from, const char* to,
                                                   const lattice_impairment* impairment);
/* Moves virtual time forward. */
LATTICE_API void lattice_netsim_advance(lattice_netsim* netsim, uint64_t ns);
LATTICE_API uint64_t lattice_netsim_now(lattice_netsim* netsim);
/* A lattice_clock_fn whose ctx is the lattice_netsim handle. */
LATTICE_API uint64_t lattice_netsim_clock(void* netsim);

/* ---- Statistics: always on ---------------------------------------------------------------------- */

/* What the congestion controller of a connection is doing. */
typedef enum lattice_congestion_phase {
  LATTICE_CONGESTION_PHASE_UNLIMITED = 0, /* LATTICE_CONGESTION_NONE */
  LATTICE_CONGESTION_PHASE_GOOD = 1,      /* LATTICE_CONGESTION_GOOD_BAD */
  LATTICE_CONGESTION_PHASE_BAD = 2,
  LATTICE_CONGESTION_PHASE_STARTUP = 3, /* LATTICE_CONGESTION_DELAY: doubling until a queue shows */
  LATTICE_CONGESTION_PHASE_STEADY = 4,  /* holding the queue at its target */
  LATTICE_CONGESTION_PHASE_DRAIN = 5,   /* letting it run empty for a round trip, to see the path as it is */
  LATTICE_CONGESTION_PHASE_BLACKOUT = 6 /* nothing comes back */
} lattice_congestion_phase;

typedef struct lattice_conn_stats {
  uint32_t struct_size;
  uint32_t reserved;
  double rtt_ms, rtt_variance_ms, min_rtt_ms, rto_ms;
  double send_loss_percent;    /* of our datagrams, over the connection's life, by their acks */
  double receive_loss_percent; /* of the peer's, by gaps in their numbers */
  uint64_t packets_sent, packets_received;
  uint64_t bytes_sent, bytes_received; /* UDP payload bytes */
  uint64_t messages_resent, packets_lost;
  uint64_t packets_refused; /* replays, failed opens, bad framing */
  uint32_t key_epoch;       /* how often the keys were replaced; 0 before the first time */
  uint32_t datagram_bytes;  /* largest datagram the path is known to carry, UDP payload: 1200 to 1472 */
  uint64_t path_moves;      /* how often the peer was followed to another address; 0 on a client */
  double jitter_ms;         /* mean difference of consecutive round trips, smoothed */
  double send_loss_recent_percent;    /* of our datagrams, in the last whole second that had some */
  double receive_loss_recent_percent; /* of the peer's */
  double queue_ms;                    /* what a message queued now waits before it is first sent */
  uint64_t queue_bytes;               /* of messages never sent yet */
  uint64_t send_budget_bytes_per_s;   /* what congestion control allows now; UINT64_MAX: no limit */
  uint64_t send_window_bytes;         /* what may be in flight; UINT64_MAX: no limit */
  uint64_t bytes_in_flight;           /* sent, and neither acknowledged nor lost */
  uint32_t congestion_mode;           /* a lattice_congestion_mode */
  uint32_t congestion_phase;          /* a lattice_congestion_phase */
  uint32_t quality; /* 0..100: 100 * L * R * J with L = 1 - 5 * loss of the worse direction in the last second
                       (at least 0), R = 1 - (rtt - 50 ms) / 500 ms (0.1..1), J = 1 - jitter / 100 ms (0.1..1) */
  uint32_t reserved_1;
} lattice_conn_stats;

LATTICE_API lattice_result lattice_conn_get_stats(lattice_conn* conn, lattice_conn_stats* out);

typedef struct lattice_world_stats {
  uint32_t struct_size;
  uint32_t tick;            /* last tick that ran */
  uint32_t connections;     /* connected now */
  uint32_t objects;
  uint64_t packets_sent, packets_received, bytes_sent, bytes_received;
  uint64_t datagrams_refused;   /* everything dropped before a connection saw it */
  uint64_t handshakes_refused;  /* of those, handshake messages with a named reason */
  uint64_t ticks_dropped_ns;    /* time the accumulator discarded (T-01) */
  /* Authority: inputs. */
  uint64_t inputs_received, inputs_used, inputs_late, inputs_repeated, inputs_defaulted;
  /* Authority: replication. */
  uint64_t snapshots_sent, snapshot_bytes_sent;
  /* Client. */
  uint64_t snapshots_applied;
  uint64_t rollbacks, resimulated_ticks, hard_resets;
  uint32_t max_rollback_ticks, unacked_inputs;
  uint64_t interpolation_samples, interpolation_underruns;
  uint64_t clock_resyncs;
  double interpolation_delay_ms; /* in force now */
  double input_margin_ticks;     /* as the authority reports it: + early, - late */
  double server_tick_estimate;   /* the authority's tick now */
  uint64_t rpcs_sent, rpcs_received, rpcs_refused;
} lattice_world_stats;

LATTICE_API lattice_result lattice_world_get_stats(lattice_world* world, lattice_world_stats* out);

/* Everything that came from the network and was not acted on, and what could not be sent, counted by reason
 * (docs/limits.md): name of counter `index` and its value, or NULL past the last. Each name occurs once and is
 * stable ("link_duplicate", "server_token_expired", ...). Ask by name: indexes change between versions. */
LATTICE_API const char* lattice_world_refusal(lattice_world* world, uint32_t index, uint64_t* value);

#ifdef __cplusplus
}
#endif
#endif
