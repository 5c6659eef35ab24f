// The states of one object that a client received: the baselines to which the authority may refer. Spec:
// D-26.
//
// True at all times: states ascend in tick; the newest kBaselineSends are here, and of those in parts with
// keep the newest kKeptStates, but for what forget_before() dropped. The memory grows in steps and stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"
#include "serialization/word.h"

namespace lattice::replication {

using base::Tick;
using serialization::Word;

class ReceivedStates {
 public:
  /// Empties it. Keeps the memory that it has.
  void reset(uint32_t word_count);

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  bool empty() const { return entries_.empty(); }
  Tick newest_tick() const { return entries_.back().tick; }
  const Word* newest() const { return words_.data() + size_t{entries_.back().place} * word_count_; }
  /// The words of exactly `tick`, or null.
  const Word* find(Tick tick) const;

  /// Makes room for the state of `tick` at its place, and returns the words to fill. Null when the tick is
  /// already there, or when the state is older than all that must be kept.
  Word* insert(Tick tick, bool keep);
  /// Drops the states before `baseline` that are more than kLateBaselineTicks older than `now`. The newest
  /// state and those of parts with keep stay.
  void forget_before(Tick baseline, Tick now);
  /// Gives states of long ago a later tick: ticks wrap.
  void age(Tick oldest);

 private:
  struct Entry {
    Tick tick = 0;
    uint16_t place = 0;  // in words_
    bool keep = false;
  };
  void drop(size_t index);
  void make_room();

  std::vector<Entry> entries_;
  std::vector<uint16_t> free_;  // places
  std::vector<Word> words_;
  uint32_t word_count_ = 0;
  uint32_t kept_ = 0;  // entries with keep
};

}  // namespace lattice::replication
