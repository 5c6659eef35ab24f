// An attacker on the path of established connections, one named test per attack: everything ever sent comes
// again, numbers are forged, packets change their connection, direction, server or life. Nothing acts twice,
// nothing closes, and the connection goes on.
#include <gtest/gtest.h>

#include <utility>

#include "raw_client.h"
#include "traffic_record.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::number_body;
using test::RawClient;
using test::RecordedDatagram;
using test::TrafficRecord;
using wire::PacketType;

/// For a client of the test's own and tens of thousands of packets.
test::RigOptions options_for_many_packets() {
  test::RigOptions options = test::delayed(10 * kMs, 0);
  options.step_ns = kMs;
  options.server.congestion.mode = CongestionMode::kNone;
  return options;
}

/// Traffic on every channel, both ways.
void converse(EndpointRig& rig, test::Node& client, ConnectionHandle at_server, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; ++i) {
    for (uint8_t channel = 0; channel < 4; ++channel) {
      client.endpoint->send(client.connection, static_cast<Channel>(channel), {}, number_body(i));
      rig.server.endpoint->send(at_server, static_cast<Channel>(channel), {}, number_body(i));
    }
    rig.run(20 * kMs);
  }
  rig.run(200 * kMs);
}

/// What must not change when an attacker speaks.
struct Heard {
  explicit Heard(const EndpointRig& rig)
      : server_messages(rig.server.handler.received.size()),
        client_messages(rig.clients[0]->handler.received.size()),
        server_connected(rig.server.handler.connected.size()),
        client_connected(rig.clients[0]->handler.connected.size()),
        server_ended(rig.server.handler.ended.size()),
        client_ended(rig.clients[0]->handler.ended.size()),
        connections(rig.server.endpoint->connection_count()) {}
  friend bool operator==(const Heard&, const Heard&) = default;
  size_t server_messages, client_messages, server_connected, client_connected, server_ended, client_ended;
  uint32_t connections;
};

void replay(EndpointRig& rig, const std::vector<RecordedDatagram>& datagrams) {
  for (const RecordedDatagram& each : datagrams) {
    ASSERT_TRUE(rig.network.inject(each.from, each.to, each.bytes, rig.now_ns));
    rig.pump(rig.server);
    for (const auto& client : rig.clients) rig.pump(*client);
  }
}

TEST(EndpointAdversary, EverythingEverSentComesAgainWhileConnected) {
  EndpointRig rig(test::delayed(10 * kMs));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  converse(rig, rig.client(), rig.server.connection, 0, 30);
  const std::vector<RecordedDatagram> everything = record.all();
  const Heard before(rig);
  ASSERT_EQ(before.server_messages, 120u);
  ASSERT_EQ(before.client_messages, 120u);
  replay(rig, everything);
  EXPECT_TRUE(Heard(rig) == before);
  EXPECT_GT(rig.server_stats().refusals.get(Refusal::kDuplicate), 30u);
  EXPECT_GT(rig.client_stats().refusals.get(Refusal::kDuplicate), 30u);
  converse(rig, rig.client(), rig.server.connection, 30, 31);
  EXPECT_EQ(rig.server.handler.received.size(), 124u);
  EXPECT_EQ(rig.client().handler.received.size(), 124u);
}

TEST(EndpointAdversary, EverythingEverSentComesAgainAfterTheEndAndIntoTheNextConnection) {
  EndpointRig rig(test::delayed(10 * kMs));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  converse(rig, rig.client(), rig.server.connection, 0, 10);
  rig.client().endpoint->disconnect(rig.client().connection, connection::DisconnectReason::kRequested);
  rig.run(kSecond);
  ASSERT_EQ(rig.server.endpoint->connection_count(), 0u);
  const std::vector<RecordedDatagram> first_life = record.all();

  const Heard between(rig);
  replay(rig, first_life);
  EXPECT_TRUE(Heard(rig) == between) << "a token used up, an id unknown";

  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(5 * kSecond, [&] { return rig.server.handler.connected.size() == 2; }));
  const Heard again(rig);
  replay(rig, first_life);
  EXPECT_TRUE(Heard(rig) == again);
  converse(rig, rig.client(), rig.server.handler.connected[1], 10, 12);
  EXPECT_EQ(rig.server.handler.received.size(), again.server_messages + 8);
}

