/// @file
/// Connections: how to make and end them, what is known of them, and messages of the application.
#ifndef LATTICE_CONNECTION_H
#define LATTICE_CONNECTION_H

#include "lattice/result.h"
#include "lattice/token.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Most bytes of a message of lattice_send(): 256 fragments of 1136 bytes.
#define LATTICE_MESSAGE_MAX_BYTES 290816u

/// Starts connecting a client to the authority at `endpoint`, "host:port" or "[v6]:port". The token is
/// copied. Fixes the schema. The pump does the rest and calls on_connected or on_disconnected. A client has
/// one connection at a time; it may connect again from inside on_disconnected.
///
/// NULL on failure: LATTICE_ERROR_ADDRESS when `endpoint` does not parse or resolve, and in a world
/// without_udp, LATTICE_ERROR_TOKEN when the token is malformed, is for another protocol version, states
/// another schema or names a client key that this world does not hold, such as that of a token it used before
/// (LATTICE_DISCONNECT_TOKEN_INVALID says what becomes of other bad tokens), LATTICE_ERROR_NOT_ALLOWED on an
/// authority and while there is a connection, LATTICE_ERROR_WOULD_BLOCK while the world still tells four
/// earlier peers that their connections ended. A host name blocks while the resolver looks it up; a numeric address
/// never blocks.
///
///     lattice_conn* conn = lattice_connect(world, "127.0.0.1:27015", token, token_bytes);
///     if (conn == NULL) fprintf(stderr, "%s\n", lattice_last_error());
LATTICE_API lattice_conn* lattice_connect(lattice_world* world, const char* endpoint,
                                          const uint8_t* connect_token, size_t token_bytes);

/// Ends a connection and tells the peer. The reason is LATTICE_DISCONNECT_REQUESTED on a client and
/// LATTICE_DISCONNECT_KICKED on the authority. on_disconnected is called on this side too, by the next
/// lattice_world_recv() or lattice_world_send(), or at the end of the one that runs. What the peer has not
/// got yet is lost: send the last message of the ordered channel with a receipt, and wait for it; all
/// before it has arrived then. On the unordered channel each message has a receipt of its own.
///
///     lattice_disconnect(conn);
LATTICE_API lattice_result lattice_disconnect(lattice_conn* conn);

/// As lattice_disconnect(), with a reason: 256 to 65535 for one of the application, or a built-in one. The
/// authority may give those from LATTICE_DISCONNECT_REQUESTED to LATTICE_DISCONNECT_HOST_LEFT except
/// LATTICE_DISCONNECT_TIMEOUT; a client LATTICE_DISCONNECT_REQUESTED, LATTICE_DISCONNECT_PROTOCOL_ERROR,
/// LATTICE_DISCONNECT_RESOURCE_LIMIT and LATTICE_DISCONNECT_INTERNAL_ERROR. `text` is at most 64 bytes of
/// UTF-8 with a final zero, without control characters such as a line break, and without invisible characters
/// that turn or hide text (docs/spec/wire.md, W-29, lists them); the peer finds it in
/// lattice_conn_info.disconnect_text. `text` may be NULL. LATTICE_ERROR_INVALID_ARGUMENT for another reason
/// or another text.
///
///     lattice_disconnect_with(conn, LATTICE_DISCONNECT_KICKED, "away for too long");
LATTICE_API lattice_result lattice_disconnect_with(lattice_conn* conn, int reason, const char* text);

/// Inside lattice_callbacks.on_admit: the text that goes with a refusal, to the client, who finds it in
/// lattice_conn_info.disconnect_text, and to the log. `text` is as for lattice_disconnect_with(); it counts
/// for this call of on_admit. LATTICE_ERROR_OUT_OF_ORDER elsewhere. LATTICE_ERROR_INVALID_ARGUMENT for a text
/// that may not be told.
///
///     lattice_set_admit_text(world, "the match has begun");
///     return LATTICE_DISCONNECT_SERVER_FULL;
LATTICE_API lattice_result lattice_set_admit_text(lattice_world* world, const char* text);

/// Ends all connections of a world, and pumps it without ticks until the peers were told. Each is told every
/// 50 ms until it answers, because a datagram may be lost: this blocks for a round trip, and where a peer is
/// gone for a second. Who asks to join meanwhile is refused (LATTICE_DISCONNECT_SERVER_FULL). on_disconnected
/// is called for each connection. For the end of a program: destroy the world next. `reason` and `text` are
/// as for lattice_disconnect_with(), so `text` may be NULL.
/// An authority that shuts down says LATTICE_DISCONNECT_HOST_LEFT, a client LATTICE_DISCONNECT_REQUESTED.
///
/// LATTICE_ERROR_INVALID_ARGUMENT for another reason or text: nothing has ended. LATTICE_ERROR_UNSUPPORTED on
/// a simulated network, where time does not pass by itself. LATTICE_ERROR_OUT_OF_ORDER inside a callback.
///
///     lattice_world_leave(world, LATTICE_DISCONNECT_HOST_LEFT, "the server restarts");
///     lattice_world_destroy(world);
LATTICE_API lattice_result lattice_world_leave(lattice_world* world, int reason, const char* text);

