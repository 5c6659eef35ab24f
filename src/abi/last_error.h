// The text behind lattice_last_error(): one per thread, so that worlds on different threads do not mix.
#pragma once

#include "lattice/result.h"

namespace lattice::abi {

/// Records why a call failed; printf-style, cut at 511 bytes. Returns `code`.
[[gnu::format(printf, 2, 3)]] lattice_result fail(lattice_result code, const char* format, ...);

}  // namespace lattice::abi
