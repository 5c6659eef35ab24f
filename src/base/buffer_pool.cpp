// Size-classed free lists over 64 KiB slabs.
#include "base/buffer_pool.h"

namespace lattice::base {
namespace {

constexpr size_t kClasses = BufferPool::kClassBytes.size();

}  // namespace

BufferPool::BufferPool(uint64_t limit_bytes, PageSize pages)
    : chunk_bytes_(pages == PageSize::kLarge ? platform::kLargePageBytes : kSlabBytes),
      chunk_used_bytes_(chunk_bytes_),
      limit_bytes_(limit_bytes) {
  static_assert(kSlabBytes >= kLargestBuffer && platform::kLargePageBytes % kSlabBytes == 0);
  static_assert(kClassBytes[0] >= sizeof(FreeBlock));
  chunks_.reserve(64);
}

uint8_t* BufferPool::take_slab() {
  if (chunk_used_bytes_ == chunk_bytes_) {
    chunks_.emplace_back(chunk_bytes_, chunk_bytes_ == kSlabBytes ? PageSize::kSmall : PageSize::kLarge);
    chunk_used_bytes_ = 0;
  }
  uint8_t* slab = chunks_.back().data() + chunk_used_bytes_;
  chunk_used_bytes_ += kSlabBytes;
  return slab;
}

bool BufferPool::add_slab(size_t size_class) {
  if (stats_.slab_bytes + kSlabBytes > limit_bytes_) return false;
  uint8_t* memory = take_slab();
  ++stats_.slabs;
  stats_.slab_bytes += kSlabBytes;
  // The rest of the previous fresh slab joins the free list; only reserve() can leave a rest.
  Fresh& fresh = fresh_[size_class];
  for (; fresh.buffers > 0; --fresh.buffers, fresh.next += kClassBytes[size_class]) {
    free_[size_class] = new (fresh.next) FreeBlock{free_[size_class]};
  }
  fresh = {memory, kSlabBytes / kClassBytes[size_class]};
  free_count_[size_class] += fresh.buffers;
  return true;
}

Buffer BufferPool::allocate_fresh(size_t bytes) {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return {};
  Fresh& fresh = fresh_[size_class];
  if (fresh.buffers == 0 && !add_slab(size_class)) {
    ++stats_.refused_limit;
    return {};
  }
  uint8_t* buffer = fresh.next;
  fresh.next += kClassBytes[size_class];
  --fresh.buffers;
  return lend(buffer, bytes, size_class);
}

bool BufferPool::has_room(size_t bytes) const {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return false;
  return free_count_[size_class] != 0 || stats_.slab_bytes + kSlabBytes <= limit_bytes_;
}

bool BufferPool::reserve(size_t bytes, size_t count) {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return false;
  while (free_count_[size_class] < count) {
    if (!add_slab(size_class)) return false;
  }
  return true;
}

}  // namespace lattice::base
