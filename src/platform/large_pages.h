// Memory in few large pages instead of many small ones: a processor that walks through hundreds of
// connections looks up where a page is more often than it can remember.
#pragma once

#include <cstddef>

namespace lattice::platform {

inline constexpr size_t kLargePageBytes = size_t{2} << 20;

/// Asks for [memory, memory + bytes), which begins at a multiple of kLargePageBytes, in large pages. A hint:
/// where the operating system has none to give, nothing changes. A large page is resident as a whole.
void prefer_large_pages(void* memory, size_t bytes);

}  // namespace lattice::platform
