// Waiting for several descriptors at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lattice::platform {

/// Most descriptors of one wait.
inline constexpr size_t kMaxWaitDescriptors = 16;

/// Blocks until one of `descriptors` (at most kMaxWaitDescriptors) is readable or broken, or until
/// `timeout_ns` has passed; true for the first. Without descriptors it sleeps. A signal may end it early.
bool wait_readable(std::span<const intptr_t> descriptors, uint64_t timeout_ns);

}  // namespace lattice::platform
