// The memory of this process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lattice::platform {

/// Resident set size in bytes, or 0 when the operating system does not say.
uint64_t rss_bytes();

/// Highest resident set size so far in bytes, or 0 when the operating system does not say.
uint64_t peak_rss_bytes();

/// Whether the operating system would give this process so many bytes more now. Some systems promise more
/// than they have; then it says nothing about what happens once the bytes are used.
bool has_memory(size_t bytes);

}  // namespace lattice::platform
