#include "prediction/interpolation_clock.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "support/durations.h"

namespace lattice::prediction {
namespace {

using simulation::moved;
using simulation::ticks_between;
using simulation::TickTime;

using lattice::test::kMs;
constexpr double kTickNs = 1e9 / 60.0;

TickTime server_at(uint64_t now_ns) {
  return moved(TickTime{1000, 0.0}, static_cast<double>(now_ns) / kTickNs);
}

TEST(InterpolationClock, StartsAtTheConfiguredDelay) {
  InterpolationClock clock{InterpolationClockConfig{}};
  const TickTime render = clock.update(0, server_at(0), 33 * kMs, 5 * kMs);
  EXPECT_NEAR(ticks_between(server_at(0), render), 6.0, 1e-9);  // 100 ms
  EXPECT_EQ(clock.wanted_delay_ns(), 100 * kMs);
}

TEST(InterpolationClock, DelayIsTheLargestOfTheThree) {
  InterpolationClock clock{InterpolationClockConfig{}};
  clock.update(0, server_at(0), 80 * kMs, 0);
  EXPECT_EQ(clock.wanted_delay_ns(), 160 * kMs);
  clock.update(kMs, server_at(kMs), 40 * kMs, 120 * kMs);
  EXPECT_EQ(clock.wanted_delay_ns(), 190 * kMs);
}

TEST(InterpolationClock, AdaptsByAtMostATenthOfRealTime) {
  InterpolationClock clock{InterpolationClockConfig{}};
  TickTime last = clock.update(0, server_at(0), 33 * kMs, 0);
  for (uint64_t now = 5 * kMs; now <= 4000 * kMs; now += 5 * kMs) {
    const uint64_t interval = now < 2000 * kMs ? 100 * kMs : 33 * kMs;  // 100 → 200 → 100 ms of delay
    const TickTime render = clock.update(now, server_at(now), interval, 0);
    const double rate = ticks_between(render, last) * kTickNs / (5.0 * kMs);
    ASSERT_GE(rate, 0.9 - 1e-9) << now;
    ASSERT_LE(rate, 1.1 + 1e-9) << now;
    last = render;
    if (now == 1995 * kMs) {
      EXPECT_NEAR(clock.delay_ticks(), 12.0, 0.2);
    }
  }
  EXPECT_NEAR(clock.delay_ticks(), 6.0, 0.2);
  EXPECT_EQ(clock.resyncs(), 0u);
}

TEST(InterpolationClock, NeverGoesBack) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    InterpolationClock clock{InterpolationClockConfig{}};
    uint64_t now = 0;
    double shift = 0;
    TickTime last = clock.update(0, server_at(0), 33 * kMs, 0);
    for (int frame = 0; frame < 5000; ++frame) {
      now += random.next_below(40 * kMs);
      if (random.chance(0.01)) shift += (random.next_unit() - 0.5) * 100.0;  // the estimate is thrown about
      const TickTime server = moved(server_at(now), shift + random.next_unit());
      const TickTime render =
          clock.update(now, server, random.next_below(200 * kMs), random.next_below(100 * kMs));
      ASSERT_GE(ticks_between(render, last), 0.0);
      last = render;
    }
  }
}

TEST(InterpolationClock, LargeErrorsJumpForwardOrWait) {
  InterpolationClock clock{InterpolationClockConfig{}};
  clock.update(0, server_at(0), 33 * kMs, 0);
  const TickTime jumped = clock.update(10 * kMs, moved(server_at(10 * kMs), 100.0), 33 * kMs, 0);
  EXPECT_NEAR(ticks_between(moved(server_at(10 * kMs), 100.0), jumped), 6.0, 1e-6);
  EXPECT_EQ(clock.resyncs(), 1u);
  const TickTime waiting = clock.update(20 * kMs, server_at(20 * kMs), 33 * kMs, 0);
  EXPECT_EQ(ticks_between(waiting, jumped), 0.0);
}

}  // namespace
}  // namespace lattice::prediction
