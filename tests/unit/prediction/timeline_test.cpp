#include "prediction/timeline.h"

#include <gtest/gtest.h>

#include <set>

namespace lattice::prediction {
namespace {

TEST(Timeline, AnswersOnlyForTicksWrittenInTheWindow) {
  Timeline timeline(100, Timeline::rows_for(64));
  EXPECT_EQ(timeline.find(0), Timeline::kNoRow);
  EXPECT_EQ(timeline.find(64), Timeline::kNoRow);
  for (Tick tick = 1; tick <= 200; ++tick) {
    if (tick % 5 != 0) timeline.write(tick);
  }
  std::set<uint32_t> rows;
  for (Tick tick = 137; tick <= 200; ++tick) {
    const uint32_t row = timeline.find(tick);
    ASSERT_EQ(row != Timeline::kNoRow, tick % 5 != 0) << tick;
    if (row == Timeline::kNoRow) continue;
    EXPECT_GE(row, 100u);
    EXPECT_LT(row, 164u);
    EXPECT_TRUE(rows.insert(row).second) << tick;
  }
  EXPECT_EQ(timeline.find(200 - 64 - 63), Timeline::kNoRow);
  timeline.clear();
  EXPECT_EQ(timeline.find(199), Timeline::kNoRow);
}

TEST(Timeline, HoldsItsWindowAlsoWhereTicksWrap) {
  for (const size_t window : {8u, 9u, 64u, 100u, 256u}) {
    Timeline timeline(0, Timeline::rows_for(window));
    Tick tick = UINT32_MAX - 300;
    for (int i = 0; i < 600; ++i) {
      if (++tick == 0) ++tick;  // 0 is no tick
      timeline.write(tick);
      if (i < static_cast<int>(window)) continue;
      std::set<uint32_t> rows;
      for (Tick back = 0; back < window; ++back) {
        if (tick - back == 0) continue;
        const uint32_t row = timeline.find(tick - back);
        ASSERT_NE(row, Timeline::kNoRow) << window << " at " << tick << " - " << back;
        ASSERT_TRUE(rows.insert(row).second);
      }
    }
  }
}

TEST(Timeline, TakesRowsFromAnotherAndGivesItsOwn) {
  Timeline shown(0, 8);
  Timeline corrected(8, 8);
  for (Tick tick = 1; tick <= 6; ++tick) shown.write(tick);
  for (Tick tick = 4; tick <= 6; ++tick) corrected.write(tick);
  const uint32_t old_row = shown.find(5);
  const uint32_t new_row = corrected.find(5);
  shown.take(5, corrected);
  EXPECT_EQ(shown.find(5), new_row);
  EXPECT_EQ(corrected.find(5), old_row);
  EXPECT_LT(shown.find(4), 8u);
}

}  // namespace
}  // namespace lattice::prediction
