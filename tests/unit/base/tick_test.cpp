#include "base/tick.h"

#include <gtest/gtest.h>

namespace lattice::base {
namespace {

TEST(Tick, the_first_follows_the_last_and_none_lies_between) {
  EXPECT_EQ(next_tick(0), 1u);
  EXPECT_EQ(next_tick(1), 2u);
  EXPECT_EQ(next_tick(UINT32_MAX - 1), UINT32_MAX);
  EXPECT_EQ(next_tick(UINT32_MAX), 1u);
  EXPECT_EQ(previous_tick(2), 1u);
  EXPECT_EQ(previous_tick(1), UINT32_MAX);
  for (Tick tick = UINT32_MAX - 5; tick != 6; tick = next_tick(tick)) {
    EXPECT_NE(tick, 0u);
    EXPECT_EQ(previous_tick(next_tick(tick)), tick);
    EXPECT_TRUE(tick_after(next_tick(tick), tick));
  }
}

}  // namespace
}  // namespace lattice::base
