// A double-ended queue of fixed power-of-two capacity. Ring<T> sizes itself at construction;
// Ring<T, N> holds its storage inline. A full ring is not an error: push_back() returns false.
// Invariant: size() == tail_ - head_ <= capacity(); both counters wrap freely.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/assert.h"

namespace lattice::base {

/// Elements must be default-constructible and movable. Popped slots keep their moved-from value, so a
/// moved-from T should hold few resources.
template <class T, size_t N = 0>
class Ring {
  static_assert(N == 0 || std::has_single_bit(N), "capacity is a power of two");

 public:
  Ring() requires(N != 0) = default;

  /// Allocates room for `capacity` elements, rounded up to a power of two (at least 1).
  explicit Ring(size_t capacity) requires(N == 0)
      : slots_(std::make_unique<T[]>(std::bit_ceil(capacity))), capacity_(std::bit_ceil(capacity)) {}

  size_t capacity() const {
    if constexpr (N != 0) {
      return N;
    } else {
      return capacity_;
    }
  }
  size_t size() const { return tail_ - head_; }
  bool empty() const { return head_ == tail_; }
  bool full() const { return size() == capacity(); }

  /// Appends; false (and nothing changed) when full.
  bool push_back(T value) {
    if (full()) return false;
    slot(tail_) = std::move(value);
    ++tail_;
    return true;
  }

  /// Appends, dropping the oldest element when full. For histories.
  void push_back_overwriting(T value) {
    if (full()) ++head_;
    slot(tail_) = std::move(value);
    ++tail_;
  }

  /// Removes and returns the oldest element; the ring must not be empty.
  T pop_front() {
    LATTICE_ASSERT(!empty());
    T value = std::move(slot(head_));
    ++head_;
    return value;
  }

  /// Removes the newest element; the ring must not be empty.
  T pop_back() {
    LATTICE_ASSERT(!empty());
    --tail_;
    return std::move(slot(tail_));
  }

  /// Forgets the `count` oldest elements; count <= size().
  void drop_front(size_t count) {
    LATTICE_ASSERT(count <= size());
    head_ += count;
  }

  void clear() { head_ = tail_; }

  /// Element `i` from the oldest; i < size().
  T& operator[](size_t i) {
    LATTICE_ASSERT(i < size());
    return slot(head_ + i);
  }
  const T& operator[](size_t i) const {
    LATTICE_ASSERT(i < size());
    return slot(head_ + i);
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size() - 1]; }
  const T& back() const { return (*this)[size() - 1]; }

 private:
  T& slot(size_t position) { return slots_[position & (capacity() - 1)]; }
  const T& slot(size_t position) const { return slots_[position & (capacity() - 1)]; }

  struct Nothing {};
  std::conditional_t<N == 0, std::unique_ptr<T[]>, std::array<T, N == 0 ? 1 : N>> slots_{};
  [[no_unique_address]] std::conditional_t<N == 0, size_t, Nothing> capacity_{};
  size_t head_ = 0;
  size_t tail_ = 0;
};

}  // namespace lattice::base
