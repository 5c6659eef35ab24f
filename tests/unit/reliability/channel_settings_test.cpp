// Weights, urgency and the longest wait of channels over a link that is full: docs/spec/reliability.md,
// Packing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "endpoint_rig.h"
#include "reliability/channel/outgoing_channels.h"
#include "transport/socket/bottleneck_link.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;

constexpr size_t kBodyBytes = 1000;

/// A client that sends through a link of 10 Mbit/s and 20 ms.
class FullLink {
 public:
  FullLink() : rig(rig_options()), link({10'000'000, nullptr, 0}) {
    connected =
        rig.connect_all() && rig.network.set_bottleneck(rig.client().address, rig.server.address, &link);
    rig.server.handler.on_body = [](void* self, ConnectionHandle, Channel channel,
                                    std::span<const uint8_t> body) {
      static_cast<FullLink*>(self)->came(channel, body);
      return Verdict::kAccept;
    };
    rig.server.handler.context = this;
    rig.server.handler.record = false;
  }

  bool set(Channel channel, const ChannelSettings& settings) {
    return rig.client().endpoint->set_channel(rig.client().connection, channel, settings);
  }
  SendResult send(Channel channel, uint32_t receipt = 0) {
    Bytes body(kBodyBytes);
    platform::store_u64_le(body.data(), rig.now_ns);
    return rig.client().endpoint->send(rig.client().connection, channel, {}, body, receipt);
  }
  /// Runs for a time in which `full` always have something to send, and a message goes 60 times a second on
  /// `beside`.
  void run(uint64_t for_ns, std::initializer_list<Channel> full,
           std::optional<Channel> beside = std::nullopt) {
    uint64_t next_ns = rig.now_ns;
    for (const uint64_t end_ns = rig.now_ns + for_ns; rig.now_ns < end_ns; rig.step()) {
      for (const Channel channel : full) {
        while (send(channel) == SendResult::kOk) {
        }
      }
      if (!beside || rig.now_ns < next_ns) continue;
      next_ns += kSecond / 60;
      EXPECT_EQ(send(*beside), SendResult::kOk);
    }
  }
  uint64_t bytes(Channel channel) const { return bytes_[static_cast<size_t>(channel)]; }
  /// The 99th percentile of the way of messages on `channel`; forgets them.
  double p99_ms(Channel channel) {
    std::vector<uint64_t>& ways = ways_ns_[static_cast<size_t>(channel)];
    if (ways.empty()) return 1e9;
    std::sort(ways.begin(), ways.end());
    const double ms = static_cast<double>(ways[ways.size() * 99 / 100]) / 1e6;
    ways.clear();
    return ms;
  }

  EndpointRig rig;
  socket::BottleneckLink link;
  bool connected = false;

 private:
  static test::RigOptions rig_options() {
    test::RigOptions out;
    out.path.delay_ms = 20;
    out.step_ns = 2 * kMs;
    return out;
  }
  void came(Channel channel, std::span<const uint8_t> body) {
    bytes_[static_cast<size_t>(channel)] += body.size();
    ways_ns_[static_cast<size_t>(channel)].push_back(rig.now_ns - platform::load_u64_le(body.data()));
  }

  std::array<uint64_t, 16> bytes_{};
  std::array<std::vector<uint64_t>, 16> ways_ns_;
};

TEST(ChannelSettings, AnUrgentChannelDoesNotWaitForAFullOne) {
  FullLink quiet;
  ASSERT_TRUE(quiet.connected);
  quiet.run(5 * kSecond, {}, Channel::kUnreliable);
  const double alone_ms = quiet.p99_ms(Channel::kUnreliable);
  for (const Channel channel : {Channel::kUnreliable, Channel::kReliableUnordered}) {
    FullLink busy;
    ASSERT_TRUE(busy.connected);
    ASSERT_TRUE(busy.set(channel, {.is_urgent = true}));
    busy.run(3 * kSecond, {Channel::kReliableOrdered}, channel);
    busy.p99_ms(channel);
    busy.run(10 * kSecond, {Channel::kReliableOrdered}, channel);
    // What is left is the queue of the link, which delay control keeps at 14 ms in the middle, and 31 at
    // most.
    EXPECT_LE(busy.p99_ms(channel), 1.5 * alone_ms + 20);
    EXPECT_GE(busy.bytes(Channel::kReliableOrdered), 13 * 1'000'000u) << "the rest is the full channel's";
  }
}

