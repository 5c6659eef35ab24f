// What a peer with valid keys may not do: each ends its connection by name, and nothing of the packet has
// acted (P-10).
#include <gtest/gtest.h>

#include "raw_client.h"
#include "reliability/endpoint/reading_shares.h"
#include "reliability/recovery/ack_tracker.h"
#include "transport/socket/bottleneck_link.h"
#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

using connection::DisconnectReason;
using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::RawClient;
using wire::PacketType;

constexpr uint8_t kAckMessage[] = {0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0};

Bytes operator+(std::span<const uint8_t> a, const Bytes& b) {
  Bytes out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

test::RigOptions no_clients() {
  test::RigOptions options;
  options.client_count = 0;
  return options;
}

void expect_protocol_error(PacketType type, const Bytes& plaintext, Refusal refusal, size_t delivered = 0) {
  SCOPED_TRACE(refusal_name(refusal));
  EndpointRig rig(no_clients());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  peer.send(type, plaintext);
  rig.run(20 * kMs);
  ASSERT_EQ(rig.server.handler.connected.size(), 1u);
  EXPECT_EQ(rig.server.handler.received.size(), delivered);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, DisconnectReason::kProtocolError);
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(refusal), 1u);
  const std::vector<Bytes> goodbyes = peer.receive(PacketType::kDisconnect);
  ASSERT_FALSE(goodbyes.empty());
  wire::DisconnectBody body;
  ASSERT_TRUE(wire::parse_disconnect(goodbyes[0], &body));
  EXPECT_EQ(body.reason, static_cast<uint16_t>(DisconnectReason::kProtocolError));
  rig.run(1100 * kMs);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
}

TEST(HostilePeer, FramingErrorsCloseBeforeAnythingActs) {
  const Bytes good = {0x00, 0x00, 0x04, 'x'};  // A fine message on channel 0, in front of what is wrong.
  const auto payload = [&](const Bytes& bad) { return kAckMessage + (std::span<const uint8_t>(good) + bad); };
  expect_protocol_error(PacketType::kPayload, {}, Refusal::kMissingAck);
  expect_protocol_error(PacketType::kPayload, good, Refusal::kMissingAck);
  expect_protocol_error(PacketType::kPayload, payload({0x00, 0x04}), Refusal::kTruncated);
  expect_protocol_error(PacketType::kPayload, payload({0x00, 0x00, 0x08, 'y'}), Refusal::kTruncated);
  expect_protocol_error(PacketType::kPayload, payload({0x40, 0x00, 0x00}), Refusal::kUndeclaredChannel);
  expect_protocol_error(PacketType::kPayload, payload({0x08, 0x00, 0x00}), Refusal::kReservedFlag);
  expect_protocol_error(PacketType::kPayload, payload({0x00, 0x00, 0x01}), Refusal::kReservedBits);
  expect_protocol_error(PacketType::kPayload, payload({0xe0, 0x00, 0x04, 0}), Refusal::kBadAckMessage);
  expect_protocol_error(PacketType::kPayload, payload({0x01, 5, 0, 3, 3, 0x00, 0x00}), Refusal::kBadFragment);
}

TEST(HostilePeer, AFragmentWhereNobodyPutsMessagesTogether) {
  expect_protocol_error(PacketType::kPayload, kAckMessage + Bytes{0x01, 5, 0, 0, 3, 0x00, 0x04, 'a'},
                        Refusal::kFragmentUnsupported);
  // On the control channel no handler is asked.
  expect_protocol_error(PacketType::kPayload, kAckMessage + Bytes{0xf9, 0, 0, 5, 0, 0, 3, 0x00, 0x04, 200},
                        Refusal::kBadControl);
}

