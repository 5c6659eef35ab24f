#include "prediction/state_arena.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/assert.h"

namespace lattice::prediction {

void StateArena::add(uint32_t word_count) {
  const size_t needed = live_words_ + word_count;
  if (used_words_ + word_count > row_words_) {
    lay_out(needed > row_words_ - row_words_ / 4 ? 2 * needed : row_words_);
  }
  columns_.push_back({used_words_, word_count});
  used_words_ += word_count;
  live_words_ = needed;
  validate();
}

void StateArena::remove(uint32_t column) {
  LATTICE_ASSERT(column < columns_.size());
  live_words_ -= columns_[column].word_count;
  columns_[column] = columns_.back();
  columns_.pop_back();
  if (columns_.empty()) used_words_ = 0;
  validate();
}

// Moves the columns of every row to its beginning, in the order of their offsets. In place each column moves
// down or stays, so it overwrites only gaps and columns that have moved.
void StateArena::lay_out(size_t row_words) {
  std::vector<uint32_t> order(columns_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return columns_[a].offset < columns_[b].offset; });
  std::unique_ptr<serialization::Word[]> grown;
  if (row_words != row_words_)
    grown = std::make_unique_for_overwrite<serialization::Word[]>(row_count_ * row_words);
  serialization::Word* const base = grown ? grown.get() : words_.get();
  // Without words there may be no memory yet, and memmove takes no null pointer.
  for (uint32_t row = 0; used_words_ != 0 && row < row_count_; ++row) {
    serialization::Word* to = base + row * row_words;
    for (const uint32_t column : order) {
      const uint32_t count = columns_[column].word_count;
      std::memmove(to, at(row, column), count * sizeof(serialization::Word));
      to += count;
    }
  }
  used_words_ = 0;
  for (const uint32_t column : order) {
    columns_[column].offset = used_words_;
    used_words_ += columns_[column].word_count;
  }
  if (grown) words_ = std::move(grown);
  row_words_ = row_words;
}

void StateArena::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(live_words_ <= used_words_ && used_words_ <= row_words_);
  size_t live = 0;
  for (const Column& column : columns_) {
    LATTICE_ASSERT(column.offset + column.word_count <= used_words_);
    live += column.word_count;
  }
  LATTICE_ASSERT(live == live_words_);
#endif
}

}  // namespace lattice::prediction