/// What is known of a connection.
typedef struct lattice_conn_info {
  uint32_t struct_size;     ///< set by lattice_conn_info_init()
  uint32_t is_connected;    ///< 1 between on_connected and on_disconnected
  lattice_peer_id peer_id;  ///< the id of the client, on both sides; 0 before on_connected
  uint8_t player[16];       ///< the player named in the token of the client; zero before on_connected
  uint8_t session[16];      ///< the session named in the token; zero before on_connected
  uint8_t user_data[LATTICE_TOKEN_USER_DATA_MAX_BYTES];  ///< the user data of the token
  uint32_t user_data_bytes;                              ///< size of user_data
  uint64_t remote_schema_id;  ///< after LATTICE_DISCONNECT_SCHEMA_MISMATCH the schema of the peer; else 0
  /// The address of the peer now, with a final zero. A server follows a client whose address changes. The
  /// path of a back end as "route1/" with the address, or with the number of an opaque path and its bytes, in
  /// hexadecimal and without zeros at the end: "route1/7:0a0b". lattice_conn_get_path() has it as a
  /// structure.
  char remote_address[64];
  char disconnect_text[80];  ///< the text of the side that ended the connection, with a final zero
  /// 1 once the client has every object that was in its set when it joined. The authority knows it from
  /// acknowledgements, the client from the authority.
  uint32_t is_loaded;
  /// How many objects the client was to get when it joined: with interest management those that it may see
  /// from where it first looked. Placed objects that nobody has changed do not count, because it has them. 0
  /// on a client until the authority has said so, and while it connects.
  uint32_t join_objects;
  /// How many of those the client has received, or will not get any more because they went. A client hears of
  /// it 5 times per second until is_loaded.
  uint32_t join_objects_received;
  /// 1 once the peer has ended the connection, with the reason and text that on_disconnected gets; else 0.
  uint32_t ended_by_peer;
  /// Names the connection on both sides, in logs and in captures; 0 before on_connected. It is random, so it
  /// does not repeat after a restart, as peer ids do.
  uint64_t connection_id;
} lattice_conn_info;

/// All zero, with struct_size. Does nothing when `info` is NULL. Does not set lattice_last_result().
static inline void lattice_conn_info_init(lattice_conn_info* info) {
  if (info == NULL) return;
  memset(info, 0, sizeof *info);
  info->struct_size = (uint32_t)sizeof *info;
}

/// Writes what is known of a connection, from lattice_connect() or on_connected until on_disconnected has
/// returned; with record_events as lattice_event.conn says. `out` must have been initialised.
///
///     lattice_conn_info info;
///     lattice_conn_info_init(&info);
///     lattice_conn_get_info(conn, &info);
LATTICE_API lattice_result lattice_conn_get_info(lattice_conn* conn, lattice_conn_info* out);

/// Client, after LATTICE_DISCONNECT_SCHEMA_MISMATCH and for as long as lattice_conn_get_info(): what differs
/// in the schemas of client and server. Returns difference `index`, counted from 0, such as
/// "Player.Fighter.health: client uint16 bits 10, server uint16 bits 12", or NULL past the last. It is
/// printable ASCII and lives as long as the connection is known. The log has the first 16 (category
/// "schema").
///
/// A server tells its schema when it refuses. The client asks for it for up to 8 s, tells the server what
/// differs (lattice_world_schema_difference()), and ends when the server has heard it, or after a second; a
/// long schema (more than 64 kB of text), or a slow or lossy network, may leave only the front of it. Then
/// the list may lack differences. NULL and LATTICE_ERROR_NOT_FOUND when there are no more, or nothing was
/// told.
///
/// lattice_last_error() names the first difference too: when on_disconnected begins, and until the next
/// lattice_connect() after each call that fails because the connection is not there, such as lattice_send()
/// and lattice_local_peer().
///
///     const char* difference;
///     for (uint32_t i = 0; (difference = lattice_conn_schema_difference(conn, i)) != NULL; ++i)
///     puts(difference);
LATTICE_API const char* lattice_conn_schema_difference(lattice_conn* conn, uint32_t index);

