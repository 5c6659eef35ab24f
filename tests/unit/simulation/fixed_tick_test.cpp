#include "simulation/fixed_tick.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support/durations.h"

namespace lattice::simulation {
namespace {

using test::kMs;

TEST(FixedTick, FirstCallOnlySetsTheOrigin) {
  FixedTick fixed(60);
  EXPECT_EQ(fixed.advance(123'456'789'000).ticks, 0u);
  EXPECT_EQ(fixed.advance(123'456'789'000 + 16 * kMs).ticks, 0u);
  EXPECT_EQ(fixed.advance(123'456'789'000 + 17 * kMs).ticks, 1u);
}

TEST(FixedTick, SixtyHertzNeverDrifts) {
  FixedTick fixed(60);
  uint64_t ticks = 0;
  uint64_t now = 1;
  fixed.advance(now);
  // 1 h in frames of 7 ms; the period of 16.666… ms is not a whole number of nanoseconds.
  const uint64_t end = now + 3600 * kNsPerSecond;
  while (now < end) {
    now = std::min(now + 7 * kMs, end);
    ticks += fixed.advance(now).ticks;
  }
  EXPECT_EQ(ticks, 3600u * 60u);
  EXPECT_EQ(fixed.alpha(), 0.0);
}

TEST(FixedTick, LongFramesAreClampedAndReported) {
  FixedTick slow(10);
  slow.advance(0);
  const TickAdvance clamped = slow.advance(1000 * kMs);
  EXPECT_EQ(clamped.ticks, 2u);
  EXPECT_EQ(clamped.dropped_ns, 750 * kMs);
  EXPECT_DOUBLE_EQ(slow.alpha(), 0.5);

  FixedTick fast(60);
  fast.advance(0);
  const TickAdvance burst = fast.advance(250 * kMs);  // 15 ticks are due, 8 may run
  EXPECT_EQ(burst.ticks, 8u);
  EXPECT_EQ(burst.dropped_ns, 7 * kNsPerSecond / 60);
  EXPECT_EQ(fast.dropped_ns_total(), burst.dropped_ns);
  EXPECT_EQ(fast.advance(251 * kMs).dropped_ns, 0u);
}

// What is a frame of 133 ms at 60 Hz would be one of 33 ms at 240 Hz, and nobody who draws slowly could play.
TEST(FixedTick, AHigherRateRunsMoreTicksAtOnce) {
  for (const auto& [rate, most] : {std::pair{1u, 8u}, {60u, 8u}, {90u, 12u}, {120u, 16u}, {1000u, 16u}}) {
    EXPECT_EQ(ticks_at_once(rate), most) << rate;
    FixedTick fixed(rate);
    EXPECT_EQ(fixed.most_at_once(), most);
    fixed.advance(0);
    EXPECT_EQ(fixed.advance(250 * kMs).ticks, std::min(rate / 4, most));
  }
}

TEST(FixedTick, TimeGoingBackIsNoTime) {
  FixedTick fixed(60);
  fixed.advance(1000 * kMs);
  EXPECT_EQ(fixed.advance(500 * kMs).ticks, 0u);
  EXPECT_EQ(fixed.advance(1017 * kMs).ticks, 1u);
}

TEST(FixedTick, RateFactorIsClampedAndZeroStalls) {
  FixedTick fixed(60);
  fixed.set_rate_factor(2.0);
  EXPECT_NEAR(fixed.rate_factor(), kMaxRateFactor, 1e-4);
  fixed.set_rate_factor(-3.0);
  EXPECT_NEAR(fixed.rate_factor(), kMinRateFactor, 1e-4);
  fixed.advance(0);
  fixed.set_rate_factor(0.0);
  for (uint64_t now = 10 * kMs; now < 2000 * kMs; now += 10 * kMs) {
    const TickAdvance advance = fixed.advance(now);
    EXPECT_EQ(advance.ticks, 0u);
    EXPECT_EQ(advance.dropped_ns, 0u);
  }
}

TEST(FixedTick, SteeredRateGivesThatManyTicks) {
  FixedTick fixed(60);
  fixed.advance(0);
  fixed.set_rate_factor(1.1);
  uint64_t ticks = 0;
  for (uint64_t now = 0; now <= 100'000 * kMs; now += 5 * kMs) ticks += fixed.advance(now).ticks;
  EXPECT_NEAR(static_cast<double>(ticks), 6600.0, 1.0);
}

TEST(FixedTick, AlphaAtAgreesWithAdvancing) {
  FixedTick fixed(50);
  fixed.advance(0);
  EXPECT_DOUBLE_EQ(fixed.alpha_at(10 * kMs), 0.5);
  EXPECT_DOUBLE_EQ(fixed.alpha_at(30 * kMs), 1.5);
  const TickTime position = fixed.position_at(7, 30 * kMs);
  EXPECT_EQ(position.tick, 8u);
  EXPECT_DOUBLE_EQ(position.fraction, 0.5);
  fixed.restart(30 * kMs);
  EXPECT_DOUBLE_EQ(fixed.alpha_at(30 * kMs), 0.0);
}

TEST(FixedTick, HowTimeIsCutDoesNotMatter) {
  EXPECT_TRUE(rc::check("ticks depend on the total only, while no frame is clamped", [] {
    const auto rate = *rc::gen::inRange<uint32_t>(1, 240);
    const auto cuts = *rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, 30 * kMs));
    FixedTick cut(rate);
    FixedTick even(rate);
    cut.advance(0);
    even.advance(0);
    uint64_t now = 0;
    uint64_t cut_ticks = 0;
    uint64_t even_ticks = 0;
    for (const uint64_t piece : cuts) {
      now += piece;
      cut_ticks += cut.advance(now).ticks;
    }
    for (uint64_t at = 0; at < now;) {
      at = std::min(at + kMs, now);
      even_ticks += even.advance(at).ticks;
    }
    RC_ASSERT(cut_ticks == even_ticks);
    RC_ASSERT(cut.alpha() == even.alpha());
    RC_ASSERT(cut.alpha() < 1.0);
  }));
}

TEST(TickTime, MovesAndMeasuresAcrossTheWrap) {
  const TickTime near_wrap{UINT32_MAX, 0.75};
  const TickTime later = moved(near_wrap, 2.5);
  EXPECT_EQ(later.tick, 2u);
  EXPECT_DOUBLE_EQ(later.fraction, 0.25);
  EXPECT_DOUBLE_EQ(ticks_between(later, near_wrap), 2.5);
  const TickTime back = moved(later, -2.5);
  EXPECT_EQ(back.tick, near_wrap.tick);
  EXPECT_DOUBLE_EQ(back.fraction, near_wrap.fraction);
  EXPECT_LT(moved(TickTime{5, 0.0}, -1e-18).fraction, 1.0);
}

TEST(FixedTick, says_before_what_an_advance_will_drop) {
  for (const uint64_t pause_ms : {5u, 100u, 200u, 300u, 500u, 2000u, 60000u}) {
    FixedTick ticks(60);
    ticks.advance(1'000'000'000);
    const uint64_t now_ns = 1'000'000'000 + pause_ms * 1'000'000;
    const double passed = ticks.passed_at(now_ns);
    const double drops = ticks.drops_at(now_ns);
    EXPECT_NEAR(passed, static_cast<double>(pause_ms) * 0.06, 1e-6);
    const TickAdvance advance = ticks.advance(now_ns);
    EXPECT_NEAR(drops, static_cast<double>(advance.dropped_ns) / ticks.tick_ns(), 1.0) << pause_ms;
    EXPECT_NEAR(passed - drops, advance.ticks + ticks.alpha(), 1.0) << pause_ms;
  }
}

}  // namespace
}  // namespace lattice::simulation