TEST(EndpointAdversary, TheEdgeOfTheReplayWindow) {
  test::RigOptions options = test::delayed(10 * kMs, 0);
  EndpointRig rig(std::move(options));
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  // Sealed in order, delivered as the attacker likes.
  const auto sealed = [&](uint8_t letter) {
    std::array<uint8_t, 64> buffer{};
    const Bytes plaintext = {0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0, 0x00, 0x00, 0x04, letter};
    std::copy(plaintext.begin(), plaintext.end(), buffer.begin() + wire::kMaxHeaderBytes);
    const auto packet =
        peer.link->seal(PacketType::kPayload, buffer, wire::kMaxHeaderBytes, plaintext.size());
    return Bytes(packet->datagram.begin(), packet->datagram.end());
  };
  const auto deliver = [&](const Bytes& datagram) {
    rig.network.inject(peer.address, rig.server.address, datagram, rig.now_ns);
    rig.pump(rig.server);
  };
  deliver(sealed('a'));  // Number 1.
  const Bytes two = sealed('b'), three = sealed('c');
  for (int i = 0; i < 1022; ++i) sealed('x');  // 4 … 1025 are lost.
  deliver(sealed('d'));                        // 1026: 3 is 1023 below it, 2 is 1024.
  deliver(two);
  deliver(three);
  deliver(three);
  std::string delivered;
  for (const auto& message : rig.server.handler.received) delivered += static_cast<char>(message.body[0]);
  EXPECT_EQ(delivered, "adc");
  const RefusalCounters& refusals = rig.server.endpoint->stats().refusals;
  EXPECT_EQ(refusals.get(Refusal::kTooOld), 1u);
  EXPECT_EQ(refusals.get(Refusal::kDuplicate), 1u);
}

/// A peer whose packets are full of the smallest messages, and arrive when a test says so.
struct SmallMessages {
  explicit SmallMessages(uint8_t on_channel)
      : channel(on_channel), rig(test::delayed(10 * kMs, 0)), peer(rig) {}

  /// As many messages from number `next` on as fit.
  Bytes sealed() {
    std::array<uint8_t, wire::kFloorPlaintextBytes> plaintext;
    base::ByteWriter writer(plaintext);
    wire::write_ack_message(writer, {}, false, 0);
    wire::MessageHead head{channel, wire::ChannelTable().mode(channel), 0, {static_cast<uint16_t>(next)}, {}};
    while (wire::write_message(writer, head, nullptr, {})) head.id.value = static_cast<uint16_t>(++next);
    return sealed(writer.written());
  }
  Bytes sealed(std::span<const uint8_t> plaintext) {
    Bytes out;
    peer.seal(PacketType::kPayload, plaintext,
              [&](std::span<const uint8_t> datagram) { out.assign(datagram.begin(), datagram.end()); });
    return out;
  }
  void deliver(const Bytes& datagram) {
    rig.network.inject(peer.address, rig.server.address, datagram, rig.now_ns);
    rig.pump(rig.server);
  }
  uint64_t refused(Refusal refusal) const { return rig.server.endpoint->stats().refusals.get(refusal); }
  size_t received() const { return rig.server.handler.received.size(); }

  uint8_t channel;
  EndpointRig rig;
  RawClient peer;
  uint32_t next = 0;
};

