#include "replication/host_cells.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

size_t align_up(size_t n, size_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

}  // namespace

HostCells::OfType& HostCells::of(const ObjectType& type) {
  if (type.index >= types_.size()) types_.resize(type.index + 1);
  OfType& cells = types_[type.index];
  if (cells.bytes != 0) return cells;
  const serialization::Layout& layout = *type.layout;
  size_t at = layout.behaviour_count() * sizeof(void*);
  size_t alignment = alignof(void*);
  for (size_t b = 0; b < layout.behaviour_count(); ++b) {
    LATTICE_ASSERT(layout.host_align(b) <= kHostAlignment);
    alignment = std::max(alignment, layout.host_align(b));
    at = align_up(at, layout.host_align(b));
    cells.offsets.push_back(at);
    at += layout.host_bytes(b);
  }
  cells.bytes = align_up(at, alignment);
  return cells;
}

void* const* HostCells::take(const ObjectType& type) {
  OfType& cells = of(type);
  if (cells.free.empty()) {
    auto* memory = static_cast<std::byte*>(
        ::operator new[](cells.bytes* kCellsPerChunk, std::align_val_t{kHostAlignment}));
    cells.chunks.emplace_back(memory);
    const size_t all = cells.chunks.size() * kCellsPerChunk;  // giving back must not allocate
    if (cells.free.capacity() < all) cells.free.reserve(std::max(all, 2 * cells.free.capacity()));
    for (size_t i = kCellsPerChunk; i > 0; --i) cells.free.push_back(memory + (i - 1) * cells.bytes);
  }
  std::byte* cell = cells.free.back();
  cells.free.pop_back();
  std::memset(cell, 0, cells.bytes);
  void** pointers = reinterpret_cast<void**>(cell);
  for (size_t b = 0; b < cells.offsets.size(); ++b) pointers[b] = cell + cells.offsets[b];
  return pointers;
}

void HostCells::give_back(const ObjectType& type, void* const* cell) {
  of(type).free.push_back(reinterpret_cast<std::byte*>(const_cast<void**>(cell)));
}

}  // namespace lattice::replication
