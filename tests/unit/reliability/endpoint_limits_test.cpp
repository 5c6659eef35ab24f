// Where a connection gives up (K-04), and that what was refused before it moved nothing.
#include <gtest/gtest.h>

#include "traffic_record.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::number_body;
using test::TrafficRecord;

/// A packet of the client with a fresh number and without the key.
Bytes forgery(const wire::PacketHeader& of, uint64_t packet_seq) {
  wire::PacketHeader header = of;
  header.packet_seq = packet_seq;
  Bytes datagram(wire::kMaxHeaderBytes + 60, 0x5A);
  datagram.resize(wire::encode_packet_header(header, datagram) + 60);
  return datagram;
}

TEST(EndpointLimits, ForgedPacketsMoveNothingUntilTheLimitEndsTheConnection) {
  constexpr uint64_t kLimit = 50;
  test::RigOptions options;
  options.server.link_limits.failed_opens = kLimit;
  EndpointRig rig(std::move(options));
  wire::PacketHeader header;
  {
    TrafficRecord record(rig.network);
    ASSERT_TRUE(rig.connect_all());
    size_t header_bytes = 0;
    const auto packets = record.session_packets(rig.client().address);
    ASSERT_FALSE(packets.empty());
    ASSERT_EQ(wire::parse_packet_header(packets[0].bytes, wire::kProtocolId, &header, &header_bytes),
              wire::HeaderStatus::kOk);
  }
  const auto forge = [&](uint64_t packet_seq) {
    rig.network.inject(rig.client().address, rig.server.address, forgery(header, packet_seq), rig.now_ns);
    rig.step();
  };
  const uint64_t epoch = rig.server_stats().key_epoch;
  for (uint64_t i = 1; i < kLimit; ++i) {
    forge(1000 * i);  // Numbers far ahead, which would empty the replay window if they were believed.
    if (i % 10 == 0) {
      rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(i));
    }
  }
  rig.run(kSecond);
  EXPECT_EQ(rig.server.handler.received.size(), 4u) << "the honest client goes on";
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kNotAuthentic), kLimit - 1);
  EXPECT_EQ(rig.server_stats().key_epoch, epoch);
  EXPECT_EQ(rig.server_stats().packets_missing, 0u) << "no forged number was taken for the highest";

  rig.network.inject(rig.client().address, rig.server.address, forgery(header, 99), rig.now_ns);
  rig.network.inject(rig.client().address, rig.server.address, forgery(header, 100), rig.now_ns);
  rig.run(kSecond);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, connection::DisconnectReason::kResourceLimit);
  ASSERT_EQ(rig.client().handler.ended.size(), 1u) << "the peer is told";
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kResourceLimit);
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kNotAuthentic), kLimit);
  EXPECT_GE(rig.server.endpoint->stats().refusals.get(Refusal::kForgeryLimit), 1u);
}

TEST(EndpointLimits, ALinkWithoutNumbersEnds) {
  test::RigOptions options;
  options.server.link_limits.packet_seq = 60;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 100; ++i) {
    if (rig.server.handler.ended.empty()) {
      rig.server.endpoint->send(rig.server.connection, Channel::kUnreliable, {}, number_body(i));
    }
    rig.step();
  }
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, connection::DisconnectReason::kResourceLimit);
  // Nothing can be sealed any more, not even a goodbye: the client's next packet is answered by a reset.
  rig.run(20 * kSecond);
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kServerRestarted);
}

TEST(EndpointLimits, ALinkWithoutNumbersStillTellsEveryReceipt) {
  test::RigOptions options;
  options.server.link_limits.packet_seq = 20;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  uint32_t asked = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    for (const Channel channel : {Channel::kUnreliable, Channel::kReliableOrdered}) {
      if (!rig.server.handler.ended.empty()) break;
      const SendResult result =
          rig.server.endpoint->send(rig.server.connection, channel, {}, number_body(i, 1000), asked + 1);
      if (result == SendResult::kOk) ++asked;
    }
    rig.step();
  }
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  ASSERT_GT(asked, 10u);
  EXPECT_EQ(rig.server.handler.receipts.size(), asked);
  for (const auto& [receipt, told] : rig.server.handler.receipts) EXPECT_EQ(told.size(), 1u) << receipt;
  EXPECT_EQ(rig.server.endpoint->pool_stats().buffers_live, 0u);
}

