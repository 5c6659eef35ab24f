// Clients that hold incomplete messages for ever: what they can take, and that nobody else notices (R-33,
// G-18).
#include <gtest/gtest.h>

#include "fragment/fragmenting_endpoint.h"
#include "pieces.h"
#include "reliability/channel/send_memory.h"
#include "unit/reliability/raw_client.h"

namespace lattice::fragment {
namespace {

using reliability::ReceiveMemory;
using reliability::Refusal;
using test::kMs;
using test::kSecond;
using test::MessageBytes;
using test::pattern;
using Rig = test::RigOf<FragmentingEndpoint>;

constexpr size_t kHogs = 50;
/// Fragments of one byte: 100 of them fit a packet, and each takes a block.
constexpr size_t kPerPacket = 100;

/// Sends fragments of messages that it never completes, as many as the windows allow.
class Hog {
 public:
  Hog(Rig& rig, uint16_t port) : peer_(rig, port) {}

  bool connect() { return peer_.connect(); }
  void send(wire::PacketType type, std::span<const uint8_t> plaintext) { peer_.send(type, plaintext); }

  /// Fragment `id` − `first` of a message of 256 from id `first` on.
  struct Fragment {
    wire::ChannelMode mode;
    uint16_t first;
    uint16_t id;
  };
  void send_fragments(std::span<const Fragment> fragments) {
    std::array<uint8_t, wire::kFloorPlaintextBytes> plaintext{0xe0, 0x00, 0x18};
    base::ByteWriter writer(std::span<uint8_t>(plaintext).subspan(9));
    constexpr uint8_t kByte = 7;
    for (const Fragment& fragment : fragments) {
      wire::Message message;
      message.mode = fragment.mode;
      message.channel = fragment.mode == wire::ChannelMode::kReliableOrdered ? 3 : 2;
      message.flags = wire::kFlagFragment;
      message.id.value = fragment.id;
      message.fragment = {fragment.first, static_cast<uint8_t>(fragment.id - fragment.first), 256};
      message.body = {&kByte, 1};
      wire::write_message(writer, message);
    }
    send(wire::PacketType::kPayload, std::span(plaintext).first(9 + writer.size()));
  }
  void send_range(wire::ChannelMode mode, uint16_t first, uint16_t begin, uint16_t end) {
    std::vector<Fragment> fragments;
    for (uint16_t id = begin; id < end; ++id) {
      fragments.push_back({mode, first, id});
      if (fragments.size() < kPerPacket && id + 1 < end) continue;
      send_fragments(fragments);
      fragments.clear();
    }
  }
  /// 255 fragments of a message, and 255 of the next, on both channels.
  void hold_all_it_can() {
    for (const wire::ChannelMode mode :
         {wire::ChannelMode::kReliableUnordered, wire::ChannelMode::kReliableOrdered}) {
      send_range(mode, 0, 0, 255);
      send_range(mode, 256, 256, 511);
    }
  }
  void say_goodbye() {
    const uint8_t goodbye[] = {1, 0, 0, 0};
    send(wire::PacketType::kDisconnect, goodbye);
  }

 private:
  test::RawClientOf<FragmentingEndpoint> peer_;
};

test::RigOptions tight_options() {
  test::RigOptions options;
  options.client_count = 0;
  options.server.max_connections = kHogs + 2;
  options.server.receive_growth_bytes = 100 * ReceiveMemory::kBlockBytes;
  return options;
}

TEST(HeldQueues, WhoAcknowledgesNothingFillsItsOwnShareOnly) {
  constexpr size_t kSilent = 12;
  test::RigOptions options;
  options.client_count = 0;
  options.server.max_connections = kSilent + 1;
  options.server.send_growth_bytes = 1u << 20;
  Rig rig(std::move(options));
  std::vector<std::unique_ptr<Hog>> silent;
  for (size_t i = 0; i < kSilent; ++i) {
    silent.push_back(std::make_unique<Hog>(rig, static_cast<uint16_t>(7000 + i)));
    ASSERT_TRUE(silent.back()->connect());
    silent.back()->send(wire::PacketType::kPayload, std::array<uint8_t, 9>{0xe0, 0, 0x18});
  }
  rig.run(20 * kMs);
  const std::vector<test::ConnectionHandle> to_silent = rig.server.handler.connected;
  ASSERT_EQ(to_silent.size(), kSilent);
  const MessageBytes longest = pattern(kMaxMessageBytes, 3);
  size_t taken = 0;
  const auto fill = [&](test::ConnectionHandle to) {
    size_t messages = 0;
    for (const auto channel :
         {Channel::kReliableOrdered, Channel::kReliableUnordered, Channel::kUnreliable}) {
      while (rig.server.endpoint->send(to, channel, {}, longest) == SendResult::kOk) ++messages;
      while (rig.server.endpoint->send(to, channel, {}, std::span(longest).first(1)) == SendResult::kOk) {
      }
    }
    taken += messages;
    return messages;
  };
  for (const test::ConnectionHandle to : to_silent) EXPECT_GE(fill(to), 1u) << "its share";
  EXPECT_GT(taken, kSilent) << "and what was there for growth";
  EXPECT_LE(rig.server.endpoint->endpoint().pool_stats().capacity_live,
            kSilent * reliability::kSendShareBytes + (2u << 20));

  auto& client = rig.add_client(rig.options.client);
  ASSERT_EQ(rig.connect(client), reliability::ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.connected.size() == kSilent + 1; }));
  const test::ConnectionHandle to_client = rig.server.handler.connected.back();
  EXPECT_EQ(rig.server.endpoint->send(to_client, Channel::kReliableOrdered, {}, longest), SendResult::kOk);
  const MessageBytes part(reliability::kMaxSnapshotBody, 9);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(rig.server.endpoint->send(to_client, Channel::kUnreliableSequenced, test::kSnapshot, part),
              SendResult::kOk)
        << i;
  }
  EXPECT_TRUE(rig.run_until(5 * kSecond, [&] { return client.handler.received.size() == 65; }));
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

