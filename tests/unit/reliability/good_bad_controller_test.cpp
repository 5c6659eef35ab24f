// C-01 and C-02: thresholds, rates, and every time of the hysteresis.
#include "reliability/congestion/good_bad_controller.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

// A path and a controller on one clock.
class GoodBad : public testing::Test {
 protected:
  /// Lets time pass in steps of 10 ms.
  void run(uint64_t for_ns) {
    for (const uint64_t end_ns = now_ns + for_ns; now_ns < end_ns;) {
      now_ns += 10 * kMs;
      controller.update(path());
    }
  }
  PathState path() const { return {now_ns, srtt_ns, min_rtt_ns, 500 * kMs}; }
  void tell(uint32_t acked, uint32_t lost) {
    AckFeedback feedback;
    feedback.path = path();
    feedback.acked_packets = acked;
    feedback.lost_packets = lost;
    controller.on_feedback(feedback);
  }
  bool good() const { return controller.phase() == CongestionPhase::kGood; }
  /// A moment of bad round trip.
  void spoil() {
    srtt_ns = 400 * kMs;
    tell(1, 0);
    srtt_ns = 100 * kMs;
  }

  uint64_t now_ns = 0;
  uint64_t srtt_ns = 100 * kMs;
  uint64_t min_rtt_ns = 80 * kMs;
  GoodBadController controller{GoodBadConfig{}, 0};
};

TEST_F(GoodBad, StartsGoodAtThirtyAndClimbsToSixty) {
  EXPECT_TRUE(good());
  EXPECT_EQ(controller.rate_hz(), 30u);
  EXPECT_EQ(controller.rate_bytes_per_s(path()), 36'000u);
  EXPECT_EQ(controller.window_bytes(), CongestionController::kNoWindow);
  run(990 * kMs);
  EXPECT_EQ(controller.rate_hz(), 30u);
  run(10 * kMs);
  EXPECT_EQ(controller.rate_hz(), 40u);
  run(2 * kSecond);
  EXPECT_EQ(controller.rate_hz(), 60u);
  run(5 * kSecond);
  EXPECT_EQ(controller.rate_hz(), 60u);
}

TEST_F(GoodBad, ARoundTripIsBadOnlyAboveBothThresholds) {
  const struct {
    uint64_t srtt_ms, min_ms;
    bool good;
  } kCases[] = {{250, 80, true},    // not above 250 ms
                {251, 80, false},   // above both
                {300, 200, true},   // not above 1.5 times the smallest: a long path, not a full one
                {301, 200, false},  // just above
                {600, 500, true}};
  for (const auto& c : kCases) {
    controller.restart(now_ns);
    srtt_ns = c.srtt_ms * kMs;
    min_rtt_ns = c.min_ms * kMs;
    tell(1, 0);
    EXPECT_EQ(good(), c.good) << c.srtt_ms << " over " << c.min_ms;
  }
}

TEST_F(GoodBad, LossIsBadAboveFivePercentOfAtLeast32) {
  const struct {
    uint32_t acked, lost;
    bool good;
  } kCases[] = {{29, 2, true},     // 31 packets say nothing
                {30, 2, false},    // 6.25 % of 32
                {38, 2, true},     // exactly 5 %
                {37, 2, false},    // 5.1 %
                {1000, 50, true},  // 4.8 %
                {0, 31, true}};
  for (const auto& c : kCases) {
    controller.restart(now_ns);
    tell(c.acked, c.lost);
    EXPECT_EQ(good(), c.good) << c.lost << " lost beside " << c.acked;
  }
}

TEST_F(GoodBad, LossOfAnotherSecondDoesNotAdd) {
  tell(15, 1);
  run(1200 * kMs);
  tell(15, 1);
  EXPECT_TRUE(good());
}

TEST_F(GoodBad, BadIsTenAtOnceAndGoodAgainAfterTGood) {
  run(3 * kSecond);
  spoil();
  EXPECT_FALSE(good());
  EXPECT_EQ(controller.rate_hz(), 10u);
  run(990 * kMs);
  EXPECT_FALSE(good());
  run(10 * kMs);
  EXPECT_TRUE(good());
  EXPECT_EQ(controller.rate_hz(), 30u);  // It climbs again from there.
  run(kSecond);
  EXPECT_EQ(controller.rate_hz(), 40u);
}

TEST_F(GoodBad, AnyTriggerInBadRestartsTheWait) {
  spoil();
  run(900 * kMs);
  spoil();
  run(900 * kMs);
  EXPECT_FALSE(good());
  run(100 * kMs);
  EXPECT_TRUE(good());
}

TEST_F(GoodBad, TheFirstDemotionIsNoRelapse) {
  run(100 * kMs);
  spoil();
  EXPECT_EQ(controller.good_time_ns(), kSecond);
}

TEST_F(GoodBad, RelapsesDoubleTGoodUpToAMinute) {
  spoil();
  uint64_t expected_s = 1;
  for (int i = 0; i < 9; ++i) {
    run(expected_s * kSecond);
    ASSERT_TRUE(good());
    run(9 * kSecond);
    spoil();
    expected_s = std::min<uint64_t>(2 * expected_s, 60);
    ASSERT_EQ(controller.good_time_ns(), expected_s * kSecond);
  }
}

TEST_F(GoodBad, ADemotionAfterTenGoodSecondsIsNoRelapseAndHalvesFirst) {
  spoil();
  run(kSecond);
  run(kSecond);
  spoil();  // A relapse: 2 s.
  run(2 * kSecond);
  ASSERT_TRUE(good());
  ASSERT_EQ(controller.good_time_ns(), 2 * kSecond);
  run(10 * kSecond);
  EXPECT_EQ(controller.good_time_ns(), kSecond);
  run(10 * kSecond);
  EXPECT_EQ(controller.good_time_ns(), kSecond);  // Not below.
  spoil();
  EXPECT_EQ(controller.good_time_ns(), kSecond);
}

TEST_F(GoodBad, OneEpisodeOfLossIsOneSignal) {
  // What demoted is not counted again, so the wait for GOOD is not restarted by it.
  tell(40, 10);
  EXPECT_FALSE(good());
  run(500 * kMs);
  tell(10, 0);
  run(500 * kMs);
  EXPECT_TRUE(good());
}

TEST_F(GoodBad, RestartForgets) {
  spoil();
  run(kSecond);
  spoil();
  controller.restart(now_ns);
  EXPECT_TRUE(good());
  EXPECT_EQ(controller.rate_hz(), 30u);
  EXPECT_EQ(controller.good_time_ns(), kSecond);
}

}  // namespace
}  // namespace lattice::reliability
