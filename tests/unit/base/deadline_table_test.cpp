#include "base/deadline_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace lattice::base {
namespace {

std::vector<size_t> due(DeadlineTable& table, uint64_t now_ns) {
  std::vector<size_t> out;
  for (size_t slot = table.next_due(0, now_ns); slot != DeadlineTable::kNone;
       slot = table.next_due(slot + 1, now_ns)) {
    out.push_back(slot);
  }
  return out;
}

TEST(DeadlineTable, NothingIsDueBeforeItsTimeAndNothingByItself) {
  DeadlineTable table(200);
  EXPECT_EQ(due(table, UINT64_MAX - 1), std::vector<size_t>{});
  table.set(0, 10);
  table.set(64, 20);
  table.set(199, 15);
  EXPECT_EQ(due(table, 9), std::vector<size_t>{});
  EXPECT_EQ(due(table, 10), std::vector<size_t>{0});
  EXPECT_EQ(due(table, 19), (std::vector<size_t>{0, 199}));
  EXPECT_EQ(due(table, 20), (std::vector<size_t>{0, 64, 199})) << "by slot, not by time";
}

TEST(DeadlineTable, ADeadlineIsReplacedByALaterAndByAnEarlierOne) {
  DeadlineTable table(3);
  table.set(1, 50);
  table.set(1, 500);
  EXPECT_EQ(due(table, 499), std::vector<size_t>{});
  EXPECT_EQ(due(table, 500), std::vector<size_t>{1});
  table.set(1, 20);
  EXPECT_EQ(due(table, 20), std::vector<size_t>{1});
  table.set(1, DeadlineTable::kNever);
  EXPECT_EQ(due(table, UINT64_MAX - 1), std::vector<size_t>{});
}

TEST(DeadlineTable, LoweringNeverMakesItLater) {
  DeadlineTable table(3);
  table.lower(1, 50);
  EXPECT_EQ(table.at(1), 50u);
  table.lower(1, 60);
  EXPECT_EQ(table.at(1), 50u);
  table.lower(1, 0);
  EXPECT_EQ(table.next_due(0, 1), 1u);
  EXPECT_TRUE(table.validate());
}

TEST(DeadlineTable, WhatBecomesDueBehindTheCursorIsFoundByTheSameWalk) {
  DeadlineTable table(300);
  table.set(5, 1);
  const size_t first = table.next_due(0, 1);
  EXPECT_EQ(first, 5u);
  table.set(2, 0);
  table.set(130, 0);
  table.set(first, DeadlineTable::kNever);
  EXPECT_EQ(table.next_due(first + 1, 1), 130u);
  EXPECT_EQ(table.next_due(131, 1), DeadlineTable::kNone);
  EXPECT_EQ(table.next_due(0, 1), 2u) << "and what lies before it, by the next";
}

TEST(DeadlineTable, TheLastSlotOfAnyTableIsFound) {
  for (const size_t slots : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{65536}}) {
    DeadlineTable table(slots);
    table.set(slots - 1, 7);
    EXPECT_EQ(table.next_due(0, 7), slots - 1);
    EXPECT_EQ(table.next_due(slots, 7), DeadlineTable::kNone);
  }
}

TEST(DeadlineTable, FindsWhatASearchOfAllSlotsFinds) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const size_t slots = 1 + random.next_below(400);
    DeadlineTable table(slots);
    std::vector<uint64_t> expected(slots, DeadlineTable::kNever);
    for (uint64_t now_ns = 0; now_ns < 300; ++now_ns) {
      for (uint64_t changes = random.next_below(20); changes > 0; --changes) {
        const size_t slot = random.next_below(slots);
        expected[slot] = random.chance(0.1) ? DeadlineTable::kNever : now_ns + random.next_below(60);
        table.set(slot, expected[slot]);
      }
      std::vector<size_t> want;
      for (size_t slot = 0; slot < slots; ++slot) {
        if (expected[slot] <= now_ns) want.push_back(slot);
      }
      ASSERT_EQ(due(table, now_ns), want) << "seed " << seed;
      ASSERT_TRUE(table.validate());
      for (const size_t slot : want) {  // Half of them are dealt with.
        if (random.chance(0.5)) continue;
        expected[slot] = now_ns + 1 + random.next_below(100);
        table.set(slot, expected[slot]);
        ASSERT_EQ(table.at(slot), expected[slot]);
      }
    }
  }
}

}  // namespace
}  // namespace lattice::base
