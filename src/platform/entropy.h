// Operating-system randomness for keys, nonces and cookies. Simulated code uses base::Random instead;
// the two are never swapped.
#pragma once

#include <cstddef>

namespace lattice::platform {

/// Fills `bytes` bytes at `out` from the operating system's cryptographic generator; blocks only until
/// the kernel's pool is first initialised. Never returns with the buffer partly filled: when the kernel
/// has no entropy to give, the process is aborted with a message, because continuing would make keys
/// predictable.
void fill_entropy(void* out, size_t bytes);

}  // namespace lattice::platform
