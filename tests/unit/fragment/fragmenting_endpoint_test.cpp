// Long messages from one endpoint to another over a simulated network, and a peer with valid keys who sends
// what no sender would.
#include "fragment/fragmenting_endpoint.h"

#include <gtest/gtest.h>

#include <set>

#include "pieces.h"
#include "unit/reliability/raw_client.h"

namespace lattice::fragment {
namespace {

using connection::DisconnectReason;
using reliability::Refusal;
using test::kMs;
using test::kSecond;
using test::MessageBytes;
using test::pattern;
using Rig = test::RigOf<FragmentingEndpoint>;
using RawPeer = test::RawClientOf<FragmentingEndpoint>;

constexpr Channel kFour[] = {Channel::kUnreliable, Channel::kUnreliableSequenced, Channel::kReliableUnordered,
                             Channel::kReliableOrdered};
constexpr size_t kSizes[] = {1147, 1148, 1149, 1150, 1151, 2272, 2273, 65'536, kMaxMessageBytes};

SendResult send(Rig& rig, Channel channel, const MessageBytes& body, uint32_t receipt = 0) {
  return rig.client().endpoint->send(rig.client().connection, channel, {}, body, receipt);
}

TEST(FragmentingEndpoint, EverySizeOnEveryChannel) {
  test::RigOptions options;
  options.path.delay_ms = 10;
  Rig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (const Channel channel : kFour) {
    for (const size_t bytes : kSizes) {
      SCOPED_TRACE(testing::Message() << "channel " << static_cast<int>(channel) << ", " << bytes);
      const MessageBytes body = pattern(bytes, 5);
      rig.server.handler.received.clear();
      ASSERT_EQ(send(rig, channel, body, 9), SendResult::kOk);
      ASSERT_TRUE(rig.run_until(10 * kSecond, [&] { return rig.client().handler.receipts.count(9) != 0; }));
      ASSERT_EQ(rig.server.handler.received.size(), 1u);
      EXPECT_EQ(rig.server.handler.received[0].channel, channel);
      EXPECT_EQ(rig.server.handler.received[0].flags, MessageFlags{});
      EXPECT_EQ(rig.server.handler.received[0].body, body);
      EXPECT_EQ(rig.client().handler.receipts[9], std::vector<bool>{true});
      rig.client().handler.receipts.clear();
    }
  }
  EXPECT_EQ(rig.server.endpoint->endpoint().pool_stats().buffers_live, 1u);  // Its history of sent packets.
}

TEST(FragmentingEndpoint, RefusesByName) {
  Rig rig;
  ASSERT_TRUE(rig.connect_all());
  FragmentingEndpoint& endpoint = *rig.client().endpoint;
  const ConnectionHandle to = rig.client().connection;
  const MessageBytes longest(kMaxMessageBytes + 1, 200);
  for (const Channel channel : kFour) {
    EXPECT_EQ(endpoint.send(to, channel, {}, longest), SendResult::kTooLarge);
  }
  const std::span<const uint8_t> body = std::span(longest).first(2000);
  EXPECT_EQ(endpoint.send(to, Channel::kControl, {}, body), SendResult::kTooLarge);
  EXPECT_EQ(endpoint.send(to, Channel::kUnreliableSequenced, test::kSnapshot, body), SendResult::kTooLarge);
  EXPECT_EQ(endpoint.send(to, Channel::kAck, {}, body), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, static_cast<Channel>(5), {}, body), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, static_cast<Channel>(200), {}, body), SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send(to, Channel::kUnreliable, {.is_fragment = true}, body),
            SendResult::kInvalidChannel);
  EXPECT_EQ(endpoint.send({}, Channel::kUnreliable, {}, body), SendResult::kNotConnected);
  EXPECT_EQ(endpoint.send({999, 1}, Channel::kUnreliable, {}, body), SendResult::kNotConnected);
}

TEST(FragmentingEndpoint, AllOfAMessageIsQueuedOrNothing) {
  for (const Channel channel : kFour) {
    SCOPED_TRACE(static_cast<int>(channel));
    Rig rig;
    ASSERT_TRUE(rig.connect_all());
    const MessageBytes body = pattern(kMaxMessageBytes, 1);
    size_t taken = 0;
    uint32_t receipt = 0;
    while (send(rig, channel, body, ++receipt) == SendResult::kOk) ++taken;
    EXPECT_EQ(taken, 3u);  // 1 MiB waits at most.
    EXPECT_EQ(send(rig, channel, body), SendResult::kWouldBlock);
    EXPECT_EQ(send(rig, channel, pattern(1147, 1)), SendResult::kOk);  // What was taken back left room.
    ASSERT_TRUE(rig.run_until(20 * kSecond, [&] { return rig.server.handler.received.size() == taken + 1; }));
    for (size_t i = 0; i < taken; ++i) EXPECT_EQ(rig.server.handler.received[i].body, body);
    rig.run(kSecond);
    EXPECT_EQ(rig.client().handler.receipts.size(), taken);  // The refused one is not told of.
    EXPECT_EQ(rig.server.handler.received.size(), taken + 1);
  }
}

TEST(FragmentingEndpoint, ReliableUnderLossExactlyOnceAndInOrder) {
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.path.jitter_ms = 10;
  options.path.jitter_reorders = true;
  options.path.loss = 0.3;
  options.path.duplicate = 0.1;
  Rig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all(60 * kSecond));
  constexpr size_t kMessages = 30;
  size_t queued[2] = {};
  const Channel channels[] = {Channel::kReliableOrdered, Channel::kReliableUnordered};
  const auto body_of = [](size_t i) { return pattern(500 + i * 997, static_cast<uint32_t>(i)); };
  const bool done = rig.run_until(300 * kSecond, [&] {
    for (size_t c = 0; c < 2; ++c) {
      while (queued[c] < kMessages && send(rig, channels[c], body_of(queued[c])) == SendResult::kOk) {
        ++queued[c];
      }
    }
    return rig.server.handler.received.size() == 2 * kMessages;
  });
  ASSERT_TRUE(done);
  rig.run(3 * kSecond);
  size_t ordered = 0;
  std::set<size_t> unordered;
  for (const test::Received& message : rig.server.handler.received) {
    if (message.channel == Channel::kReliableOrdered) {
      EXPECT_EQ(message.body, body_of(ordered++));
    } else {
      const size_t index = (message.body.size() - 500) / 997;
      EXPECT_EQ(message.body, body_of(index));
      EXPECT_TRUE(unordered.insert(index).second);
    }
  }
  EXPECT_EQ(ordered, kMessages);
  EXPECT_EQ(unordered.size(), kMessages);
}