const ReceiveMemory& memory_of(const Rig& rig) {
  return rig.server.endpoint->endpoint().receive_memory();
}

class HeldMessages : public ::testing::Test {
 protected:
  HeldMessages() : rig(tight_options()) {
    for (size_t i = 0; i < kHogs; ++i) {
      hogs.push_back(std::make_unique<Hog>(rig, static_cast<uint16_t>(7000 + i)));
      EXPECT_TRUE(hogs.back()->connect());
    }
  }
  void hold() {
    for (const auto& hog : hogs) hog->hold_all_it_can();
    rig.run(20 * kMs);
  }
  /// A client joins, and long messages pass in both directions while a part of the packets is lost.
  void expect_an_honest_client_plays() {
    rig.network.set_default({.delay_ms = 5, .loss = 0.02});
    auto& client = rig.add_client(rig.options.client);
    ASSERT_EQ(rig.connect(client), reliability::ConnectResult::kOk);
    ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.connected.size() == kHogs + 1; }));
    const test::ConnectionHandle to_client = rig.server.handler.connected.back();
    const MessageBytes longest = pattern(kMaxMessageBytes, 3);
    for (const auto channel : {Channel::kReliableOrdered, Channel::kReliableUnordered}) {
      for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(client.endpoint->send(client.connection, channel, {}, longest), SendResult::kOk);
      }
      ASSERT_EQ(rig.server.endpoint->send(to_client, channel, {}, longest), SendResult::kOk);
    }
    EXPECT_TRUE(rig.run_until(30 * kSecond, [&] {
      return rig.server.handler.received.size() == 4 && client.handler.received.size() == 2;
    })) << rig.server.handler.received.size();
    for (const test::Received& message : rig.server.handler.received) EXPECT_EQ(message.body, longest);
    EXPECT_EQ(rig.server.endpoint->state(to_client), connection::State::kConnected);
  }

  Rig rig;
  std::vector<std::unique_ptr<Hog>> hogs;
};

TEST_F(HeldMessages, NobodyElseNoticesThoseWhoHold) {
  hold();
  EXPECT_GE(memory_of(rig).blocks_live(), kHogs * 2 * 255) << "they hold their shares";
  EXPECT_LE(memory_of(rig).blocks_live(), kHogs * 2 * 256 + 100) << "and what was there for growth";
  EXPECT_GT(rig.refused(Refusal::kMessageNoMemory), 0u);
  expect_an_honest_client_plays();
  EXPECT_TRUE(rig.server.handler.ended.empty()) << "nobody ends because of others";
}

TEST_F(HeldMessages, WhatTheyHeldIsThereForOthersWhenTheyLeave) {
  for (size_t round = 0; round < 2; ++round) {
    hold();
    EXPECT_GE(memory_of(rig).blocks_live(), kHogs * 2 * 255) << round;
    for (const auto& hog : hogs) hog->say_goodbye();
    rig.run(kSecond);
    EXPECT_EQ(memory_of(rig).blocks_live(), 0u);
    EXPECT_EQ(rig.server.endpoint->endpoint().connection_count(), 0u);
    rig.server.handler.ended.clear();
    for (size_t i = 0; i < kHogs; ++i) {
      hogs[i] = std::make_unique<Hog>(rig, static_cast<uint16_t>(8000 + 100 * round + i));
      ASSERT_TRUE(hogs[i]->connect());
    }
  }
}

TEST_F(HeldMessages, WhoeverIsRefusedIsNeverEndedForIt) {
  hold();
  // Its own windows are full, so each further message is refused, again and again, longer than any timeout.
  Hog& hog = *hogs.back();
  for (int second = 0; second < 15; ++second) {
    hog.send_range(wire::ChannelMode::kReliableOrdered, 256, 500, 511);
    for (const auto& other : hogs)
      other->send(wire::PacketType::kPayload, std::array<uint8_t, 9>{0xe0, 0, 0x18});
    rig.run(kSecond);
  }
  EXPECT_GT(rig.refused(Refusal::kMessageNoMemory), 15u);
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

}  // namespace
}  // namespace lattice::fragment
