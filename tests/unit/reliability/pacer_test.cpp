// Budgets of a send (C-03), and what a round trip is.
#include "reliability/congestion/pacer.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
constexpr uint64_t kRtt = 100 * kMs;

Pacer::Setup setup(CongestionMode mode, uint64_t max_rate = 0) {
  Pacer::Setup out;
  out.config.mode = mode;
  out.config.max_rate_bytes_per_s = max_rate;
  return out;
}

PathState path_at(uint64_t now_ns) {
  return {now_ns, kRtt, kRtt, 300 * kMs};
}

TEST(Pacer, WithoutModeAndCeilingThereIsNoLimit) {
  Pacer pacer(setup(CongestionMode::kNone));
  pacer.begin_send(path_at(kMs));
  EXPECT_FALSE(pacer.limited());
  EXPECT_EQ(pacer.allowance_bytes(1u << 30), Pacer::kUnlimited);
  EXPECT_EQ(pacer.urgent_allowance_bytes(), Pacer::kUnlimited);
  EXPECT_EQ(pacer.rate_bytes_per_s(), Pacer::kUnlimited);
  EXPECT_EQ(pacer.phase(), CongestionPhase::kUnlimited);
}

TEST(Pacer, TheBucketHoldsTwoDatagramsOrADatagramAndOneTick) {
  Pacer slow(setup(CongestionMode::kNone, 12'000));
  slow.begin_send(path_at(0));
  for (uint64_t ms = 16; ms < 1000; ms += 16) slow.begin_send(path_at(ms * kMs));
  EXPECT_EQ(slow.allowance_bytes(0), 2400u);  // 16 ms bring 192 bytes.

  Pacer fast(setup(CongestionMode::kNone, 1'000'000));
  fast.begin_send(path_at(0));
  for (uint64_t ms = 16; ms < 1000; ms += 16) fast.begin_send(path_at(ms * kMs));
  EXPECT_EQ(fast.allowance_bytes(0), 17'200u);
  // A pump at 10 Hz can use its rate; one that slept longer gets no more than 100 ms at once.
  fast.begin_send(path_at(1092 * kMs));
  EXPECT_EQ(fast.allowance_bytes(0), 101'200u);
  fast.begin_send(path_at(9000 * kMs));
  EXPECT_EQ(fast.allowance_bytes(0), 101'200u);
  // Asking between sends changes nothing.
  fast.update(path_at(9000 * kMs));
  EXPECT_EQ(fast.allowance_bytes(0), 101'200u);
}

// What does not fit a datagram any more is not lost for the next tick: 2.5 MB/s are 1.7 datagrams a
// millisecond.
TEST(Pacer, TheRateIsUsedAtAnyTick) {
  for (const uint64_t tick_us : {500u, 1'000u, 2'000u, 5'000u, 16'000u}) {
    for (const uint64_t rate : {64'000u, 1'000'000u, 2'500'000u, 5'000'000u, 20'000'000u}) {
      Pacer pacer(setup(CongestionMode::kNone, rate));
      uint64_t sent = 0, seq = 0;
      for (uint64_t now_ns = 0; now_ns < 4'000 * kMs; now_ns += tick_us * 1000) {
        pacer.begin_send(path_at(now_ns));
        for (; pacer.allowance_bytes(0, 1472) >= 1472; sent += 1472) {
          pacer.on_sent({now_ns, ++seq, 1472, 1472, Charge::kOrdinary});
        }
      }
      EXPECT_GE(sent, 4 * rate * 95 / 100) << tick_us << " " << rate;
      EXPECT_LE(sent, 4 * rate + 2400 + rate / 10);
    }
  }
}

TEST(Pacer, LessThanADatagramIsNoBudget) {
  Pacer pacer(setup(CongestionMode::kNone, 12'000));
  pacer.begin_send(path_at(0));
  pacer.on_sent({0, 1, 1200, 1200, Charge::kOrdinary});
  EXPECT_EQ(pacer.allowance_bytes(0), 1200u);
  pacer.on_sent({0, 2, 60, 1260, Charge::kOrdinary});
  EXPECT_EQ(pacer.allowance_bytes(0), 0u);
  pacer.begin_send(path_at(5 * kMs));  // 60 bytes later.
  EXPECT_EQ(pacer.allowance_bytes(0), 1200u);
}

TEST(Pacer, UrgentDatagramsOverdrawByOneDatagramAndProbesAreFree) {
  Pacer pacer(setup(CongestionMode::kNone, 12'000));
  pacer.begin_send(path_at(0));
  uint64_t seq = 0;
  pacer.on_sent({0, ++seq, 1200, 1200, Charge::kOrdinary});
  pacer.on_sent({0, ++seq, 1200, 2400, Charge::kOrdinary});
  EXPECT_EQ(pacer.allowance_bytes(0), 0u);
  EXPECT_EQ(pacer.urgent_allowance_bytes(), 1200u);
  pacer.on_sent({0, ++seq, 500, 2400, Charge::kUrgent});
  EXPECT_EQ(pacer.urgent_allowance_bytes(), 700u);
  pacer.on_sent({0, ++seq, 700, 2400, Charge::kUrgent});
  EXPECT_EQ(pacer.urgent_allowance_bytes(), 0u);
  pacer.on_sent({0, ++seq, 1200, 2400, Charge::kFree});
  EXPECT_EQ(pacer.urgent_allowance_bytes(), 0u);
  pacer.begin_send(path_at(100 * kMs));  // All of it is paid back before anything ordinary leaves.
  EXPECT_EQ(pacer.urgent_allowance_bytes(), 1200u);
  EXPECT_EQ(pacer.allowance_bytes(0), 0u);
  pacer.begin_send(path_at(200 * kMs));
  EXPECT_EQ(pacer.allowance_bytes(0), 1200u);
}

TEST(Pacer, TheWindowLimitsOrdinaryDatagramsOnly) {
  Pacer pacer(setup(CongestionMode::kDelay));
  pacer.begin_send(path_at(kMs));
  EXPECT_EQ(pacer.window_bytes(), 12'000u);
  EXPECT_EQ(pacer.allowance_bytes(9'700), 2300u);
  EXPECT_EQ(pacer.allowance_bytes(10'801), 0u);
  EXPECT_EQ(pacer.allowance_bytes(20'000), 0u);
  EXPECT_GE(pacer.urgent_allowance_bytes(), 1200u);
}

TEST(Pacer, TheAllowanceOverATimeDoesNotDependOnTheTick) {
  for (const uint64_t tick_ns : {1 * kMs, 4 * kMs, 5 * kMs}) {
    Pacer pacer(setup(CongestionMode::kNone, 240'000));
    pacer.begin_send(path_at(tick_ns));
    pacer.begin_send(path_at(2 * tick_ns));
    // The bucket holds 2400 bytes. 40 ms bring 9600, those of the last tick only after the last send.
    EXPECT_EQ(pacer.allowance_bytes_during(40 * kMs + tick_ns, path_at(2 * tick_ns), 0), 2400u + 9600 - 1200);
    EXPECT_EQ(pacer.allowance_bytes_during(0, path_at(2 * tick_ns), 0), 2400u);
  }
}

TEST(Pacer, WhatTheBucketCanHoldNeedNotWait) {
  Pacer pacer(setup(CongestionMode::kNone, 64'000));
  pacer.begin_send(path_at(5 * kMs));
  // 33 ms bring 2112 bytes, and the bucket has room for 2400.
  EXPECT_EQ(pacer.allowance_bytes_during(33 * kMs, path_at(5 * kMs), 0), 2400u);
  pacer.on_sent({5 * kMs, 1, 1100, 1100, Charge::kOrdinary});
  EXPECT_EQ(pacer.allowance_bytes_during(33 * kMs, path_at(5 * kMs), 0), 1300u);
  EXPECT_GT(pacer.allowance_bytes_during(50 * kMs, path_at(5 * kMs), 0), 2400u);
}

TEST(Pacer, AShortDatagramNeedsNoBudgetForALongOne) {
  Pacer pacer(setup(CongestionMode::kNone, 64'000));
  pacer.begin_send(path_at(0));
  pacer.on_sent({0, 1, 1400, 1400, Charge::kOrdinary});
  EXPECT_EQ(pacer.allowance_bytes(0), 0u);
  EXPECT_EQ(pacer.allowance_bytes(0, 1000), 1000u);
  EXPECT_EQ(pacer.allowance_bytes(0, 1001), 0u);
}

TEST(Pacer, BeginningTwiceAtOneTimeIsBeginningOnce) {
  Pacer pacer(setup(CongestionMode::kNone, 1'000'000));
  pacer.begin_send(path_at(0));
  pacer.begin_send(path_at(16 * kMs));
  pacer.begin_send(path_at(16 * kMs));
  EXPECT_EQ(pacer.allowance_bytes(0), 17'200u);
}

TEST(Pacer, TheAllowanceOverATimeStaysWithinTheWindow) {
  Pacer pacer(setup(CongestionMode::kDelay));
  pacer.begin_send(path_at(kMs));
  // 240 kB/s, a window of 12'000. In 20 ms, a fifth of what is in flight is acknowledged.
  const uint64_t during_ns = 21 * kMs;
  EXPECT_EQ(pacer.allowance_bytes_during(during_ns, path_at(kMs), 0), 2400u + 4800 - 1200);
  EXPECT_EQ(pacer.allowance_bytes_during(during_ns, path_at(kMs), 6'000), 6000u + 1200 - 2400);
  EXPECT_EQ(pacer.allowance_bytes_during(during_ns, path_at(kMs), 9'000), 3000u + 1800 - 2400);
  EXPECT_EQ(pacer.allowance_bytes_during(500 * kMs, path_at(kMs), 9'000), 12'000u - 2400);
  EXPECT_EQ(pacer.allowance_bytes_during(500 * kMs, path_at(kMs), 11'000), 0u);  // Nothing may leave now.
  PathState no_delay = path_at(kMs);
  no_delay.srtt_ns = 0;
  EXPECT_EQ(pacer.allowance_bytes_during(2 * kMs, no_delay, 10'000), 2'000u);
}

TEST(Pacer, ACeilingHoldsInEveryMode) {
  for (const CongestionMode mode :
       {CongestionMode::kNone, CongestionMode::kDelay, CongestionMode::kGoodBad}) {
    Pacer pacer(setup(mode, 5'000));
    pacer.begin_send(path_at(kMs));
    EXPECT_EQ(pacer.rate_bytes_per_s(), 5'000u);
  }
}

/// Sends and acknowledges by hand.
struct Flow {
  void send(uint64_t bytes = 1200) {
    in_flight += bytes;
    pacer.on_sent({now_ns, ++seq, bytes, in_flight, Charge::kOrdinary});
  }
  void feedback(uint32_t acked, uint32_t lost, bool has_rtt = true) {
    AckFeedback out;
    out.path = path_at(now_ns);
    out.acked_packets = acked;
    out.acked_bytes = acked * 1200;
    out.lost_packets = lost;
    out.has_rtt = has_rtt;
    out.rtt_ns = out.answer_ns = kRtt;
    in_flight -= std::min(in_flight, (acked + lost) * uint64_t{1200});
    out.bytes_in_flight = in_flight;
    pacer.on_feedback(out, acked_seq);
  }
  void fill() {
    while (pacer.allowance_bytes(in_flight) != 0) send();
  }
  /// One round trip in which everything sent is acknowledged.
  void round_trip() {
    for (int i = 0; i < 10; ++i) {
      now_ns += kRtt / 10;
      pacer.begin_send(path_at(now_ns));
      fill();
    }
    acked_seq = seq;
    feedback(static_cast<uint32_t>(in_flight / 1200), 0);
  }

  Pacer pacer{setup(CongestionMode::kDelay)};
  uint64_t now_ns = kMs;
  uint64_t seq = 0, acked_seq = 0, in_flight = 0;
};

TEST(Pacer, OneDecisionPerRoundTrip) {
  Flow flow;
  flow.round_trip();
  const uint64_t window = flow.pacer.window_bytes();
  ASSERT_EQ(window, 24'000u);  // Startup doubled once.
  // Acks of packets sent before the round began do not end it, however many come.
  for (int i = 0; i < 20; ++i) {
    flow.now_ns += 10 * kMs;
    flow.pacer.begin_send(path_at(flow.now_ns));
    flow.fill();
    flow.feedback(0, 0);
  }
  EXPECT_EQ(flow.pacer.window_bytes(), window);
  flow.acked_seq = flow.seq;
  flow.feedback(20, 0);
  EXPECT_EQ(flow.pacer.window_bytes(), 2 * window);
}

TEST(Pacer, ARoundLastsAtLeastFiveMilliseconds) {
  Flow flow;
  flow.pacer.begin_send(path_at(flow.now_ns));
  flow.fill();
  flow.now_ns += kMs;
  flow.acked_seq = flow.seq;
  flow.feedback(2, 0);
  EXPECT_EQ(flow.pacer.window_bytes(), 12'000u);
}

TEST(Pacer, SilenceIsThreeLossesAndNoAckForTwoTimeouts) {
  Flow flow;
  flow.round_trip();
  flow.round_trip();
  for (int i = 0; i < 3; ++i) flow.send();
  flow.now_ns += 599 * kMs;
  flow.feedback(0, 3, false);
  EXPECT_EQ(flow.pacer.phase(), CongestionPhase::kStartup);
  for (int i = 0; i < 3; ++i) flow.send();
  flow.now_ns += 2 * kMs;
  flow.feedback(0, 3, false);
  EXPECT_EQ(flow.pacer.phase(), CongestionPhase::kBlackout);
  EXPECT_EQ(flow.pacer.window_bytes(), 2'400u);
}

TEST(Pacer, OneLostMessageAfterALongPauseIsNoSilence) {
  Flow flow;
  flow.round_trip();
  flow.now_ns += 5'000 * kMs;
  flow.send();
  flow.now_ns += 700 * kMs;
  flow.feedback(0, 1, false);
  EXPECT_EQ(flow.pacer.phase(), CongestionPhase::kStartup);
}

TEST(Pacer, RestartBeginsANewPath) {
  Flow flow;
  for (int i = 0; i < 3; ++i) flow.round_trip();
  ASSERT_GT(flow.pacer.window_bytes(), 12'000u);
  flow.pacer.restart(flow.now_ns);
  EXPECT_EQ(flow.pacer.window_bytes(), 12'000u);
}

TEST(CongestionConfig, RefusesByName) {
  CongestionConfig config;
  EXPECT_EQ(congestion_config_error(config), nullptr);
  config.max_rate_bytes_per_s = 100;
  EXPECT_STREQ(congestion_config_error(config), "congestion.max_rate_bytes_per_s: 0, or at least 1200");
  config = {};
  config.mode = static_cast<CongestionMode>(9);
  EXPECT_NE(congestion_config_error(config), nullptr);
  config = {};
  config.good_bad.max_rate_hz = 20;
  EXPECT_NE(congestion_config_error(config), nullptr);
  config = {};
  config.delay.target_ns = 0;
  EXPECT_NE(congestion_config_error(config), nullptr);
  config = {};
  config.delay.min_window_bytes = 20'000;
  EXPECT_NE(congestion_config_error(config), nullptr);
}

}  // namespace
}  // namespace lattice::reliability
