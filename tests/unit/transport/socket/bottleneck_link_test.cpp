// The shared narrow place: rate, queue bound, traces, sharing.
#include "transport/socket/bottleneck_link.h"

#include <gtest/gtest.h>

#include "support/durations.h"
#include "transport/socket/simulated_network.h"

namespace lattice::socket {
namespace {

using test::kMs;

TEST(BottleneckLink, AFixedRateSerialisesHeadersIncluded) {
  BottleneckLink link({.rate_bits_per_s = 9'824'000});  // 1228 bytes per millisecond
  uint64_t departs_ns = 0;
  ASSERT_TRUE(link.pass(1200, 0, &departs_ns));
  EXPECT_EQ(departs_ns, 1 * kMs);
  ASSERT_TRUE(link.pass(1200, 0, &departs_ns));
  EXPECT_EQ(departs_ns, 2 * kMs);
  ASSERT_TRUE(link.pass(1200, 10 * kMs, &departs_ns));  // Idle time is not saved up.
  EXPECT_EQ(departs_ns, 11 * kMs);
  link.set_rate(982'400);
  ASSERT_TRUE(link.pass(1200, 10 * kMs, &departs_ns));
  EXPECT_EQ(departs_ns, 21 * kMs);
}

TEST(BottleneckLink, TheQueueIsBoundedAndAnIdleLinkTakesAnything) {
  BottleneckLink link({.rate_bits_per_s = 9'824'000, .queue_bytes = 2000});
  uint64_t departs_ns = 0;
  EXPECT_TRUE(link.pass(1200, 0, &departs_ns));
  EXPECT_FALSE(link.pass(1200, 0, &departs_ns));
  EXPECT_TRUE(link.pass(700, 0, &departs_ns));
  EXPECT_EQ(link.waiting_bytes(0), 1228u + 728u);
  EXPECT_EQ(link.waiting_bytes(1 * kMs), 728u);
  EXPECT_TRUE(link.pass(1200, 1 * kMs, &departs_ns));
  EXPECT_EQ(link.stats().passed, 3u);
  EXPECT_EQ(link.stats().dropped, 1u);
  EXPECT_EQ(link.stats().passed_bytes, 3100u);
}

TEST(BottleneckLink, TheObserverHearsHowLongEachTook) {
  BottleneckLink link({.rate_bits_per_s = 9'824'000});
  uint64_t sum_ns = 0;
  link.set_observer([](void* sum, uint64_t waited_ns, size_t) { *static_cast<uint64_t*>(sum) += waited_ns; },
                    &sum_ns);
  uint64_t departs_ns = 0;
  for (int i = 0; i < 3; ++i) link.pass(1200, 0, &departs_ns);
  EXPECT_EQ(sum_ns, 6 * kMs);
}

TEST(BottleneckLink, ATraceGivesOpportunitiesThatAreSharedLostAndRepeated) {
  const RateTrace trace({10, 10, 20, 99});
  ASSERT_TRUE(trace.valid());
  BottleneckLink link({.trace = &trace});
  uint64_t departs_ns = 0;
  const auto at = [&](size_t payload_bytes, uint64_t ms) {
    link.pass(payload_bytes, ms * kMs, &departs_ns);
    return departs_ns / kMs;
  };
  EXPECT_EQ(at(722, 0), 10u);           // 750 of 1500 bytes,
  EXPECT_EQ(at(722, 0), 10u);           // and the rest of them.
  EXPECT_EQ(at(1000, 0), 10u);          // The second opportunity of that time,
  EXPECT_EQ(at(1000, 0), 20u);          // whose rest is not enough for this one.
  EXPECT_EQ(at(1472, 50), 99u);         // Whole opportunities before 50 ms are gone.
  EXPECT_EQ(at(1472, 60), 110u);        // 100 ms later it starts again.
  EXPECT_EQ(at(3000 - 28, 300), 310u);  // Two at once.
}

TEST(RateTrace, RefusesNothingAndDisorder) {
  EXPECT_FALSE(RateTrace({}).valid());
  EXPECT_FALSE(RateTrace({5, 4}).valid());
  EXPECT_TRUE(RateTrace({0}).valid());
}

TEST(RateTrace, TimesRepeatWithThePeriod) {
  const RateTrace trace({0, 3, 3, 9});
  EXPECT_EQ(trace.time_ns(4), 10 * kMs);
  EXPECT_EQ(trace.time_ns(7), 19 * kMs);
  EXPECT_EQ(trace.first_at(0), 0u);
  EXPECT_EQ(trace.first_at(1), 1u);
  EXPECT_EQ(trace.first_at(3 * kMs), 1u);
  EXPECT_EQ(trace.first_at(3 * kMs + 1), 3u);
  EXPECT_EQ(trace.first_at(10 * kMs), 4u);
  EXPECT_EQ(trace.first_at(25 * kMs), 11u);
  EXPECT_EQ(trace.bytes_per_s(), 600'000u);
}

TEST(RateTrace, MadeUpLinksRepeatAndStayInBounds) {
  CellularConfig config;
  config.seconds = 20;
  const RateTrace one = RateTrace::cellular(config);
  const RateTrace two = RateTrace::cellular(config);
  ASSERT_EQ(one.size(), two.size());
  for (uint64_t i = 0; i < one.size(); ++i) ASSERT_EQ(one.time_ns(i), two.time_ns(i));
  EXPECT_GT(one.bytes_per_s(), 25'000u);
  EXPECT_LT(one.bytes_per_s(), 1'250'000u);
  config.seed = 2;
  EXPECT_NE(RateTrace::cellular(config).size(), one.size());
  config.outages_per_s = 50;  // Always dark: one opportunity, so that the trace has a length.
  EXPECT_TRUE(RateTrace::cellular(config).valid());
}

TEST(BottleneckLink, DirectionsOfANetworkShareOne) {
  SimulatedNetwork network({});
  const base::PathId a = base::ipv4_path(10, 0, 0, 1, 1);
  const base::PathId b = base::ipv4_path(10, 0, 0, 2, 2);
  const base::PathId c = base::ipv4_path(10, 0, 0, 3, 3);
  BottleneckLink link({.rate_bits_per_s = 9'824'000});
  const auto from_a = network.attach(a);
  const auto from_b = network.attach(b);
  const auto to_c = network.attach(c);
  ASSERT_TRUE(network.set_bottleneck(a, c, &link));
  ASSERT_TRUE(network.set_bottleneck(b, c, &link));
  EXPECT_FALSE(network.set_bottleneck(a, base::ipv4_path(10, 0, 0, 4, 4), &link));
  std::array<uint8_t, 1200> bytes{};
  const Datagram datagram{c, 1200, bytes.data()};
  from_a->send({&datagram, 1}, 0);
  from_b->send({&datagram, 1}, 0);
  EXPECT_EQ(network.next_event_ns(), 1 * kMs);
  std::array<uint8_t, kMaxDatagramBytes> buffer;
  std::array<Datagram, 1> out{Datagram{{}, 0, buffer.data()}};
  EXPECT_EQ(to_c->receive(out, 1 * kMs).count, 1u);
  EXPECT_EQ(to_c->receive(out, 1 * kMs).count, 0u);
  EXPECT_EQ(to_c->receive(out, 2 * kMs).count, 1u);
  ASSERT_TRUE(network.set_bottleneck(a, c, nullptr));
  from_a->send({&datagram, 1}, 5 * kMs);
  EXPECT_EQ(network.next_event_ns(), 5 * kMs);
}

}  // namespace
}  // namespace lattice::socket
