// What leaves in which packet, which numbers messages get, and what stays when a queue is
// full.
#include "reliability/channel/outgoing_channels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reliability/congestion/congestion_config.h"
#include "reliability/limits.h"
#include "support/durations.h"

namespace lattice::reliability {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr uint8_t kUnreliable = 0, kSequenced = 1, kUnordered = 2, kControl = 15;
constexpr size_t kBudgetBytes = wire::kFloorPlaintextBytes;
using test::kMs;

struct Packet {
  OutgoingChannels::Filled filled;
  size_t bytes = 0;
  std::vector<wire::Message> messages;
  Bytes plaintext;
};

class OutgoingChannelsTest : public testing::Test {
 protected:
  bool queue(uint8_t channel, size_t bytes, uint8_t flags = 0, uint32_t receipt = 0) {
    return channels_.queue({{}, channel, flags, receipt, std::span(body_).first(bytes), {}}, 0);
  }
  bool queue_engine(size_t bytes) { return queue(kSequenced, bytes, wire::kFlagSnapshot); }

  Packet fill(OutgoingChannels::Room room = {}) {
    Packet out;
    out.plaintext.resize(kBudgetBytes);
    room.carrier.packet_seq = ++packet_seq_;
    room.carrier.resend_after_ns = 100 * kMs;
    room.budget_bytes = kBudgetBytes;
    PacketBuilder builder(out.plaintext, {}, 0);
    channels_.fill(room, builder, items_, out.filled);
    out.bytes = builder.size();
    EXPECT_TRUE(channels_.validate());
    if (builder.empty()) return out;
    const std::span<const uint8_t> plaintext = std::span(out.plaintext).first(builder.size());
    wire::FramingSummary summary;
    EXPECT_EQ(wire::check_framing(plaintext, modes_, &summary), wire::FramingError::kNone);
    wire::MessageReader reader(plaintext, modes_);
    wire::Message message;
    while (reader.next(&message)) {
      if (message.mode != wire::ChannelMode::kAckMessage) out.messages.push_back(message);
    }
    return out;
  }
  // Gives back the records of a packet, so that nothing else does.
  std::vector<CarriedItem> take(Packet& packet) {
    std::vector<CarriedItem> out;
    items_.remove_if(&packet.filled.items, [&out](const CarriedItem& item) {
      out.push_back(item);
      return true;
    });
    return out;
  }

  Bytes body_ = Bytes(wire::kFloorPlaintextBytes, 7);
  wire::ChannelTable modes_;
  base::BufferPool pool_{64u << 20};
  CarriedItems items_{64, 4096};
  OutgoingChannels channels_{pool_, modes_, 1000 * kMs};
  uint64_t packet_seq_ = 0;
};

TEST_F(OutgoingChannelsTest, NothingQueuedIsNoWork) {
  EXPECT_FALSE(channels_.has_work());
  EXPECT_EQ(fill().bytes, 0u);
  EXPECT_EQ(channels_.next_expiry_ns(), UINT64_MAX);
}

TEST_F(OutgoingChannelsTest, ControlGoesFirstAndAloneWhereOnlyControlMayLeave) {
  ASSERT_TRUE(queue(kUnreliable, 10));
  ASSERT_TRUE(queue(kUnordered, 10));
  ASSERT_TRUE(channels_.queue_control(std::span(body_).first(20)));
  EXPECT_TRUE(channels_.has_control());
  const Packet control = fill({.control_only = true});
  ASSERT_EQ(control.messages.size(), 1u);
  EXPECT_EQ(control.messages[0].channel, kControl);
  EXPECT_FALSE(channels_.has_control());
  const Packet rest = fill();
  ASSERT_EQ(rest.messages.size(), 2u);
  EXPECT_EQ(rest.messages[0].channel, kUnordered);
  EXPECT_EQ(rest.messages[1].channel, kUnreliable);
  EXPECT_FALSE(channels_.has_work());
}

TEST_F(OutgoingChannelsTest, EngineMessagesOfOneUpdateShareTheirSequence) {
  ASSERT_TRUE(queue_engine(10));
  ASSERT_TRUE(queue_engine(10));
  channels_.end_sequence();
  channels_.end_sequence();  // Nothing was queued in between, so no sequence is used up.
  ASSERT_TRUE(queue_engine(10));
  const Packet packet = fill();
  ASSERT_EQ(packet.messages.size(), 3u);
  EXPECT_EQ(packet.messages[0].id.value, packet.messages[1].id.value);
  EXPECT_EQ(packet.messages[2].id.value, packet.messages[0].id.value + 1);
}

TEST_F(OutgoingChannelsTest, OtherSequencedMessagesAreNumberedOneByOne) {
  ASSERT_TRUE(queue(kSequenced, 10));
  ASSERT_TRUE(queue_engine(10));
  ASSERT_TRUE(queue(kSequenced, 10));
  const Packet packet = fill();
  ASSERT_EQ(packet.messages.size(), 3u);
  EXPECT_EQ(packet.messages[2].id.value, packet.messages[1].id.value + 1);
}

TEST_F(OutgoingChannelsTest, FragmentsShareOneSequence) {
  OutgoingMessage message;
  message.channel = kSequenced;
  message.flags = wire::kFlagFragment;
  message.fragment.count = 3;
  ASSERT_TRUE(channels_.queue_fragments(message, 100, std::span(body_).first(250), 0));
  ASSERT_TRUE(queue(kSequenced, 10));
  const Packet packet = fill();
  ASSERT_EQ(packet.messages.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(packet.messages[i].id.value, packet.messages[0].id.value);
    EXPECT_EQ(packet.messages[i].fragment.index, i);
    EXPECT_EQ(packet.messages[i].body.size(), i < 2 ? 100u : 50u);
  }
  EXPECT_EQ(packet.messages[3].id.value, packet.messages[0].id.value + 1);
}

TEST_F(OutgoingChannelsTest, FragmentsThatDoNotFitLeaveNothingBehind) {
  for (uint8_t channel : {kUnreliable, kUnordered}) {
    size_t queued = 0;
    while (queued + 2 < kMaxQueuedMessages && queue(channel, 1)) ++queued;
    const OutgoingChannels::Queued before = channels_.of_application();
    OutgoingMessage message;
    message.channel = channel;
    message.flags = wire::kFlagFragment;
    message.fragment.count = kMaxFragments;
    const Bytes body(kMaxFragments * 10);
    while (channels_.queue_fragments(message, 10, body, 0)) {
    }
    const OutgoingChannels::Queued after = channels_.of_application();
    EXPECT_EQ((after.messages - before.messages) % kMaxFragments, 0u);
    EXPECT_TRUE(channels_.validate());
  }
}

TEST_F(OutgoingChannelsTest, ReliableTrafficLeavesAQuarterToTheEngine) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue(kUnordered, 50));
  ASSERT_TRUE(queue_engine(200));
  const Packet packet = fill();
  const auto is_engine = [](const wire::Message& each) { return each.channel == kSequenced; };
  EXPECT_EQ(std::count_if(packet.messages.begin(), packet.messages.end(), is_engine), 1);
  EXPECT_EQ(channels_.engine_count(), 0u);
}

