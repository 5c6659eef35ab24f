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

void* allocate(std::size_t size, std::size_t align) {
  void* p = align <= alignof(std::max_align_t)
                ? std::malloc(size == 0 ? 1 : size)
                : std::aligned_alloc(align, (size + align - 1) / align * align);
  if (p == nullptr) std::abort();
  if (t_paused == 0) ++t_allocations;
  g_live_bytes += static_cast<int64_t>(malloc_usable_size(p));
  return p;
}

/// What `new (std::nothrow)` gives.
void* allocate_if_any(std::size_t size, std::size_t align) {
  return size >= t_refused_bytes ? nullptr : allocate(size, align);
}

void release(void* p) {
  if (p == nullptr) return;
  g_live_bytes -= static_cast<int64_t>(malloc_usable_size(p));
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
