#include "simulation/input_history.h"

#include <gtest/gtest.h>

#include <array>

#include "base/tick.h"

namespace lattice::simulation {
namespace {

void push(InputHistory& history, Tick tick) {
  const std::array<serialization::Word, 2> words{tick, tick * 3u};
  history.push(tick, words);
}

TEST(InputHistory, HoldsTheLast128Ticks) {
  constexpr Tick kHeld = 128;
  InputHistory history(2);
  EXPECT_EQ(history.find(1), nullptr);
  for (Tick tick = 1; tick <= 1000; ++tick) push(history, tick);
  EXPECT_EQ(history.find(1000 - kHeld), nullptr);
  EXPECT_EQ(history.find(1001), nullptr);
  for (Tick tick = 1001 - kHeld; tick <= 1000; ++tick) {
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

// No tick has the number 0 (T-04). Inputs of both sides are held, and a message has those of one side.
TEST(InputHistory, NumbersThatWrapLeaveNoGap) {
  InputHistory history(2);
  for (Tick tick = UINT32_MAX - 9; tick != 0; ++tick) push(history, tick);
  EXPECT_EQ(history.window_count(), 10u);
  for (Tick tick = 1; tick <= 3; ++tick) push(history, tick);
  EXPECT_EQ(history.window_count(), 3u);
  for (Tick tick = UINT32_MAX - 9; tick != 4; tick = base::next_tick(tick)) {
    ASSERT_NE(history.find(tick), nullptr) << tick;
    EXPECT_EQ(history.find(tick)[0], tick);
  }
  history.drop_after(2);
  EXPECT_EQ(history.window_count(), 2u);
  for (Tick tick = 3; tick <= 60; ++tick) push(history, tick);
  EXPECT_EQ(history.window_count(), kMaxInputsPerMessage);
}

TEST(InputHistory, AJumpBackDropsWhatWasNotSent) {
  InputHistory history(2);
  for (Tick tick = 1; tick <= 20; ++tick) push(history, tick);
  history.mark_sent(12);
  history.drop_after(15);
  EXPECT_EQ(history.newest(), 15u);
  EXPECT_EQ(history.held_count(), 15u);
  EXPECT_EQ(history.find(16), nullptr);
  push(history, 16);
  EXPECT_EQ(history.held_count(), 16u);
  EXPECT_EQ(history.window_count(), 16u) << "all that was not sent, and all not acknowledged";
  history.drop_after(40);
  EXPECT_EQ(history.newest(), 16u);
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

TEST(InputHistory, HoldsWhatMayBeResentAndWhatMayBeSimulatedAgain) {
  struct Size {
    size_t resimulated_ticks;
    Tick held;
  };
  for (const Size size : {Size{8, 64}, Size{64, 128}, Size{96, 128}, Size{97, 256}, Size{256, 512}}) {
    InputHistory history(2, {.resimulated_ticks = size.resimulated_ticks});
    const Tick first = UINT32_MAX - 700;  // across the wrap, where 0 is no tick
    Tick newest = first;
    for (Tick tick = first; tick != UINT32_MAX; ++tick) push(history, newest = tick);
    EXPECT_EQ(history.held_count(), size.held);
    EXPECT_NE(history.find(newest - size.held + 1), nullptr);
    EXPECT_EQ(history.find(newest - size.held), nullptr);
  }
}

TEST(InputHistory, RedundancyIsBounded) {
  for (const uint32_t most : {0u, 1u, 2u, 5u, 31u}) {
    InputHistory history(2, {.max_redundant_inputs = most});
    for (Tick tick = 1; tick <= 20; ++tick) push(history, tick);
    EXPECT_EQ(history.window_count(), 20u) << "everything is new";
    history.mark_sent(20);
    push(history, 21);
    push(history, 22);
    EXPECT_EQ(history.window_count(), std::min(22u, 2 + most)) << "nothing is acknowledged";
    history.acknowledge(22);
    EXPECT_EQ(history.window_count(), 2 + std::min(2u, most)) << "everything is";
  }
}

}  // namespace
}  // namespace lattice::simulation
