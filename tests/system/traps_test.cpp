// What other libraries have fallen into, one named test each, through the public interface. The ones that
// need to see inside are in scale_test.cpp.
#include <cmath>

#include "message_pair.h"
#include "refusal_count.h"
#include "support/durations.h"

namespace lattice::test::traps_test {
namespace {

constexpr lattice_channel kFour[] = {LATTICE_CHANNEL_UNRELIABLE, LATTICE_CHANNEL_UNRELIABLE_SEQUENCED,
                                     LATTICE_CHANNEL_RELIABLE_UNORDERED, LATTICE_CHANNEL_RELIABLE_ORDERED};

/// Every channel carries one message each way, and while time passes its receipt comes back.
void expect_traffic_flows(MessagePair& pair, uint64_t step_ns) {
  for (Side* from : {&pair.client, &pair.server}) {
    Side& to = from == &pair.client ? pair.server : pair.client;
    for (const lattice_channel channel : kFour) {
      SCOPED_TRACE(channel);
      to.received.clear();
      const Bytes body = {1, 2, static_cast<uint8_t>(channel)};
      uint32_t receipt = 0;
      ASSERT_EQ(lattice_send_with_receipt(from->conn, channel, body.data(), body.size(), &receipt),
                LATTICE_OK);
      for (int i = 0;
           i < 1000 && (to.received.empty() || (step_ns != 0 && from->receipts.count(receipt) == 0)); ++i) {
        pair.step(step_ns);
      }
      ASSERT_EQ(to.received.size(), 1u);
      EXPECT_EQ(to.received[0].first, channel);
      EXPECT_EQ(to.received[0].second, body);
      // An acknowledgement waits for company, and so for time.
      if (step_ns != 0) {
        EXPECT_EQ(from->receipts[receipt], std::vector<int>{1});
      }
    }
  }
}

TEST(Traps, AReliableMessageAfterAMillionUnreliableOnes) {
  // 100 bytes: a million of them need more packets than a 16-bit number counts, too.
  MessagePair pair;
  pair.impair(5, 0);
  ASSERT_TRUE(pair.connect());
  pair.server.keep = false;
  const Bytes body(100, 7);
  constexpr uint64_t kMessages = 1'000'001;
  uint64_t sent = 0;
  for (uint64_t steps = 0; sent < kMessages; ++steps) {
    ASSERT_LT(steps, 10'000'000u);
    while (sent < kMessages && pair.client.send(kFour[sent % 2], body) == LATTICE_OK) ++sent;
    pair.step(5 * kMs);
  }
  ASSERT_TRUE(pair.run_until(5000, [&] { return pair.server.messages == kMessages; }));
  EXPECT_GT(pair.client_stats().packets_sent, 65'536u);
  pair.server.keep = true;
  expect_traffic_flows(pair, 5 * kMs);
  EXPECT_EQ(pair.client.reason, -1);
}

TEST(Traps, AnUnreliableMessageLargerThanAPacket) {
  // It is neither made reliable nor lost unseen: each arrives whole, or is named given up on both sides.
  for (const lattice_channel channel : {LATTICE_CHANNEL_UNRELIABLE, LATTICE_CHANNEL_UNRELIABLE_SEQUENCED}) {
    SCOPED_TRACE(channel);
    MessagePair pair;
    pair.impair(20, 5);
    ASSERT_TRUE(pair.connect(60'000));
    constexpr uint32_t kMessages = 100;
    const Bytes body = pattern(5000, 3);
    for (uint32_t i = 0; i < kMessages; ++i) {
      uint32_t receipt = 0;
      ASSERT_EQ(lattice_send_with_receipt(pair.client.conn, channel, body.data(), body.size(), &receipt),
                LATTICE_OK);
      pair.run_until(100, [] { return false; });
    }
    pair.run_until(5000, [] { return false; });
    ASSERT_EQ(pair.client.receipts.size(), kMessages);
    uint64_t acked = 0;
    for (const auto& [receipt, told] : pair.client.receipts) {
      ASSERT_EQ(told.size(), 1u);
      acked += told[0] == 1 ? 1u : 0u;
    }
    const uint64_t arrived = pair.server.received.size();
    for (const auto& [on, bytes] : pair.server.received) EXPECT_EQ(bytes, body);
    EXPECT_GT(arrived, kMessages / 2);
    EXPECT_LT(arrived, kMessages);
    EXPECT_LE(acked, arrived);
    EXPECT_EQ(pair.client_stats().messages_resent, 0u);
    const uint64_t named = refusals(pair.server.world, "fragment_timeout") +
                           refusals(pair.server.world, "fragment_evicted") +
                           refusals(pair.server.world, "fragment_stale");
    EXPECT_EQ(arrived + named, kMessages);
  }
}

// ---- Time ------------------------------------------------------------------------------------------------

TEST(Traps, ConnectionBeforeTheClockHasTickedAndZeroRoundTrip) {
  // Everything at nanosecond 0, over a path without delay.
  MessagePair pair;
  ASSERT_TRUE(pair.start());
  for (int i = 0; i < 100 && pair.server.connected + pair.client.connected < 2; ++i) pair.step(0);
  ASSERT_EQ(pair.now_ns, 0u);
  ASSERT_EQ(pair.server.connected, 1);
  ASSERT_EQ(pair.client.connected, 1);
  expect_traffic_flows(pair, 0);
  ASSERT_EQ(pair.now_ns, 0u);
  lattice_conn_stats stats = pair.client_stats();
  EXPECT_EQ(stats.rtt_ms, 0.0);
  // Then the clock starts, and the receipts come.
  pair.run_until(20'000, [] { return false; });
  EXPECT_EQ(pair.client.reason, -1);
  EXPECT_EQ(pair.server.reason, -1);
  EXPECT_EQ(pair.client.receipts.size(), 4u);
  EXPECT_EQ(pair.server.receipts.size(), 4u);
  expect_traffic_flows(pair, kMs);
  stats = pair.client_stats();
  EXPECT_TRUE(std::isfinite(stats.rtt_ms) && stats.rtt_ms >= 0.0) << stats.rtt_ms;
  EXPECT_GE(stats.rto_ms, 50.0);
  EXPECT_EQ(stats.packets_lost, 0u);
  EXPECT_EQ(stats.messages_resent, 0u);
}

TEST(Traps, AZeroRoundTripUnderLoad) {
  MessagePair pair;
  ASSERT_TRUE(pair.connect());
  uint64_t sent = 0;
  for (int i = 0; i < 200; ++i) {
    while (pair.client.send(LATTICE_CHANNEL_RELIABLE_ORDERED, {static_cast<uint8_t>(sent)}) == LATTICE_OK)
      ++sent;
    pair.step(kMs);
  }
  ASSERT_TRUE(pair.run_until(
      5000, [&] { return pair.server.received.size() == sent; }, kMs));
  for (size_t i = 0; i < sent; ++i) ASSERT_EQ(pair.server.received[i].second[0], static_cast<uint8_t>(i));
  EXPECT_GT(sent, 5'000u);
  EXPECT_EQ(pair.client_stats().messages_resent, 0u);
}

/// Ten seconds of a message each 100 ms both ways, one side pumped every `server_ns`, the other every
/// `client_ns`.
void expect_steady_talk(uint64_t server_ns, uint64_t client_ns) {
  SCOPED_TRACE(testing::Message() << "server every " << server_ns << " ns, client every " << client_ns);
  MessagePair pair;
  pair.impair(20, 0);
  ASSERT_TRUE(pair.start());
  const uint64_t step_ns = std::min(server_ns, client_ns);
  const auto run = [&](uint64_t for_ns) {
    for (const uint64_t end_ns = pair.now_ns + for_ns; pair.now_ns < end_ns;) {
      pair.now_ns += step_ns;
      lattice_netsim_advance(pair.net, step_ns);
      if (pair.now_ns % server_ns == 0) pair.pump(pair.server);
      if (pair.now_ns % client_ns == 0) pair.pump(pair.client);
    }
  };
  run(3000 * kMs);
  ASSERT_EQ(pair.server.connected + pair.client.connected, 2);
  const uint64_t packets_before = pair.client_stats().packets_sent;
  constexpr uint8_t kMessages = 100;
  for (uint8_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(pair.client.send(LATTICE_CHANNEL_RELIABLE_ORDERED, {i}), LATTICE_OK);
    ASSERT_EQ(pair.server.send(LATTICE_CHANNEL_RELIABLE_ORDERED, {i}), LATTICE_OK);
    run(100 * kMs);
  }
  const lattice_conn_stats stats = pair.client_stats();
  run(3000 * kMs);
  for (Side* side : {&pair.server, &pair.client}) {
    EXPECT_EQ(side->reason, -1);
    ASSERT_EQ(side->received.size(), kMessages);
    for (uint8_t i = 0; i < kMessages; ++i) EXPECT_EQ(side->received[i].second, Bytes{i});
  }
  // A peer pumped at 10 Hz answers after 40 to 140 ms, as it happens: what was timed on a quick answer is
  // sent again before a slow one. Otherwise nothing is.
  EXPECT_LE(stats.messages_resent, server_ns > client_ns ? kMessages / 2u : 0u);
  EXPECT_EQ(stats.packets_lost, 0u);
  // A message, and an acknowledgement of the peer's when it could not wait for one; never one per pump.
  EXPECT_LE(stats.packets_sent - packets_before, 2u * kMessages + 30);
}

TEST(Traps, APumpAt10HertzAndAt10Kilohertz) {
  expect_steady_talk(100 * kMs, 100 * kMs);
  expect_steady_talk(100 * kMs, kMs / 10);
  expect_steady_talk(kMs / 10, 100 * kMs);
  expect_steady_talk(kMs / 10, kMs / 10);
}

// ---- Addresses: real sockets on the loopback interface -----------------------------------------------

void expect_connects(const char* server, const char* client, const char* to, const char* seen_as) {
  SCOPED_TRACE(testing::Message() << server << " from " << client << " to " << to);
  MessagePair pair(
      {.simulated = false, .server_address = server, .client_address = client, .client_connects_to = to});
  ASSERT_NE(pair.server.world, nullptr);
  ASSERT_NE(pair.client.world, nullptr) << lattice_last_error();
  ASSERT_TRUE(pair.connect());
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lattice_conn_get_info(pair.server.conn, &info), LATTICE_OK);
  EXPECT_EQ(std::string(info.remote_address).rfind(seen_as, 0), 0u) << info.remote_address;
  expect_traffic_flows(pair, kMs);
  const Bytes longest = pattern(LATTICE_MESSAGE_MAX_BYTES, 1);
  pair.server.received.clear();
  ASSERT_EQ(pair.client.send(LATTICE_CHANNEL_RELIABLE_ORDERED, longest), LATTICE_OK);
  ASSERT_TRUE(pair.run_until(
      60'000, [&] { return !pair.server.received.empty(); }, kMs));
  EXPECT_EQ(pair.server.received[0].second, longest);
}

bool has_ipv6() {
  MessagePair probe({.simulated = false, .server_address = "[::1]:0", .client_address = "[::1]:0"});
  return probe.server.world != nullptr && probe.client.world != nullptr;
}

TEST(Traps, Ipv4AndIpv6OverRealSockets) {
  expect_connects("127.0.0.1:0", "127.0.0.1:0", nullptr, "127.0.0.1:");
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine's loopback interface: " << lattice_last_error();
  expect_connects("[::1]:0", "[::1]:0", nullptr, "[::1]:");
}

TEST(Traps, DualStackServesBothFamilies) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine's loopback interface: " << lattice_last_error();
  expect_connects("[::]:0", "127.0.0.1:0", "127.0.0.1:", "127.0.0.1:");
  expect_connects("[::]:0", "[::1]:0", "[::1]:", "[::1]:");
  expect_connects("[::]:0", "[::]:0", "127.0.0.1:", "127.0.0.1:");
}

}  // namespace
}  // namespace lattice::test::traps_test
