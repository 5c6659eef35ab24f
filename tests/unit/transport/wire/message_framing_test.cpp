// Payload framing: golden V9 and V10, generated payloads, every truncation, every refusal by name.
#include "transport/wire/message_framing.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "unit/transport/hex.h"

namespace lattice::wire {
namespace {

using test::from_hex;
using test::to_hex;

FramingError check(const char* hex) {
  const ChannelTable channels;
  FramingSummary summary;
  return check_framing(from_hex(hex), channels, &summary);
}

std::string write(const Message& message) {
  uint8_t bytes[64];
  base::ByteWriter writer(bytes);
  EXPECT_TRUE(write_message(writer, message));
  EXPECT_EQ(writer.size(), message_overhead_bytes(message.mode, message.is_fragment(), !message.has_ack) +
                               message.body.size());
  return to_hex(writer.written());
}

TEST(Framing, GoldenV9) {
  const auto ab_cd = from_hex("abcd");
  Message snapshot;
  snapshot.channel = 1;
  snapshot.mode = ChannelMode::kUnreliableSequenced;
  snapshot.flags = kFlagSnapshot;
  snapshot.id = {7};
  snapshot.body = ab_cd;
  EXPECT_EQ(write(snapshot), "1407000008abcd");

  const auto hi = from_hex("6869");
  Message ordered;
  ordered.channel = 3;
  ordered.mode = ChannelMode::kReliableOrdered;
  ordered.id = {0x0102};
  ordered.has_ack = true;
  ordered.ack = {1042, 0xB};
  ordered.body = hi;
  EXPECT_EQ(write(ordered), "30020112040b00000000086869");

  const auto ho = from_hex("686f");
  ordered.id = {0x0103};
  ordered.has_ack = false;
  ordered.body = ho;
  EXPECT_EQ(write(ordered), "3803010008686f");

  const auto part = from_hex("0102");
  Message fragment;
  fragment.channel = 2;
  fragment.mode = ChannelMode::kReliableUnordered;
  fragment.flags = kFlagFragment;
  fragment.id = {9};
  fragment.has_ack = true;
  fragment.ack = {1042, 0xB};
  fragment.fragment = {5, 1, 3};
  fragment.body = part;
  EXPECT_EQ(write(fragment), "21090012040b0000000500010300080102");
}

TEST(Framing, GoldenV10) {
  uint8_t bytes[16];
  base::ByteWriter writer(bytes);
  ASSERT_TRUE(write_ack_message(writer, {1042, 0xB}, false, 0));
  EXPECT_EQ(to_hex(writer.written()), "e0001812040b000000");
  base::ByteWriter with_delay(bytes);
  ASSERT_TRUE(write_ack_message(with_delay, {1042, 0xB}, true, 64'000));
  EXPECT_EQ(to_hex(with_delay.written()), "e0002012040b0000000200");
  base::ByteWriter saturated(bytes);
  ASSERT_TRUE(write_ack_message(saturated, {0, 0}, true, ~uint64_t{0}));
  EXPECT_EQ(to_hex(saturated.written()), "e00020000000000000ffff");
}

TEST(Framing, ReadsGoldenPayload) {
  const auto payload = from_hex(
      "30020112040b00000000086869"
      "3803010008686f"
      "1407000008abcd");
  const ChannelTable channels;
  FramingSummary summary;
  ASSERT_EQ(check_framing(payload, channels, &summary), FramingError::kNone);
  EXPECT_EQ(summary.ack, (AckBlock{1042, 0xB}));
  EXPECT_EQ(summary.message_count, 3u);
  EXPECT_EQ(summary.reliable_count, 2u);
  MessageReader reader(payload, channels);
  Message message;
  ASSERT_TRUE(reader.next(&message));
  EXPECT_EQ(message.id.value, 0x0102);
  EXPECT_EQ(to_hex(message.body), "6869");
  ASSERT_TRUE(reader.next(&message));
  EXPECT_FALSE(message.has_ack);
  ASSERT_TRUE(reader.next(&message));
  EXPECT_EQ(message.flags, kFlagSnapshot);
  EXPECT_EQ(message.id.value, 7);
  EXPECT_FALSE(reader.next(&message));
  EXPECT_EQ(reader.error(), FramingError::kNone);
}

TEST(Framing, OfTwoAckBlocksTheFirstCounts) {
  const auto payload = from_hex(
      "30020112040b00000000086869"
      "e0001801000f000000");
  const ChannelTable channels;
  FramingSummary summary;
  ASSERT_EQ(check_framing(payload, channels, &summary), FramingError::kNone);
  EXPECT_EQ(summary.ack.ack_seq, 1042);
}

TEST(Framing, RefusalsAreNamed) {
  EXPECT_EQ(check(""), FramingError::kMissingAck);
  EXPECT_EQ(check("000000"), FramingError::kMissingAck);
  EXPECT_EQ(check("3803010008686f"), FramingError::kMissingAck);
  EXPECT_EQ(check("400000e0001812040b000000"), FramingError::kUndeclaredChannel);
  EXPECT_EQ(check("080000e0001812040b000000"), FramingError::kReservedFlag);
  EXPECT_EQ(check("1807000000e0001812040b000000"), FramingError::kReservedFlag);
  EXPECT_EQ(check("e8001812040b000000"), FramingError::kReservedFlag);
  EXPECT_EQ(check("e1001812040b000000"), FramingError::kReservedFlag);
  EXPECT_EQ(check("e0001912040b000000"), FramingError::kReservedBits);
  EXPECT_EQ(check("e0001a12040b000000"), FramingError::kReservedBits);
  EXPECT_EQ(check("e0001412040b0000"), FramingError::kBadAckMessage);
  EXPECT_EQ(check("e0001c12040b00000000"), FramingError::kBadAckMessage);
  EXPECT_EQ(check("e0002412040b0000000000ff"), FramingError::kBadAckMessage);
  // index 3 of 3; then 255 of 256 (count byte 0), which is legal.
  EXPECT_EQ(check("21090012040b0000000500030300080102"), FramingError::kBadFragment);
  EXPECT_EQ(check("21090012040b0000000500ff0000080102"), FramingError::kNone);
  EXPECT_EQ(check("00fffce0001812040b000000"), FramingError::kTruncated);
}

TEST(Framing, PaddingEndsAPlaintext) {
  EXPECT_EQ(check("e00018000000000000ef"), FramingError::kNone);
  EXPECT_EQ(check("e00018000000000000ef0000"), FramingError::kNone);
  EXPECT_EQ(check("e00018000000000000ef0001"), FramingError::kReservedBits);
  EXPECT_EQ(check("e00018000000000000efe00018000000000000"), FramingError::kReservedBits);
  EXPECT_EQ(check("ef0000"), FramingError::kMissingAck);

  uint8_t buffer[20];
  base::ByteWriter writer(buffer);
  ASSERT_TRUE(write_ack_message(writer, {}, false, 0));
  write_padding(writer, 0);
  EXPECT_EQ(writer.size(), 9u);
  write_padding(writer, 100);
  EXPECT_EQ(writer.size(), sizeof buffer);
  FramingSummary summary;
  std::array<Message, 4> kept;
  EXPECT_EQ(check_framing(writer.written(), ChannelTable{}, &summary, kept), FramingError::kNone);
  EXPECT_EQ(summary.message_count, 0u);
  EXPECT_EQ(summary.kept_count, 1u);
}

TEST(Framing, DeclaredApplicationChannelsWork) {
  ChannelTable channels;
  EXPECT_FALSE(channels.declare(3, ChannelMode::kUnreliable));
  EXPECT_FALSE(channels.declare(14, ChannelMode::kUnreliable));
  EXPECT_FALSE(channels.declare(5, ChannelMode::kAckMessage));
  ASSERT_TRUE(channels.declare(4, ChannelMode::kReliableOrdered));
  FramingSummary summary;
  EXPECT_EQ(check_framing(from_hex("40020112040b00000000086869"), channels, &summary), FramingError::kNone);
}

std::vector<Message> generate_messages(const std::vector<uint8_t>& pool) {
  const auto count = *rc::gen::inRange(0, 8);
  const ChannelTable channels;
  std::vector<Message> messages;
  for (int i = 0; i < count; ++i) {
    Message message;
    message.channel = *rc::gen::element<uint8_t>(0, 1, 2, 3, 15);
    message.mode = channels.mode(message.channel);
    message.flags = static_cast<uint8_t>(*rc::gen::inRange(0, 8));
    message.id.value =
        message.mode == ChannelMode::kUnreliable ? uint16_t{0} : *rc::gen::arbitrary<uint16_t>();
    if (message.is_fragment()) {
      message.fragment.count = static_cast<uint16_t>(*rc::gen::inRange(1, 257));
      message.fragment.index = static_cast<uint8_t>(*rc::gen::inRange(0, int{message.fragment.count}));
      message.fragment.group = *rc::gen::arbitrary<uint16_t>();
    }
    message.body = std::span<const uint8_t>(pool).first(static_cast<size_t>(*rc::gen::inRange(0, 100)));
    messages.push_back(message);
  }
  return messages;
}

TEST(Framing, RoundTripAndTruncation) {
  const std::vector<uint8_t> pool(100, 0xA5);
  EXPECT_TRUE(rc::check("what is written is read back; no prefix passes as another payload's whole", [&] {
    auto messages = generate_messages(pool);
    uint8_t bytes[2000];
    base::ByteWriter writer(bytes);
    const AckBlock ack{*rc::gen::arbitrary<uint16_t>(), *rc::gen::arbitrary<uint32_t>()};
    std::vector<size_t> boundaries;
    RC_ASSERT(write_ack_message(writer, ack, true, 32'000));
    boundaries.push_back(writer.size());
    for (const Message& message : messages) {
      RC_ASSERT(write_message(writer, message));
      boundaries.push_back(writer.size());
    }
    const ChannelTable channels;
    FramingSummary summary;
    RC_ASSERT(check_framing(writer.written(), channels, &summary) == FramingError::kNone);
    RC_ASSERT(summary.ack == ack);
    RC_ASSERT(summary.ack_delay_ns == 32'000u);
    RC_ASSERT(summary.message_count == messages.size());
    MessageReader reader(writer.written(), channels);
    Message back;
    RC_ASSERT(reader.next(&back));
    for (const Message& message : messages) {
      RC_ASSERT(reader.next(&back));
      RC_ASSERT(back.channel == message.channel);
      RC_ASSERT((back.flags & 7) == message.flags);
      RC_ASSERT(back.id == message.id);
      RC_ASSERT(std::equal(back.body.begin(), back.body.end(), message.body.begin(), message.body.end()));
      if (message.is_fragment()) RC_ASSERT(back.fragment == message.fragment);
    }
    RC_ASSERT(!reader.next(&back));
    for (size_t cut = 0; cut < writer.size(); ++cut) {
      const bool boundary = std::find(boundaries.begin(), boundaries.end(), cut) != boundaries.end();
      const FramingError error = check_framing(writer.written().first(cut), channels, &summary);
      RC_ASSERT((error == FramingError::kNone) == boundary);
    }
  }));
}

TEST(Framing, WriterRefusesWhatDoesNotFit) {
  const std::vector<uint8_t> body(kMaxMessageBodyBytes + 1, 1);
  std::vector<uint8_t> out(kMaxMessageBodyBytes + 16);
  Message message;
  message.body = body;
  base::ByteWriter writer(out);
  EXPECT_FALSE(write_message(writer, message));
  EXPECT_EQ(writer.size(), 0u);
  message.body = std::span<const uint8_t>(body).first(kMaxMessageBodyBytes);
  EXPECT_TRUE(write_message(writer, message));
  EXPECT_FALSE(write_message(writer, message));
  EXPECT_TRUE(writer.ok());
}

}  // namespace
}  // namespace lattice::wire