TEST_F(OutgoingChannelsTest, APartAsLargeAsAPacketGetsItsTurn) {
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(queue(kUnordered, 50));
  ASSERT_TRUE(queue_engine(kMaxSnapshotBody));
  int packets = 0;
  while (channels_.engine_count() != 0 && packets < 20) {
    fill();
    ++packets;
  }
  EXPECT_LE(packets, 7);  // Without the share: after the window of 256, twice as late.
}

TEST_F(OutgoingChannelsTest, NoChannelStarvesAnother) {
  constexpr uint8_t kOrdered = 3;
  for (int i = 0; i < 200; ++i) {
    for (uint8_t channel : {kUnreliable, kUnordered, kOrdered}) ASSERT_TRUE(queue(channel, 1000));
  }
  std::array<int, 16> sent{};
  for (int i = 0; i < 150; ++i) {
    for (const wire::Message& message : fill().messages) ++sent[message.channel];
  }
  for (uint8_t channel : {kUnreliable, kUnordered, kOrdered}) {
    EXPECT_NEAR(sent[channel], 50, 3) << "channel " << int{channel};
  }
}

TEST_F(OutgoingChannelsTest, AnUnreliableMessageBesideAFullChannelLeavesInItsTurn) {
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(queue(kUnordered, 1000));
    ASSERT_TRUE(queue(kUnreliable, 1000));
    int packets = 1;
    while (fill().messages.at(0).channel != kUnreliable) ++packets;
    EXPECT_LE(packets, 3);
  }
}

TEST_F(OutgoingChannelsTest, WhatIsLostTakesNoMoreThanItsChannelsTurns) {
  constexpr uint8_t kOrdered = 3;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(queue(kUnordered, 1000));
  for (int i = 0; i < 20; ++i) fill({.carrier = {.now_ns = kMs}});
  channels_.expire(1000 * kMs);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(queue(kOrdered, 1000));
  int ordered = 0, resent = 0;
  for (int i = 0; i < 20; ++i) {
    const Packet packet = fill({.carrier = {.now_ns = 1000 * kMs}});
    resent += static_cast<int>(packet.filled.resent_count);
    ordered += packet.messages.at(0).channel == kOrdered ? 1 : 0;
  }
  EXPECT_NEAR(ordered, 10, 2);
  EXPECT_EQ(resent, 20 - ordered);
}

