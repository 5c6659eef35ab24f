#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace lattice::base {
namespace {

// splitmix64 from seed 1234567: the reference outputs published with the algorithm.
TEST(Random, SplitmixMatchesTheReference) {
  uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317u);
  EXPECT_EQ(splitmix64(state), 3203168211198807973u);
  EXPECT_EQ(splitmix64(state), 9817491932198370423u);
}

TEST(Random, SameSeedSameSequence) {
  Random a(42);
  Random b(42);
  Random c(43);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = a.next_u64();
    EXPECT_EQ(value, b.next_u64());
    differs |= value != c.next_u64();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, ChanceHitsItsProbability) {
  Random random(7);
  constexpr int kTrials = 100'000;
  for (const double p : {0.0, 0.01, 0.5, 0.9, 1.0}) {
    int hits = 0;
    for (int i = 0; i < kTrials; ++i) hits += random.chance(p) ? 1 : 0;
    EXPECT_NEAR(hits, kTrials * p, 5 * std::sqrt(kTrials * p * (1 - p)) + 0.5) << p;
  }
}

TEST(Random, UnitAndBelowStayInRange) {
  Random random(9);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) {
    const double unit = random.next_unit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    ++counts[random.next_below(10)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 5 * std::sqrt(9000.0));
}

}  // namespace
}  // namespace lattice::base