// 150 packets later the numbers are half-way round, and 284 later in use again.
TEST(EndpointAdversary, MessagesHeldBackUntilTheirNumbersCameRound) {
  for (const uint8_t channel : {uint8_t{1}, uint8_t{2}, uint8_t{3}}) {
    for (const int packets : {63, 64, 150, 283, 284}) {
      SCOPED_TRACE(testing::Message() << "channel " << int{channel} << ", " << packets << " packets");
      SmallMessages small(channel);
      ASSERT_TRUE(small.peer.connect());
      const Bytes held = small.sealed();
      const uint32_t held_count = std::exchange(small.next, 0);
      small.deliver(small.sealed());  // The same again, by a sender who thinks them lost.
      for (int i = 0; i < packets; ++i) small.deliver(small.sealed());
      small.deliver(held);
      EXPECT_TRUE(small.rig.server.handler.ended.empty());
      EXPECT_EQ(small.received(), small.next);
      const bool is_late = packets > 63;  // The repetition counts too.
      EXPECT_EQ(small.refused(Refusal::kMessageLate), is_late ? held_count : 0);
      const Refusal known = channel == 1 ? Refusal::kMessageStale : Refusal::kMessageDuplicate;
      EXPECT_EQ(small.refused(known), is_late ? 0 : held_count);
    }
  }
}

TEST(EndpointAdversary, ASequencedChannelHearsAgainAfterALongLoss) {
  for (const int lost : {0, 63, 64, 150, 283}) {
    SCOPED_TRACE(lost);
    SmallMessages small(1);
    ASSERT_TRUE(small.peer.connect());
    small.deliver(small.sealed());
    const uint32_t first = small.next;
    for (int i = 0; i < lost; ++i) small.sealed();
    const uint32_t before = small.next;
    small.deliver(small.sealed());
    EXPECT_EQ(small.received(), first + (small.next - before));
  }
}

// "Received" in a block means accepted: an opened packet that may not be acknowledged stands in none.
TEST(EndpointAdversary, ABlockNamesTheHighestPacketThatWasAccepted) {
  SmallMessages small(0);
  ASSERT_TRUE(small.peer.connect());
  const Bytes ack = {0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0};
  Bytes other = ack;
  for (const int byte : {0, 0, 4, 0x78}) other.push_back(static_cast<uint8_t>(byte));
  const auto block = [&] {
    small.rig.server.endpoint->send(small.rig.server.handler.received[0].connection, Channel::kUnreliable, {},
                                    ack);
    small.rig.run(60 * kMs);
    const Bytes last = small.peer.receive(PacketType::kPayload).back();
    return Bytes(last.begin() + 3, last.begin() + 9);
  };
  small.deliver(small.sealed(other));
  small.rig.server.handler.verdict = Verdict::kAcceptButDoNotAck;
  small.deliver(small.sealed(other));
  small.deliver(small.sealed(other));
  EXPECT_EQ(block(), (Bytes{1, 0, 0, 0, 0, 0}));
  small.rig.server.handler.verdict = Verdict::kAccept;
  small.deliver(small.sealed(other));
  EXPECT_EQ(block(), (Bytes{4, 0, 4, 0, 0, 0})) << "bit 2 is number 1; numbers 2 and 3 are missing";
}

TEST(EndpointAdversary, OfALatePacketOnlyWhatHasNoNumberIsTaken) {
  SmallMessages small(0);
  ASSERT_TRUE(small.peer.connect());
  const Bytes ack = {0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0};
  Bytes both = ack, other = ack;
  for (const int byte : {0, 0, 4, 0x75, 0x38, 0, 0, 0, 4, 0x72}) both.push_back(static_cast<uint8_t>(byte));
  for (const int byte : {0, 0, 4, 0x78}) other.push_back(static_cast<uint8_t>(byte));
  small.deliver(small.sealed(other));
  const Bytes held = small.sealed(both);
  // Those after it open and are not accepted, so a block could still name it.
  small.rig.server.handler.verdict = Verdict::kAcceptButDoNotAck;
  for (int i = 0; i < 65; ++i) small.deliver(small.sealed(other));
  small.rig.server.handler.verdict = Verdict::kAccept;
  small.rig.server.handler.received.clear();
  small.deliver(held);
  ASSERT_EQ(small.received(), 1u);
  EXPECT_EQ(small.rig.server.handler.received[0].body, Bytes{'u'});
  EXPECT_EQ(small.refused(Refusal::kMessageLate), 1u);
  small.rig.server.endpoint->send(small.rig.server.handler.received[0].connection, Channel::kUnreliable, {},
                                  ack);
  small.rig.run(60 * kMs);
  const std::vector<Bytes> answers = small.peer.receive(PacketType::kPayload);
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back()[3], 1) << "it acknowledges the first packet, not the late one";
  small.deliver(small.sealed(both));  // Sent again, it is taken.
  EXPECT_EQ(small.received(), 3u);
}

