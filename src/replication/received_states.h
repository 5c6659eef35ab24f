// The states of one object that a client received: the baselines to which the authority may refer. Spec:
// D-26.
//
// They lie in a ring of cells, and each cell owns the words of one state. So a state is decoded into the
// words that it keeps, and one that comes in order moves nothing.
//
// True at all times: states ascend in tick; the newest kBaselineSends are here, and of those in parts with
// keep the newest kKeptStates, but for what forget_before() let go. The memory grows in steps and stays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"
#include "replication/snapshot_format.h"
#include "serialization/word.h"

namespace lattice::replication {

using base::Tick;
using serialization::Word;

class ReceivedStates {
 public:
  /// Empties it. Keeps the memory that it has.
  void reset(uint32_t word_count);

  bool empty() const { return count_ == 0; }
  Tick newest_tick() const { return at(count_ - 1).tick; }
  const Word* newest() const { return words_of(at(count_ - 1)); }
  /// The state before the newest, or null.
  const Word* before_newest() const { return count_ < 2 ? nullptr : words_of(at(count_ - 2)); }
  /// The words of exactly `tick`, or null. `depth` is a guess of how many states are newer, and is put right.
  const Word* find(Tick tick, uint32_t* depth) const {
    if (*depth >= count_ || at(count_ - 1 - *depth).tick != tick) return search(tick, depth);
    const uint32_t index = count_ - 1 - *depth;
    return let_go(index) ? nullptr : words_of(at(index));
  }
  const Word* find(Tick tick) const {
    uint32_t depth = 0;
    return find(tick, &depth);
  }

  /// Words to fill for a state that may follow. The next insert() takes them over. Valid until then; states
  /// that were let go may leave.
  Word* draft() {
    if (count_ == cells_.size()) make_room();
    return words_of(at(count_));
  }
  /// Puts the state of `tick` in its place and returns its words, which are those of draft(). Null when the
  /// tick is already there, or when the state is older than all that must be kept.
  Word* insert(Tick tick, bool keep) {
    const bool plain = count_ != 0 && count_ < std::min<size_t>(cells_.size(), kBaselineSends) && !keep &&
                       base::tick_after(tick, newest_tick());
    return plain ? append(tick) : insert_anywhere(tick, keep);
  }
  /// Lets go of the states before `baseline` that are more than kLateBaselineTicks older than `now`. The
  /// newest state and those of parts with keep stay.
  void forget_before(Tick baseline, Tick now) {
    const Tick late = now - static_cast<Tick>(kLateBaselineTicks);
    const Tick from = base::tick_after(baseline, late) ? late : baseline;
    if (base::tick_after(from, first_needed_)) first_needed_ = from;
  }
  /// Gives states of long ago a later tick: ticks wrap.
  void age(Tick oldest);
  /// States in memory, those that were let go included.
  uint32_t held() const { return count_; }

 private:
  struct Cell {
    Tick tick = 0;
    uint16_t place = 0;  // in words_
    bool keep = false;
  };
  // `index` 0 is the oldest state; at(held()) is the cell of the draft.
  Cell& at(uint32_t index) { return cells_[index_of(index)]; }
  const Cell& at(uint32_t index) const { return cells_[index_of(index)]; }
  uint32_t index_of(uint32_t index) const {
    const uint32_t i = head_ + index;
    const auto cells = static_cast<uint32_t>(cells_.size());
    return i < cells ? i : i - cells;
  }
  Word* words_of(const Cell& cell) { return words_.data() + size_t{cell.place} * word_count_; }
  const Word* words_of(const Cell& cell) const { return words_.data() + size_t{cell.place} * word_count_; }
  bool let_go(uint32_t index) const {
    const Cell& cell = at(index);
    return !cell.keep && index + 1 != count_ && base::tick_after(first_needed_, cell.tick);
  }
  Word* append(Tick tick) {
    Cell& cell = at(count_++);
    cell.tick = tick;
    cell.keep = false;
    return words_of(cell);
  }
  const Word* search(Tick tick, uint32_t* depth) const;
  Word* insert_anywhere(Tick tick, bool keep);
  void drop(uint32_t index);
  void make_room();
  void grow(uint32_t cells);
  void validate() const;

  std::vector<Cell> cells_;
  std::vector<Word> words_;
  uint32_t word_count_ = 0;
  uint32_t head_ = 0;
  uint32_t count_ = 0;
  uint32_t kept_ = 0;      // states with keep
  Tick first_needed_ = 0;  // states before it that are neither the newest nor have keep were let go
};

}  // namespace lattice::replication
