// Checks of this library's own invariants (STYLE: errors of the third kind). Never used on bytes from a peer.
//   LATTICE_ASSERT: debug and validation builds only.
//   LATTICE_CHECK:  every build; used where continuing would corrupt memory or reuse a nonce.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "base/compiler.h"

namespace lattice::base {
[[noreturn]] LATTICE_COLD inline void assertion_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "lattice: invariant broken: %s (%s:%d)\n", what, file, line);
  std::abort();
}
}  // namespace lattice::base

#define LATTICE_CHECK(condition) \
  ((condition) ? void(0) : ::lattice::base::assertion_failed(#condition, __FILE__, __LINE__))

#if !defined(NDEBUG) || defined(LATTICE_VALIDATION)
#define LATTICE_ASSERT(condition) LATTICE_CHECK(condition)
#else
#define LATTICE_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