TEST(HostilePeer, BodiesTheEndpointReads) {
  expect_protocol_error(PacketType::kKeepalive, {}, Refusal::kBadKeepalive);
  expect_protocol_error(PacketType::kKeepalive, Bytes(11, 0xFF), Refusal::kBadKeepalive);
  expect_protocol_error(PacketType::kDisconnect, {1, 0, 8, 0}, Refusal::kBadDisconnect);
  expect_protocol_error(PacketType::kDisconnect, {1, 0, 0, 2, 'a', '\n'}, Refusal::kBadDisconnect);
  expect_protocol_error(PacketType::kPayload, kAckMessage + Bytes{0xf8, 0, 0, 0x00, 0x00},
                        Refusal::kBadControl);
  expect_protocol_error(PacketType::kPayload, kAckMessage + Bytes{0xf8, 0, 0, 0x00, 0x04, 99},
                        Refusal::kBadControl);
  expect_protocol_error(PacketType::kPayload, kAckMessage + Bytes{0xf8, 0, 0, 0x00, 0x04, 1},
                        Refusal::kRekeyMalformed);
  expect_protocol_error(PacketType::kPayload, kAckMessage + Bytes{0xf8, 0, 0, 0x00, 0x04, 13},
                        Refusal::kRekeyWrongRole);
  // Only a server tells reset tokens.
  Bytes token = {0xf8, 0, 0, 0x00, 17 << 2, 14};
  token.resize(token.size() + 16);
  expect_protocol_error(PacketType::kPayload, kAckMessage + token, Refusal::kBadResetToken);
}

TEST(HostilePeer, CreditsThatNobodyMayGive) {
  const auto credit = [](uint8_t channel, uint16_t messages) {
    Bytes out = {0xf8, 0, 0, 0, 4 << 2};  // The first message of channel 15, a body of four bytes.
    const auto body = wire::encode_credit({channel, messages});
    out.insert(out.end(), body.begin(), body.end());
    return kAckMessage + out;
  };
  for (const Bytes& bad : {credit(0, 512), credit(1, 512), credit(5, 512), credit(14, 512), credit(15, 512),
                           credit(16, 512), credit(2, 255), credit(2, 8193), credit(2, 0)}) {
    expect_protocol_error(PacketType::kPayload, bad, Refusal::kBadControl);
  }
}

TEST(HostilePeer, AReasonThatNoClientMayTell) {
  for (const int reserved : {2, 3, 8, 9, 13, 14, 15, 18}) {
    EndpointRig rig(no_clients());
    RawClient peer(rig);
    ASSERT_TRUE(peer.connect());
    peer.send(PacketType::kDisconnect, Bytes{static_cast<uint8_t>(reserved), 0, 0, 0});
    rig.run(20 * kMs);
    ASSERT_EQ(rig.server.handler.ended.size(), 1u);
    EXPECT_EQ(rig.server.handler.ended[0].reason, DisconnectReason::kProtocolError);
    EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kReasonReserved), 1u);
  }
}

TEST(HostilePeer, BeyondTheWindow) {
  // The message in front of it was in order and stands; the one beyond the window closes.
  expect_protocol_error(PacketType::kPayload,
                        kAckMessage + Bytes{0x38, 0, 0, 0x00, 0x04, 'a', 0x38, 1, 1, 0x00, 0x04, 'b'},
                        Refusal::kMessageBeyondWindow, 1);
}

TEST(HostilePeer, AcksOfNumbersNeverSentAreCountedOnly) {
  EndpointRig rig(no_clients());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  peer.send(PacketType::kPayload, Bytes{0xe0, 0x00, 0x18, 0x10, 0x27, 0xff, 0xff, 0xff, 0xff});
  rig.run(20 * kMs);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kAckNeverSent), 1u);
  wire::KeepaliveBody echo;
  echo.flags = wire::kKeepaliveEcho;
  echo.echo_us = 123'456'789;
  uint8_t bytes[wire::kMaxKeepaliveBodyBytes];
  const size_t n = wire::encode_keepalive(echo, bytes);
  peer.send(PacketType::kKeepalive, {bytes, n});
  rig.run(20 * kMs);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kEchoUnexpected), 1u);
  wire::KeepaliveBody forged;
  forged.ack = {10'000, 0xFFFFFFFF};
  peer.send(PacketType::kKeepalive, std::span(bytes).first(wire::encode_keepalive(forged, bytes)));
  rig.run(20 * kMs);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kAckNeverSent), 2u);
}

TEST(HostilePeer, TwoGoodbyesEndOnce) {
  EndpointRig rig(no_clients());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  const Bytes first = {0x2C, 0x01, 0, 0}, second = {0x01, 0x00, 0, 0};
  peer.send(PacketType::kDisconnect, first);
  peer.send(PacketType::kDisconnect, second);
  rig.run(20 * kMs);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, static_cast<DisconnectReason>(300));
  EXPECT_EQ(peer.receive(PacketType::kDisconnect).size(), 1u) << "one acknowledgement";
}

