// Transparent huge pages, where the kernel leaves the choice to the application.
#include "platform/large_pages.h"

#include <sys/mman.h>

namespace lattice::platform {

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  // A kernel without huge pages refuses, and the memory stays in small pages.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace lattice::platform
