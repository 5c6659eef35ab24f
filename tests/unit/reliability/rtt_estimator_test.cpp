// R-05 against vector V11, bounds, and the ten-second minimum.
#include "reliability/recovery/rtt_estimator.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

TEST(RttEstimator, VectorV11) {
  const struct {
    uint64_t sample_ms;
    double srtt_ms, rttvar_ms, rto_ms;
  } kSteps[] = {{100, 100, 50, 300},
                {120, 102.5, 42.5, 272.5},
                {80, 99.6875, 37.5, 249.6875},
                {200, 112.2266, 53.2031, 325.0391}};
  RttEstimator rtt;
  EXPECT_EQ(rtt.rto_ns(), 500 * kMs);
  EXPECT_FALSE(rtt.has_sample());
  for (const auto& step : kSteps) {
    rtt.add_sample(step.sample_ms * kMs, 0);
    EXPECT_NEAR(static_cast<double>(rtt.srtt_ns()) / 1e6, step.srtt_ms, 1e-4);
    EXPECT_NEAR(static_cast<double>(rtt.rttvar_ns()) / 1e6, step.rttvar_ms, 1e-4);
    EXPECT_NEAR(static_cast<double>(rtt.rto_ns()) / 1e6, step.rto_ms, 1e-4);
  }
}

TEST(RttEstimator, Bounds) {
  RttEstimator zero;
  zero.add_sample(0, 0);
  EXPECT_TRUE(zero.has_sample());
  EXPECT_EQ(zero.srtt_ns(), 0u);
  EXPECT_EQ(zero.rto_ns(), 50 * kMs);
  RttEstimator huge;
  huge.add_sample(UINT64_MAX, 0);
  EXPECT_EQ(huge.srtt_ns(), kMaxRttSampleNs);
  EXPECT_EQ(huge.rto_ns(), 1000 * kMs);
  for (int i = 0; i < 1000; ++i) huge.add_sample(UINT64_MAX, 0);
  EXPECT_EQ(huge.srtt_ns(), kMaxRttSampleNs);
}

TEST(RttEstimator, JitterIsTheMeanStepBetweenSamples) {
  RttEstimator rtt;
  rtt.add_sample(100 * kMs, 0);
  EXPECT_EQ(rtt.jitter_ns(), 0u);
  rtt.add_sample(132 * kMs, kMs);
  EXPECT_EQ(rtt.jitter_ns(), 2 * kMs);
  for (uint64_t i = 0; i < 200; ++i) rtt.add_sample((i % 2 == 0 ? 100 : 132) * kMs, (2 + i) * kMs);
  EXPECT_NEAR(static_cast<double>(rtt.jitter_ns()), 32e6, 0.1e6);
  for (uint64_t i = 0; i < 200; ++i) rtt.add_sample(250 * kMs, (300 + i) * kMs);  // Long is not unsteady.
  EXPECT_LT(rtt.jitter_ns(), kMs / 10);
}

