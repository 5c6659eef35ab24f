// A double-ended queue of plain values whose array is a buffer of the shared pool. An empty queue holds no
// memory, and a full one doubles up to a stated bound. Once the pool has reached its peak, growth allocates
// nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/assert.h"
#include "base/buffer_pool.h"

namespace lattice::reliability {

template <class T>
class PooledRing {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);

 public:
  /// At most `bound` elements; bit_ceil(bound) of them must fit the pool's largest buffer.
  PooledRing(base::BufferPool& pool, size_t bound) : pool_(&pool), bound_(bound) {
    LATTICE_ASSERT(std::bit_ceil(bound) * sizeof(T) <= base::BufferPool::kLargestBuffer);
  }
  ~PooledRing() { pool_->release(buffer_); }
  PooledRing(const PooledRing&) = delete;
  PooledRing& operator=(const PooledRing&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t bound() const { return bound_; }

  /// Appends; false, and nothing changed, at the bound or when the pool gives no memory.
  bool push_back(const T& value) {
    T* slot = extend();
    if (slot != nullptr) *slot = value;
    return slot != nullptr;
  }
  /// Appends an element with an undefined value, which the caller sets; null when push_back() would fail.
  T* extend() {
    if (size_ == bound_ || (size_ == capacity_ && !grow())) return nullptr;
    return &slot(size_++);
  }
  void pop_front(size_t count = 1) {
    LATTICE_ASSERT(count <= size_);
    head_ = (head_ + count) & (capacity_ - 1);
    size_ -= count;
  }
  void pop_back() {
    LATTICE_ASSERT(size_ > 0);
    --size_;
  }
  T& operator[](size_t i) {
    LATTICE_ASSERT(i < size_);
    return slot(i);
  }
  const T& operator[](size_t i) const {
    LATTICE_ASSERT(i < size_);
    return const_cast<PooledRing*>(this)->slot(i);
  }
  T& front() { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }

  /// Forgets all elements and gives the memory back.
  void reset() {
    pool_->release(buffer_);
    head_ = size_ = capacity_ = 0;
  }

 private:
  static constexpr size_t kFirstBytes = 256;

  T* array() { return reinterpret_cast<T*>(buffer_.data); }
  T& slot(size_t i) { return array()[(head_ + i) & (capacity_ - 1)]; }

  bool grow() {
    const size_t first = std::max<size_t>(1, std::bit_floor(kFirstBytes / sizeof(T)));
    const size_t capacity = capacity_ == 0 ? first : capacity_ * 2;
    base::Buffer larger = pool_->allocate(capacity * sizeof(T));
    if (!larger) return false;
    T* to = reinterpret_cast<T*>(larger.data);
    for (size_t i = 0; i < size_; ++i) std::memcpy(to + i, &slot(i), sizeof(T));
    pool_->release(buffer_);
    buffer_ = larger;
    head_ = 0;
    capacity_ = capacity;
    return true;
  }

  base::BufferPool* pool_;
  base::Buffer buffer_;
  size_t bound_;
  size_t head_ = 0;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// A message body on loan from the pool. The receipt fills otherwise unused padding: ring entries stay small.
struct StoredBody {
  uint8_t* data = nullptr;
  uint16_t size_bytes = 0;
  uint16_t capacity_bytes = 0;
  uint32_t receipt = 0;

  std::span<const uint8_t> bytes() const { return {data, size_bytes}; }
};

/// Copies `head`, then `body` (together at most 16 KiB), into one buffer; false when the pool gives none.
inline bool store_body(base::BufferPool& pool, std::span<const uint8_t> head, std::span<const uint8_t> body,
                       StoredBody* out) {
  base::Buffer buffer = pool.allocate(head.size() + body.size());
  if (!buffer) return false;
  LATTICE_ASSERT(buffer.capacity_bytes <= UINT16_MAX);
  if (!head.empty()) std::memcpy(buffer.data, head.data(), head.size());
  if (!body.empty()) std::memcpy(buffer.data + head.size(), body.data(), body.size());
  out->data = buffer.data;
  out->size_bytes = static_cast<uint16_t>(buffer.size_bytes);
  out->capacity_bytes = static_cast<uint16_t>(buffer.capacity_bytes);
  return true;
}

inline void release_body(base::BufferPool& pool, StoredBody& body) {
  base::Buffer buffer{body.data, body.size_bytes, body.capacity_bytes};
  pool.release(buffer);
  body = {};
}

}  // namespace lattice::reliability
