#include "simulation/input_history.h"

#include <gtest/gtest.h>

#include <array>

namespace lattice::simulation {
namespace {

void push(InputHistory& history, Tick tick) {
  const std::array<uint64_t, 2> words{tick, tick * 3u};
  history.push(tick, words);
}

TEST(InputHistory, HoldsTheLast128Ticks) {
  InputHistory history(2);
  EXPECT_EQ(history.find(1), nullptr);
  for (Tick tick = 1; tick <= 1000; ++tick) push(history, tick);
  EXPECT_EQ(history.find(1000 - kInputHistoryTicks), nullptr);
  EXPECT_EQ(history.find(1001), nullptr);
  for (Tick tick = 1001 - kInputHistoryTicks; tick <= 1000; ++tick) {
    ASSERT_NE(history.find(tick), nullptr);
    EXPECT_EQ(history.find(tick)[0], tick);
    EXPECT_EQ(history.find(tick)[1], tick * 3u);
  }
}

TEST(InputHistory, AGapStartsAnew) {
  InputHistory history(2);
  for (Tick tick = 1; tick <= 20; ++tick) push(history, tick);
  push(history, 40);
  EXPECT_EQ(history.held_count(), 1u);
  EXPECT_EQ(history.find(20), nullptr);
  EXPECT_EQ(history.window_count(), 1u);
}

TEST(InputHistory, WindowIsSinceLastPlusTwoAndAllUnacknowledged) {
  InputHistory history(2);
  EXPECT_EQ(history.window_count(), 0u);
  push(history, 1);
  EXPECT_EQ(history.window_count(), 1u);
  for (Tick tick = 2; tick <= 100; ++tick) push(history, tick);
  EXPECT_EQ(history.window_count(), 32u);  // nothing sent or acknowledged
  history.acknowledge(100);
  history.mark_sent(94);
  EXPECT_EQ(history.window_count(), 8u);  // 95..100 and two more
  history.mark_sent(100);
  EXPECT_EQ(history.window_count(), 2u);
  push(history, 101);
  EXPECT_EQ(history.window_count(), 3u);
  for (Tick tick = 102; tick <= 120; ++tick) push(history, tick);
  history.mark_sent(119);
  EXPECT_EQ(history.window_count(), 20u);  // 101..120 are not acknowledged
  history.acknowledge(90);                 // older news changes nothing
  EXPECT_EQ(history.window_count(), 20u);
  history.acknowledge(200);  // the server is ahead of this client
  EXPECT_EQ(history.window_count(), 3u);
}

}  // namespace
}  // namespace lattice::simulation
