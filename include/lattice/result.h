/// @file
/// The result of a call, and the text that goes with it.
#ifndef LATTICE_RESULT_H
#define LATTICE_RESULT_H

#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a call ended.
typedef enum lattice_result {
  LATTICE_OK = 0,                      ///< done
  LATTICE_ERROR_INVALID_ARGUMENT = 1,  ///< a pointer is NULL, or a value is out of its range
  LATTICE_ERROR_STALE_HANDLE = 2,      ///< the world, connection or network of the handle has ended
  LATTICE_ERROR_WOULD_BLOCK = 3,       ///< a bounded queue is full; try again after the next pump
  LATTICE_ERROR_OUT_OF_ORDER = 4,      ///< the call is not allowed at this point, such as inside a callback
  LATTICE_ERROR_BUFFER_TOO_SMALL = 5,  ///< the caller's buffer cannot hold the answer
  LATTICE_ERROR_CONFIG = 6,            ///< a member of a configuration is out of its range
  LATTICE_ERROR_SCHEMA = 7,            ///< the description of a type was refused
  LATTICE_ERROR_ADDRESS = 8,           ///< an address does not parse or resolve
  LATTICE_ERROR_ADDRESS_IN_USE = 9,    ///< another socket has the address
  LATTICE_ERROR_PERMISSION = 10,       ///< the operating system does not allow it
  LATTICE_ERROR_IO = 11,               ///< the operating system failed; lattice_last_error() has its message
  LATTICE_ERROR_TOKEN = 12,            ///< a token is malformed or was not made for this client
  LATTICE_ERROR_LIMIT =
      13,  ///< a stated limit is reached, such as the number of objects or the size of a message
  LATTICE_ERROR_NOT_ALLOWED = 14,   ///< this role or this peer may not do it
  LATTICE_ERROR_NOT_FOUND = 15,     ///< no such object, property, peer, index or name
  LATTICE_ERROR_UNSUPPORTED = 16,   ///< this version or build of the library cannot do it
  LATTICE_ERROR_BUSY = 17,          ///< another thread is inside the same world or network
  LATTICE_ERROR_NOT_CONNECTED = 18  ///< the connection is not established yet, or has ended
} lattice_result;

/// The stable lower-case name of a result, such as "address_in_use"; "unknown" for other numbers. Never NULL,
/// lives as long as the library. Does not set lattice_last_result().
LATTICE_API const char* lattice_result_name(lattice_result result);

/// The stable lower-case name of a disconnect reason, such as "schema_mismatch"; "application" from 256 on,
/// "unknown" for other numbers. Never NULL, lives as long as the library. Does not set lattice_last_result().
LATTICE_API const char* lattice_disconnect_reason_name(int reason);

/// Says in English what was wrong with the last call on this thread, and what to do. "" when that call
/// succeeded. Never NULL; valid until the next call on this thread. Does not set lattice_last_result().
///
///     if (lattice_world_pump(world) == 0 && lattice_last_result() != LATTICE_OK) {
///       fprintf(stderr, "%s\n", lattice_last_error());
///     }
LATTICE_API const char* lattice_last_error(void);

/// The result of the last call on this thread, whatever that call returned. A callback that calls the library
/// does not disturb it: when a call returns, the result is that call's own. Does not set
/// lattice_last_result().
LATTICE_API lattice_result lattice_last_result(void);

#ifdef __cplusplus
}
#endif
#endif
