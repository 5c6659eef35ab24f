#include "reliability/channel/receive_memory.h"

#include "base/assert.h"

namespace lattice::reliability {

// One block more for has_room(): the last one of the shares leaves a block for the copy of a stored fragment.
ReceiveMemory::ReceiveMemory(uint64_t share_count, uint64_t growth_blocks, uint64_t reserved_blocks,
                             base::PageSize pages)
    : growth_blocks_(growth_blocks),
      pool_(limit_bytes(share_count * kShareBlocks + growth_blocks + 1), pages) {
  pool_.reserve(kBlockBytes, reserved_blocks);
}

uint64_t ReceiveMemory::limit_bytes(uint64_t blocks) {
  constexpr uint64_t kBlocksPerSlab = base::BufferPool::kSlabBytes / kBlockBytes;
  return (blocks + kBlocksPerSlab - 1) / kBlocksPerSlab * base::BufferPool::kSlabBytes;
}

uint8_t* ReceiveMemory::take() {
  const base::Buffer block = pool_.allocate(kBlockBytes);
  LATTICE_CHECK(block && block.capacity_bytes == kBlockBytes);
  return block.data;
}

void ReceiveMemory::give(uint8_t* block) {
  base::Buffer buffer{block, kBlockBytes, kBlockBytes};
  pool_.release(buffer);
}

}  // namespace lattice::reliability