TEST(ChannelSettings, ChannelsGetBytesByTheirWeight) {
  FullLink link;
  ASSERT_TRUE(link.connected);
  ASSERT_TRUE(link.set(Channel::kReliableUnordered, {.weight = 4}));
  link.run(10 * kSecond, {Channel::kReliableUnordered, Channel::kReliableOrdered});
  const double ratio = static_cast<double>(link.bytes(Channel::kReliableUnordered)) /
                       static_cast<double>(link.bytes(Channel::kReliableOrdered));
  EXPECT_NEAR(ratio, 4.0, 0.3);
}

TEST(ChannelSettings, AnUnreliableMessageWaitsNoLongerThanItMay) {
  FullLink link;
  ASSERT_TRUE(link.connected);
  ASSERT_TRUE(link.set(Channel::kUnreliable, {.max_wait_ms = 50}));
  uint32_t receipt = 0;
  for (const uint64_t end_ns = link.rig.now_ns + 3 * kSecond; link.rig.now_ns < end_ns; link.rig.step()) {
    while (link.send(Channel::kReliableOrdered) == SendResult::kOk) {
    }
    // Ten times what its turns carry.
    for (int i = 0; i < 10 && link.send(Channel::kUnreliable, receipt + 1) == SendResult::kOk; ++i) ++receipt;
  }
  link.rig.run(kSecond);
  EXPECT_LE(link.p99_ms(Channel::kUnreliable), 50 + 20 + 40)
      << "the wait, the way, and the queue of the link";
  const uint64_t given_up = link.rig.client_stats().refusals.get(Refusal::kMessageExpired);
  EXPECT_GT(given_up, receipt / 2);
  size_t told = 0, lost = 0;
  for (const auto& [number, acked] : link.rig.client().handler.receipts) {
    ASSERT_EQ(acked.size(), 1u) << number;
    ++told;
    lost += acked[0] ? 0u : 1u;
  }
  EXPECT_EQ(told, receipt) << "each message is told of once";
  EXPECT_GE(lost, given_up);
}

// A side with a small rate beside a peer that sends much: its own messages leave, and not only acks.
TEST(ChannelSettings, AcksLeaveASmallRateToMessages) {
  for (const uint64_t cap_bytes_per_s : {6'000u, 20'000u}) {
    test::RigOptions options;
    options.path.delay_ms = 25;
    options.step_ns = 4 * kMs;
    options.server.congestion.max_rate_bytes_per_s = cap_bytes_per_s;
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all(kSecond));
    rig.server.handler.record = false;
    const Bytes large(kBodyBytes, 1), news(40, 2);
    int said = 0;
    uint64_t next_ns = rig.now_ns;
    for (const uint64_t end_ns = rig.now_ns + 10 * kSecond; rig.now_ns < end_ns; rig.step()) {
      while (rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, large) ==
             SendResult::kOk) {
      }
      if (rig.now_ns < next_ns) continue;
      next_ns += kSecond / 10;
      ASSERT_EQ(rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered, {}, news),
                SendResult::kOk);
      ++said;
    }
    EXPECT_GE(rig.client().handler.received.size() + 5, static_cast<size_t>(said)) << cap_bytes_per_s;
    EXPECT_GT(rig.server.handler.message_count, 2'000u) << "and the peer goes on";
  }
}

TEST(ChannelSettings, OnlyChannelsOfTheApplicationHaveThem) {
  FullLink link;
  ASSERT_TRUE(link.connected);
  EXPECT_TRUE(link.set(Channel::kUnreliableSequenced, {.weight = 16}));
  EXPECT_FALSE(link.set(Channel::kControl, {}));
  EXPECT_FALSE(link.set(static_cast<Channel>(5), {})) << "not declared";
  EXPECT_FALSE(link.set(static_cast<Channel>(14), {}));
  EXPECT_FALSE(link.set(static_cast<Channel>(16), {}));
  EXPECT_FALSE(link.rig.client().endpoint->set_channel({}, Channel::kUnreliable, {}));
}

}  // namespace
}  // namespace lattice::reliability
