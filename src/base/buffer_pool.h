// Byte buffers for message payloads and queued datagrams, in size classes. Memory comes in slabs of 64 KiB,
// and each slab serves one class at a time.
//
//   chunk (0.5 or 2 MiB, aligned) | table of its slabs | slab | slab | ...      one class per slab
//   class  ─▶ slabs with a free buffer ─▶ free buffers
//
// A slab whose buffers have all returned serves whichever class needs one next, except for the buffers that
// reserve() set aside. Chunks stay until give_back_idle() finds that nobody needed them for a while, so a
// steady load allocates nothing once its peak has been reached. A byte limit bounds the growth.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "base/assert.h"
#include "base/compiler.h"
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
  uint64_t slabs = 0;          ///< Held now.
  uint64_t slab_bytes = 0;     ///< Their total size.
  uint64_t slabs_empty = 0;    ///< Of these, the ones that serve no class now.
  uint64_t buffers_live = 0;   ///< On loan now.
  uint64_t buffers_peak = 0;   ///< Most ever on loan at once.
  uint64_t capacity_live = 0;  ///< Sum of capacity_bytes on loan.
  uint64_t refused = 0;        ///< allocate() calls refused: the byte limit, or the system has no memory.
};

class BufferPool {
 public:
  static constexpr std::array<uint32_t, 12> kClassBytes = {64,   128,  256,  512,   1024,  1536,
                                                           2048, 4096, 8192, 16384, 32768, 65536};
  static constexpr uint32_t kLargestBuffer = kClassBytes.back();
  static constexpr uint32_t kSlabBytes = 65536;

  /// No memory is taken until the first allocate() or reserve(); all slabs together stay within
  /// `limit_bytes`. With large pages, chunks are as large as one page.
  explicit BufferPool(uint64_t limit_bytes, PageSize pages = PageSize::kSmall);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A buffer of at least `bytes` bytes, uninitialised, aligned to 16. A false Buffer when bytes exceeds
  /// kLargestBuffer, or the limit is reached, or the system has no memory. bytes == 0 gives a buffer of the
  /// smallest class.
  Buffer allocate(size_t bytes) {
    const size_t size_class = class_of(bytes);
    Slab* slab = size_class == kClassBytes.size() ? nullptr : partial_[size_class];
    if (slab == nullptr || slab->used_before == nullptr) return allocate_fresh(bytes);
    FreeBlock* block = slab->used_before;
    slab->used_before = block->next;
    prefetch(block->next);  // Most likely the next buffer on loan; it is written then.
    return lend(*slab, reinterpret_cast<uint8_t*>(block), bytes);
  }

  /// Whether allocate(bytes) would give a buffer now, if the system has memory.
  bool has_room(size_t bytes) const;

  /// Returns a buffer to the pool and zeroes the caller's copy; a false buffer is ignored.
  void release(Buffer& buffer) {
    if (!buffer) return;
    Slab& slab = slab_of(buffer.data);
    LATTICE_CHECK(slab.live > 0 && kClassBytes[slab.size_class] == buffer.capacity_bytes);
    slab.used_before = new (buffer.data) FreeBlock{slab.used_before};
    ++free_count_[slab.size_class];
    --stats_.buffers_live;
    stats_.capacity_live -= buffer.capacity_bytes;
    if (slab.live-- == slab.capacity) link(slab);
    if (slab.live == 0) on_empty(slab);
    buffer = {};
  }

  /// Makes room for `count` buffers of the class that holds `bytes`, so that this many allocations of the
  /// class need no slab. The class keeps that room. False when the limit or the system does not allow it.
  bool reserve(size_t bytes, uint64_t count);

  /// Returns to the system as many chunks as slabs were spare ever since the last call, if no buffer of these
  /// chunks is on loan. Call it every few seconds.
  void give_back_idle();

  const BufferPoolStats& stats() const { return stats_; }

  /// Slabs, classes and counts agree. For tests.
  bool validate() const;

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  struct Slab {
    FreeBlock* used_before = nullptr;  ///< Free buffers that were on loan, the newest first.
    /// The first buffer never on loan. These are kept apart, so that unused memory is never touched: a
    /// reserved slab costs address space, not pages.
    uint8_t* fresh = nullptr;
    Slab* next = nullptr;  ///< In partial_ of its class or in empty_.
    Slab* previous = nullptr;
    uint8_t* memory = nullptr;
    uint16_t fresh_count = 0;
    uint16_t live = 0;
    uint16_t capacity = 0;  ///< Buffers of its class that it holds. 0 for a slab that serves no class.
    uint8_t size_class = 0;
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
  /// The chunk of an address begins at a multiple of the chunk's size, and its table is in its first slab.
  Slab& slab_of(uint8_t* data) const {
    const size_t offset = reinterpret_cast<uintptr_t>(data) & (chunk_bytes_ - 1);
    return reinterpret_cast<Slab*>(data - offset)[offset / kSlabBytes];
  }
  Buffer allocate_fresh(size_t bytes);
  Buffer lend(Slab& slab, uint8_t* data, size_t bytes) {
    const uint32_t capacity_bytes = kClassBytes[slab.size_class];
    if (++slab.live == slab.capacity) unlink(slab);
    --free_count_[slab.size_class];
    ++stats_.buffers_live;
    stats_.buffers_peak = std::max(stats_.buffers_peak, stats_.buffers_live);
    stats_.capacity_live += capacity_bytes;
    return {data, static_cast<uint32_t>(bytes), capacity_bytes};
  }
  static void link(Slab*& list, Slab& slab);
  static void unlink(Slab*& list, Slab& slab);
  void link(Slab& slab) { link(partial_[slab.size_class], slab); }
  void unlink(Slab& slab) { unlink(partial_[slab.size_class], slab); }
  void on_empty(Slab& slab);
  Slab* take_slab();
  bool add_slab(size_t size_class);

  std::array<Slab*, kClassBytes.size()> partial_{};      ///< Slabs with a free buffer, by class.
  std::array<size_t, kClassBytes.size()> free_count_{};  ///< Free buffers in them.
  std::array<uint64_t, kClassBytes.size()> kept_{};      ///< Free buffers that the class keeps.
  Slab* empty_ = nullptr;                                ///< Slabs that serve no class.
  uint64_t least_empty_ = 0;                             ///< Of these, since give_back_idle().
  std::vector<PagedMemory> chunks_;                      ///< The last one provides slabs.
  size_t chunk_bytes_;
  PageSize pages_;
  size_t next_slab_;  ///< Of the last chunk.
  uint64_t limit_bytes_;
  BufferPoolStats stats_;
};

}  // namespace lattice::base
