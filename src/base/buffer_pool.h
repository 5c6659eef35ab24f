// Byte buffers for message payloads and queued datagrams, in size classes. Memory comes in slabs of 64 KiB.
// It stays on per-class free lists until the pool is destroyed, so a steady load allocates nothing once its
// peak has been reached. A byte limit bounds the growth.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "base/assert.h"
#include "base/paged_memory.h"

namespace lattice::base {

/// A buffer on loan from a BufferPool. Plain value: copying does not copy the loan; release it once.
struct Buffer {
  uint8_t* data = nullptr;
  uint32_t size_bytes = 0;      ///< The requested size.
  uint32_t capacity_bytes = 0;  ///< The size of its class.

  explicit operator bool() const { return data != nullptr; }
};

struct BufferPoolStats {
  uint64_t slabs = 0;          ///< Allocated so far; only ever rises.
  uint64_t slab_bytes = 0;     ///< Their total size.
  uint64_t buffers_live = 0;   ///< On loan now.
  uint64_t buffers_peak = 0;   ///< Most ever on loan at once.
  uint64_t capacity_live = 0;  ///< Sum of capacity_bytes on loan.
  uint64_t refused_limit = 0;  ///< allocate() calls refused because of the byte limit.
};

class BufferPool {
 public:
  static constexpr std::array<uint32_t, 12> kClassBytes = {64,   128,  256,  512,   1024,  1536,
                                                           2048, 4096, 8192, 16384, 32768, 65536};
  static constexpr uint32_t kLargestBuffer = kClassBytes.back();
  static constexpr uint32_t kSlabBytes = 65536;

  /// No memory is taken until the first allocate() or reserve(); all slabs together stay within
  /// `limit_bytes`. With large pages, slabs are cut from regions of kLargePageBytes.
  explicit BufferPool(uint64_t limit_bytes, PageSize pages = PageSize::kSmall);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A buffer of at least `bytes` bytes, uninitialised, aligned to 16. A false Buffer when bytes exceeds
  /// kLargestBuffer or the limit is reached. bytes == 0 gives a buffer of the smallest class.
  Buffer allocate(size_t bytes) {
    const size_t size_class = class_of(bytes);
    FreeBlock* used_before = size_class == kClassBytes.size() ? nullptr : free_[size_class];
    if (used_before == nullptr) return allocate_fresh(bytes);
    free_[size_class] = used_before->next;
    __builtin_prefetch(used_before->next);  // Most likely the next buffer on loan; it is written then.
    return lend(reinterpret_cast<uint8_t*>(used_before), bytes, size_class);
  }

  /// Whether allocate(bytes) would give a buffer now.
  bool has_room(size_t bytes) const;

  /// Returns a buffer to the pool and zeroes the caller's copy; a false buffer is ignored.
  void release(Buffer& buffer) {
    if (!buffer) return;
    const size_t size_class = class_of(buffer.capacity_bytes);
    LATTICE_CHECK(size_class < kClassBytes.size() && kClassBytes[size_class] == buffer.capacity_bytes);
    LATTICE_CHECK(stats_.buffers_live > 0);
    free_[size_class] = new (buffer.data) FreeBlock{free_[size_class]};
    ++free_count_[size_class];
    --stats_.buffers_live;
    stats_.capacity_live -= buffer.capacity_bytes;
    buffer = {};
  }

  /// Makes room for `count` buffers of the class that holds `bytes`, so that this many allocations of the
  /// class need no slab. False when the limit does not allow it.
  bool reserve(size_t bytes, size_t count);

  const BufferPoolStats& stats() const { return stats_; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  /// The part of the newest slab of a class that was never on loan. It is kept apart from the free list, so
  /// that unused memory is never touched: a reserved slab costs address space, not pages.
  struct Fresh {
    uint8_t* next = nullptr;
    size_t buffers = 0;
  };

  /// From a table in steps of 64 bytes up to 4 KiB; powers of two from there.
  static size_t class_of(size_t bytes) {
    static constexpr auto kSmall = [] {
      std::array<uint8_t, 4096 / 64 + 1> classes{};
      for (size_t i = 0, size_class = 0; i < classes.size(); ++i) {
        if (kClassBytes[size_class] < i * 64) ++size_class;
        classes[i] = static_cast<uint8_t>(size_class);
      }
      return classes;
    }();
    if (bytes <= 4096) return kSmall[(bytes + 63) / 64];
    if (bytes > kLargestBuffer) return kClassBytes.size();
    return kSmall.back() + static_cast<size_t>(std::bit_width(bytes - 1)) - 12;
  }
  Buffer allocate_fresh(size_t bytes);
  Buffer lend(uint8_t* data, size_t bytes, size_t size_class) {
    --free_count_[size_class];
    ++stats_.buffers_live;
    stats_.buffers_peak = std::max(stats_.buffers_peak, stats_.buffers_live);
    stats_.capacity_live += kClassBytes[size_class];
    return {data, static_cast<uint32_t>(bytes), kClassBytes[size_class]};
  }
  uint8_t* take_slab();
  bool add_slab(size_t size_class);

  std::array<FreeBlock*, kClassBytes.size()> free_{};
  std::array<Fresh, kClassBytes.size()> fresh_{};
  std::array<size_t, kClassBytes.size()> free_count_{};  ///< In the free list and fresh together.
  std::vector<PagedMemory> chunks_;                      ///< Large regions; the last one provides slabs.
  size_t chunk_bytes_;
  size_t chunk_used_bytes_;
  uint64_t limit_bytes_;
  BufferPoolStats stats_;
};

}  // namespace lattice::base