TEST_F(OutgoingChannelsTest, TheEngineKeepsItsQuarterBesideSeveralChannels) {
  for (int i = 0; i < 60; ++i) {
    for (uint8_t channel : {kUnreliable, kUnordered}) ASSERT_TRUE(queue(channel, 1000));
    ASSERT_TRUE(queue_engine(1000));
  }
  int engine = 0;
  for (int i = 0; i < 100; ++i) {
    for (const wire::Message& message : fill().messages) engine += message.channel == kSequenced ? 1 : 0;
  }
  EXPECT_GE(engine, 22);
}

TEST_F(OutgoingChannelsTest, PartsOfARunAreOfOneLengthButTheLast) {
  ASSERT_TRUE(queue_engine(1000));
  ASSERT_TRUE(queue_engine(1040));
  ASSERT_TRUE(queue_engine(500));
  EXPECT_EQ(channels_.longest_engine_bytes(), 1040u);
  const size_t first = fill({.padded_bytes = 1040}).bytes;
  const size_t second = fill({.padded_bytes = 1040}).bytes;
  EXPECT_EQ(first, second);
  EXPECT_LT(fill({.padded_bytes = 1040}).bytes, second);
}

TEST_F(OutgoingChannelsTest, WhatIsLostIsSentAgainAndWhatIsAckedIsTold) {
  ASSERT_TRUE(queue(kUnordered, 10, 0, 77));
  Packet first = fill();
  EXPECT_EQ(first.filled.first_count, 1u);
  EXPECT_FALSE(channels_.has_work());
  const std::vector<CarriedItem> carried = take(first);
  ASSERT_EQ(carried.size(), 1u);
  channels_.on_lost(kUnordered, carried[0].value, carried[0].count, packet_seq_);
  EXPECT_TRUE(channels_.has_work());
  Packet second = fill();
  EXPECT_EQ(second.filled.resent_count, 1u);
  std::vector<uint32_t> told;
  channels_.on_acked(kUnordered, take(second)[0].value, 1,
                     [&](uint32_t receipt) { told.push_back(receipt); });
  EXPECT_EQ(told, std::vector<uint32_t>{77});
  EXPECT_EQ(channels_.reliable().messages, 0u);
}

TEST_F(OutgoingChannelsTest, AnIdleChannelHasNoDeadline) {
  ASSERT_TRUE(queue(kUnordered, 10));
  Packet packet = fill({.carrier = {.now_ns = 5 * kMs}});
  EXPECT_EQ(channels_.next_expiry_ns(), 105 * kMs);
  channels_.expire(104 * kMs);
  EXPECT_FALSE(channels_.has_work());
  channels_.expire(105 * kMs);
  EXPECT_TRUE(channels_.has_work());
  channels_.on_acked(kUnordered, take(packet)[0].value, 1, [](uint32_t) {});
  channels_.expire(106 * kMs);
  EXPECT_EQ(channels_.next_expiry_ns(), UINT64_MAX);
}

TEST_F(OutgoingChannelsTest, TheEndTellsEveryReceiptOnce) {
  ASSERT_TRUE(queue(kUnordered, 10, 0, 1));
  ASSERT_TRUE(queue(kUnreliable, 10, 0, 2));
  ASSERT_TRUE(queue(kSequenced, 10, wire::kFlagSnapshot, 3));
  std::vector<uint32_t> lost;
  channels_.lose_everything([&](uint32_t receipt) { lost.push_back(receipt); });
  std::sort(lost.begin(), lost.end());
  EXPECT_EQ(lost, (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_FALSE(channels_.has_work());
  EXPECT_EQ(channels_.application_bytes() + channels_.engine_bytes(), 0u);
}

TEST_F(OutgoingChannelsTest, ControlAndEngineAreNotTheApplications) {
  ASSERT_TRUE(channels_.queue_control(std::span(body_).first(20)));
  ASSERT_TRUE(queue_engine(30));
  EXPECT_EQ(channels_.of_application().messages, 0u);
  ASSERT_TRUE(queue(kUnordered, 5));
  ASSERT_TRUE(queue(kUnreliable, 6));
  EXPECT_EQ(channels_.of_application().messages, 2u);
  EXPECT_EQ(channels_.of_application().bytes, 11u);
  EXPECT_EQ(channels_.reliable().messages, 2u);
}

TEST_F(OutgoingChannelsTest, LittleThatWaitsNeedsALittleDatagram) {
  ASSERT_TRUE(queue(kUnreliable, 10));
  const uint64_t little = channels_.next_datagram_bytes();
  EXPECT_GE(little, 10u + wire::kTagBytes);
  EXPECT_LT(little, 100u);
  ASSERT_TRUE(queue(kUnordered, 10));
  EXPECT_EQ(channels_.next_datagram_bytes(), kDatagramBytes);
}

}  // namespace
}  // namespace lattice::reliability