TEST(EndpointLimits, TwoServersThatChoseOneConnectionIdAreNotMixedUp) {
  test::RigOptions options;
  options.client.max_connections = 2;
  EndpointRig rig(std::move(options));
  // The second draws what the first drew, and so does whoever watches both: 64 bits are not secret.
  test::Node second;
  second.address = base::ipv4_path(198, 51, 100, 8, 27015);
  second.entropy = test::CountingEntropy(100);
  EndpointConfig config;
  config.accepts_connections = true;
  config.max_connections = 8;
  config.max_half_open_per_prefix = 64;
  config.identity = crypto::KeyPair::generate(rig.entropy);
  config.reset_key = rig.reset_key.clone();  // Or it would be drawn, and the draws that follow be others.
  config.issuers = {rig.issuer.public_key()};
  const crypto::PublicKey second_key = config.identity.public_key();
  rig.start(second, std::move(config));
  ASSERT_TRUE(rig.connect_all());
  const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
  wire::TokenFields token = rig.token_fields(key.public_key());
  token.aud = second_key;
  test::ConnectionHandle to_second;
  ASSERT_EQ(rig.client().endpoint->connect(second.address, rig.sign(token, rig.issuer), key, &to_second),
            ConnectResult::kOk);
  for (int i = 0; i < 100; ++i) {
    rig.pump(second);
    rig.step();
  }
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  EXPECT_EQ(rig.client().handler.ended[0].connection, to_second);
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kInternalError);
  EXPECT_EQ(rig.client().handler.ended[0].text, "connection_id in use");
  EXPECT_EQ(rig.client().endpoint->state(rig.client().connection), connection::State::kConnected);
}

TEST(EndpointLimits, APumpTakesSoMuchAndNoMore) {
  test::RigOptions options;
  options.client_count = 0;
  EndpointRig rig(std::move(options));
  const Bytes noise(100, 0xEE);
  uint64_t sent = 0;
  constexpr uint64_t kPerPump = Endpoint::most_datagrams(0);
  while (sent < kPerPump + 500 &&
         rig.network.inject(base::ipv4_path(192, 0, 2, 9, 9), rig.server.address, noise, rig.now_ns)) {
    ++sent;
  }
  ASSERT_EQ(sent, kPerPump + 500);
  const auto refused = [&] { return rig.server.endpoint->stats().refusals.get(Refusal::kHeaderBadMagic); };
  rig.server.endpoint->receive(rig.now_ns, rig.unix_s());
  EXPECT_EQ(refused(), kPerPump);
  rig.server.endpoint->receive(rig.now_ns, rig.unix_s());
  EXPECT_EQ(refused(), sent);
  EXPECT_EQ(Endpoint::most_datagrams(16384), 32768u) << "of many clients two each";
}

TEST(EndpointLimits, WhatAConnectingClientRefusesIsCountedByReason) {
  EndpointRig rig;
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  rig.step();
  Bytes garbage(40, 0);
  wire::PacketHeader header;
  header.protocol_id = wire::kProtocolId;
  wire::encode_packet_header(header, garbage);
  garbage[wire::kMinHeaderBytes] =
      static_cast<uint8_t>(wire::HandshakeMessage::kChallenge);  // And too short.
  rig.network.inject(rig.server.address, rig.client().address, garbage, rig.now_ns);
  rig.step();
  const EndpointStats& stats = rig.client().endpoint->stats();
  EXPECT_EQ(stats.client_drops.get(connection::ClientDrop::kMalformed), 1u);
  EXPECT_EQ(stats.client_drops.total(), stats.refusals.get(Refusal::kHandshakeRefused));
}

}  // namespace
}  // namespace lattice::reliability
