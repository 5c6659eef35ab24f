// Sets of small integers as words of bits, with find-first and find-next: FixedBitSet<N> inline, BitSet
// sized at construction. Bits past size() in the last word are always zero, so counting and searching
// need no masking.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.h"

namespace lattice::base {

/// The result of the find functions when there is no such bit.
inline constexpr size_t kNoBit = static_cast<size_t>(-1);

inline constexpr size_t bit_words(size_t bits) {
  return (bits + 63) / 64;
}

/// The operations both sets share. `Self` provides words() and size().
template <class Self>
class BitSetOperations {
 public:
  bool test(size_t i) const {
    LATTICE_ASSERT(i < self().size());
    return (self().words()[i / 64] >> (i % 64) & 1u) != 0;
  }
  void set(size_t i) {
    LATTICE_ASSERT(i < self().size());
    self().words()[i / 64] |= uint64_t{1} << (i % 64);
  }
  void clear(size_t i) {
    LATTICE_ASSERT(i < self().size());
    self().words()[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  void assign(size_t i, bool value) { value ? set(i) : clear(i); }

  void clear_all() {
    for (uint64_t& word : self().words()) word = 0;
  }
  void set_all() {
    for (uint64_t& word : self().words()) word = ~uint64_t{0};
    const size_t tail_bits = self().size() % 64;
    if (tail_bits != 0) self().words().back() = (uint64_t{1} << tail_bits) - 1;
  }

  size_t count() const {
    size_t total = 0;
    for (const uint64_t word : self().words()) total += static_cast<size_t>(std::popcount(word));
    return total;
  }
  bool any() const {
    for (const uint64_t word : self().words()) {
      if (word != 0) return true;
    }
    return false;
  }
  bool none() const { return !any(); }

  /// The lowest set bit, or kNoBit.
  size_t find_first_set() const { return find_next_set(0); }
  /// The lowest set bit >= from, or kNoBit. `from` may equal or exceed size().
  size_t find_next_set(size_t from) const { return find_from(from, 0); }
  /// The lowest clear bit, or kNoBit.
  size_t find_first_clear() const { return find_next_clear(0); }
  /// The lowest clear bit >= from, or kNoBit.
  size_t find_next_clear(size_t from) const { return find_from(from, ~uint64_t{0}); }

  /// Calls visit(index) for every set bit in ascending order. The set may change bits at or below the
  /// index being visited while this runs.
  template <class Visit>
  void for_each_set(Visit visit) const {
    for (size_t i = find_next_set(0); i != kNoBit; i = find_next_set(i + 1)) visit(i);
  }

  /// Adds every member of `other`; same size.
  void unite(const Self& other) {
    LATTICE_ASSERT(self().size() == other.size());
    for (size_t w = 0; w < self().words().size(); ++w) self().words()[w] |= other.words()[w];
  }
  /// Keeps only members of `other`; same size.
  void intersect(const Self& other) {
    LATTICE_ASSERT(self().size() == other.size());
    for (size_t w = 0; w < self().words().size(); ++w) self().words()[w] &= other.words()[w];
  }
  /// Removes every member of `other`; same size.
  void subtract(const Self& other) {
    LATTICE_ASSERT(self().size() == other.size());
    for (size_t w = 0; w < self().words().size(); ++w) self().words()[w] &= ~other.words()[w];
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }

  size_t find_from(size_t from, uint64_t flip) const {
    const size_t size = self().size();
    if (from >= size) return kNoBit;
    const auto words = self().words();
    size_t w = from / 64;
    uint64_t word = (words[w] ^ flip) & (~uint64_t{0} << (from % 64));
    while (word == 0) {
      if (++w == words.size()) return kNoBit;
      word = words[w] ^ flip;
    }
    const size_t found = w * 64 + static_cast<size_t>(std::countr_zero(word));
    return found < size ? found : kNoBit;
  }
};

template <size_t N>
class FixedBitSet : public BitSetOperations<FixedBitSet<N>> {
 public:
  static constexpr size_t size() { return N; }
  std::span<uint64_t> words() { return words_; }
  std::span<const uint64_t> words() const { return words_; }

  friend bool operator==(const FixedBitSet& a, const FixedBitSet& b) { return a.words_ == b.words_; }

 private:
  std::array<uint64_t, bit_words(N)> words_{};
};

class BitSet : public BitSetOperations<BitSet> {
 public:
  BitSet() = default;
  explicit BitSet(size_t size) : words_(bit_words(size)), size_(size) {}

  size_t size() const { return size_; }
  std::span<uint64_t> words() { return words_; }
  std::span<const uint64_t> words() const { return words_; }

  /// Changes the size, keeping the bits both sizes have; new bits are clear. Growth allocates.
  void resize(size_t size) {
    words_.resize(bit_words(size));
    size_ = size;
    if (size % 64 != 0) words_.back() &= (uint64_t{1} << (size % 64)) - 1;
  }

  friend bool operator==(const BitSet& a, const BitSet& b) {
    return a.size_ == b.size_ && a.words_ == b.words_;
  }

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

}  // namespace lattice::base
