/* The result of calls that can fail, and the text that goes with it. */
#ifndef LATTICE_RESULT_H
#define LATTICE_RESULT_H

#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lattice_result {
  LATTICE_OK = 0,
  LATTICE_ERROR_INVALID_ARGUMENT = 1, /* a null, an out-of-range value, an unknown id */
  LATTICE_ERROR_STALE_HANDLE = 2,     /* the object behind the handle is gone */
  LATTICE_ERROR_WOULD_BLOCK = 3,      /* a bounded queue is full; try again after the next pump */
  LATTICE_ERROR_OUT_OF_ORDER = 4,     /* the pump was called out of order, or from inside a callback */
  LATTICE_ERROR_BUFFER_TOO_SMALL = 5, /* the caller's buffer cannot hold the answer */
  LATTICE_ERROR_CONFIG = 6,           /* a configuration value was refused; see lattice_last_error() */
  LATTICE_ERROR_SCHEMA = 7,           /* a type description was refused; see lattice_last_error() */
  LATTICE_ERROR_ADDRESS = 8,          /* an address does not parse or resolve */
  LATTICE_ERROR_ADDRESS_IN_USE = 9,
  LATTICE_ERROR_PERMISSION = 10,
  LATTICE_ERROR_IO = 11,
  LATTICE_ERROR_TOKEN = 12,       /* a token is malformed or was not made for this client */
  LATTICE_ERROR_LIMIT = 13,       /* a stated limit (objects, types, connections, message size) */
  LATTICE_ERROR_NOT_ALLOWED = 14, /* the caller's role may not do this (I5, Q-02) */
  LATTICE_ERROR_NOT_FOUND = 15,
  LATTICE_ERROR_UNSUPPORTED = 16 /* this build of the library cannot do it */
} lattice_result;

/* A stable lower-case name such as "address_in_use"; never NULL. */
LATTICE_API const char* lattice_result_name(lattice_result result);

/* A stable name such as "schema_mismatch"; application reasons give "application". Never NULL. */
LATTICE_API const char* lattice_disconnect_reason_name(int reason);

/* One sentence of cause and one of action for the last call on this thread that failed, or "".
 * Owned by the library, valid until the next call that fails on this thread. */
LATTICE_API const char* lattice_last_error(void);

/* The code that belongs to lattice_last_error(): how a creator that returned NULL says why. */
LATTICE_API lattice_result lattice_last_result(void);

#ifdef __cplusplus
}
#endif
#endif
