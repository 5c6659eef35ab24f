// Memory in a few large pages instead of many small ones. A server that visits hundreds of connections
// touches more small pages than the processor's TLB holds, and every TLB miss costs a walk of the page table.
#pragma once

#include <cstddef>

namespace lattice::platform {

inline constexpr size_t kLargePageBytes = size_t{2} << 20;

/// Asks the operating system to back [memory, memory + bytes), which begins at a multiple of kLargePageBytes,
/// with large pages. A hint: a system without large pages changes nothing. A large page becomes resident as a
/// whole.
void prefer_large_pages(void* memory, size_t bytes);

}  // namespace lattice::platform
