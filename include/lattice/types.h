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

/// A replicated simulation instance. Handles are values, not addresses: they carry a generation and are never
/// dereferenced. The library refuses a handle of something that has ended with LATTICE_ERROR_STALE_HANDLE.
typedef struct lattice_world lattice_world;
/// A connection to one peer.
typedef struct lattice_conn lattice_conn;
/// A seeded network inside the process, for tests and tools.
typedef struct lattice_netsim lattice_netsim;

/// Names an object; the same on every peer. 0 is "none".
typedef uint64_t lattice_netid;
/// Names a peer of a session. 0 is "none", 1 is the authority, clients count from 2.
typedef uint64_t lattice_peer_id;

/// What this process is in the session.
typedef enum lattice_role {
  LATTICE_ROLE_DEDICATED = 0,  ///< a server: the authority, without a player of its own
  LATTICE_ROLE_HOST = 1,       ///< a server with a player of its own, who is peer 1
  LATTICE_ROLE_CLIENT = 2      ///< connects to an authority and predicts its own objects
} lattice_role;

/// A role in full. lattice_role_context_init() fills it; members that contradict the role are refused by
/// lattice_world_create(). The simulation gets it back in lattice_tick_context.
typedef struct lattice_role_context {
  uint32_t struct_size;  ///< set by lattice_role_context_init()
  lattice_role role;     ///< what this process is
  /// 1: somebody watches here. Always 1 on a host, 0 on a dedicated server; a client without a screen may say
  /// 0. The library only hands it on.
  int has_local_view;
  int is_authority;            ///< 1 on a dedicated server and a host, 0 on a client
  int relays_for_peers;        ///< 0. No role passes traffic from one client to another yet; 1 is refused.
  uint64_t authority_peer_id;  ///< who the authority is: 1
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

/// Who may write an object's state.
typedef enum lattice_authority_mode {
  LATTICE_AUTHORITY_SERVER = 0,  ///< the authority alone; an owner may predict
  LATTICE_AUTHORITY_SHARED = 1   ///< reserved: refused with LATTICE_ERROR_UNSUPPORTED
} lattice_authority_mode;

/// The four channels of an application's own messages. Their order and loss are independent.
typedef enum lattice_channel {
  LATTICE_CHANNEL_UNRELIABLE = 0,            ///< may be lost, may overtake
  LATTICE_CHANNEL_UNRELIABLE_SEQUENCED = 1,  ///< may be lost; what a newer one overtook is dropped
  LATTICE_CHANNEL_RELIABLE_UNORDERED = 2,    ///< arrives once, as soon as it can
  LATTICE_CHANNEL_RELIABLE_ORDERED = 3       ///< arrives once, in the order of sending
} lattice_channel;

/// Where an RPC goes. A client may call the authority only.
typedef enum lattice_rpc_target {
  LATTICE_RPC_TO_SERVER = 0,  ///< client to authority
  LATTICE_RPC_TO_OWNER = 1,   ///< authority to the client that owns the object
  LATTICE_RPC_TO_ALL = 2,     ///< authority to every client that has the object
  LATTICE_RPC_TO_PEER = 3     ///< authority to one client, with lattice_rpc_to()
} lattice_rpc_target;

/// A direction of datagrams, as the world that is asked sees it.
typedef enum lattice_direction {
  LATTICE_DIRECTION_SEND = 0,    ///< what this world sends
  LATTICE_DIRECTION_RECEIVE = 1  ///< what arrives here
} lattice_direction;

/// Why a connection ended. 256 to 65535 belong to the application.
typedef enum lattice_disconnect_reason {
  LATTICE_DISCONNECT_NONE = 0,  ///< it has not ended
  /// the client called lattice_disconnect(); both sides see it. By the authority it is KICKED.
  LATTICE_DISCONNECT_REQUESTED = 1,
  LATTICE_DISCONNECT_TIMEOUT = 2,  ///< nothing was heard for connection_timeout_ms
  /// the token's server key is no valid key. Raised at the client; the server never sends it. What else is
  /// wrong with a token, lattice_connect() refuses with LATTICE_ERROR_TOKEN.
  LATTICE_DISCONNECT_TOKEN_INVALID = 3,
  LATTICE_DISCONNECT_TOKEN_EXPIRED = 4,  ///< the token's lifetime is over
  /// reserved: nothing raises it. A server does not answer a token that was used before.
  LATTICE_DISCONNECT_TOKEN_REUSED = 5,
  LATTICE_DISCONNECT_VERSION_MISMATCH = 6,  ///< the two libraries speak different protocols
  LATTICE_DISCONNECT_SCHEMA_MISMATCH = 7,   ///< the two sides registered different types
  LATTICE_DISCONNECT_SERVER_FULL = 8,       ///< no room: max_connections, or on_admit said so
  LATTICE_DISCONNECT_KICKED = 9,            ///< the authority ended it
  LATTICE_DISCONNECT_PROTOCOL_ERROR = 10,   ///< the peer sent what the protocol forbids
  LATTICE_DISCONNECT_RESOURCE_LIMIT = 11,   ///< the peer used up a bound of docs/attack-bounds.md
  LATTICE_DISCONNECT_INTERNAL_ERROR = 12,   ///< a fault of this library
  /// the authority said so with lattice_disconnect_with(); without it clients see TIMEOUT
  LATTICE_DISCONNECT_HOST_LEFT = 13,
  LATTICE_DISCONNECT_CONFIG_MISMATCH =
      14,  ///< tick_rate_hz or max_objects differ; the text names both values
  /// the server no longer knows this connection: it timed this client out (a suspended laptop, a debugger),
  /// or it is a new process with the old identity. A new process without it sends nothing the client
  /// understands: TIMEOUT.
  LATTICE_DISCONNECT_SERVER_RESTARTED = 15,
  LATTICE_DISCONNECT_NO_ANSWER = 16,    ///< connecting: no server is there, or its key changed
  LATTICE_DISCONNECT_UNREACHABLE = 17,  ///< connecting: likewise, and its machine says that nobody listens
  LATTICE_DISCONNECT_APPLICATION = 256  ///< the first reason of the application's own
} lattice_disconnect_reason;

#ifdef __cplusplus
}
#endif
#endif
