#include "transport/socket/impairment_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

constexpr size_t kTrials = 100'000;
constexpr size_t kPayload = 100;

struct Outcome {
  std::vector<Fate> fates;
  ImpairmentStats stats;
};

/// Offers `trials` datagrams, one every `gap_ns`.
Outcome offer_all(const Impairment& impairment, uint64_t seed, size_t trials = kTrials, uint64_t gap_ns = kMs,
                  size_t payload = kPayload) {
  Outcome out;
  ImpairmentModel model(seed);
  model.configure(impairment);
  for (size_t i = 0; i < trials; ++i) out.fates.push_back(model.offer(payload, i * gap_ns, out.stats));
  return out;
}

TEST(ImpairmentModel, PerfectPathDeliversAtOnce) {
  const Outcome perfect = offer_all({}, 1, 1000);
  for (size_t i = 0; i < perfect.fates.size(); ++i) {
    ASSERT_EQ(perfect.fates[i].copies, 1u);
    ASSERT_EQ(perfect.fates[i].deliver_at_ns[0], i * kMs);
  }
  EXPECT_EQ(perfect.stats.offered, 1000u);
  EXPECT_EQ(perfect.stats.offered_bytes, 1000u * kPayload);
  EXPECT_EQ(perfect.stats.lost() + perfect.stats.dropped() + perfect.stats.duplicated, 0u);
}

TEST(ImpairmentModel, JitterStaysInItsBandAndIsCentred) {
  // Datagrams 50 ms apart cannot meet, so order keeping does not bend the distribution.
  const Outcome jitter = offer_all({.delay_ms = 30, .jitter_ms = 20}, 2, 10'000, 50 * kMs);
  double sum_ms = 0;
  for (size_t i = 0; i < jitter.fates.size(); ++i) {
    const uint64_t delay_ns = jitter.fates[i].deliver_at_ns[0] - i * 50 * kMs;
    ASSERT_GE(delay_ns, 10 * kMs);
    ASSERT_LE(delay_ns, 50 * kMs);
    sum_ms += static_cast<double>(delay_ns) / 1e6;
  }
  // The mean of n uniforms on an interval of 40 ms has standard deviation 40 / sqrt(12 n).
  EXPECT_NEAR(sum_ms / 10'000, 30, 5 * 40 / std::sqrt(12.0 * 10'000));
}

TEST(ImpairmentModel, JitterKeepsTheOrderUnlessToldOtherwise) {
  Impairment impairment{.delay_ms = 30, .jitter_ms = 20};
  const Outcome ordered = offer_all(impairment, 3);
  for (size_t i = 1; i < ordered.fates.size(); ++i) {
    ASSERT_GE(ordered.fates[i].deliver_at_ns[0], ordered.fates[i - 1].deliver_at_ns[0]);
  }
  EXPECT_EQ(ordered.stats.overtaking, 0u);

  impairment.jitter_reorders = true;
  const Outcome free = offer_all(impairment, 3);
  uint64_t latest = 0;
  uint64_t overtaking = 0;
  for (const Fate& fate : free.fates) {
    overtaking += fate.deliver_at_ns[0] < latest ? 1u : 0u;
    latest = std::max(latest, fate.deliver_at_ns[0]);
  }
  EXPECT_GT(overtaking, kTrials / 2);
  EXPECT_EQ(free.stats.overtaking, overtaking);
}

