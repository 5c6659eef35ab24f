/// @file
/// Plain types shared by every public header: handles, identifiers and small enumerations. Nothing here owns
/// anything.
#ifndef LATTICE_TYPES_H
#define LATTICE_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#if defined(LATTICE_BUILD)
#define LATTICE_API __declspec(dllexport)
#else
#define LATTICE_API __declspec(dllimport)
#endif
#else
/// Marks a function that the library exports.
#define LATTICE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Number of bytes of every key: X25519 and Ed25519 alike.
#define LATTICE_KEY_BYTES 32u

/// One side of a session: its objects, its clock and its socket. A handle is a value, not an address: it
/// carries a generation and is never dereferenced. The library refuses a handle of something that has ended
/// with LATTICE_ERROR_STALE_HANDLE.
typedef struct lattice_world lattice_world;
/// A connection to one peer.
typedef struct lattice_conn lattice_conn;
/// A seeded network inside the process, for tests and tools.
typedef struct lattice_netsim lattice_netsim;

/// Names an object. The number is the same on every peer. 0 is "none".
typedef uint64_t lattice_netid;
/// Names a peer of a session. 0 is "none", 1 is the authority, clients count from 2.
typedef uint64_t lattice_peer_id;

/// What this process is in the session.
typedef enum lattice_role {
  LATTICE_ROLE_DEDICATED = 0,  ///< a server: the authority, without a player of its own
  LATTICE_ROLE_HOST = 1,       ///< a server with a player of its own, who is peer 1
  LATTICE_ROLE_CLIENT = 2      ///< connects to an authority and predicts its own objects
} lattice_role;

/// A role with all that follows from it. lattice_role_context_init() fills it. lattice_world_create() refuses
/// members that contradict the role with LATTICE_ERROR_CONFIG. on_tick finds it in lattice_tick_context.
typedef struct lattice_role_context {
  uint32_t struct_size;  ///< set by lattice_role_context_init()
  lattice_role role;     ///< what this process is
  /// 1: somebody watches here. Always 1 on a host and 0 on a dedicated server. A client without a screen may
  /// say 0. The library does not use it itself; it hands it to on_tick.
  int has_local_view;
  int is_authority;            ///< 1 on a dedicated server and a host, 0 on a client
  int relays_for_peers;        ///< 0. Another value is refused with LATTICE_ERROR_UNSUPPORTED.
  uint64_t authority_peer_id;  ///< the peer id of the authority: 1
} lattice_role_context;

/// Fills in what `role` means. Does nothing when `context` is NULL. Does not set lattice_last_result().
static inline void lattice_role_context_init(lattice_role_context* context, lattice_role role) {
  if (context == NULL) return;
  memset(context, 0, sizeof *context);
  context->struct_size = (uint32_t)sizeof *context;
  context->role = role;
  context->has_local_view = role != LATTICE_ROLE_DEDICATED;
  context->is_authority = role != LATTICE_ROLE_CLIENT;
  context->authority_peer_id = 1;
}

/// How the writer of an object follows from its owner. lattice_object_writer() tells the writer.
typedef enum lattice_authority_mode {
  LATTICE_AUTHORITY_SERVER = 0,  ///< the authority writes, whoever owns the object; the owner may predict
  LATTICE_AUTHORITY_SHARED = 1   ///< reserved: refused with LATTICE_ERROR_UNSUPPORTED
} lattice_authority_mode;

/// The four channels of an application's own messages. Their order and loss are independent.
typedef enum lattice_channel {
  LATTICE_CHANNEL_UNRELIABLE = 0,            ///< a message may be lost, or arrive before an earlier one
  LATTICE_CHANNEL_UNRELIABLE_SEQUENCED = 1,  ///< a message may be lost; a late one is dropped
  LATTICE_CHANNEL_RELIABLE_UNORDERED = 2,    ///< a message arrives once, as soon as it can
  LATTICE_CHANNEL_RELIABLE_ORDERED = 3       ///< a message arrives once, in the order of sending
} lattice_channel;

/// Where an RPC goes. A client may call the authority only. A host may use every target, and its own player
/// is called as a client is.
typedef enum lattice_rpc_target {
  LATTICE_RPC_TO_SERVER = 0,  ///< from a client to the authority
  LATTICE_RPC_TO_OWNER = 1,   ///< from the authority to the client that owns the object
  LATTICE_RPC_TO_ALL = 2,     ///< from the authority to every client that has the object; the player of a
                              ///< listen host has all
  LATTICE_RPC_TO_PEER = 3     ///< from the authority to one client, with lattice_rpc_to()
} lattice_rpc_target;

