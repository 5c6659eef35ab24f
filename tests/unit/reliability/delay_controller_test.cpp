// Each rule of the delay controller alone: rounds are made up here, queues are not simulated.
#include "reliability/congestion/delay_controller.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;
constexpr uint64_t kBase = 50 * kMs;

class Delay : public testing::Test {
 protected:
  PathState path(uint64_t srtt_ns = kBase) const { return {now_ns, srtt_ns, min_rtt_ns, 200 * kMs}; }

  void sample(uint64_t rtt_ns) {
    AckFeedback feedback;
    feedback.path = path();
    feedback.acked_packets = 1;
    feedback.has_rtt = true;
    feedback.rtt_ns = feedback.answer_ns = rtt_ns;
    feedback.bytes_in_flight = controller.window_bytes();
    controller.on_feedback(feedback);
  }
  /// A round of `queue_ns` in which `in_flight` bytes were out at most.
  void round(uint64_t queue_ns, uint64_t in_flight, uint32_t acked = 0, uint32_t lost = 0) {
    now_ns += kBase;
    RoundSummary summary;
    summary.path = path();
    summary.duration_ns = kBase + queue_ns;
    summary.acked_packets = acked;
    summary.acked_bytes = 1'000'000;
    summary.lost_packets = lost;
    summary.peak_bytes_in_flight = in_flight;
    summary.rtt_samples = 8;
    summary.smallest_rtt_ns = summary.smallest_answer_ns = min_rtt_ns + queue_ns;
    controller.on_round(summary);
  }
  void full_round(uint64_t queue_ns) { round(queue_ns, controller.window_bytes()); }
  /// Ends startup with a window of about 200 kB.
  void settle() {
    while (controller.window_bytes() < 200'000) full_round(0);
    full_round(controller.target_ns() * 3 / 4);
    ASSERT_EQ(controller.phase(), CongestionPhase::kSteady);
  }

  uint64_t now_ns = kSecond;
  uint64_t min_rtt_ns = kBase;
  DelayController controller{DelayConfig{}, kSecond};
};

TEST_F(Delay, StartupDoublesPerRoundWhileTheWindowIsUsed) {
  EXPECT_EQ(controller.phase(), CongestionPhase::kStartup);
  EXPECT_EQ(controller.window_bytes(), 12'000u);
  full_round(0);
  EXPECT_EQ(controller.window_bytes(), 24'000u);
  full_round(4 * kMs);
  EXPECT_EQ(controller.window_bytes(), 48'000u);
  round(0, 10'000);  // Not used: not doubled.
  EXPECT_EQ(controller.window_bytes(), 48'000u);
  full_round(7 * kMs);  // More than half the target: the end of doubling.
  EXPECT_EQ(controller.phase(), CongestionPhase::kSteady);
  EXPECT_LT(controller.window_bytes(), 60'000u);
}

TEST_F(Delay, ThreeSamplesOfAQueueEndStartupInsideTheRound) {
  full_round(0);
  sample(kBase + 60 * kMs);
  sample(kBase + 60 * kMs);
  EXPECT_EQ(controller.phase(), CongestionPhase::kStartup);
  sample(kBase + 60 * kMs);
  EXPECT_EQ(controller.phase(), CongestionPhase::kSteady);
  EXPECT_LT(controller.window_bytes(), 24'000u);
}

TEST_F(Delay, TheExcessLeavesTheQueueInOneRound) {
  settle();
  const uint64_t before = controller.window_bytes();
  const uint64_t target = controller.target_ns();
  full_round(40 * kMs);
  EXPECT_EQ(controller.window_bytes(), before * (kBase + target) / (kBase + 40 * kMs));
}

TEST_F(Delay, AtTheTargetNothingMoves) {
  settle();
  const uint64_t before = controller.window_bytes();
  full_round(controller.target_ns());
  EXPECT_EQ(controller.window_bytes(), before);
}

TEST_F(Delay, WhoeverHasLessAcceptsALongerQueue) {
  // 8 ms · (1 + 2 / √n): n = 10 datagrams at first.
  EXPECT_NEAR(static_cast<double>(controller.target_ns()), 8e6 * (1 + 2 / 3.1623), 1e4);
  controller.on_silence(now_ns);
  EXPECT_EQ(controller.target_ns(), 16 * kMs);  // Two datagrams: twice at most.
}

TEST_F(Delay, NearTheTargetGrowthIsAdditive) {
  settle();
  const uint64_t before = controller.window_bytes();
  const uint64_t target = controller.target_ns();
  full_round(target * 3 / 4);
  EXPECT_EQ(controller.window_bytes(), before + 300);  // 1200 · (T − q) / T
}

TEST_F(Delay, CalmRoundsFindReturnedCapacityQuickly) {
  settle();
  full_round(40 * kMs);
  const uint64_t before = controller.window_bytes();
  uint32_t rounds = 0;
  while (controller.window_bytes() < 2 * before) {
    full_round(0);
    ASSERT_LT(++rounds, 10u);
  }
  // And never by more than a quarter and a datagram at once.
  const uint64_t last = controller.window_bytes();
  full_round(0);
  EXPECT_LE(controller.window_bytes(), last + last / 4 + 1200);
}

// The samples of a round are of packets that left before the last growth.
TEST_F(Delay, WhatGrewIsCountedBeforeItShows) {
  settle();
  full_round(40 * kMs);
  uint64_t before = 0;
  uint64_t target_ns = 0;
  for (int i = 0; i < 4; ++i) {
    before = controller.window_bytes();
    target_ns = controller.target_ns();
    full_round(0);
  }
  // At the most, a growth is a little above a quarter: 50 ms of round trip become 62 ms. The target is below
  // that.
  uint64_t grown = controller.window_bytes();
  ASSERT_GT(kBase * (grown - before) / grown, target_ns / 2);
  const uint64_t unseen_ns = kBase * (grown - before) / grown;
  target_ns = controller.target_ns();
  full_round(0);
  EXPECT_LE(controller.window_bytes() - grown,
            (1200 + grown / 4) * (target_ns - std::min(target_ns, unseen_ns)) / target_ns + 1);
  // An empty queue once more, and the whole growth was seen.
  before = controller.window_bytes();
  full_round(controller.target_ns());
  full_round(0);
  EXPECT_GT(controller.window_bytes(), before + before / 20);
}

TEST_F(Delay, WithoutUseNothingGrows) {
  settle();
  const uint64_t before = controller.window_bytes();
  for (int i = 0; i < 20; ++i) round(0, before / 3);
  EXPECT_EQ(controller.window_bytes(), before);
}

TEST_F(Delay, AnApplicationThatSendsLittleKeepsTheFirstWindow) {
  settle();
  for (int i = 0; i < 50; ++i) round(30 * kMs, 3'000);
  EXPECT_EQ(controller.window_bytes(), 12'000u);
}

TEST_F(Delay, UnlessTheQueueIsLong) {
  settle();
  round(4 * controller.target_ns() + kMs, 6'000);
  EXPECT_LT(controller.window_bytes(), 6'000u);
}

TEST_F(Delay, WhatJitterCouldExplainWaitsForMoreSamples) {
  settle();
  const uint64_t before_ns = controller.target_ns();
  for (int i = 0; i < 200; ++i) sample(kBase + (i % 2 == 0 ? 0 : 20 * kMs));  // mean difference: 20 ms
  EXPECT_NEAR(static_cast<double>(controller.target_ns() - before_ns), 15e6, 0.5e6);  // 3/4 of it.
  const uint64_t before = controller.window_bytes();
  RoundSummary summary;
  summary.path = path();
  summary.duration_ns = kBase;
  summary.peak_bytes_in_flight = before;
  summary.rtt_samples = 2;
  summary.smallest_rtt_ns = summary.smallest_answer_ns = kBase + 30 * kMs;
  for (int i = 0; i < 5; ++i) controller.on_round(summary);
  EXPECT_EQ(controller.window_bytes(), before);
  controller.on_round(summary);  // Twelve samples agree.
  EXPECT_LT(controller.window_bytes(), before);
  const uint64_t reduced = controller.window_bytes();
  summary.smallest_rtt_ns = summary.smallest_answer_ns = kBase + 100 * kMs;  // No jitter does that.
  summary.peak_bytes_in_flight = reduced;
  controller.on_round(summary);
  EXPECT_LT(controller.window_bytes(), reduced);
}

TEST_F(Delay, JitterRaisesTheTargetByAtMostItsBound) {
  const uint64_t before_ns = controller.target_ns();
  settle();
  const uint64_t settled_ns = controller.target_ns();
  ASSERT_LT(settled_ns, before_ns);  // A larger window aims at a shorter queue.
  for (int i = 0; i < 500; ++i) sample(kBase + (i % 2 == 0 ? 0 : 400 * kMs));
  EXPECT_EQ(controller.target_ns() - settled_ns, 20 * kMs);
}

TEST_F(Delay, LossUpToAnEighthCutsNothing) {
  settle();
  const uint64_t before = controller.window_bytes();
  round(controller.target_ns(), before, 56, 8);
  EXPECT_EQ(controller.window_bytes(), before);
}

TEST_F(Delay, MoreLossCutsHalfItsShareOncePerBlock) {
  settle();
  const uint64_t before = controller.window_bytes();
  round(controller.target_ns(), before, 20, 10);  // 30 packets: not a block yet.
  EXPECT_EQ(controller.window_bytes(), before);
  round(controller.target_ns(), before, 20, 14);  // 24 of 64.
  EXPECT_NEAR(static_cast<double>(controller.window_bytes()), static_cast<double>(before) * (1 - 24.0 / 128),
              50);
}

TEST_F(Delay, LossAloneNeverGoesBelowItsFloor) {
  settle();
  for (int i = 0; i < 200; ++i) {
    const uint64_t before = controller.window_bytes();
    round(controller.target_ns(), before, 32, 32);
  }
  // 36 kB/s at 50 ms are 1800 bytes, and the smallest window is 2400.
  EXPECT_EQ(controller.window_bytes(), 2'400u);
  EXPECT_GE(controller.rate_bytes_per_s(path()), 36'000u);
}

TEST_F(Delay, LossStopsTheBoost) {
  settle();
  round(controller.target_ns(), controller.window_bytes(), 60, 4);  // 6 %: tolerated, not calm.
  for (int i = 0; i < 8; ++i) full_round(0);
  const uint64_t before = controller.window_bytes();
  round(0, before, 1, 0);
  EXPECT_LE(controller.window_bytes(), before + before / 16 + 1200);
}

TEST_F(Delay, SilenceLeavesTwoDatagramsUntilSomethingComesBack) {
  settle();
  controller.on_silence(now_ns);
  EXPECT_EQ(controller.phase(), CongestionPhase::kBlackout);
  EXPECT_EQ(controller.window_bytes(), 2'400u);
  full_round(0);
  EXPECT_EQ(controller.window_bytes(), 2'400u);
  sample(kBase);
  EXPECT_EQ(controller.phase(), CongestionPhase::kStartup);
  full_round(0);
  EXPECT_EQ(controller.window_bytes(), 4'800u);
}

TEST_F(Delay, WhatASilenceLostDoesNotEndTheStartupAfterIt) {
  settle();
  controller.on_silence(now_ns);
  sample(kBase);
  round(0, controller.window_bytes(), 10, 90);
  EXPECT_EQ(controller.phase(), CongestionPhase::kStartup);
  EXPECT_EQ(controller.window_bytes(), 4'800u);
  round(0, controller.window_bytes(), 10, 90);  // Lost after the silence.
  EXPECT_EQ(controller.phase(), CongestionPhase::kSteady);
}

TEST_F(Delay, AQueueThatNeverEmptiesIsDrainedForOneRound) {
  settle();
  uint64_t before = 0;
  uint32_t rounds = 0;
  while (controller.phase() != CongestionPhase::kDrain) {
    before = controller.window_bytes();
    sample(kBase + 8 * kMs);
    full_round(8 * kMs);
    ASSERT_LT(++rounds, 110u);  // 5 s of 50 ms.
  }
  EXPECT_GT(rounds, 90u);
  // Less than the path holds without a queue.
  EXPECT_LT(controller.window_bytes(), before * 50 / 60);
  full_round(0);
  EXPECT_EQ(controller.phase(), CongestionPhase::kSteady);
  EXPECT_GE(controller.window_bytes(), before);
  // The next round still shows the drain and decides nothing.
  const uint64_t restored = controller.window_bytes();
  full_round(0);
  EXPECT_EQ(controller.window_bytes(), restored);
}

TEST_F(Delay, AnEmptyQueueNowAndThenMakesDrainsNeedless) {
  settle();
  for (int i = 0; i < 300; ++i) {
    sample(kBase + (i % 40 == 0 ? 0 : 8 * kMs));
    full_round(8 * kMs);
    ASSERT_EQ(controller.phase(), CongestionPhase::kSteady);
  }
}

TEST_F(Delay, AForeignQueueIsTakenForTheBase) {
  settle();
  uint32_t rounds = 0;
  while (controller.base_rtt_ns(path()) == kBase) {
    full_round(80 * kMs);
    ASSERT_LT(++rounds, 40u);
  }
  EXPECT_EQ(controller.base_rtt_ns(path()), kBase + 80 * kMs);
  const uint64_t before = controller.window_bytes();
  full_round(80 * kMs);
  EXPECT_GT(controller.window_bytes(), before);
  sample(kBase + 30 * kMs);  // It got shorter: so does the base.
  EXPECT_EQ(controller.base_rtt_ns(path()), kBase + 30 * kMs);
}

TEST_F(Delay, IdlenessHalvesPerSecondDownToTheFirstWindow) {
  settle();
  const uint64_t before = controller.window_bytes();
  controller.on_idle(900 * kMs);
  EXPECT_EQ(controller.window_bytes(), before);
  controller.on_idle(1100 * kMs);
  EXPECT_EQ(controller.window_bytes(), before / 2);
  controller.on_idle(60 * kSecond);
  EXPECT_EQ(controller.window_bytes(), 12'000u);
}

TEST_F(Delay, TheWindowHasBounds) {
  for (int i = 0; i < 60; ++i) full_round(0);
  EXPECT_EQ(controller.window_bytes(), 4u << 20);
}

TEST_F(Delay, ThePaceIsAQuarterAboveTheWindowPerRoundTrip) {
  settle();
  EXPECT_EQ(controller.rate_bytes_per_s(path(100 * kMs)), controller.window_bytes() * 5 / 4 * 10);
  EXPECT_EQ(controller.rate_bytes_per_s(path(0)), kMaxRateBytesPerS);  // One process: no round trip at all.
}

TEST_F(Delay, RestartForgets) {
  const uint64_t fresh_target_ns = controller.target_ns();
  settle();
  controller.on_silence(now_ns);
  controller.restart(now_ns);
  EXPECT_EQ(controller.phase(), CongestionPhase::kStartup);
  EXPECT_EQ(controller.window_bytes(), 12'000u);
  EXPECT_EQ(controller.target_ns(), fresh_target_ns);
}

}  // namespace
}  // namespace lattice::reliability
