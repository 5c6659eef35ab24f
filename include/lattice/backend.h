/// @file
/// Datagram back ends: other ways than UDP for datagrams to come and go, such as a relay, the data channel of
/// a browser, or the sockets of a console. docs/guide/backends.md shows how to write one.
///
/// A back end carries datagrams and knows nothing of their content, which is encrypted and authenticated: it
/// may lose, repeat, delay and reorder them, as UDP does. A world may have up to 7 of them
/// (lattice_world_config.backends), beside UDP or instead of it.
#ifndef LATTICE_BACKEND_H
#define LATTICE_BACKEND_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Most back ends of a world.
#define LATTICE_BACKENDS_MAX 7u
/// Every buffer of a received datagram holds so many bytes.
#define LATTICE_BACKEND_BUFFER_BYTES 1500u

/// What the content of a path is.
typedef enum lattice_path_form {
  LATTICE_PATH_NONE = 0,    ///< no path
  LATTICE_PATH_OPAQUE = 1,  ///< number and bytes mean something to the back end only
  LATTICE_PATH_IPV4 = 4,    ///< an IPv4 address as IPv4-mapped IPv6, and a port
  LATTICE_PATH_IPV6 = 6     ///< an IPv6 address and a port
} lattice_path_form;

/// Where a datagram came from, or goes to. Two paths are the same when all their bytes are.
typedef struct lattice_path {
  uint8_t route;      ///< 0: UDP; 1 and up: the back end at route - 1 of lattice_world_config.backends
  uint8_t form;       ///< a lattice_path_form
  uint16_t number;    ///< a port, in the order of this machine; in an opaque path what the back end likes
  uint8_t bytes[16];  ///< an address; in an opaque path what the back end likes
} lattice_path;

/// A datagram between the library and a back end.
typedef struct lattice_backend_datagram {
  lattice_path path;  ///< where it came from, or goes to
  uint32_t bytes;     ///< size of the datagram, 0..1500
  uint8_t* data;      ///< the library's buffer; of a datagram to send, only read it
} lattice_backend_datagram;