TEST(FragmentingEndpoint, ALongUnreliableMessageStaysUnreliable) {
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.path.loss = 0.05;
  Rig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all(60 * kSecond));
  const MessageBytes body = pattern(10'000, 1);  // Nine fragments: 63 % arrive whole.
  constexpr uint32_t kMessages = 200;
  for (uint32_t i = 1; i <= kMessages; ++i) {
    ASSERT_EQ(send(rig, Channel::kUnreliable, body, i), SendResult::kOk);
    rig.run(20 * kMs);
  }
  rig.run(5 * kSecond);
  const size_t arrived = rig.server.handler.received.size();
  EXPECT_GT(arrived, kMessages / 2);
  EXPECT_LT(arrived, kMessages * 3 / 4);
  for (const test::Received& message : rig.server.handler.received) ASSERT_EQ(message.body, body);
  EXPECT_EQ(rig.client_stats().traffic.messages_resent, 0u);
  // Every receipt is told once; who was told "acked" was right.
  size_t acked = 0;
  for (uint32_t i = 1; i <= kMessages; ++i) {
    ASSERT_EQ(rig.client().handler.receipts[i].size(), 1u);
    if (rig.client().handler.receipts[i][0]) ++acked;
  }
  EXPECT_LE(acked, arrived);
  EXPECT_GT(acked + kMessages / 10, arrived);
  // What stayed incomplete was given up, by name.
  EXPECT_EQ(rig.refused(Refusal::kFragmentTimeout) + rig.refused(Refusal::kFragmentEvicted),
            kMessages - arrived);
  EXPECT_EQ(rig.server.endpoint->endpoint().pool_stats().buffers_live, 1u);
}