TEST(HostilePeer, ProbesAreAnsweredWithin25Milliseconds) {
  EndpointRig rig(no_clients());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  wire::KeepaliveBody probe;
  probe.flags = wire::kKeepaliveProbe | wire::kKeepaliveAckRequested;
  probe.probe_us = 0xDEADBEEF;
  uint8_t bytes[wire::kMaxKeepaliveBodyBytes];
  const size_t n = wire::encode_keepalive(probe, bytes);
  peer.send(PacketType::kKeepalive, {bytes, n});
  rig.run(25 * kMs);
  bool echoed = false;
  for (const Bytes& plaintext : peer.receive(PacketType::kKeepalive)) {
    wire::KeepaliveBody body;
    ASSERT_TRUE(wire::parse_keepalive(plaintext, &body));
    if (body.flags & wire::kKeepaliveEcho) {
      echoed = true;
      EXPECT_EQ(body.echo_us, 0xDEADBEEFu);
      EXPECT_EQ(body.ack.ack_seq, 1);
    }
  }
  EXPECT_TRUE(echoed);
}

TEST(HostilePeer, ToldDelaysDoNotShortenTheRoundTrip) {
  test::RigOptions options = no_clients();
  options.path.delay_ms = 50;
  EndpointRig rig(std::move(options));
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  peer.send(PacketType::kPayload, kAckMessage + Bytes{});
  size_t echoes = 0;
  for (int step = 0; step < 1000; ++step) {
    rig.step();
    for (const Bytes& plaintext : peer.receive(PacketType::kKeepalive)) {
      wire::KeepaliveBody body;
      ASSERT_TRUE(wire::parse_keepalive(plaintext, &body));
      if ((body.flags & wire::kKeepaliveProbe) == 0) continue;
      wire::KeepaliveBody answer;
      answer.flags = wire::kKeepaliveEcho;
      answer.echo_us = body.probe_us;
      answer.echo_delay_us = 2'000'000;
      uint8_t bytes[wire::kMaxKeepaliveBodyBytes];
      peer.send(PacketType::kKeepalive, std::span(bytes).first(wire::encode_keepalive(answer, bytes)));
      ++echoes;
    }
    if (rig.server.handler.connected.empty() || step % 20 != 0) continue;
    rig.server.endpoint->send(rig.server.handler.connected[0], Channel::kUnreliable, {},
                              kAckMessage + Bytes{});
  }
  ASSERT_EQ(rig.server.handler.connected.size(), 1u);
  const ConnectionStats* stats = rig.server.endpoint->stats(rig.server.handler.connected[0]);
  ASSERT_NE(stats, nullptr);
  EXPECT_GE(echoes, 3u);
  EXPECT_GE(stats->min_rtt_ns, 100 * kMs);
  EXPECT_GE(stats->srtt_ns, 100 * kMs);
}

TEST(HostilePeer, AToldDelayDoesNotHideAQueue) {
  test::RigOptions options = no_clients();
  options.path.delay_ms = 10;
  options.step_ns = kMs;
  options.server.congestion.mode = CongestionMode::kDelay;
  EndpointRig rig(std::move(options));
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  peer.send(PacketType::kPayload, kAckMessage + Bytes{});
  rig.run(50 * kMs);
  ASSERT_EQ(rig.server.handler.connected.size(), 1u);
  const connection::ConnectionHandle handle = rig.server.handler.connected[0];
  socket::BottleneckLink link({10'000'000, nullptr, 4u << 20});
  ASSERT_TRUE(rig.network.set_bottleneck(rig.server.address, peer.address, &link));
  AckTracker acks;
  const Bytes body(1100, 1);
  Bytes buffer(socket::kMaxDatagramBytes);
  socket::Datagram in{{}, 0, buffer.data()};
  uint64_t longest_queue_bytes = 0;
  for (int step = 0; step < 10'000; ++step) {
    while (rig.server.endpoint->stats(handle)->waiting_bytes < 60'000) {
      ASSERT_EQ(rig.server.endpoint->send(handle, Channel::kUnreliable, {}, body), SendResult::kOk);
    }
    rig.step();
    bool any = false;
    while (peer.socket->receive({&in, 1}, rig.now_ns).count == 1) {
      const auto opened = peer.link->open({in.data, in.size});
      if (!opened) continue;
      acks.on_packet(opened.packet_seq, true, rig.now_ns);
      any = true;
    }
    if (any) {
      std::array<uint8_t, wire::kAckMessageWithDelayBytes> plaintext;
      base::ByteWriter writer(plaintext);
      ASSERT_TRUE(wire::write_ack_message(writer, acks.block(), true, 2 * test::kSecond));
      peer.send(PacketType::kPayload, plaintext);
    }
    if (step >= 3000) longest_queue_bytes = std::max(longest_queue_bytes, link.waiting_bytes(rig.now_ns));
  }
  EXPECT_LT(longest_queue_bytes, 60u * 1250) << "60 ms of the link";
  EXPECT_GT(link.stats().passed_bytes, 11'000'000u);
}

