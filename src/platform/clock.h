// Clocks. Only the outermost layers call these; from crypto upward time arrives as an argument.
#pragma once

#include <cstdint>

namespace lattice::platform {

/// Nanoseconds since an unspecified start; never goes back, not affected by setting the wall clock.
uint64_t monotonic_ns();

/// Whole seconds since 1970-01-01 UTC by the wall clock. Used for token expiry only; may jump.
uint64_t unix_seconds();

/// Processor time that this process has used on all its threads, user and system, in nanoseconds.
uint64_t process_cpu_ns();

/// Blocks until monotonic_ns() >= deadline_ns. Returns at once for a deadline in the past; signals do
/// not cut it short.
void sleep_until_ns(uint64_t deadline_ns);

}  // namespace lattice::platform