TEST(FragmentingEndpoint, TheNewestSequencedMessageWins) {
  // The first message's last datagram comes late: the second, short, has overtaken it by then.
  Rig rig;
  ASSERT_TRUE(rig.connect_all());
  struct Late {
    int countdown = 2;
    test::Bytes datagram;
    static socket::TapVerdict tap(void* context, socket::TappedDatagram& datagram) {
      auto& late = *static_cast<Late*>(context);
      if (datagram.size < 1000 || --late.countdown != 0) return socket::TapVerdict::kPass;
      late.datagram.assign(datagram.data, datagram.data + datagram.size);
      return socket::TapVerdict::kDrop;
    }
  } late;
  rig.network.set_tap(&Late::tap, &late);
  const MessageBytes first = pattern(2 * 1136, 1);
  const MessageBytes second = pattern(10, 2);
  ASSERT_EQ(send(rig, Channel::kUnreliableSequenced, first), SendResult::kOk);
  rig.run(10 * kMs);
  ASSERT_FALSE(late.datagram.empty());
  ASSERT_EQ(send(rig, Channel::kUnreliableSequenced, second), SendResult::kOk);
  rig.run(10 * kMs);
  EXPECT_EQ(rig.refused(Refusal::kFragmentStale), 1u);  // Its first half is freed at once ...
  rig.network.inject(rig.client().address, rig.server.address, late.datagram, rig.now_ns);
  rig.run(10 * kMs);
  EXPECT_EQ(rig.refused(Refusal::kMessageStale), 1u);  // ... and the second is not kept.
  ASSERT_EQ(rig.server.handler.received.size(), 1u);
  EXPECT_EQ(rig.server.handler.received[0].body, second);
  // A long one overtakes as well.
  ASSERT_EQ(send(rig, Channel::kUnreliableSequenced, first), SendResult::kOk);
  rig.run(20 * kMs);
  ASSERT_EQ(rig.server.handler.received.size(), 2u);
  EXPECT_EQ(rig.server.handler.received[1].body, first);
}

