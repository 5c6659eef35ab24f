// Messages between endpoints over a bad network: exactly once, in order, receipts once, back-pressure,
// verdicts, statistics, and no allocation in steady state.
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::kSnapshot;
using test::number_body;
using test::number_of;
using test::RigOptions;

RigOptions bad_path(uint64_t seed) {
  RigOptions options;
  options.seed = seed;
  options.path.delay_ms = 30;
  options.path.jitter_ms = 25;
  options.path.jitter_reorders = true;
  options.path.loss = 0.15;
  options.path.duplicate = 0.1;
  options.step_ns = 10 * kMs;
  return options;
}

// What one side has sent and what the other must therefore hear.
struct Stream {
  uint64_t next[16] = {};
  uint32_t next_receipt = 1;
};

void offer_random(base::Random& random, Endpoint& endpoint, test::ConnectionHandle to, Stream& stream) {
  const uint8_t channels[] = {0, 1, 2, 3, 15};
  for (uint64_t i = random.next_below(12); i != 0; --i) {
    const uint8_t channel = channels[random.next_below(5)];
    test::Bytes body = number_body(stream.next[channel], random.next_below(300));
    if (channel == 15) body.insert(body.begin(), 200);  // An application control type.
    const uint32_t receipt = random.chance(0.5) ? stream.next_receipt : 0;
    const SendResult result = endpoint.send(to, static_cast<Channel>(channel), MessageFlags{}, body, receipt);
    if (result == SendResult::kWouldBlock) continue;
    ASSERT_EQ(result, SendResult::kOk);
    ++stream.next[channel];
    if (receipt != 0) ++stream.next_receipt;
  }
}

void check_stream(const test::RecordingHandler& heard, const test::RecordingHandler& sender,
                  const Stream& stream) {
  std::map<uint8_t, std::vector<uint64_t>> by_channel;
  for (const auto& message : heard.received) {
    std::span<const uint8_t> body(message.body);
    if (message.channel == Channel::kControl) body = body.subspan(1);
    by_channel[static_cast<uint8_t>(message.channel)].push_back(number_of(body));
  }
  for (const uint8_t channel : {uint8_t{3}, uint8_t{15}}) {
    ASSERT_EQ(by_channel[channel].size(), stream.next[channel]);
    for (uint64_t i = 0; i < stream.next[channel]; ++i) ASSERT_EQ(by_channel[channel][i], i);
  }
  const std::set<uint64_t> unordered(by_channel[2].begin(), by_channel[2].end());
  ASSERT_EQ(by_channel[2].size(), stream.next[2]);
  ASSERT_EQ(unordered.size(), stream.next[2]);
  for (size_t i = 1; i < by_channel[1].size(); ++i) ASSERT_LT(by_channel[1][i - 1], by_channel[1][i]);
  const std::set<uint64_t> unreliable(by_channel[0].begin(), by_channel[0].end());
  ASSERT_EQ(unreliable.size(), by_channel[0].size());  // The replay window removes duplicates.
  ASSERT_EQ(sender.receipts.size(), stream.next_receipt - 1);
  for (const auto& [receipt, told] : sender.receipts) ASSERT_EQ(told.size(), 1u) << receipt;
}

TEST(EndpointTransfer, ExactlyOnceInOrderReceiptsOnceUnderAnyNetwork) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    EndpointRig rig(bad_path(seed));
    ASSERT_TRUE(rig.connect_all());
    base::Random random(seed);
    Stream up, down;
    for (int i = 0; i < 500; ++i) {
      offer_random(random, *rig.client().endpoint, rig.client().connection, up);
      offer_random(random, *rig.server.endpoint, rig.server.connection, down);
      rig.step();
    }
    ASSERT_TRUE(rig.run_until(30 * kSecond, [&] {
      return rig.client().handler.receipts.size() == up.next_receipt - 1 &&
             rig.server.handler.receipts.size() == down.next_receipt - 1 &&
             rig.client_stats().reliable_messages_queued == 0 &&
             rig.server_stats().reliable_messages_queued == 0;
    }));
    check_stream(rig.server.handler, rig.client().handler, up);
    check_stream(rig.client().handler, rig.server.handler, down);
    EXPECT_TRUE(rig.client().handler.ended.empty());
    EXPECT_TRUE(rig.server.handler.ended.empty());
    // What was lost on the way shows in the statistics, roughly.
    const ConnectionStats& stats = rig.client_stats();
    EXPECT_GT(stats.packets_lost, 0u);
    EXPECT_GT(stats.srtt_ns, 25 * kMs);
    EXPECT_LT(stats.srtt_ns, 160 * kMs);
    EXPECT_GT(stats.packets_missing, 0u);
  }
}