/// A direction of datagrams, seen from the world that is asked.
typedef enum lattice_direction {
  LATTICE_DIRECTION_SEND = 0,    ///< datagrams that this world sends
  LATTICE_DIRECTION_RECEIVE = 1  ///< datagrams that arrive at this world
} lattice_direction;

/// Why a connection ended. on_disconnected gets the number. 256 to 65535 belong to the application.
typedef enum lattice_disconnect_reason {
  LATTICE_DISCONNECT_NONE = 0,  ///< the connection has not ended
  /// The client called lattice_disconnect(). Both sides get this reason. When the authority calls it, the
  /// reason is LATTICE_DISCONNECT_KICKED.
  LATTICE_DISCONNECT_REQUESTED = 1,
  LATTICE_DISCONNECT_TIMEOUT = 2,  ///< nothing was heard for connection_timeout_ms
  /// The server key in the token is not a valid key. Only the client gets this reason; a server never sends
  /// it.
  ///
  /// lattice_connect() itself refuses, with LATTICE_ERROR_TOKEN, a token that is malformed, is for another
  /// protocol version, states another schema, or names a client key that the world does not hold. Only the
  /// server can see the other faults. It does not answer such a token, so the attempt ends after
  /// connect_budget_ms. An expired token ends with LATTICE_DISCONNECT_TOKEN_EXPIRED or
  /// LATTICE_DISCONNECT_NO_ANSWER. One from the future, or for another server key, ends with
  /// LATTICE_DISCONNECT_NO_ANSWER. One of an unknown issuer, or with a false signature, ends with
  /// LATTICE_DISCONNECT_TIMEOUT.
  LATTICE_DISCONNECT_TOKEN_INVALID = 3,
  /// Nothing answered for connect_budget_ms, and by the clock of this client the lifetime of the token is
  /// over. lattice_connect() does not look at the clock.
  LATTICE_DISCONNECT_TOKEN_EXPIRED = 4,
  /// Reserved: no connection ends with it. lattice_connect() refuses a token that this world has used. A
  /// server does not let a used token in, and the attempt ends with LATTICE_DISCONNECT_TIMEOUT.
  LATTICE_DISCONNECT_TOKEN_REUSED = 5,
  LATTICE_DISCONNECT_VERSION_MISMATCH = 6,  ///< the two libraries speak different protocols
  LATTICE_DISCONNECT_SCHEMA_MISMATCH = 7,   ///< the two sides registered different types
  LATTICE_DISCONNECT_SERVER_FULL = 8,       ///< no place, too many used tokens, or on_admit said so
  LATTICE_DISCONNECT_KICKED = 9,            ///< the authority ended it
  LATTICE_DISCONNECT_PROTOCOL_ERROR = 10,   ///< the peer sent something that the protocol forbids
  LATTICE_DISCONNECT_RESOURCE_LIMIT = 11,   ///< a bound of docs/attack-bounds.md is used up
  LATTICE_DISCONNECT_INTERNAL_ERROR = 12,   ///< a fault of this library
  /// The authority leaves and says so with lattice_disconnect_with(). If it does not say so, its clients get
  /// LATTICE_DISCONNECT_TIMEOUT.
  LATTICE_DISCONNECT_HOST_LEFT = 13,
  /// tick_rate_hz differs, or max_objects does not fit. disconnect_text names both values.
  LATTICE_DISCONNECT_CONFIG_MISMATCH = 14,
  /// The server no longer knows this connection. It timed the client out, after a suspended laptop or a
  /// debugger, or it is a new process with the old server_identity. A new process with another identity
  /// cannot tell the client, who gets LATTICE_DISCONNECT_TIMEOUT then.
  LATTICE_DISCONNECT_SERVER_RESTARTED = 15,
  LATTICE_DISCONNECT_NO_ANSWER = 16,    ///< while connecting: no server answers, or its key changed
  LATTICE_DISCONNECT_UNREACHABLE = 17,  ///< while connecting: the machine says that nobody listens
  /// The two sides placed different objects (lattice_place()). disconnect_text names the difference.
  LATTICE_DISCONNECT_PLACED_MISMATCH = 18,
  LATTICE_DISCONNECT_APPLICATION = 256  ///< the first reason of the application's own
} lattice_disconnect_reason;

#ifdef __cplusplus
}
#endif
#endif