/// A back end. Fill it with lattice_datagram_backend_init(), then set ctx, receive and send. The structure is
/// copied; what ctx points to stays the caller's and must live until `close`.
///
/// All functions are called on the thread that uses the world, inside the call that is named, and never two
/// at a time for one world. None may block, except that lattice_world_wait() waits for `descriptor`. None may
/// call the library with this world or its connections, and none may throw or jump out of the call.
///
///     lattice_datagram_backend pipe;
///     lattice_datagram_backend_init(&pipe);
///     pipe.ctx = &mine;
///     pipe.receive = mine_receive;
///     pipe.send = mine_send;
///     const lattice_datagram_backend* backends[] = {&pipe};
///     config.backends = backends;
///     config.backend_count = 1;
typedef struct lattice_datagram_backend {
  uint32_t struct_size;  ///< set by lattice_datagram_backend_init()
  uint32_t reserved;     ///< leave at 0
  void* ctx;             ///< handed to each function

  /// Takes datagrams that have arrived. Copies each into the `data` of an entry of `out`, which has room for
  /// LATTICE_BACKEND_BUFFER_BYTES, and writes its `bytes` and `path`; never the pointer. Leave path.route at
  /// 0: the library sets it; the rest of an entry is zero before. Returns how many entries it filled,
  /// 0..capacity. `capacity` is 1..64. Called in lattice_world_recv() and lattice_world_leave(), again and
  /// again while it fills all entries. Needed.
  ///
  /// A client takes datagrams only from the path that it connected to, byte for byte (foreign_address, and
  /// client_foreign_address while it connects). An entry whose bytes are above 1500 is dropped
  /// (backend_oversize), and so is one whose path has no form of lattice_path_form, an IPv4 form without an
  /// IPv4-mapped address, an IPv6 form with one, or another route (backend_bad_path).
  /// A result above `capacity` drops all entries of the call (backend_overrun).
  uint32_t (*receive)(void* ctx, lattice_backend_datagram* out, uint32_t capacity);

  /// Sends datagrams, each to its path, and keeps no pointer. Returns how many it took, from the first one on.
  /// The next one is lost then, as in a network, and counted (socket_send_full); with those behind it, which
  /// may go to others, the function is called again. `count` is 1..64. Called in lattice_world_send() and
  /// lattice_world_leave(), and for answers in lattice_world_recv(). A result above `count` counts as `count` (backend_overrun). Needed.
  uint32_t (*send)(void* ctx, const lattice_backend_datagram* datagrams, uint32_t count);

  /// Returns the largest datagram in bytes that may be sent to `path`, 1200..1472. Asked when a connection
  /// begins or moves to a path; smaller sizes are tried on the path as on any other. Another number counts as
  /// 1200 (backend_bad_limit). NULL, the default: 1200, which each path must carry.
  uint32_t (*largest_datagram)(void* ctx, const lattice_path* path);

  /// Returns a number that all paths share whose senders count as one where the rates and places of newcomers
  /// are limited, such as an account or a customer's network. Authority; asked for each datagram of somebody
  /// without a connection, so it must be quick. NULL, the default: each opaque path counts for itself, and
  /// IP addresses by /24 and /56, as on UDP.
  uint64_t (*rate_subject)(void* ctx, const lattice_path* path);

  /// Returns a descriptor that is readable while datagrams wait, or -1 when there is none, such as after its
  /// other end has closed. Asked in lattice_world_wait(), and only waited on. One that was readable 16 times
  /// in a row without a datagram is left alone until a datagram comes (backend_bad_descriptor). Without a
  /// descriptor lattice_world_wait() ends each millisecond, so that the pump looks. NULL, the default: there
  /// is none.
  intptr_t (*descriptor)(void* ctx);

  /// The world has ended; no other function is called any more. Called once, in lattice_world_destroy(). Not
  /// called for a world that lattice_world_create() refused. NULL, the default: nothing is called.
  void (*close)(void* ctx);
} lattice_datagram_backend;

/// Fills the defaults of the first `struct_size` bytes. lattice_datagram_backend_init() calls it with the
/// size the caller was compiled with. LATTICE_ERROR_INVALID_ARGUMENT when `struct_size` is below 4 or above
/// 4096.
LATTICE_API lattice_result lattice_datagram_backend_init_sized(lattice_datagram_backend* backend,
                                                               uint32_t struct_size);
/// Fills every default. Call it before you set a member.
static inline void lattice_datagram_backend_init(lattice_datagram_backend* backend) {
  lattice_datagram_backend_init_sized(backend, (uint32_t)sizeof *backend);
}

/// As lattice_connect(), to an authority at `path`. path->route says through which back end; route 0 with an
/// address is UDP. The path is copied. LATTICE_ERROR_ADDRESS when the world has no such route, or when the
/// path has no form, is an address without a port or of the other IP form, or is opaque on route 0; the text
/// says which. All else as lattice_connect().
///
///     lattice_path server = {1, LATTICE_PATH_OPAQUE, 7, {0}};
///     lattice_conn* conn = lattice_connect_path(world, &server, token, token_bytes);
LATTICE_API lattice_conn* lattice_connect_path(lattice_world* world, const lattice_path* path,
                                               const uint8_t* connect_token, size_t token_bytes);

/// Writes the path of the peer now. A server follows a client whose path changes on its route; the route
/// stays. Works as long as lattice_conn_get_info(). LATTICE_ERROR_NOT_CONNECTED when the peer is gone.
///
///     lattice_path path;
///     if (lattice_conn_get_path(conn, &path) == LATTICE_OK && path.route != 0) use_relay_prices(conn);
LATTICE_API lattice_result lattice_conn_get_path(lattice_conn* conn, lattice_path* out);

#ifdef __cplusplus
}
#endif
#endif
