// Size-classed free lists over 64 KiB slabs.
#include "base/block_pool.h"

#include <algorithm>
#include <new>

#include "base/assert.h"

namespace lattice::base {
namespace {

constexpr size_t kClasses = BlockPool::kClassBytes.size();

}  // namespace

BlockPool::BlockPool(uint64_t limit_bytes, PageSize pages)
    : chunk_bytes_(pages == PageSize::kLarge ? platform::kLargePageBytes : kSlabBytes),
      chunk_used_bytes_(chunk_bytes_),
      limit_bytes_(limit_bytes) {
  static_assert(kSlabBytes >= kLargestBlock && platform::kLargePageBytes % kSlabBytes == 0);
  static_assert(kClassBytes[0] >= sizeof(FreeBlock));
  chunks_.reserve(64);
}

uint8_t* BlockPool::take_slab() {
  if (chunk_used_bytes_ == chunk_bytes_) {
    chunks_.emplace_back(chunk_bytes_, chunk_bytes_ == kSlabBytes ? PageSize::kSmall : PageSize::kLarge);
    chunk_used_bytes_ = 0;
  }
  uint8_t* slab = chunks_.back().data() + chunk_used_bytes_;
  chunk_used_bytes_ += kSlabBytes;
  return slab;
}

size_t BlockPool::class_of(size_t bytes) {
  size_t size_class = 0;
  while (size_class < kClasses && kClassBytes[size_class] < bytes) ++size_class;
  return size_class;
}

bool BlockPool::add_slab(size_t size_class) {
  if (stats_.slab_bytes + kSlabBytes > limit_bytes_) return false;
  uint8_t* memory = take_slab();
  ++stats_.slabs;
  stats_.slab_bytes += kSlabBytes;
  // What is left of the previous fresh slab joins the free list; only reserve() can leave anything.
  Fresh& fresh = fresh_[size_class];
  for (; fresh.blocks > 0; --fresh.blocks, fresh.next += kClassBytes[size_class]) {
    free_[size_class] = new (fresh.next) FreeBlock{free_[size_class]};
  }
  fresh = {memory, kSlabBytes / kClassBytes[size_class]};
  free_count_[size_class] += fresh.blocks;
  return true;
}

Block BlockPool::allocate(size_t bytes) {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return {};
  if (free_count_[size_class] == 0 && !add_slab(size_class)) {
    ++stats_.refused_limit;
    return {};
  }
  uint8_t* block = nullptr;
  if (FreeBlock* used_before = free_[size_class]) {
    free_[size_class] = used_before->next;
    __builtin_prefetch(used_before->next);  // Most likely the next to go, and written to then.
    block = reinterpret_cast<uint8_t*>(used_before);
  } else {
    Fresh& fresh = fresh_[size_class];
    block = fresh.next;
    fresh.next += kClassBytes[size_class];
    --fresh.blocks;
  }
  --free_count_[size_class];
  ++stats_.blocks_live;
  stats_.blocks_peak = std::max(stats_.blocks_peak, stats_.blocks_live);
  stats_.capacity_live += kClassBytes[size_class];
  return {block, static_cast<uint32_t>(bytes), kClassBytes[size_class]};
}

bool BlockPool::has_room(size_t bytes) const {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return false;
  return free_count_[size_class] != 0 || stats_.slab_bytes + kSlabBytes <= limit_bytes_;
}

void BlockPool::release(Block& block) {
  if (!block) return;
  const size_t size_class = class_of(block.capacity_bytes);
  LATTICE_CHECK(size_class < kClasses && kClassBytes[size_class] == block.capacity_bytes);
  LATTICE_CHECK(stats_.blocks_live > 0);
  free_[size_class] = new (block.data) FreeBlock{free_[size_class]};
  ++free_count_[size_class];
  --stats_.blocks_live;
  stats_.capacity_live -= block.capacity_bytes;
  block = {};
}

bool BlockPool::reserve(size_t bytes, size_t count) {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return false;
  while (free_count_[size_class] < count) {
    if (!add_slab(size_class)) return false;
  }
  return true;
}

}  // namespace lattice::base