TEST(ImpairmentModel, DelayNeverGoesNegative) {
  const Outcome short_delay = offer_all({.delay_ms = 1, .jitter_ms = 20, .jitter_reorders = true}, 4, 10'000);
  for (size_t i = 0; i < short_delay.fates.size(); ++i)
    ASSERT_GE(short_delay.fates[i].deliver_at_ns[0], i * kMs);
}

TEST(ImpairmentModel, IndependentLossHitsItsRate) {
  for (const double p : {0.0, 0.01, 0.05, 0.3, 1.0}) {
    const Outcome lossy = offer_all({.loss = p}, 5);
    EXPECT_NEAR(static_cast<double>(lossy.stats.lost_random), kTrials * p, five_sigma(kTrials, p)) << p;
    EXPECT_EQ(lossy.stats.lost_burst, 0u);
  }
}

TEST(ImpairmentModel, IndependentLossHasNoMemory) {
  const double p = 0.2;
  const Outcome lossy = offer_all({.loss = p}, 6);
  double after_loss = 0;
  double lost_twice = 0;
  for (size_t i = 1; i < lossy.fates.size(); ++i) {
    if (lossy.fates[i - 1].copies != 0) continue;
    ++after_loss;
    lost_twice += lossy.fates[i].copies == 0 ? 1 : 0;
  }
  EXPECT_NEAR(lost_twice, after_loss * p, five_sigma(after_loss, p));
}

TEST(ImpairmentModel, BurstsHaveTheirShareAndLength) {
  const double enter = 0.01;
  const double leave = 0.2;
  const Outcome bursty = offer_all({.burst_enter = enter, .burst_leave = leave}, 7);
  uint64_t bursts = 0;
  for (size_t i = 0; i < bursty.fates.size(); ++i) {
    const bool lost = bursty.fates[i].copies == 0;
    const bool lost_before = i > 0 && bursty.fates[i - 1].copies == 0;
    bursts += lost && !lost_before ? 1u : 0u;
  }
  // Two-state chain: bad share = enter / (enter + leave), mean burst length = 1 / leave. Neighbouring
  // datagrams are correlated, which widens the binomial by (1 + r) / (1 - r), r = 1 - enter - leave.
  const double share = enter / (enter + leave);
  const double r = 1 - enter - leave;
  EXPECT_NEAR(static_cast<double>(bursty.stats.lost_burst), kTrials * share,
              five_sigma(kTrials, share) * std::sqrt((1 + r) / (1 - r)));
  const auto burst_count = static_cast<double>(bursts);
  const double mean_length = static_cast<double>(bursty.stats.lost_burst) / burst_count;
  // A geometric length has standard deviation sqrt(1 - leave) / leave.
  EXPECT_NEAR(mean_length, 1 / leave, 5 * std::sqrt(1 - leave) / leave / std::sqrt(burst_count));
}

TEST(ImpairmentModel, DuplicatesHitTheirRateAndComeNoEarlier) {
  const double p = 0.1;
  const Outcome twice = offer_all({.delay_ms = 10, .jitter_ms = 5, .duplicate = p}, 8);
  EXPECT_NEAR(static_cast<double>(twice.stats.duplicated), kTrials * p, five_sigma(kTrials, p));
  for (const Fate& fate : twice.fates) {
    if (fate.copies == 2) {
      ASSERT_GE(fate.deliver_at_ns[1], fate.deliver_at_ns[0]);
    }
  }
}

TEST(ImpairmentModel, ReorderingHoldsBackItsShareByItsTime) {
  const double p = 0.1;
  const Outcome reordered = offer_all({.delay_ms = 10, .reorder = p, .reorder_delay_ms = 7}, 9);
  uint64_t held_back = 0;
  for (size_t i = 0; i < reordered.fates.size(); ++i) {
    const uint64_t delay_ns = reordered.fates[i].deliver_at_ns[0] - i * kMs;
    ASSERT_TRUE(delay_ns == 10 * kMs || delay_ns == 17 * kMs);
    held_back += delay_ns == 17 * kMs ? 1u : 0u;
  }
  EXPECT_EQ(reordered.stats.reordered, held_back);
  EXPECT_NEAR(static_cast<double>(held_back), kTrials * p, five_sigma(kTrials, p));
}

TEST(ImpairmentModel, RateLimitSpacesDatagramsAndQueueingDelayEmerges) {
  // 100 + 28 bytes at 1.024 Mbit/s take exactly 1 ms each; offered at twice that rate.
  const Impairment impairment{.rate_bits_per_s = 1'024'000, .queue_bytes = 1280};
  const Outcome limited = offer_all(impairment, 10, 10'000, kMs / 2);
  uint64_t last = 0;
  uint64_t passed = 0;
  for (size_t i = 0; i < limited.fates.size(); ++i) {
    if (limited.fates[i].copies == 0) continue;
    const uint64_t arrives_ns = limited.fates[i].deliver_at_ns[0];
    if (passed++ > 0) {
      ASSERT_GE(arrives_ns, last + kMs);
    }
    // At most ten datagrams ahead of it in the queue, and itself.
    ASSERT_LE(arrives_ns - i * (kMs / 2), 11 * kMs);
    last = arrives_ns;
  }
  EXPECT_EQ(passed + limited.stats.dropped_rate, 10'000u);
  EXPECT_NEAR(static_cast<double>(passed), 5000, 12);
  EXPECT_EQ(limited.stats.lost(), 0u);
}

TEST(ImpairmentModel, RateLimitBelowCapacityOnlyAddsSerialisationTime) {
  const Outcome limited = offer_all({.rate_bits_per_s = 1'024'000, .queue_bytes = 0}, 11, 1000, 2 * kMs);
  for (size_t i = 0; i < limited.fates.size(); ++i) {
    ASSERT_EQ(limited.fates[i].copies, 1u);
    ASSERT_EQ(limited.fates[i].deliver_at_ns[0], i * 2 * kMs + kMs);
  }
}

TEST(ImpairmentModel, BlackoutLosesEverythingUntilItEnds) {
  ImpairmentModel model(12);
  ImpairmentStats stats;
  model.configure({.blackout = true});
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(model.offer(kPayload, i, stats).copies, 0u);
  EXPECT_EQ(stats.lost_blackout, 100u);
  model.configure({});
  EXPECT_EQ(model.offer(kPayload, 200, stats).copies, 1u);
}

TEST(ImpairmentModel, WhatIsLargerThanThePathIsLostAlways) {
  ImpairmentModel model(12);
  ImpairmentStats stats;
  model.configure({.mtu_bytes = 1400});
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(model.offer(1400, i, stats).copies, 1u);
    EXPECT_EQ(model.offer(1401, i, stats).copies, 0u);
  }
  EXPECT_EQ(stats.lost_mtu, 100u);
  EXPECT_EQ(stats.lost(), 100u);
}

TEST(ImpairmentModel, ShorterDelayDoesNotOvertakeWhatIsUnderWay) {
  ImpairmentModel model(13);
  ImpairmentStats stats;
  model.configure({.delay_ms = 100});
  EXPECT_EQ(model.offer(kPayload, 0, stats).deliver_at_ns[0], 100 * kMs);
  model.configure({.delay_ms = 10});
  EXPECT_EQ(model.offer(kPayload, kMs, stats).deliver_at_ns[0], 100 * kMs);
  EXPECT_EQ(model.offer(kPayload, 95 * kMs, stats).deliver_at_ns[0], 105 * kMs);
}

TEST(ImpairmentModel, LossesDoNotDependOnDelay) {
  const Outcome near = offer_all({.loss = 0.1, .burst_enter = 0.01, .burst_leave = 0.3}, 14, 10'000);
  const Outcome far = offer_all({.delay_ms = 200,
                                 .jitter_ms = 50,
                                 .loss = 0.1,
                                 .burst_enter = 0.01,
                                 .burst_leave = 0.3,
                                 .duplicate = 0.2,
                                 .reorder = 0.2,
                                 .reorder_delay_ms = 9},
                                14, 10'000);
  for (size_t i = 0; i < near.fates.size(); ++i) {
    ASSERT_EQ(near.fates[i].copies == 0, far.fates[i].copies == 0) << i;
  }
}

rc::Gen<double> probability() {
  return rc::gen::map(rc::gen::inRange(0, 101), [](int percent) { return percent / 100.0; });
}

Impairment any_impairment() {
  Impairment out;
  out.delay_ms = *rc::gen::inRange(0, 300);
  out.jitter_ms = *rc::gen::inRange(0, 100);
  out.jitter_reorders = *rc::gen::arbitrary<bool>();
  out.loss = *probability() / 2;
  out.burst_enter = *probability() / 5;
  out.burst_leave = *probability();
  out.duplicate = *probability();
  out.reorder = *probability();
  out.reorder_delay_ms = *rc::gen::inRange(0, 100);
  out.rate_bits_per_s = *rc::gen::element<uint64_t>(0, 10'000, 1'000'000, 100'000'000);
  out.queue_bytes = *rc::gen::element<uint32_t>(0, 1500, 65536);
  out.blackout = *rc::gen::inRange(0, 10) == 0;
  return out;
}

TEST(ImpairmentModel, EveryDatagramIsAccountedForAndTheSeedReplays) {
  EXPECT_TRUE(rc::check("conservation and determinism", [](uint64_t seed) {
    const Impairment impairment = any_impairment();
    RC_ASSERT(impairment_error(impairment) == nullptr);
    const Outcome first = offer_all(impairment, seed, 300);
    const Outcome second = offer_all(impairment, seed, 300);
    uint64_t passed = 0;
    uint64_t copies = 0;
    for (size_t i = 0; i < first.fates.size(); ++i) {
      RC_ASSERT(first.fates[i].copies == second.fates[i].copies);
      RC_ASSERT(first.fates[i].deliver_at_ns == second.fates[i].deliver_at_ns);
      for (size_t c = 0; c < first.fates[i].copies; ++c)
        RC_ASSERT(first.fates[i].deliver_at_ns[c] >= i * kMs);
      passed += first.fates[i].copies > 0 ? 1u : 0u;
      copies += first.fates[i].copies;
    }
    RC_ASSERT(passed + first.stats.lost() + first.stats.dropped_rate == first.stats.offered);
    RC_ASSERT(copies == passed + first.stats.duplicated);
  }));
}

}  // namespace
}  // namespace lattice::socket
