// The memory of this process, for soak tests and reports.
#pragma once

#include <cstdint>

namespace lattice::platform {

/// Resident set size in bytes, or 0 when the operating system does not say.
uint64_t rss_bytes();

/// Highest resident set size so far in bytes, or 0 when the operating system does not say.
uint64_t peak_rss_bytes();

}  // namespace lattice::platform
