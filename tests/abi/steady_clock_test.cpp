// Clocks that go back, jump, or return nonsense.
#include "abi/steady_clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace lattice::abi {
namespace {

TEST(SteadyClock, AStepBackCountsAsNoTime) {
  SteadyClock clock;
  EXPECT_EQ(clock.read(1000), 1000u);
  EXPECT_EQ(clock.read(5000), 5000u);
  EXPECT_EQ(clock.read(2000), 5000u);
  EXPECT_EQ(clock.steps(), 1u);
  EXPECT_EQ(clock.last_step_ns(), 3000u);
  EXPECT_EQ(clock.read(2500), 5500u) << "from there it goes on at once";
  EXPECT_EQ(clock.read(9000), 12000u);
  EXPECT_EQ(clock.steps(), 1u);
}

TEST(SteadyClock, WhateverComesItDoesNotGoBack) {
  std::mt19937_64 random(1);
  SteadyClock clock;
  uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t now = clock.read(i % 3 == 0 ? random() : random() >> (random() % 64));
    ASSERT_GE(now, last);
    ASSERT_LE(now, uint64_t{1} << 63);
    last = now;
  }
}

}  // namespace
}  // namespace lattice::abi