TEST(EndpointAdversary, AnAcknowledgementHeldBackTooLongIsNotRead) {
  for (const int packets : {64, 65}) {
    SCOPED_TRACE(packets);
    SmallMessages small(0);
    ASSERT_TRUE(small.peer.connect());
    Bytes block = {0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0};
    small.deliver(small.sealed(block));
    test::Node& server = small.rig.server;
    const ConnectionHandle connection = server.handler.connected[0];
    server.endpoint->send(connection, Channel::kReliableOrdered, {}, block, 7);
    small.rig.pump(server);
    block[3] = static_cast<uint8_t>(server.endpoint->stats(connection)->traffic.packets_sent);
    const Bytes held = small.sealed(block);
    block[3] = 0;
    for (int i = 0; i < packets; ++i) small.deliver(small.sealed(block));
    small.deliver(held);
    EXPECT_EQ(small.refused(Refusal::kAckLate), packets > 64 ? 1u : 0u);
    EXPECT_EQ(server.handler.receipts.count(7), packets > 64 ? 0u : 1u);
    EXPECT_TRUE(server.handler.ended.empty());
  }
}

// A late block is read as well after any number of packets, if they were acknowledged all the while.
TEST(EndpointAdversary, ALateAcknowledgementIsReadAfterHoweverManyOthers) {
  EndpointRig rig(options_for_many_packets());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  test::Node& server = rig.server;
  const auto acknowledge = [&] {  // The highest number that arrived.
    peer.receive(PacketType::kPayload);
    const uint64_t number = peer.link->highest_received();
    const auto low = static_cast<uint8_t>(number), high = static_cast<uint8_t>(number >> 8);
    Bytes out;
    peer.seal(PacketType::kPayload, Bytes{0xe0, 0x00, 0x18, low, high, 0, 0, 0, 0},
              [&](std::span<const uint8_t> datagram) { out.assign(datagram.begin(), datagram.end()); });
    return out;
  };
  const auto deliver = [&](const Bytes& datagram) {
    rig.network.inject(peer.address, server.address, datagram, rig.now_ns);
    rig.pump(server);
  };
  deliver(acknowledge());
  const ConnectionHandle connection = server.handler.connected[0];
  const Bytes body = {1};
  for (int i = 0; i < 70'000; ++i) {
    server.endpoint->send(connection, Channel::kUnreliable, {}, body);
    rig.step();
    if (i % 16 == 15) deliver(acknowledge());
  }
  ASSERT_TRUE(server.handler.ended.empty());
  ASSERT_GT(peer.link->highest_received(), 66'000u);
  const Bytes late = acknowledge(), later = acknowledge();
  deliver(later);
  deliver(late);
  EXPECT_EQ(server.endpoint->stats().refusals.get(Refusal::kAckLate), 0u);
}

// The peer's packets arrive and are acknowledged, but it hears nothing until this side has sent so many that
// every block could name two packets. Then a probe arrives, and its echo.
TEST(EndpointAdversary, ASideThatWasNotHeardForAllNumbersIsHeardAgain) {
  EndpointRig rig(options_for_many_packets());
  RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  test::Node& server = rig.server;
  // Asks for an ack, and has heard nothing. A number left out before it makes the ack leave at once.
  const auto deliver = [&](wire::KeepaliveBody keepalive) {
    keepalive.flags |= wire::kKeepaliveAckRequested;
    std::array<uint8_t, wire::kMaxKeepaliveBodyBytes> body;
    const size_t bytes = wire::encode_keepalive(keepalive, body);
    peer.link->skip_packet_seq();
    peer.send_from(peer.address, PacketType::kKeepalive, std::span(body).first(bytes));
    rig.now_ns += kMs / 10;
    rig.pump(server);
  };
  deliver({});
  const ConnectionHandle connection = server.handler.connected.at(0);
  const auto sent = [&] { return server.endpoint->stats(connection)->traffic.packets_sent; };
  const auto lose_answers = [&] {
    std::array<uint8_t, socket::kMaxDatagramBytes> buffer;
    socket::Datagram lost{{}, 0, buffer.data()};
    while (peer.socket->receive({&lost, 1}, rig.now_ns).count == 1) {
    }
  };
  while (sent() < 0x10000) {
    deliver({});
    lose_answers();
  }
  ASSERT_TRUE(server.handler.ended.empty());

  server.endpoint->send(connection, Channel::kReliableOrdered, {}, Bytes{1}, 7);
  wire::KeepaliveBody heard;
  const auto acknowledge = [&] {
    peer.receive(PacketType::kPayload);
    heard.ack.ack_seq = static_cast<uint16_t>(peer.link->highest_received());
    deliver(heard);
  };
  acknowledge();
  EXPECT_GT(server.endpoint->stats().refusals.get(Refusal::kAckLate), 0u) << "it could name two packets";
  for (int i = 0; i < 1100 && (heard.flags & wire::kKeepaliveEcho) == 0; ++i) {
    rig.now_ns += kMs;
    rig.pump(server);
    for (const Bytes& plaintext : peer.receive(PacketType::kKeepalive)) {
      wire::KeepaliveBody probe;
      if (!wire::parse_keepalive(plaintext, &probe) || (probe.flags & wire::kKeepaliveProbe) == 0) continue;
      heard.flags = wire::kKeepaliveEcho;
      heard.echo_us = probe.probe_us;
    }
  }
  ASSERT_EQ(heard.flags, wire::kKeepaliveEcho) << "a probe each second";
  acknowledge();
  rig.now_ns += 20 * kMs;  // The message is on its way.
  heard = {};
  acknowledge();
  EXPECT_EQ(server.handler.receipts.count(7), 1u);
  EXPECT_TRUE(server.handler.ended.empty());
}

TEST(EndpointAdversary, ForgedNumbersMoveNothing) {
  EndpointRig rig(test::delayed(10 * kMs));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  converse(rig, rig.client(), rig.server.connection, 0, 5);
  const Heard before(rig);
  const Bytes genuine = record.session_packets(rig.client().address).back().bytes;
  wire::PacketHeader header;
  size_t header_bytes = 0;
  ASSERT_EQ(wire::parse_packet_header(genuine, wire::kProtocolId, &header, &header_bytes),
            wire::HeaderStatus::kOk);
  for (const uint64_t number :
       {uint64_t{0}, header.packet_seq + 1, header.packet_seq + 1023, header.packet_seq + 1024,
        (uint64_t{1} << 16) + header.packet_seq, uint64_t{1} << 32, crypto::kPacketSeqLimit - 1,
        crypto::kPacketSeqLimit, UINT64_MAX}) {
    wire::PacketHeader forged = header;
    forged.packet_seq = number;
    Bytes bytes(wire::packet_header_bytes(number));
    wire::encode_packet_header(forged, bytes);
    bytes.insert(bytes.end(), genuine.begin() + static_cast<ptrdiff_t>(header_bytes), genuine.end());
    ASSERT_TRUE(rig.network.inject(rig.client().address, rig.server.address, bytes, rig.now_ns));
  }
  rig.pump(rig.server);
  EXPECT_TRUE(Heard(rig) == before);
  EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kNotAuthentic), 6u);
  EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kSequenceRange), 3u);
  converse(rig, rig.client(), rig.server.connection, 5, 7);
  EXPECT_EQ(rig.server.handler.received.size(), before.server_messages + 8)
      << "the live stream is not disturbed";
}

