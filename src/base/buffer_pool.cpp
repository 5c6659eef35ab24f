// Size-classed free lists in slabs of 64 KiB.
#include "base/buffer_pool.h"

#include <algorithm>
#include <span>
#include <utility>

namespace lattice::base {
namespace {

constexpr size_t kClasses = BufferPool::kClassBytes.size();
constexpr size_t kSmallChunkBytes = size_t{512} << 10;

}  // namespace

BufferPool::BufferPool(uint64_t limit_bytes, PageSize pages)
    : chunk_bytes_(pages == PageSize::kLarge ? platform::kLargePageBytes : kSmallChunkBytes),
      pages_(pages),
      next_slab_(chunk_bytes_ / kSlabBytes),
      limit_bytes_(limit_bytes) {
  static_assert(kSlabBytes >= kLargestBuffer && platform::kLargePageBytes % kSlabBytes == 0);
  static_assert(kClassBytes[0] >= sizeof(FreeBlock));
  static_assert(platform::kLargePageBytes / kSlabBytes * sizeof(Slab) <= kSlabBytes);
  chunks_.reserve(64);
}

// The first slab of a chunk holds the table of its slabs. It is not counted: the system backs only the page
// of it that is used.
BufferPool::Slab* BufferPool::take_slab() {
  if (Slab* slab = empty_) {
    unlink(empty_, *slab);
    least_empty_ = std::min(least_empty_, --stats_.slabs_empty);
    return slab;
  }
  if (stats_.slab_bytes + kSlabBytes > limit_bytes_) return nullptr;
  if (next_slab_ == chunk_bytes_ / kSlabBytes) {
    PagedMemory chunk(chunk_bytes_, pages_, chunk_bytes_);
    if (chunk.data() == nullptr) return nullptr;
    chunks_.push_back(std::move(chunk));
    next_slab_ = 1;
  }
  uint8_t* chunk = chunks_.back().data();
  uint8_t* memory = chunk + next_slab_ * kSlabBytes;
  Slab* slab = new (chunk + next_slab_ * sizeof(Slab)) Slab{};
  slab->memory = memory;
  ++next_slab_;
  ++stats_.slabs;
  stats_.slab_bytes += kSlabBytes;
  return slab;
}

bool BufferPool::add_slab(size_t size_class) {
  Slab* slab = take_slab();
  if (slab == nullptr) return false;
  const auto capacity = static_cast<uint16_t>(kSlabBytes / kClassBytes[size_class]);
  uint8_t* memory = slab->memory;
  *slab = {};
  slab->memory = slab->fresh = memory;
  slab->fresh_count = slab->capacity = capacity;
  slab->size_class = static_cast<uint8_t>(size_class);
  free_count_[size_class] += capacity;
  link(*slab);
  return true;
}

void BufferPool::link(Slab*& list, Slab& slab) {
  slab.previous = nullptr;
  slab.next = list;
  if (list != nullptr) list->previous = &slab;
  list = &slab;
}

void BufferPool::unlink(Slab*& list, Slab& slab) {
  (slab.previous == nullptr ? list : slab.previous->next) = slab.next;
  if (slab.next != nullptr) slab.next->previous = slab.previous;
}

void BufferPool::on_empty(Slab& slab) {
  if (free_count_[slab.size_class] < kept_[slab.size_class] + slab.capacity) return;
  free_count_[slab.size_class] -= slab.capacity;
  unlink(slab);
  slab.capacity = 0;
  link(empty_, slab);
  ++stats_.slabs_empty;
}

// Only the last chunk has slabs that were never taken, and take_slab() needs none of those. What a class
// keeps moves to the spare slabs of other chunks.
void BufferPool::give_back_idle() {
  const size_t slabs_per_chunk = chunk_bytes_ / kSlabBytes - 1;
  uint64_t idle = least_empty_;
  for (size_t i = chunks_.size(); i-- > 0;) {
    const bool last = i + 1 == chunks_.size();
    const size_t slabs = last ? next_slab_ - 1 : slabs_per_chunk;
    const std::span<Slab> table(reinterpret_cast<Slab*>(chunks_[i].data()) + 1, slabs);
    if (idle < slabs || std::ranges::any_of(table, [](const Slab& slab) { return slab.live != 0; })) continue;
    std::array<size_t, kClasses> moved{};
    for (Slab& slab : table) {
      if (slab.capacity == 0) {
        unlink(empty_, slab);
        --stats_.slabs_empty;
      } else {
        unlink(slab);
        free_count_[slab.size_class] -= slab.capacity;
        ++moved[slab.size_class];
      }
    }
    if (last) next_slab_ = slabs_per_chunk + 1;
    chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(i));
    idle -= slabs;
    stats_.slabs -= slabs;
    stats_.slab_bytes -= slabs * kSlabBytes;
    for (size_t size_class = 0; size_class < kClasses; ++size_class) {
      for (; moved[size_class] > 0; --moved[size_class]) LATTICE_CHECK(add_slab(size_class));
    }
  }
  least_empty_ = stats_.slabs_empty;
}

Buffer BufferPool::allocate_fresh(size_t bytes) {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return {};
  if (partial_[size_class] == nullptr && !add_slab(size_class)) {
    ++stats_.refused;
    return {};
  }
  Slab& slab = *partial_[size_class];
  LATTICE_ASSERT(slab.fresh_count > 0);
  uint8_t* buffer = slab.fresh;
  slab.fresh += kClassBytes[size_class];
  --slab.fresh_count;
  return lend(slab, buffer, bytes);
}

bool BufferPool::has_room(size_t bytes) const {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return false;
  return partial_[size_class] != nullptr || empty_ != nullptr ||
         stats_.slab_bytes + kSlabBytes <= limit_bytes_;
}

bool BufferPool::reserve(size_t bytes, uint64_t count) {
  const size_t size_class = class_of(bytes);
  if (size_class == kClasses) return false;
  while (free_count_[size_class] < count) {
    if (!add_slab(size_class)) return false;
  }
  kept_[size_class] = std::max(kept_[size_class], count);
  return true;
}

bool BufferPool::validate() const {
  uint64_t live = 0;
  for (size_t size_class = 0; size_class < kClasses; ++size_class) {
    size_t free = 0;
    for (const Slab* slab = partial_[size_class]; slab != nullptr; slab = slab->next) {
      if (slab->size_class != size_class || slab->live >= slab->capacity) return false;
      if (slab->next != nullptr && slab->next->previous != slab) return false;
      free += slab->capacity - slab->live;
      live += slab->live;
    }
    if (free != free_count_[size_class]) return false;
  }
  uint64_t empty = 0;
  for (const Slab* slab = empty_; slab != nullptr; slab = slab->next) {
    if (slab->live != 0 || (slab->next != nullptr && slab->next->previous != slab)) return false;
    ++empty;
  }
  return empty == stats_.slabs_empty && live <= stats_.buffers_live && stats_.slab_bytes <= limit_bytes_;
}

}  // namespace lattice::base