TEST(HostilePeer, NothingBeforeTheFirstPacket) {
  EndpointRig rig(no_clients());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  rig.run(2 * test::kSecond);
  EXPECT_TRUE(rig.server.handler.connected.empty());
  EXPECT_TRUE(peer.receive(PacketType::kKeepalive).empty());
  peer.send(PacketType::kPayload, kAckMessage + Bytes{});
  rig.run(10 * kMs);
  EXPECT_EQ(rig.server.handler.connected.size(), 1u);
  EXPECT_FALSE(peer.receive(PacketType::kKeepalive).empty());
}

// A datagram has room for hundreds of messages, and the socket for thousands of datagrams.
TEST(HostilePeer, AFloodOfEmptyMessagesIsReadAsFarAsItsShareGoes) {
  EndpointRig rig(no_clients());
  RawClient flooder(rig), other(rig, 7778);
  ASSERT_TRUE(flooder.connect());
  ASSERT_TRUE(other.connect());
  constexpr uint8_t kEmpty[] = {0x00, 0x00, 0x00};
  constexpr size_t kMessages = 370, kPackets = 600;
  Bytes full(std::begin(kAckMessage), std::end(kAckMessage));
  for (size_t i = 0; i < kMessages; ++i) full.insert(full.end(), std::begin(kEmpty), std::end(kEmpty));
  const Bytes small = kAckMessage + Bytes{0x00, 0x00, 0x04, 'x'};
  other.send_from(other.address, PacketType::kPayload, small);  // confirms the connection
  rig.step();
  rig.server.handler.received.clear();
  for (size_t i = 0; i < kPackets; ++i) flooder.send_from(flooder.address, PacketType::kPayload, full);
  for (int i = 0; i < 50; ++i) other.send_from(other.address, PacketType::kPayload, small);
  rig.step();
  size_t of_other = 0;
  for (const test::Received& message : rig.server.handler.received) of_other += message.body.size();
  EXPECT_EQ(of_other, 50u);
  // The packet that passes the bound is read whole.
  EXPECT_LE(rig.server.handler.received.size(), ReadingShares::kWork + kMessages + 50);
  EXPECT_GE(rig.server.handler.received.size(), ReadingShares::kWork * 9 / 10);
  const uint64_t refused = rig.server.endpoint->stats().refusals.get(Refusal::kReadingShare);
  EXPECT_EQ(refused * kMessages + rig.server.handler.received.size(), kPackets * kMessages + 50);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  // The next reading begins anew.
  rig.server.handler.received.clear();
  flooder.send_from(flooder.address, PacketType::kPayload, full);
  rig.step();
  EXPECT_EQ(rig.server.handler.received.size(), kMessages);
}

TEST(ReadingShares, WhoHadLessThanItsShareIsNeverRefused) {
  ReadingShares shares;
  ReadingShares::Used few, many;
  shares.begin(4);
  EXPECT_FALSE(shares.is_over(many));
  while (!shares.is_over(many)) shares.spend(&many, 100);
  EXPECT_EQ(many.work / 108, (ReadingShares::kWork + 107) / 108);
  while (!shares.is_over(few)) shares.spend(&few, 1);
  EXPECT_GE(few.work, ReadingShares::kWork / 4);
  EXPECT_LE(few.work, ReadingShares::kWork / 4 + 9);
  shares.begin(4);
  EXPECT_FALSE(shares.is_over(few));
  EXPECT_FALSE(shares.is_over(many));
  // One that is alone waits, and loses nothing.
  shares.begin(1);
  while (!shares.is_enough()) shares.spend(&many, 100);
  EXPECT_GE(many.work, ReadingShares::kWork);
  EXPECT_FALSE(shares.is_over(many));
}

}  // namespace
}  // namespace lattice::reliability
