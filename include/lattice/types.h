/* Plain types shared by every public header: handles, identifiers and small enumerations.
 * C17 and C++; nothing here owns anything. Source: §17, §18.1, §19, B-01, B-02. */
#ifndef LATTICE_TYPES_H
#define LATTICE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(LATTICE_BUILD)
#define LATTICE_API __declspec(dllexport)
#else
#define LATTICE_API __declspec(dllimport)
#endif
#else
#define LATTICE_API __attribute__((visibility("default")))
#endif

/* Handles are values, not addresses: they carry a generation, are never dereferenced, and a stale one
 * is refused with LATTICE_ERROR_STALE_HANDLE (or NULL/0 from functions that return no result). */
typedef struct lattice_world lattice_world;   /* a replicated simulation instance */
typedef struct lattice_conn lattice_conn;     /* a connection to one peer */
typedef struct lattice_netsim lattice_netsim; /* a seeded in-process network for tests and tools */

typedef uint64_t lattice_netid;   /* NetworkObject id; 0 is "none" */
typedef uint64_t lattice_peer_id; /* session peer id; 0 is "none", the authority's own id is 1 */

/* What this process is in the session (§18.1). */
typedef enum lattice_role {
  LATTICE_ROLE_DEDICATED = 0,
  LATTICE_ROLE_HOST = 1,
  LATTICE_ROLE_CLIENT = 2
} lattice_role;

typedef struct lattice_role_context {
  lattice_role role;
  int has_local_view;         /* renders or predicts for a local player */
  int is_authority;           /* owns the server-authoritative objects of this session */
  int relays_for_peers;       /* fans out to other clients */
  uint64_t authority_peer_id; /* who is the session authority */
} lattice_role_context;

/* Who may write an object's state (§17). */
typedef enum lattice_authority_mode {
  LATTICE_AUTHORITY_SERVER = 0,
  LATTICE_AUTHORITY_SHARED = 1
} lattice_authority_mode;

/* The four channels of §5. */
typedef enum lattice_channel {
  LATTICE_CHANNEL_UNRELIABLE = 0,
  LATTICE_CHANNEL_UNRELIABLE_SEQUENCED = 1,
  LATTICE_CHANNEL_RELIABLE_UNORDERED = 2,
  LATTICE_CHANNEL_RELIABLE_ORDERED = 3
} lattice_channel;

/* Where an RPC goes (§16.2). A client may originate LATTICE_RPC_TO_SERVER only. */
typedef enum lattice_rpc_target {
  LATTICE_RPC_TO_SERVER = 0, /* ToServerOrHost: client -> authority */
  LATTICE_RPC_TO_OWNER = 1,  /* authority -> the object's owning client */
  LATTICE_RPC_TO_ALL = 2,    /* authority -> every client that has the object */
  LATTICE_RPC_TO_PEER = 3    /* ToTarget(peer): authority -> one client, see lattice_rpc_to() */
} lattice_rpc_target;

/* Of datagrams, as the world that is asked sees them. */
typedef enum lattice_direction {
  LATTICE_DIRECTION_SEND = 0,
  LATTICE_DIRECTION_RECEIVE = 1
} lattice_direction;

/* Why a connection ended (L-05). 256 and above belong to the application. */
typedef enum lattice_disconnect_reason {
  LATTICE_DISCONNECT_NONE = 0,
  LATTICE_DISCONNECT_REQUESTED = 1,
  LATTICE_DISCONNECT_TIMEOUT = 2,
  LATTICE_DISCONNECT_TOKEN_INVALID = 3,
  LATTICE_DISCONNECT_TOKEN_EXPIRED = 4,
  LATTICE_DISCONNECT_TOKEN_REUSED = 5,
  LATTICE_DISCONNECT_VERSION_MISMATCH = 6,
  LATTICE_DISCONNECT_SCHEMA_MISMATCH = 7,
  LATTICE_DISCONNECT_SERVER_FULL = 8,
  LATTICE_DISCONNECT_KICKED = 9,
  LATTICE_DISCONNECT_PROTOCOL_ERROR = 10,
  LATTICE_DISCONNECT_RESOURCE_LIMIT = 11,
  LATTICE_DISCONNECT_INTERNAL_ERROR = 12,
  LATTICE_DISCONNECT_HOST_LEFT = 13,
  LATTICE_DISCONNECT_CONFIG_MISMATCH = 14,  /* tick_rate_hz or max_objects; the text names both values */
  LATTICE_DISCONNECT_SERVER_RESTARTED = 15, /* the server no longer knows this connection */
  LATTICE_DISCONNECT_NO_ANSWER = 16,        /* connecting: no server there, or its key changed */
  LATTICE_DISCONNECT_UNREACHABLE = 17, /* connecting: likewise, and its machine says that nobody listens */
  LATTICE_DISCONNECT_APPLICATION = 256
} lattice_disconnect_reason;

#endif