TEST(EndpointTransfer, ReceiptsAreLostAtDisconnect) {
  RigOptions options;
  options.path.delay_ms = 20;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  socket::Impairment dead;
  dead.blackout = true;
  rig.network.set_default(dead);
  Endpoint& endpoint = *rig.server.endpoint;
  for (uint32_t i = 1; i <= 600; ++i) {
    const auto channel = static_cast<Channel>(i % 4);
    ASSERT_EQ(endpoint.send(rig.server.connection, channel, {}, number_body(i, 100), i), SendResult::kOk);
    if (i % 50 == 0) rig.step();
  }
  endpoint.disconnect(rig.server.connection, connection::DisconnectReason::kKicked);
  rig.step();
  EXPECT_EQ(rig.server.handler.receipts.size(), 600u);
  for (const auto& [receipt, told] : rig.server.handler.receipts) {
    ASSERT_EQ(told.size(), 1u) << receipt;
    EXPECT_FALSE(told[0]);
  }
  EXPECT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(endpoint.send(rig.server.connection, Channel::kUnreliable, {}, number_body(1)),
            SendResult::kNotConnected);
}

TEST(EndpointTransfer, BackPressureThenEverythingArrives) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  Endpoint& endpoint = *rig.client().endpoint;
  uint64_t sent = 0;
  while (endpoint.send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(sent)) ==
         SendResult::kOk) {
    ++sent;
  }
  EXPECT_EQ(sent, 1280u);
  EXPECT_EQ(rig.client_stats().reliable_messages_queued, 1280u);
  rig.run(kSecond);
  EXPECT_EQ(rig.server.handler.received.size(), sent);
  EXPECT_EQ(endpoint.send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(sent)),
            SendResult::kOk);
}

TEST(EndpointTransfer, MillionUnreliableThenOneReliable) {
  RigOptions options;
  options.step_ns = 5 * kMs;
  options.path.delay_ms = 5;
  options.client.congestion.mode = CongestionMode::kNone;  // All of them leave in the update they were made.
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.server.handler.record = false;
  rig.client().handler.record = false;
  const uint8_t body[2] = {1, 2};
  uint64_t sent = 0;
  while (sent < 1'000'100) {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(rig.client().endpoint->send(rig.client().connection, Channel::kUnreliableSequenced, kSnapshot,
                                            body),
                SendResult::kOk);
      ++sent;
    }
    rig.step();
  }
  rig.server.handler.record = true;
  ASSERT_EQ(
      rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(9), 5),
      SendResult::kOk);
  rig.run(200 * kMs);
  ASSERT_EQ(rig.client().handler.receipts[5].size(), 1u);
  EXPECT_TRUE(rig.client().handler.receipts[5][0]);
  ASSERT_FALSE(rig.server.handler.received.empty());
  EXPECT_EQ(rig.server.handler.received.back().channel, Channel::kReliableOrdered);
  EXPECT_GE(rig.server.handler.message_count, 1'000'101u - 50'000);
}

TEST(EndpointTransfer, SizesAndChannels) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  Endpoint& endpoint = *rig.client().endpoint;
  const test::ConnectionHandle to = rig.client().connection;
  const test::Bytes body(1200, 5);
  const struct {
    Channel channel;
    size_t largest;
  } kCases[] = {{Channel::kUnreliable, kMaxUnreliableBody},
                {Channel::kUnreliableSequenced, kMaxSnapshotBody},
                {Channel::kReliableUnordered, kMaxReliableBody},
                {Channel::kReliableOrdered, kMaxReliableBody}};
  for (const auto& c : kCases) {
    EXPECT_EQ(endpoint.send(to, c.channel, {}, std::span(body).first(c.largest + 1)), SendResult::kTooLarge);
    EXPECT_EQ(endpoint.send(to, c.channel, {}, std::span(body).first(c.largest)), SendResult::kOk);
    EXPECT_EQ(endpoint.send(to, c.channel, {}, {}), SendResult::kOk);
  }
  EXPECT_EQ(endpoint.send(to, Channel::kAck, {}, {}), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, static_cast<Channel>(5), {}, {}), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, static_cast<Channel>(16), {}, {}), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, Channel::kControl, {}, {}), SendResult::kInvalidChannel);
  const uint8_t rekey[] = {1};
  EXPECT_EQ(endpoint.send(to, Channel::kControl, {}, rekey), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, Channel::kUnreliable, {.is_fragment = true}, {}), SendResult::kInvalidChannel);
  rig.run(100 * kMs);
  EXPECT_EQ(rig.server.handler.received.size(), 8u);
}

TEST(EndpointTransfer, ApplicationChannelsHaveTheirDeclaredMode) {
  RigOptions options;
  for (EndpointConfig* config : {&options.server, &options.client}) {
    ASSERT_TRUE(config->channels.declare(4, ChannelMode::kReliableOrdered));
    ASSERT_TRUE(config->channels.declare(13, ChannelMode::kUnreliable));
  }
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(
        rig.client().endpoint->send(rig.client().connection, static_cast<Channel>(4), {}, number_body(i)),
        SendResult::kOk);
  }
  ASSERT_EQ(
      rig.client().endpoint->send(rig.client().connection, static_cast<Channel>(13), {}, number_body(99)),
      SendResult::kOk);
  rig.run(100 * kMs);
  ASSERT_EQ(rig.server.handler.received.size(), 11u);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(number_of(rig.server.handler.received[i].body), i);
}

