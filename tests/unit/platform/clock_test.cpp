#include "platform/clock.h"

#include <gtest/gtest.h>

namespace lattice::platform {
namespace {

TEST(Clock, MonotonicNeverGoesBack) {
  uint64_t last = monotonic_ns();
  for (int i = 0; i < 10000; ++i) {
    const uint64_t now = monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, SleepReachesItsDeadline) {
  const uint64_t deadline_ns = monotonic_ns() + 2'000'000;
  sleep_until_ns(deadline_ns);
  EXPECT_GE(monotonic_ns(), deadline_ns);
  sleep_until_ns(0);  // The past: returns at once.
}

TEST(Clock, CpuTimeGrowsWithWork) {
  const uint64_t before = process_cpu_ns();
  volatile uint64_t sink = 0;
  while (process_cpu_ns() == before) sink = sink + 1;
  EXPECT_GT(process_cpu_ns(), before);
}

TEST(Clock, UnixTimeIsAfter2020) {
  EXPECT_GT(unix_seconds(), 1'577'836'800u);
}

}  // namespace
}  // namespace lattice::platform
