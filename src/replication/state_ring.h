// A bounded run of (tick, words) in ascending tick: one object's versions on the authority, one object's
// received states on a client.
//
// The words of a state never move while the ring keeps it, except when the ring grows (announced
// growth: it doubles up to its bound and never shrinks). Late states are inserted in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"

namespace lattice::replication {

using base::Tick;

class StateRing {
 public:
  /// Empties the ring and fixes its shape. Keeps memory it already has.
  void reset(uint32_t word_count, uint32_t max_states);

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  uint32_t word_count() const { return word_count_; }
  /// `index` 0 is the oldest state.
  Tick tick(uint32_t index) const { return entries_[wrap(index)].tick; }
  const uint64_t* words(uint32_t index) const { return block(entries_[wrap(index)].block); }

  /// Makes room for a state of `tick` at its place and returns its words to be filled. At the bound the
  /// oldest state makes way. Null when that tick is already there, or is older than a full ring's oldest.
  uint64_t* insert(Tick tick);
  void pop_front();
  /// Keeps only the newest state and calls it `tick`'s, if it is older than that. Ticks wrap: what is long
  /// past must be moved along now and then, or it would one day seem to lie in the future.
  void age(Tick tick);
  void clear() { size_ = 0; }

  /// Index of the newest state at or before `tick`, or -1.
  int32_t at_or_before(Tick tick) const;
  /// The words of exactly `tick`, or null.
  const uint64_t* find(Tick tick) const;

 private:
  struct Entry {
    Tick tick = 0;
    uint32_t block = 0;
  };
  uint32_t wrap(uint32_t index) const {
    const uint32_t at = head_ + index;
    return at >= capacity_ ? at - capacity_ : at;
  }
  const uint64_t* block(uint32_t b) const { return words_.data() + size_t{b} * word_count_; }
  void grow();

  // Entries outside [head, head + size) hold the blocks that are free, so entries_ is a permutation of
  // the blocks at all times.
  std::vector<Entry> entries_;
  std::vector<uint64_t> words_;
  uint32_t word_count_ = 0;
  uint32_t max_states_ = 0;
  uint32_t capacity_ = 0;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
};

}  // namespace lattice::replication