TEST(EndpointTransfer, RefusedToAckMeansLost) {
  RigOptions options;
  options.path.delay_ms = 10;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.client().handler.verdict = Verdict::kAcceptButDoNotAck;
  ASSERT_EQ(rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, kSnapshot,
                                      number_body(1), 1),
            SendResult::kOk);
  rig.run(100 * kMs);
  rig.client().handler.verdict = Verdict::kAccept;
  for (uint32_t i = 2; i <= 10; ++i) {
    ASSERT_EQ(rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, kSnapshot,
                                        number_body(i), i),
              SendResult::kOk);
    rig.run(20 * kMs);
  }
  rig.run(kSecond);
  ASSERT_EQ(rig.server.handler.receipts.size(), 10u);
  for (const auto& [receipt, told] : rig.server.handler.receipts) {
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0], receipt != 1) << receipt;
  }
  EXPECT_EQ(rig.client().handler.received.size(), 10u);
}

TEST(EndpointTransfer, SnapshotPartsOfOneUpdateShareASequence) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  // An application message on the same channel has its own sequence, so none of the two kills the other
  //
  for (int round = 0; round < 3; ++round) {
    for (int part = 0; part < 3; ++part) {
      rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, kSnapshot,
                                test::Bytes(900, 1));
    }
    rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, {}, number_body(1));
    rig.run(20 * kMs);
  }
  EXPECT_EQ(rig.client().handler.received.size(), 12u);
}

TEST(EndpointTransfer, HandlerProtocolErrorCloses) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  rig.server.handler.verdict = Verdict::kProtocolError;
  for (int i = 0; i < 5; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(1));
  }
  rig.run(500 * kMs);
  EXPECT_EQ(rig.server.handler.received.size(), 1u);  // Nothing after the refusal.
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, connection::DisconnectReason::kProtocolError);
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kProtocolError);
  EXPECT_EQ(rig.client().handler.ended[0].text, "message_refused");
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
}

TEST(EndpointTransfer, DisconnectInsideACallbackStopsDelivery) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  rig.server.handler.context = rig.server.endpoint.get();
  rig.server.handler.on_body = [](void* context, test::ConnectionHandle from, Channel,
                                  std::span<const uint8_t>) {
    static_cast<Endpoint*>(context)->disconnect(from, connection::DisconnectReason::kKicked, "enough");
    return Verdict::kAccept;
  };
  for (int i = 0; i < 5; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(1));
  }
  rig.run(500 * kMs);
  EXPECT_EQ(rig.server.handler.message_count, 1u);
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  EXPECT_EQ(rig.client().handler.ended[0].text, "enough");
}

TEST(EndpointTransfer, RoundTripOfOneWayTrafficComesFromAcksAndProbes) {
  // A snapshot-only server and an input-only client both reach a stable RTT; a receiver that only acks
  // does not spoil it with its ack delay.
  RigOptions options;
  options.path.delay_ms = 40;
  options.step_ns = 4 * kMs;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (int i = 0; i < 1000; ++i) {
    if (i % 4 == 0) {
      rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, kSnapshot,
                                number_body(1), 7);
    }
    rig.step();
  }
  EXPECT_NEAR(static_cast<double>(rig.server_stats().srtt_ns), 80e6, 9e6);
  EXPECT_NEAR(static_cast<double>(rig.server_stats().min_rtt_ns), 80e6, 9e6);
  EXPECT_EQ(rig.server_stats().packets_lost, 0u);
  EXPECT_GT(rig.server_stats().packets_acked, 200u);
  // Acks within 25 ms, not one per packet: fewer datagrams back than forth.
  EXPECT_LT(rig.client_stats().traffic.packets_sent, rig.server_stats().traffic.packets_sent);
}

TEST(EndpointTransfer, BurstsAreAckedBeyondTheHorizonOfOneBlock) {
  RigOptions options;
  options.path.delay_ms = 10;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (uint32_t i = 1; i <= 400; ++i) {
    ASSERT_EQ(
        rig.server.endpoint->send(rig.server.connection, Channel::kUnreliable, {}, test::Bytes(1100, 1), i),
        SendResult::kOk);
  }
  rig.run(500 * kMs);
  ASSERT_EQ(rig.server.handler.receipts.size(), 400u);
  for (const auto& [receipt, told] : rig.server.handler.receipts) EXPECT_TRUE(told[0]) << receipt;
}

TEST(EndpointTransfer, UnchangedTrafficIsSmall) {
  // A snapshot of nothing new: header, tag, ack message, message header, a few bytes.
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  rig.run(300 * kMs);
  const TrafficStats before = rig.server_stats().traffic;
  rig.server.endpoint->send(rig.server.connection, Channel::kUnreliableSequenced, kSnapshot,
                            test::Bytes(12, 1));
  rig.step();
  EXPECT_EQ(rig.server_stats().traffic.packets_sent, before.packets_sent + 1);
  EXPECT_LE(rig.server_stats().traffic.bytes_sent - before.bytes_sent, 60u);
}

}  // namespace
}  // namespace lattice::reliability
