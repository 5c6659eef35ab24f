// Round trips longer than the bounds of timers, and sides that are seldom pumped.
#include <gtest/gtest.h>

#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::RigOptions;

RigOptions with_round_trip(uint64_t ms) {
  RigOptions options;
  options.path.delay_ms = static_cast<double>(ms) / 2;
  options.step_ns = 10 * kMs;
  options.server.rto = options.client.rto = {.min_ns = 50 * kMs, .max_ns = 50 * kMs};
  return options;
}

// A bound of rto says how soon to repeat, not how soon an answer can come.
TEST(EndpointSlow, NothingIsLostOnAPathLongerThanTheLongestRto) {
  for (const uint64_t round_trip_ms : {100u, 300u, 600u}) {
    EndpointRig rig(with_round_trip(round_trip_ms));
    ASSERT_TRUE(rig.connect_all());
    uint32_t receipt = 0;
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, Bytes(100, 1),
                                            ++receipt),
                SendResult::kOk);
      rig.run(50 * kMs);
    }
    rig.run(2 * kSecond);
    const auto& receipts = rig.client().handler.receipts;
    ASSERT_EQ(receipts.size(), 100u);
    for (const auto& [number, acked] : receipts) {
      EXPECT_EQ(acked, std::vector<bool>{true}) << number << " of " << round_trip_ms;
    }
    EXPECT_EQ(rig.client_stats().packets_lost, 0u);
  }
}

// A question and an answer each second, as of a menu or a chat. The acknowledgement of the answer leaves long
// before the next question, and the server names it with that one.
TEST(EndpointSlow, APauseBetweenMessagesIsNoRoundTrip) {
  RigOptions options;
  options.path.delay_ms = 25;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.run(3 * kSecond);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(
        rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, Bytes(60, 1)),
        SendResult::kOk);
    rig.run(30 * kMs);
    ASSERT_EQ(rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered, {}, Bytes(60, 1)),
              SendResult::kOk);
    rig.run(870 * kMs);
    EXPECT_LT(rig.client_stats().rto_ns, 120 * kMs);
    EXPECT_LT(rig.server_stats().rto_ns, 120 * kMs);
  }
}

/// Bytes per second that a full channel carries in the last 20 s of 30, from a client that is pumped so
/// seldom.
double carried_by_a_client_pumped_each(uint64_t interval_ns) {
  RigOptions options;
  options.path.delay_ms = 25;
  options.step_ns = 10 * kMs;
  EndpointRig rig(std::move(options));
  if (!rig.connect_all()) return 0;
  static uint64_t bytes;
  rig.server.handler.record = false;
  rig.server.handler.on_body = [](void*, ConnectionHandle, Channel, std::span<const uint8_t> body) {
    bytes += body.size();
    return Verdict::kAccept;
  };
  const auto& client = rig.clients[0];
  uint64_t next_ns = rig.now_ns;
  for (const uint64_t began_ns = rig.now_ns; rig.now_ns < began_ns + 30 * kSecond;) {
    if (rig.now_ns < began_ns + 10 * kSecond) bytes = 0;
    rig.now_ns += 10 * kMs;
    rig.pump(rig.server);
    if (rig.now_ns < next_ns) continue;
    next_ns += interval_ns;
    while (client->endpoint->send(client->connection, Channel::kReliableOrdered, {}, Bytes(1000, 1)) ==
           SendResult::kOk) {
    }
    rig.pump(*client);
  }
  return static_cast<double>(bytes) / 20;
}

// A tab in the background runs once a second.
TEST(EndpointSlow, ASideThatIsPumpedOnceASecondStillSends) {
  for (const uint64_t interval_ms : {500u, 700u, 1000u}) {
    EXPECT_GT(carried_by_a_client_pumped_each(interval_ms * kMs), 900'000) << interval_ms;
  }
}

}  // namespace
}  // namespace lattice::reliability
