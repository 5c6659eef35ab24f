// Which row of the arena holds which tick. A reconciler has two timelines over one arena: the one that is
// shown, and the one that a resimulation writes. When the second arrives at the present, it hands its rows
// over by exchanging numbers: no state is copied.
//
// Must stay true: the rows of all timelines over an arena are distinct; a row is read only for the tick for
// which it was written last.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/sequence.h"

namespace lattice::prediction {

using base::Tick;

class Timeline {
 public:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  /// Rows of a timeline that keeps at least `window_ticks` ticks: the next power of two, so that neighbouring
  /// ticks have different slots also where tick numbers wrap.
  static uint32_t rows_for(size_t window_ticks) { return static_cast<uint32_t>(std::bit_ceil(window_ticks)); }
  /// Takes `row_count` rows of the arena, a result of rows_for(), from `first_row` on.
  Timeline(uint32_t first_row, uint32_t row_count) : entries_(row_count) {
    LATTICE_ASSERT(std::has_single_bit(row_count));
    for (uint32_t i = 0; i < row_count; ++i) entries_[i] = {0, first_row + i};
  }

  /// The row of `tick`, or kNoRow.
  uint32_t find(Tick tick) const {
    const Entry& entry = entries_[slot(tick)];
    return tick != 0 && entry.tick == tick ? entry.row : kNoRow;
  }
  /// Gives the slot to `tick` and returns its row, which holds the states of another tick until written.
  uint32_t write(Tick tick) {
    LATTICE_ASSERT(tick != 0);
    Entry& entry = entries_[slot(tick)];
    entry.tick = tick;
    return entry.row;
  }
  /// Takes over the row of `tick` from `other`, which must hold that tick, and gives its own row for it.
  void take(Tick tick, Timeline& other) {
    LATTICE_ASSERT(other.find(tick) != kNoRow && other.entries_.size() == entries_.size());
    std::swap(entries_[slot(tick)], other.entries_[slot(tick)]);
  }
  void clear() {
    for (Entry& entry : entries_) entry.tick = 0;
  }
  uint32_t row_count() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  struct Entry {
    Tick tick = 0;
    uint32_t row = 0;
  };
  size_t slot(Tick tick) const { return tick & (entries_.size() - 1); }

  std::vector<Entry> entries_;
};

}  // namespace lattice::prediction