TEST(EndpointAdversary, PacketsOfOneConnectionDoNotActOnAnother) {
  EndpointRig rig(test::delayed(10 * kMs, 2));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  converse(rig, rig.client(), rig.server.connection, 0, 5);
  rig.clients[1]->endpoint->send(rig.clients[1]->connection, Channel::kReliableOrdered, {}, number_body(1));
  rig.run(100 * kMs);
  const Heard before(rig);
  const std::vector<RecordedDatagram> of_first = record.session_packets(rig.clients[0]->address);
  const std::vector<RecordedDatagram> of_second = record.session_packets(rig.clients[1]->address);
  ASSERT_FALSE(of_second.empty());
  for (const RecordedDatagram& each : of_first) {
    Bytes moved = each.bytes;  // With the other's id, from the other's address.
    std::copy_n(of_second[0].bytes.begin() + 5, 8, moved.begin() + 5);
    ASSERT_TRUE(rig.network.inject(rig.clients[1]->address, rig.server.address, moved, rig.now_ns));
  }
  rig.pump(rig.server);
  EXPECT_TRUE(Heard(rig) == before);
  EXPECT_GT(rig.server.endpoint->stats().refusals.get(Refusal::kNotAuthentic), 0u);
}

TEST(EndpointAdversary, BothSidesGetTheirOwnPacketsBack) {
  EndpointRig rig(test::delayed(10 * kMs));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  converse(rig, rig.client(), rig.server.connection, 0, 10);
  const Heard before(rig);
  for (const RecordedDatagram& each : std::vector<RecordedDatagram>(record.all())) {
    ASSERT_TRUE(rig.network.inject(each.to, each.from, each.bytes, rig.now_ns));
  }
  rig.run(50 * kMs);
  EXPECT_TRUE(Heard(rig) == before);
  converse(rig, rig.client(), rig.server.connection, 10, 11);
  EXPECT_EQ(rig.client().handler.received.size(), before.client_messages + 4);
}

