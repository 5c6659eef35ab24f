// The result and the text of the last call: one per thread, so that worlds on different threads do not mix.
#pragma once

#include "base/compiler.h"
#include "lattice/result.h"

namespace lattice::abi {

/// Marks the running call (call.h) as failed, with a printf-style text cut at 511 bytes. Returns `code`,
/// which is not LATTICE_OK.
LATTICE_PRINTF(2, 3) lattice_result fail(lattice_result code, const char* format, ...);

/// What lattice_last_result() and lattice_last_error() say inside a callback until it calls the library. The
/// running call has not failed by it.
LATTICE_PRINTF(2, 3) void tell_callback(lattice_result code, const char* format, ...);

lattice_result last_result();
const char* last_error();

}  // namespace lattice::abi
