/// @file
/// What happened to the connections of a world, as an array: for programs that would rather read a list than
/// set callbacks. lattice_world_config.record_events switches it on, for worlds of any kind.
#ifndef LATTICE_EVENT_H
#define LATTICE_EVENT_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a lattice_event is about.
typedef enum lattice_event_kind {
  LATTICE_EVENT_NONE = 0,          ///< no event
  LATTICE_EVENT_CONNECTED = 1,     ///< as on_connected of lattice_callbacks
  LATTICE_EVENT_DISCONNECTED = 2,  ///< as on_disconnected, with `reason` and its text in `data`
  LATTICE_EVENT_MESSAGE = 3,       ///< as on_message, with `channel` and the bytes in `data`
  LATTICE_EVENT_RECEIPT = 4        ///< as on_receipt, with `receipt` and `acked`
} lattice_event_kind;

/// One event. A member that the kind does not name is 0.
typedef struct lattice_event {
  uint32_t kind;     ///< a lattice_event_kind
  uint32_t channel;  ///< a lattice_channel
  /// Names the connection. Its lattice_conn_info and statistics can be had until the call of
  /// lattice_world_events() or the pump that follows its LATTICE_EVENT_DISCONNECTED; if by then another
  /// connection has its place, every call with it is refused. Sending is refused once the connection has
  /// ended, which may be events earlier. The number itself stays good to find what the program keeps for the
  /// connection.
  lattice_conn* conn;
  lattice_peer_id peer;  ///< the id of the client, on both sides; 0 for an attempt to connect that failed
  /// `bytes` bytes and a zero. Valid until the next lattice_world_recv(), lattice_world_send() or
  /// lattice_world_pump().
  const uint8_t* data;
  size_t bytes;       ///< size of `data` without that zero
  uint32_t receipt;   ///< the number that lattice_send_with_receipt() gave
  uint32_t acked;     ///< 1: the library of the peer has all of the message; 0: it is given up
  int32_t reason;     ///< a lattice_disconnect_reason, or one of the application's
  uint32_t reserved;  ///< always 0
} lattice_event;

/// Takes the oldest events, at most `capacity`, writes them to `out` and returns how many there were. Call it
/// until it returns 0. `out` may be NULL when `capacity` is 0. LATTICE_ERROR_NOT_ALLOWED in a world without
/// record_events, LATTICE_ERROR_OUT_OF_ORDER inside a callback.
///
/// No event is lost while it waits. Transfers have no events: their callbacks come inside the pump, and so
/// before the events of the same call. Once 65,536 of them or 16 MiB of data wait, lattice_world_recv() takes
/// nothing more from the network; called again, it answers LATTICE_ERROR_WOULD_BLOCK, and
/// lattice_world_pump() returns 0 with the same error. Nothing is received then from
/// anybody, and connections whose datagrams are not taken for connection_timeout_ms end with what they sent.
///
///     lattice_event events[64];
///     lattice_world_recv(world);
///     for (size_t n; (n = lattice_world_events(world, events, 64)) != 0;) {
///       for (size_t i = 0; i < n; ++i) handle(&events[i]);
///     }
///     lattice_world_send(world);
LATTICE_API size_t lattice_world_events(lattice_world* world, lattice_event* out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
