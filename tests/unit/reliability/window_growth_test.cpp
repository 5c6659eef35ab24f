// The window of a reliable channel grows where a path can use it: docs/spec/reliability.md, R-34 to R-36.
#include <gtest/gtest.h>

#include "endpoint_rig.h"
#include "reliability/channel/window_credit.h"

namespace lattice::reliability {
namespace {

using test::EndpointRig;
using test::kMs;
using test::kSecond;

constexpr uint64_t kRoomy = 1u << 20;

/// Counts `messages` that come evenly over `during_ns`; returns the last credit that was told.
int32_t take(WindowCredit& credit, int messages, uint64_t* now_ns, uint64_t during_ns, uint64_t srtt_ns = 0,
             uint64_t spare = kRoomy) {
  int32_t told = 0;
  for (int i = 0; i < messages; ++i) {
    *now_ns += during_ns / static_cast<uint64_t>(messages);
    if (const auto now = credit.on_message(*now_ns, srtt_ns, spare)) told = *now;
  }
  return told;
}

TEST(WindowCredit, DoublesWhereTheWindowIsUsedUpToTheLargest) {
  WindowCredit credit;
  uint64_t now_ns = 0;
  EXPECT_EQ(credit.accepted(), 256);
  EXPECT_EQ(take(credit, 255, &now_ns, 100 * kMs), 0);
  EXPECT_EQ(take(credit, 1, &now_ns, kMs), 512);
  EXPECT_EQ(credit.accepted(), 512);
  EXPECT_EQ(take(credit, 512, &now_ns, 100 * kMs), 1024);
  EXPECT_EQ(take(credit, 5000, &now_ns, 100 * kMs), 0) << "no further";
  EXPECT_EQ(credit.accepted(), 1024);
}

TEST(WindowCredit, StaysWhereMessagesComeSlowly) {
  WindowCredit credit;
  uint64_t now_ns = 0;
  EXPECT_EQ(take(credit, 2560, &now_ns, 20 * kSecond), 0) << "128 a second";
  // Over a round trip of a second the same window is used in full by as many messages.
  EXPECT_EQ(take(credit, 256, &now_ns, 2 * kSecond, kSecond), 512);
}

TEST(WindowCredit, TakesNoMoreThanAQuarterOfWhatIsSpare) {
  WindowCredit credit;
  uint64_t now_ns = 0;
  EXPECT_EQ(take(credit, 256, &now_ns, 10 * kMs, 0, 1023), 0);
  EXPECT_EQ(take(credit, 256, &now_ns, 10 * kMs, 0, 1024), 512);
  EXPECT_EQ(take(credit, 512, &now_ns, 10 * kMs, 0, 2047), 0);
}

TEST(WindowCredit, FallsBackWhereMemoryIsRefusedAndRestsTenSeconds) {
  WindowCredit credit;
  uint64_t now_ns = 0;
  EXPECT_EQ(credit.on_refused(now_ns), std::nullopt) << "it is the least already";
  now_ns = 10 * kSecond;
  ASSERT_EQ(take(credit, 256, &now_ns, 10 * kMs), 512) << "time without messages does not count";
  EXPECT_EQ(credit.on_refused(now_ns), std::optional<uint16_t>(256));
  EXPECT_EQ(credit.accepted(), 512) << "what was allowed may still come";
  const uint64_t refused_ns = now_ns;
  EXPECT_EQ(take(credit, 25600, &now_ns, 9 * kSecond), 0);
  now_ns = refused_ns + 10 * kSecond;
  EXPECT_EQ(take(credit, 512, &now_ns, 10 * kMs), 512);
}

// ---- Whole connections ----------------------------------------------------------------------------

constexpr size_t kBodyBytes = 1000;

/// Bytes of bodies a second that arrive on `channel` of a client that keeps it full, once it is up to speed.
double rate_bytes_per_s(EndpointRig& rig, Channel channel) {
  const test::Bytes body(kBodyBytes, 7);
  rig.server.handler.record = false;
  const auto fill_for = [&](uint64_t during_ns) {
    const uint64_t end_ns = rig.now_ns + during_ns;
    while (rig.now_ns < end_ns) {
      while (rig.client().endpoint->send(rig.client().connection, channel, {}, body) == SendResult::kOk) {
      }
      rig.step();
    }
  };
  fill_for(3 * kSecond);
  const uint64_t before = rig.server.handler.message_count;
  fill_for(4 * kSecond);
  return static_cast<double>((rig.server.handler.message_count - before) * kBodyBytes) / 4;
}

test::RigOptions long_path(double loss) {
  test::RigOptions options;
  options.path.delay_ms = 50;
  options.path.loss = loss;
  return options;
}

TEST(WindowGrowth, OneChannelFillsALongPathThatLoses) {
  for (const Channel channel : {Channel::kReliableUnordered, Channel::kReliableOrdered}) {
    EndpointRig rig(long_path(0.01));
    ASSERT_TRUE(rig.connect_all(kSecond));
    EXPECT_GE(rate_bytes_per_s(rig, channel), 5e6) << "1.55e6 with a window of 256";
    EXPECT_TRUE(rig.server.handler.ended.empty());
  }
}

TEST(WindowGrowth, WithoutMemoryForGrowthItStaysAsItIs) {
  test::RigOptions options = long_path(0.01);
  options.server.receive_growth_bytes = 0;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all(kSecond));
  EXPECT_LT(rate_bytes_per_s(rig, Channel::kReliableOrdered), 2.6e6);
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

// One connection has taken the memory for growth since; another has a large credit already.
TEST(WindowGrowth, ALargeCreditIsTakenBackWhereMemoryRunsOut) {
  test::RigOptions options = long_path(0.03);
  options.client_count = 2;
  options.server.receive_growth_bytes = 1024 * ReceiveMemory::kBlockBytes;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all(kSecond));
  const test::Bytes body(kBodyBytes, 7);
  rig.server.handler.record = false;
  for (int i = 0; i < 1000; ++i) {
    for (const auto& client : rig.clients) {
      for (const Channel channel : {Channel::kReliableUnordered, Channel::kReliableOrdered}) {
        while (client->endpoint->send(client->connection, channel, {}, body) == SendResult::kOk) {
        }
      }
    }
    rig.step();
  }
  EXPECT_TRUE(rig.server.handler.ended.empty());
  const uint64_t sent = 2 * 2 * 1000;
  EXPECT_GT(rig.server.handler.message_count, 3 * sent);
}

}  // namespace
}  // namespace lattice::reliability
