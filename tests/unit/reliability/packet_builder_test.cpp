// Exactly one ack block per packet, wherever the first message puts it, and nothing that does not fit.
#include "reliability/channel/packet_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "reliability/limits.h"

namespace lattice::reliability {
namespace {

const wire::AckBlock kAck{1042, 0xB};

OutgoingMessage message_on(uint8_t channel, uint16_t id, std::span<const uint8_t> body) {
  OutgoingMessage message;
  message.id = {id};
  message.channel = channel;
  message.body = body;
  return message;
}

TEST(PacketBuilder, ReliableFirstCarriesTheBlock) {
  const uint8_t hi[] = {'h', 'i'};
  uint8_t out[64];
  PacketBuilder builder(out, kAck, 0);
  ASSERT_TRUE(builder.add(wire::ChannelMode::kReliableOrdered, message_on(3, 0x0102, hi)));
  ASSERT_TRUE(builder.add(wire::ChannelMode::kReliableOrdered, message_on(3, 0x0103, hi)));
  ASSERT_TRUE(builder.add(wire::ChannelMode::kUnreliable, message_on(0, 0, hi)));
  const uint8_t expected[] = {0x30, 0x02, 0x01, 0x12, 0x04, 0x0b, 0,   0,    0,    0,    0x08, 'h', 'i',
                              0x38, 0x03, 0x01, 0x00, 0x08, 'h',  'i', 0x00, 0x00, 0x08, 'h',  'i'};
  ASSERT_EQ(builder.size(), sizeof(expected));
  EXPECT_EQ(std::vector<uint8_t>(out, out + builder.size()),
            std::vector<uint8_t>(expected, expected + sizeof(expected)));
}

TEST(PacketBuilder, AnAckAloneTellsItsDelayHoweverShort) {
  uint8_t out[wire::kAckMessageWithDelayBytes];
  PacketBuilder builder(out, kAck, 320'000);
  builder.add_ack_only();
  const uint8_t expected[] = {0xe0, 0x00, 0x20, 0x12, 0x04, 0x0b, 0, 0, 0, 10, 0};
  ASSERT_EQ(builder.size(), sizeof(expected));
  EXPECT_EQ(std::vector<uint8_t>(out, out + builder.size()),
            std::vector<uint8_t>(expected, expected + sizeof(expected)));
  wire::FramingSummary summary;
  EXPECT_EQ(wire::check_framing(out, wire::ChannelTable{}, &summary), wire::FramingError::kNone);
  EXPECT_EQ(summary.message_count, 0u);  // It asks for no ack itself.
  EXPECT_TRUE(summary.has_ack_delay);
  EXPECT_EQ(summary.ack_delay_ns, 320'000u);
}

TEST(PacketBuilder, LargestBodiesAlwaysFitTheFloor) {
  const std::vector<uint8_t> body(1200, 7);
  const struct {
    wire::ChannelMode mode;
    uint8_t channel;
  } kCases[] = {{wire::ChannelMode::kUnreliable, 0},
                {wire::ChannelMode::kUnreliableSequenced, 1},
                {wire::ChannelMode::kReliableUnordered, 2},
                {wire::ChannelMode::kReliableOrdered, 3}};
  for (const auto& c : kCases) {
    const size_t largest = max_body_bytes(c.mode);
    std::vector<uint8_t> out(wire::kFloorPlaintextBytes);
    PacketBuilder fits(out, kAck, 20'000'000);
    EXPECT_TRUE(fits.add(c.mode, message_on(c.channel, 1, std::span(body).first(largest))));
    EXPECT_EQ(fits.size(), wire::kFloorPlaintextBytes);  // And not a byte is wasted.
    PacketBuilder too_large(out, kAck, 20'000'000);
    EXPECT_FALSE(too_large.add(c.mode, message_on(c.channel, 1, std::span(body).first(largest + 1))));
    EXPECT_TRUE(too_large.empty());
  }
}

TEST(PacketBuilder, EveryPacketHasOneBlockAndReadsBack) {
  const std::vector<uint8_t> pool(400, 3);
  EXPECT_TRUE(rc::check("any mix of messages", [&] {
    const wire::ChannelTable channels;
    std::vector<uint8_t> out(wire::kFloorPlaintextBytes);
    const uint64_t delay_ns = *rc::gen::element<uint64_t>(0, 999'999, 1'000'000, 25'000'000);
    PacketBuilder builder(out, kAck, delay_ns);
    size_t added = 0;
    const auto count = *rc::gen::inRange(1, 30);
    bool reliable_done = false;
    for (int i = 0; i < count; ++i) {
      uint8_t channel = *rc::gen::element<uint8_t>(0, 1, 2, 3, 15);
      if (channel < 2) reliable_done = true;
      if (reliable_done && channel >= 2) channel = 0;
      const auto size = static_cast<size_t>(*rc::gen::inRange(0, 400));
      if (builder.add(channels.mode(channel), message_on(channel, 9, std::span(pool).first(size)))) ++added;
    }
    const std::span<const uint8_t> plaintext(out.data(), builder.size());
    wire::FramingSummary summary;
    RC_ASSERT(wire::check_framing(plaintext, channels, &summary) == wire::FramingError::kNone);
    RC_ASSERT(summary.ack == kAck);
    RC_ASSERT(summary.message_count == added);
    wire::MessageReader reader(plaintext, channels);
    wire::Message message;
    size_t blocks = 0;
    while (reader.next(&message)) blocks += message.has_ack ? 1 : 0;
    RC_ASSERT(blocks == 1u);
  }));
}

}  // namespace
}  // namespace lattice::reliability
