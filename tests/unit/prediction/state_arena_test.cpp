#include "prediction/state_arena.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "base/random.h"

namespace lattice::prediction {
namespace {

constexpr uint32_t kRows = 5;

/// Every word of a column has a value that names the column, the row and the word.
serialization::Word value_of(uint32_t name, uint32_t row, uint32_t word) {
  return name * 1'000'000 + row * 1'000 + word;
}

void fill(StateArena& arena, uint32_t column, uint32_t name) {
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t word = 0; word < arena.word_count(column); ++word) {
      arena.at(row, column)[word] = value_of(name, row, word);
    }
  }
}

bool holds(const StateArena& arena, uint32_t column, uint32_t name) {
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t word = 0; word < arena.word_count(column); ++word) {
      if (arena.at(row, column)[word] != value_of(name, row, word)) return false;
    }
  }
  return true;
}

TEST(StateArena, ColumnsKeepTheirWordsWhileOthersComeAndGo) {
  EXPECT_TRUE(rc::check("every column holds what was written to it", [] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    StateArena arena(kRows);
    std::vector<uint32_t> names;  // by column
    uint32_t next_name = 1;
    size_t most_words = 0;
    for (int step = 0; step < 300; ++step) {
      if (names.size() < 20 && (names.empty() || random.chance(0.55))) {
        arena.add(static_cast<uint32_t>(random.next_below(12)));
        fill(arena, arena.column_count() - 1, next_name);
        names.push_back(next_name++);
      } else {
        const auto column = static_cast<uint32_t>(random.next_below(names.size()));
        arena.remove(column);
        names[column] = names.back();
        names.pop_back();
      }
      RC_ASSERT(arena.column_count() == names.size());
      size_t live = 0;
      for (uint32_t column = 0; column < names.size(); ++column) {
        RC_ASSERT(holds(arena, column, names[column]));
        live += arena.word_count(column);
      }
      most_words = std::max(most_words, live);
      RC_ASSERT(arena.bytes() <= 2 * most_words * kRows * sizeof(serialization::Word));
    }
  }));
}

TEST(StateArena, AColumnAddedAndRemovedForeverNeedsNoMoreMemory) {
  StateArena arena(kRows);
  for (uint32_t i = 0; i < 16; ++i) arena.add(10);
  const size_t bytes = arena.bytes();
  const serialization::Word* at = arena.at(0, 0);
  for (uint32_t i = 0; i < 10'000; ++i) {
    arena.remove(15);
    arena.add(10);
  }
  EXPECT_EQ(arena.bytes(), bytes);
  EXPECT_EQ(arena.at(0, 0), at);
}

}  // namespace
}  // namespace lattice::prediction
