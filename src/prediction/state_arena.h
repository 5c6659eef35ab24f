// The states of all predicted objects in one block of memory: rows of columns (§11.1).
//
//             column 0      column 1   column 2 …       (one column per object, as wide as its words)
//   row 0     | words ...   | ...      | ...            (one row per tick: see timeline.h)
//   row 1     | words ...   | ...      | ...
//
// A resimulation walks along rows: one tick of all objects lies together, so it streams through the caches.
//
// Memory grows only in add(), to at most the words of max_objects objects of the widest type, times two. A
// removed column leaves a gap in every row. When the rows are full, the gaps are closed in place if a quarter
// of the row would then be free, and the rows are made twice as wide otherwise. So adding a column costs an
// amortized constant number of moved words.
//
// Must stay true: columns do not overlap; a column keeps its words over growth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "serialization/word.h"

namespace lattice::prediction {

class StateArena {
 public:
  /// `row_count` rows, without columns.
  explicit StateArena(uint32_t row_count) : row_count_(row_count) {}

  /// Appends a column of `word_count` words per row, which are not initialised. Its index is the number of
  /// columns before. Invalidates pointers into the arena.
  void add(uint32_t word_count);
  /// Removes a column. The last column takes its index.
  void remove(uint32_t column);

  uint32_t column_count() const { return static_cast<uint32_t>(columns_.size()); }
  uint32_t word_count(uint32_t column) const { return columns_[column].word_count; }
  /// The words of `column` in `row`.
  serialization::Word* at(uint32_t row, uint32_t column) {
    return words_.get() + size_t{row} * row_words_ + columns_[column].offset;
  }
  const serialization::Word* at(uint32_t row, uint32_t column) const {
    return words_.get() + size_t{row} * row_words_ + columns_[column].offset;
  }
  /// Bytes of memory, for statistics and tests.
  size_t bytes() const { return size_t{row_count_} * row_words_ * sizeof(serialization::Word); }

 private:
  struct Column {
    size_t offset;  // within a row
    uint32_t word_count;
  };
  void lay_out(size_t row_words);
  void validate() const;

  uint32_t row_count_;
  size_t row_words_ = 0;   // words of one row
  size_t used_words_ = 0;  // of one row, gaps included
  size_t live_words_ = 0;  // of one row, without gaps
  std::vector<Column> columns_;
  std::unique_ptr<serialization::Word[]> words_;
};

}  // namespace lattice::prediction
