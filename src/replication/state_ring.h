// A bounded run of states, each with its words and tick, in ascending tick. On the authority it holds the
// versions of one object, on a client the received states of one object.
//
// The words of a state do not move while the ring keeps it, except when the ring grows. It grows fourfold at
// a time up to its bound, and never shrinks. A late state is inserted at its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"
#include "serialization/word.h"

namespace lattice::replication {

using base::Tick;

class StateRing {
 public:
  /// Empties the ring and sets its sizes. Keeps the memory that it has.
  void reset(uint32_t word_count, uint32_t max_states);

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint32_t word_count() const { return word_count_; }
  /// `index` 0 is the oldest state.
  Tick tick(uint32_t index) const { return entries_[wrap(index)].tick; }
  const serialization::Word* words(uint32_t index) const { return block(entries_[wrap(index)].block); }

  /// Makes room for a state of `tick` at its place, and returns the words to fill. At the bound the oldest
  /// state makes way. Null when the tick is already there, or when the ring is full and the tick is older
  /// than its oldest.
  serialization::Word* insert(Tick tick);
  void pop_front();
  /// If the newest state is older than `tick`, keeps only that state and gives it `tick`. Ticks wrap: a tick
  /// of long ago must be moved forward now and then, or it would one day seem to lie in the future.
  void age(Tick tick);
  void clear() { size_ = 0; }

  /// The index of the newest state at or before `tick`, or -1.
  int32_t at_or_before(Tick tick) const;
  /// The words of exactly `tick`, or null.
  const serialization::Word* find(Tick tick) const;

 private:
  struct Entry {
    Tick tick = 0;
    uint32_t block = 0;
  };
  uint32_t wrap(uint32_t index) const {
    const uint32_t at = head_ + index;
    return at >= capacity_ ? at - capacity_ : at;
  }
  const serialization::Word* block(uint32_t b) const { return words_.data() + size_t{b} * word_count_; }
  void grow();

  // Entries outside [head, head + size) hold the free blocks, so entries_ is a permutation of the blocks at
  // all times.
  std::vector<Entry> entries_;
  std::vector<serialization::Word> words_;
  uint32_t word_count_ = 0;
  uint32_t max_states_ = 0;
  uint32_t capacity_ = 0;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
};

}  // namespace lattice::replication