/// Authority: what differs in the schemas of this world and of a client that it refused with
/// LATTICE_DISCONNECT_SCHEMA_MISMATCH. Returns difference `index`, counted from 0, in the words of
/// lattice_conn_schema_difference(), or NULL past the last. It is printable ASCII and lives until the next
/// call that receives (lattice_world_pump(), lattice_world_recv(), lattice_world_leave()) or destroys the
/// world.
///
/// The client has said it, with a valid token, and may lie about its own half; the half of the server is what
/// this world has. At most 16 differences of one client are kept: of the newest, of at most 2 clients a
/// second, and of one player once in 10 s. The log has the first 4 (category "schema").
///
/// NULL and LATTICE_ERROR_NOT_FOUND when there are no more, or nobody has told any, as no client whose schema
/// is the same does; LATTICE_ERROR_NOT_ALLOWED on a client.
LATTICE_API const char* lattice_world_schema_difference(lattice_world* world, uint32_t index);

/// Authority: returns the live connection of `peer`. NULL with LATTICE_ERROR_NOT_FOUND when no such client is
/// connected, LATTICE_ERROR_NOT_ALLOWED on a client.
LATTICE_API lattice_conn* lattice_peer_conn(lattice_world* world, lattice_peer_id peer);

/// Returns the peer id of this world: 1 on the authority, at least 2 on a client. 0 and
/// LATTICE_ERROR_NOT_CONNECTED on a client that is not connected.
LATTICE_API lattice_peer_id lattice_local_peer(lattice_world* world);

/// Sends a message of 0 to LATTICE_MESSAGE_MAX_BYTES bytes. The bytes are copied, and leave with the next
/// lattice_world_send(). `data` may be NULL when `bytes` is 0. The peer gets the message in on_message.
///
/// A message of up to 1147 bytes fits a packet. A longer one travels in fragments on the same channel: on an
/// unreliable channel it is lost when one fragment is, on a reliable one others wait while it passes.
///
/// LATTICE_ERROR_WOULD_BLOCK: the queue has no room for all of the message. Nothing was sent; try again after
/// the next pump. LATTICE_ERROR_LIMIT: the message is too long. LATTICE_ERROR_NOT_CONNECTED: before
/// on_connected.
///
///     if (lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "hello", 5) != LATTICE_OK) {
///       fprintf(stderr, "%s\n", lattice_last_error());
///     }
LATTICE_API lattice_result lattice_send(lattice_conn* conn, lattice_channel channel, const void* data,
                                        size_t bytes);

/// As lattice_send(), and on_receipt is called once with what became of the message. On success the number
/// that on_receipt will name is written to `receipt`. It is never 0, and it is used again in this world only
/// after about 2^30 others. `data` may be NULL when `bytes` is 0.
LATTICE_API lattice_result lattice_send_with_receipt(lattice_conn* conn, lattice_channel channel,
                                                     const void* data, size_t bytes, uint32_t* receipt);

/// How the messages of one channel share a link that is full.
typedef struct lattice_channel_settings {
  uint32_t struct_size;  ///< set by lattice_channel_settings_init()
  /// Channels that wait take turns. One with weight 4 gets four times the bytes of one with weight 1. 1..16,
  /// default 1.
  uint32_t weight;
  /// 1: messages leave before those of channels that are not urgent, and before all turns. A quarter of the
  /// link stays with snapshots and inputs. Give it to what is small and seldom: an urgent channel that always
  /// has something to send leaves the others nothing. 0 or 1, default 0.
  uint32_t is_urgent;
  /// An unreliable message that has waited for so long is given up: its receipt says so, and message_expired
  /// counts it. For a voice or a position that is worthless when it is late. Once a fragment of it has left,
  /// it has a second more. 0, the default: it waits. 0..60000, and 0 on reliable channels.
  uint32_t max_wait_ms;
} lattice_channel_settings;

/// Fills the defaults of the first `struct_size` bytes. lattice_channel_settings_init() calls it with the
/// size the caller was compiled with. LATTICE_ERROR_INVALID_ARGUMENT when `struct_size` is below 4 or above
/// 4096.
LATTICE_API lattice_result lattice_channel_settings_init_sized(lattice_channel_settings* settings,
                                                               uint32_t struct_size);
/// Fills every default. Call it before you set a member.
static inline void lattice_channel_settings_init(lattice_channel_settings* settings) {
  lattice_channel_settings_init_sized(settings, (uint32_t)sizeof *settings);
}

/// Says how the messages that this side sends on `channel` of a connection share a full link with those of
/// the other channels, from now on. The two unreliable channels wait in one queue: what is said of one holds
/// for both. A stream that is small beside its turn of a full link needs nothing: turns serve it in time.
/// Call it as soon as there is a handle. LATTICE_ERROR_CONFIG names the member that is out of its range.
///
///     lattice_channel_settings voice;
///     lattice_channel_settings_init(&voice);
///     voice.is_urgent = 1;
///     voice.max_wait_ms = 60;
///     lattice_conn_set_channel(conn, LATTICE_CHANNEL_UNRELIABLE, &voice);
LATTICE_API lattice_result lattice_conn_set_channel(lattice_conn* conn, lattice_channel channel,
                                                    const lattice_channel_settings* settings);

#ifdef __cplusplus
}
#endif
#endif