TEST(RttEstimator, MinimumForgetsAfterTenSeconds) {
  RttEstimator rtt;
  rtt.add_sample(20 * kMs, 500 * kMs);
  for (uint64_t s = 1; s < 10; ++s) {
    rtt.add_sample(50 * kMs, s * 1000 * kMs);
    EXPECT_EQ(rtt.min_rtt_ns(s * 1000 * kMs), 20 * kMs) << s;
  }
  EXPECT_EQ(rtt.min_rtt_ns(10'000 * kMs), 50 * kMs);
  EXPECT_EQ(rtt.min_rtt_ns(60'000 * kMs), rtt.srtt_ns());
}

TEST(RttEstimator, RtoStaysWithinItsBounds) {
  RttEstimator low({.min_ns = 5'000'000, .max_ns = 100'000'000});
  EXPECT_EQ(low.rto_ns(), 100'000'000u) << "500 ms is above the bound";
  for (int i = 0; i < 50; ++i) low.add_sample(1'000'000, 0);
  EXPECT_EQ(low.rto_ns(), 5'000'000u);
  low.add_sample(2'000'000'000, 0);
  EXPECT_EQ(low.rto_ns(), 100'000'000u);

  RttEstimator high({.min_ns = 1'000'000'000, .max_ns = 5'000'000'000});
  EXPECT_EQ(high.rto_ns(), 1'000'000'000u) << "500 ms is below the bound";
  high.add_sample(1'500'000'000, 0);
  EXPECT_EQ(high.rto_ns(), 4'500'000'000u);
  high.restart();
  EXPECT_FALSE(high.has_sample());
  EXPECT_EQ(high.rto_ns(), 1'000'000'000u) << "another path, the same bounds";
}

TEST(RttEstimator, AToldDelayDoesNotGoBelowTheLeastTimeSeen) {
  RttEstimator rtt;
  EXPECT_EQ(rtt.add_delayed_sample({80 * kMs, 30 * kMs}, 0), 80 * kMs)
      << "the first: nothing supports the delay";
  EXPECT_EQ(rtt.add_delayed_sample({120 * kMs, 30 * kMs}, 200 * kMs), 90 * kMs);
  EXPECT_EQ(rtt.add_delayed_sample({120 * kMs, 60 * kMs}, 400 * kMs), 80 * kMs);
  EXPECT_EQ(rtt.add_delayed_sample({120 * kMs, UINT64_MAX}, 600 * kMs), 80 * kMs);
  rtt.add_sample(50 * kMs, 600 * kMs);
  EXPECT_EQ(rtt.add_delayed_sample({120 * kMs, UINT64_MAX}, 800 * kMs), 50 * kMs);
  EXPECT_EQ(rtt.min_rtt_ns(800 * kMs), 50 * kMs);
  rtt.restart();
  EXPECT_EQ(rtt.add_delayed_sample({200 * kMs, 20 * kMs}, 0), 200 * kMs);
}

TEST(RttEstimator, ADelayIsBelievedAsFarAsThePeerWasSilent) {
  RttEstimator rtt;
  uint64_t now = 0;
  rtt.add_sample(20 * kMs, now);
  // Answers come each millisecond, so no packet can have waited for a second.
  const RttEstimator::Answer lie{.elapsed_ns = 420 * kMs, .told_delay_ns = kSecond};
  for (int i = 0; i < 1000; ++i) EXPECT_GE(rtt.add_delayed_sample(lie, now += kMs), 419 * kMs);
  EXPECT_LT(rtt.rto_ns(), 425 * kMs) << "nor does it lengthen rto";
  // This side reads rarely: the silence before an answer may have ended up to a reading later.
  RttEstimator::Answer rare = lie;
  rare.unread_ns = 50 * kMs;
  EXPECT_GE(rtt.add_delayed_sample(rare, now += kMs), 318 * kMs) << "50 for each end";
  // A peer that reads each 200 ms says so in all answers of its burst.
  for (int reading = 0; reading < 10; ++reading) {
    now += 200 * kMs;
    for (int i = 0; i < 5; ++i, now += kMs) {
      const uint64_t path_ns =
          rtt.add_delayed_sample({.elapsed_ns = 220 * kMs, .told_delay_ns = 200 * kMs}, now);
      EXPECT_LE(path_ns, 26 * kMs) << reading << " " << i;
    }
  }
  // One silence does not last for ever.
  now += kSecond;
  EXPECT_EQ(rtt.add_delayed_sample(lie, now), 20 * kMs);
  for (int i = 0; i < 1000; ++i) rtt.add_delayed_sample(lie, now += kMs);
  EXPECT_GE(rtt.add_delayed_sample(lie, now), 419 * kMs);
}

TEST(RttEstimator, WhatWasNotReadYetIsNoPartOfThePath) {
  RttEstimator rtt;
  rtt.add_sample(10 * kMs, 0);
  // Rare readings: the answer may have been there since the last one.
  EXPECT_EQ(rtt.add_delayed_sample({.elapsed_ns = 200 * kMs, .unread_ns = 180 * kMs}, 0), 20 * kMs);
  EXPECT_EQ(rtt.latest_ns(), 200 * kMs) << "but answers do take that long";
  EXPECT_EQ(rtt.add_delayed_sample({.elapsed_ns = 200 * kMs, .unread_ns = 250 * kMs}, 0), 10 * kMs)
      << "never less than the least time seen";
  EXPECT_EQ(rtt.min_rtt_ns(0), 10 * kMs);
  // A peer may intend a delay of 60 ms; the rest of what it tells is time before it read.
  EXPECT_EQ(rtt.add_delayed_sample({.elapsed_ns = 200 * kMs, .told_delay_ns = 150 * kMs}, kSecond), 50 * kMs);
  EXPECT_EQ(rtt.latest_ns(), 140 * kMs);

  // Many readings in a round trip: some answer waited next to nothing.
  RttEstimator far;
  for (int i = 0; i < 100; ++i) far.add_sample(100 * kMs, 0);
  EXPECT_EQ(far.unread_share_ns(10 * kMs), kMs);
  EXPECT_EQ(far.unread_share_ns(50 * kMs), 25 * kMs);
  EXPECT_EQ(far.unread_share_ns(100 * kMs), 100 * kMs);
  EXPECT_EQ(far.unread_share_ns(250 * kMs), 250 * kMs);
}

TEST(RttEstimator, AnAnswerIsNotExpectedBeforeItCanBeRead) {
  RttEstimator rtt;
  for (int i = 0; i < 100; ++i)
    rtt.add_delayed_sample({.elapsed_ns = 100 * kMs, .reading_every_ns = 40 * kMs}, 0);
  EXPECT_EQ(rtt.rto_ns(), 140 * kMs) << "G of RFC 6298";
  // A peer that reads each 200 ms: the newest question that it finds has waited least.
  rtt.add_delayed_sample({.elapsed_ns = 100 * kMs, .longest_ns = 300 * kMs}, kSecond);
  for (const uint64_t at : {kSecond, 2 * kSecond - 1}) {
    for (int i = 0; i < 100; ++i) rtt.add_delayed_sample({.elapsed_ns = 100 * kMs}, at);
    EXPECT_EQ(rtt.rto_ns(), 300 * kMs);
  }
  for (int i = 0; i < 100; ++i) rtt.add_delayed_sample({.elapsed_ns = 100 * kMs}, 3 * kSecond);
  EXPECT_LT(rtt.rto_ns(), 105 * kMs);
}

}  // namespace
}  // namespace lattice::reliability