TEST(EndpointAdversary, ARestartedServerKnowsNobody) {
  EndpointRig rig(test::delayed(10 * kMs));
  TrafficRecord record(rig.network);
  ASSERT_TRUE(rig.connect_all());
  converse(rig, rig.client(), rig.server.connection, 0, 5);

  // A new process at the same address: another static key, other buckets, no connections.
  rig.server.endpoint.reset();
  rig.server.socket.reset();
  rig.server.handler = {};
  EndpointConfig config;
  config.accepts_connections = true;
  config.max_connections = 8;
  config.identity = crypto::KeyPair::generate(rig.entropy);
  config.issuers = {rig.issuer.public_key()};
  rig.start(rig.server, std::move(config));

  const std::vector<RecordedDatagram> first_life = record.all();
  const uint64_t sent = rig.server.socket->stats().bytes_sent;
  uint64_t asked = 0;
  for (const RecordedDatagram& each : first_life) {
    if (each.to != rig.server.address) continue;
    asked += each.bytes.size();
    ASSERT_TRUE(rig.network.inject(each.from, each.to, each.bytes, rig.now_ns));
  }
  rig.pump(rig.server);
  EXPECT_TRUE(rig.server.handler.connected.empty());
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
  EXPECT_LT(rig.server.socket->stats().bytes_sent - sent, asked)
      << "resets at most, each shorter than its question";
  EXPECT_GT(rig.server.endpoint->stats().refusals.get(Refusal::kUnknownConnection), 0u);
  EXPECT_GT(rig.server.endpoint->stats().refusals.get(Refusal::kHandshakeRefused), 0u);
  // The client finds out by silence alone: without the keys of the old process nobody can tell it anything.
  EXPECT_TRUE(rig.run_until(15 * kSecond, [&] { return !rig.client().handler.ended.empty(); }));
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kTimeout);
}

}  // namespace
}  // namespace lattice::reliability
