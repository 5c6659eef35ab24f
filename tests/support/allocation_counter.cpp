// Replacement allocation functions; see allocation_counter.h.
#include "allocation_counter.h"

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
thread_local uint64_t t_allocations = 0;
thread_local int t_paused = 0;
thread_local std::size_t t_refused_bytes = SIZE_MAX;
std::atomic<int64_t> g_live_bytes{0};

/// Bytes at `p`. Behind memory that is aligned to whole pages lies what the alignment left over, which
/// differs from run to run: memory aligned to a chunk of a pool counts in whole chunks.
int64_t bytes_at(void* p) {
  const std::size_t usable = malloc_usable_size(p);
  for (const std::size_t chunk : {std::size_t{2} << 20, std::size_t{512} << 10}) {
    const bool is_chunk = reinterpret_cast<std::uintptr_t>(p) % chunk == 0 && usable >= chunk;
    if (is_chunk) return static_cast<int64_t>(usable / chunk * chunk);
  }
  return static_cast<int64_t>(usable);
}

void* allocate(std::size_t size, std::size_t align) {
  void* p = align <= alignof(std::max_align_t)
                ? std::malloc(size == 0 ? 1 : size)
                : std::aligned_alloc(align, (size + align - 1) / align * align);
  if (p == nullptr) std::abort();
  if (t_paused == 0) ++t_allocations;
  g_live_bytes += bytes_at(p);
  return p;
}

/// What `new (std::nothrow)` gives.
void* allocate_if_any(std::size_t size, std::size_t align) {
  return size >= t_refused_bytes ? nullptr : allocate(size, align);
}

void release(void* p) {
  if (p == nullptr) return;
  g_live_bytes -= bytes_at(p);
  std::free(p);
}
}  // namespace

namespace lattice::test {
PauseCounting::PauseCounting() {
  ++t_paused;
}
PauseCounting::~PauseCounting() {
  --t_paused;
}
NoMemory::NoMemory(size_t bytes) {
  t_refused_bytes = bytes;
}
NoMemory::~NoMemory() {
  t_refused_bytes = SIZE_MAX;
}
uint64_t allocation_count() {
  return t_allocations;
}
int64_t live_bytes() {
  return g_live_bytes;
}
}  // namespace lattice::test

// Visible, because the shared library and a sanitizer's runtime refer to these too.
#pragma GCC visibility push(default)
void* operator new(std::size_t size) {
  return allocate(size, 0);
}
void* operator new[](std::size_t size) {
  return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t align) {
  return allocate(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return allocate(size, static_cast<std::size_t>(align));
}
// All forms are replaced together: a sanitizer's runtime has its own of each, and release() frees only ours.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_if_any(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_if_any(size, 0);
}
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate_if_any(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate_if_any(size, static_cast<std::size_t>(align));
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
#pragma GCC visibility pop
