#include "world/pump_gap.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::world {
namespace {

using lattice::test::kMs;

TEST(PumpGap, TheLongestOfTheLastFiveToTenSeconds) {
  PumpGap gap;
  uint64_t now_ns = 77'000 * kMs;
  const auto pump_every = [&](uint64_t ms, uint64_t for_ms) {
    for (uint64_t passed = 0; passed < for_ms; passed += ms) gap.on_pump(now_ns += ms * kMs);
  };
  EXPECT_EQ(gap.max_ns(), 0u);
  gap.on_pump(now_ns);
  EXPECT_EQ(gap.max_ns(), 0u) << "the time before the first pump is no gap";
  pump_every(16, 1000);
  EXPECT_EQ(gap.max_ns(), 16 * kMs);
  pump_every(190, 190);
  pump_every(16, 4900);
  EXPECT_EQ(gap.max_ns(), 190 * kMs) << "still seen after 5 s";
  pump_every(16, 5100);
  EXPECT_EQ(gap.max_ns(), 16 * kMs) << "and no longer after 10 s";
  pump_every(30'000, 30'000);
  EXPECT_EQ(gap.max_ns(), 30'000 * kMs);
}

}  // namespace
}  // namespace lattice::world