TEST(FragmentingEndpoint, ReceiptsAreToldBeforeTheEnd) {
  Rig rig;
  ASSERT_TRUE(rig.connect_all());
  rig.network.set_default({.blackout = true});
  ASSERT_EQ(send(rig, Channel::kReliableOrdered, pattern(50'000, 1), 7), SendResult::kOk);
  ASSERT_EQ(send(rig, Channel::kReliableUnordered, pattern(10, 1), 8), SendResult::kOk);
  rig.run(100 * kMs);
  ASSERT_EQ(send(rig, Channel::kUnreliable, pattern(50'000, 1), 9), SendResult::kOk);
  rig.client().endpoint->disconnect(rig.client().connection, DisconnectReason::kRequested);
  rig.run(kSecond);
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  for (const uint32_t receipt : {7u, 8u, 9u}) {
    EXPECT_EQ(rig.client().handler.receipts[receipt], std::vector<bool>{false}) << receipt;
  }
  EXPECT_EQ(rig.client().endpoint->endpoint().pool_stats().buffers_live, 0u);
}

TEST(FragmentingEndpoint, AConnectionThatEndsGivesItsFragmentsBack) {
  Rig rig;
  ASSERT_TRUE(rig.connect_all());
  struct HalfLost {
    static socket::TapVerdict tap(void* context, socket::TappedDatagram& datagram) {
      return datagram.size > 1000 && ++*static_cast<int*>(context) % 2 == 0 ? socket::TapVerdict::kDrop
                                                                            : socket::TapVerdict::kPass;
    }
  };
  int count = 0;
  rig.network.set_tap(&HalfLost::tap, &count);
  for (const Channel channel : kFour) ASSERT_EQ(send(rig, channel, pattern(30'000, 1)), SendResult::kOk);
  rig.run(20 * kMs);
  EXPECT_GT(rig.server.endpoint->endpoint().receive_memory().blocks_live(), 20u);
  rig.server.endpoint->disconnect(rig.server.connection, DisconnectReason::kKicked);
  rig.run(kSecond);
  EXPECT_EQ(rig.server.endpoint->endpoint().connection_count(), 0u);
  EXPECT_EQ(rig.server.endpoint->endpoint().pool_stats().buffers_live, 0u);
  EXPECT_EQ(rig.server.endpoint->endpoint().receive_memory().blocks_live(), 0u);
}

// ---- A peer with valid keys --------------------------------------------------------------------------

constexpr uint8_t kAckMessage[] = {0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0};

test::RigOptions no_clients() {
  test::RigOptions options;
  options.client_count = 0;
  return options;
}

/// A fragment message: first byte, number (of channels that have one), group 0, index, count, body.
test::Bytes fragment_bytes(uint8_t first, std::optional<uint16_t> number, uint8_t index, uint8_t count,
                           const test::Bytes& body) {
  test::Bytes out = {first};
  if (number) {
    out.push_back(static_cast<uint8_t>(*number));
    out.push_back(static_cast<uint8_t>(*number >> 8));
  }
  const auto length = static_cast<uint16_t>(body.size() << 2);
  const test::Bytes rest = {
      0, 0, index, count, static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)};
  out.insert(out.end(), rest.begin(), rest.end());
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

class HostileFragments : public ::testing::Test {
 protected:
  HostileFragments() : rig(no_clients()), peer(rig) { EXPECT_TRUE(peer.connect()); }
  void send(const test::Bytes& message) {
    test::Bytes plaintext(std::begin(kAckMessage), std::end(kAckMessage));
    plaintext.insert(plaintext.end(), message.begin(), message.end());
    peer.send(wire::PacketType::kPayload, plaintext);
    rig.run(10 * kMs);
  }
  void expect_closed(Refusal refusal) {
    EXPECT_EQ(rig.refused(refusal), 1u);
    ASSERT_EQ(rig.server.handler.ended.size(), 1u);
    EXPECT_EQ(rig.server.handler.ended[0].reason, DisconnectReason::kProtocolError);
    EXPECT_EQ(rig.server.handler.ended[0].text, reliability::refusal_name(refusal));
    EXPECT_TRUE(rig.server.handler.received.empty());
    rig.run(kSecond);
    EXPECT_EQ(rig.server.endpoint->endpoint().pool_stats().buffers_live, 0u);
    EXPECT_EQ(rig.server.endpoint->endpoint().receive_memory().blocks_live(), 0u);
  }
  void expect_dropped(Refusal refusal) {
    EXPECT_EQ(rig.refused(refusal), 1u);
    EXPECT_TRUE(rig.server.handler.ended.empty());
    EXPECT_TRUE(rig.server.handler.received.empty());
  }

  Rig rig;
  RawPeer peer;
};

// Flags 1 (fragment) and 8 (ack elided): the block is in the ack message in front.
constexpr uint8_t kUnorderedHeader = 0x29, kOrderedHeader = 0x39, kUnreliableHeader = 0x01,
                  kSequencedHeader = 0x11;

TEST_F(HostileFragments, AShorterFragmentInTheMiddleCloses) {
  send(fragment_bytes(kUnorderedHeader, 0, 0, 3, {1, 2}));
  send(fragment_bytes(kUnorderedHeader, 1, 1, 3, {1}));
  expect_closed(Refusal::kFragmentLength);
}
TEST_F(HostileFragments, AnEmptyFragmentCloses) {
  send(fragment_bytes(kUnorderedHeader, 0, 0, 3, {}));
  expect_closed(Refusal::kFragmentLength);
}
TEST_F(HostileFragments, AnotherCountCloses) {
  send(fragment_bytes(kUnorderedHeader, 0, 0, 3, {1, 2}));
  send(fragment_bytes(kUnorderedHeader, 1, 1, 4, {1, 2}));
  expect_closed(Refusal::kFragmentMismatch);
}
TEST_F(HostileFragments, OrderedOutOfTurnCloses) {
  send(fragment_bytes(kOrderedHeader, 0, 1, 3, {1, 2}));
  expect_closed(Refusal::kFragmentOrder);
}
TEST_F(HostileFragments, AMessageInsideAnOrderedOneCloses) {
  send(fragment_bytes(kOrderedHeader, 0, 0, 3, {1, 2}));
  send({0x38, 1, 0, 0x00, 0x04, 'x'});
  expect_closed(Refusal::kFragmentOrder);
}
TEST_F(HostileFragments, AReliableSnapshotInPiecesCloses) {
  send(fragment_bytes(kUnorderedHeader | 4, 0, 0, 3, {1, 2}));
  expect_closed(Refusal::kFragmentSnapshot);
}
TEST_F(HostileFragments, AnUnreliableDisagreementIsDropped) {
  send(fragment_bytes(kUnreliableHeader, {}, 0, 3, {1, 2}));
  send(fragment_bytes(kUnreliableHeader, {}, 1, 4, {1, 2}));
  expect_dropped(Refusal::kFragmentMismatch);
  send(fragment_bytes(kUnreliableHeader, {}, 2, 3, {1}));  // Begins a new group, which never ends.
  EXPECT_TRUE(rig.server.handler.received.empty());
}
TEST_F(HostileFragments, ASequencedMessageHasOneSequence) {
  send(fragment_bytes(kSequencedHeader, 7, 0, 2, {1, 2}));
  send(fragment_bytes(kSequencedHeader, 8, 1, 2, {1}));
  expect_dropped(Refusal::kFragmentMismatch);
}
TEST_F(HostileFragments, ASnapshotInPiecesIsDropped) {
  send(fragment_bytes(kSequencedHeader | 4, 7, 0, 2, {1, 2}));
  expect_dropped(Refusal::kFragmentSnapshot);
}
TEST_F(HostileFragments, RepeatedFragmentsAreCounted) {
  send(fragment_bytes(kUnreliableHeader, {}, 0, 2, {1, 2}));
  send(fragment_bytes(kUnreliableHeader, {}, 0, 2, {3, 4}));
  expect_dropped(Refusal::kFragmentDuplicate);
  send(fragment_bytes(kUnreliableHeader, {}, 1, 2, {5}));
  ASSERT_EQ(rig.server.handler.received.size(), 1u);
  EXPECT_EQ(rig.server.handler.received[0].body, (test::Bytes{1, 2, 5}));  // The first that came.
}
TEST_F(HostileFragments, EndlessBeginningsStayWithinTheirBounds) {
  // 300 groups on each mode that lets a group begin anywhere, announced as 256 fragments each.
  for (uint16_t i = 0; i < 300; ++i) {
    test::Bytes message = fragment_bytes(kUnreliableHeader, {}, 0, 0, {1});
    message[1] = static_cast<uint8_t>(i);
    message[2] = static_cast<uint8_t>(i >> 8);
    send(message);
  }
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.refused(Refusal::kFragmentEvicted) + rig.refused(Refusal::kFragmentTimeout), 300u - 16u);
  EXPECT_LE(rig.server.endpoint->endpoint().receive_memory().blocks_live(), 16u);
  rig.run(3 * kSecond);
  EXPECT_EQ(rig.server.endpoint->endpoint().receive_memory().blocks_live(), 0u);
}
TEST_F(HostileFragments, AOneFragmentMessageIsAMessage) {
  send(fragment_bytes(kUnorderedHeader, 0, 0, 1, {1, 2}));
  ASSERT_EQ(rig.server.handler.received.size(), 1u);
  EXPECT_EQ(rig.server.handler.received[0].body, (test::Bytes{1, 2}));
}

}  // namespace
}  // namespace lattice::fragment
