// Which echo counts, and when the next probe is due (R-06, R-7, L-07).
#include "reliability/recovery/probes.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

TEST(Probes, AnEchoCountsOnce) {
  Probes probes;
  probes.on_probe(7 * kMs, 41);
  EXPECT_FALSE(probes.on_echo(8000));
  const auto answered = probes.on_echo(7000);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->sent_ns, 7 * kMs);
  EXPECT_EQ(answered->packet_seq, 41u);
  EXPECT_FALSE(probes.on_echo(7000));
}

TEST(Probes, TheLastFourAreKept) {
  Probes probes;
  for (uint64_t i = 1; i <= 5; ++i) probes.on_probe(i * kMs, i);
  EXPECT_FALSE(probes.on_echo(1000));
  for (uint64_t i = 5; i >= 2; --i) EXPECT_EQ(probes.on_echo(i * 1000)->packet_seq, i);
}

TEST(Probes, AnotherPathForgetsProbesAndWantsOne) {
  Probes probes;
  probes.on_probe(kMs, 1);
  EXPECT_FALSE(probes.is_wanted());
  probes.restart();
  EXPECT_TRUE(probes.is_wanted());
  EXPECT_FALSE(probes.on_echo(1000));
  probes.on_probe(2 * kMs, 2);
  EXPECT_FALSE(probes.is_wanted());
}

TEST(Probes, AnEchoTellsHowLongItWaited) {
  Probes probes;
  probes.on_peers_probe(123, 10 * kMs);
  probes.on_peers_probe(456, 20 * kMs);
  ASSERT_TRUE(probes.echo_waits());
  const Probes::Echo echo = probes.take_echo(23 * kMs);
  EXPECT_EQ(echo.probe_us, 456u);
  EXPECT_EQ(echo.delay_us, 3000u);
  EXPECT_FALSE(probes.echo_waits());
}

TEST(Probes, ABusyConnectionWithoutSamplesProbesEverySecond) {
  Probes probes;
  RttEstimator rtt;
  probes.begin(0);
  EXPECT_EQ(probes.busy_at_ns(rtt, false, 100 * kMs), Probes::kNever);
  probes.on_payload(100 * kMs);
  EXPECT_EQ(probes.busy_at_ns(rtt, false, 100 * kMs), kSecond);
  rtt.add_sample(10 * kMs, 90 * kMs);
  EXPECT_EQ(probes.busy_at_ns(rtt, false, 100 * kMs), kSecond + 90 * kMs);
  probes.on_probe(150 * kMs, 1);  // Newer than the last message.
  EXPECT_EQ(probes.busy_at_ns(rtt, false, 150 * kMs), Probes::kNever);
  probes.on_payload(200 * kMs);
  EXPECT_EQ(probes.busy_at_ns(rtt, false, 200 * kMs), kSecond + 150 * kMs);
  EXPECT_EQ(probes.busy_at_ns(rtt, false, 200 * kMs + kProbeAfterNs), Probes::kNever);  // Quiet by now.
}

TEST(Probes, WithoutAReadableBlockASecondBringsAProbeInAnyCase) {
  Probes probes;
  const RttEstimator rtt;
  probes.begin(5 * kSecond);
  EXPECT_EQ(probes.busy_at_ns(rtt, true, 6 * kSecond), 5 * kSecond + kProbeAfterNs);
}

TEST(Probes, WhoOnlyAnswersProbesEveryTenSeconds) {
  Probes probes;
  const RttEstimator rtt;
  probes.begin(0);
  EXPECT_FALSE(probes.quiet_due(rtt, 20 * kSecond));
  probes.on_peers_probe(1, 9 * kSecond);
  EXPECT_FALSE(probes.quiet_due(rtt, Probes::kQuietProbeNs - 1));
  EXPECT_TRUE(probes.quiet_due(rtt, Probes::kQuietProbeNs));
}

}  // namespace
}  // namespace lattice::reliability
