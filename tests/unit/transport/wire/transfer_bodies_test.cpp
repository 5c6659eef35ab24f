// Bodies of large transfers: golden bytes, generated values back and forth, every truncation, every value
// past its limit.
#include "transport/wire/transfer_bodies.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

#include "transport/wire/message_framing.h"
#include "unit/transport/hex.h"

namespace lattice::wire {
namespace {

using test::from_hex;
using test::to_hex;

constexpr const char* kOffer = "10010000127a00000000006d6170";

TEST(TransferBodies, GoldenBytes) {
  const auto label = from_hex("6d6170");
  std::array<uint8_t, kMaxTransferControlBytes> out;
  size_t n = encode_transfer_offer({1, 8'000'000, label}, out);
  EXPECT_EQ(to_hex({out.data(), n}), kOffer);
  n = encode_transfer_accept(1, out);
  EXPECT_EQ(to_hex({out.data(), n}), "110100");
  n = encode_transfer_hold({1, true}, out);
  EXPECT_EQ(to_hex({out.data(), n}), "12010001");
  n = encode_transfer_end({1, TransferSide::kReceiver, TransferEndReason::kDone}, out);
  EXPECT_EQ(to_hex({out.data(), n}), "1301000100");
  n = encode_transfer_chunk_header(1, 300, out);
  EXPECT_EQ(to_hex({out.data(), n}), "0100ac02");
}

TEST(TransferBodies, OfferBackAndForth) {
  EXPECT_TRUE(rc::check("every offer a sender may make", [] {
    TransferOffer offer;
    offer.id = *rc::gen::arbitrary<uint16_t>();
    offer.size_bytes = *rc::gen::inRange<uint64_t>(1, kMaxTransferBytes + 1);
    const auto label = *rc::gen::resize(64, rc::gen::arbitrary<std::vector<uint8_t>>());
    RC_PRE(label.size() <= kMaxTransferLabelBytes);
    offer.label = label;
    std::array<uint8_t, kMaxTransferControlBytes> out;
    const size_t n = encode_transfer_offer(offer, out);
    RC_ASSERT(n == 11 + label.size());
    TransferOffer back;
    RC_ASSERT(parse_transfer_offer({out.data(), n}, &back));
    RC_ASSERT(back.id == offer.id && back.size_bytes == offer.size_bytes);
    RC_ASSERT(std::vector<uint8_t>(back.label.begin(), back.label.end()) == label);
    for (size_t cut = 0; cut < 11; ++cut) RC_ASSERT(!parse_transfer_offer({out.data(), cut}, &back));
    for (size_t cut = 0; cut < n; ++cut) {
      RC_ASSERT(encode_transfer_offer(offer, {out.data(), cut}) == 0);
    }
  }));
}

// B-3: the label is the application's, in any form.
TEST(TransferBodies, ALabelIsAnyBytes) {
  const std::vector<uint8_t> label = {0x00, 0xFF, 0xC0, 0x1B, 0x00};
  TransferOffer offer;
  offer.id = 2;
  offer.size_bytes = 1;
  offer.label = label;
  std::array<uint8_t, kMaxTransferControlBytes> out{};
  const size_t n = encode_transfer_offer(offer, out);
  TransferOffer back;
  ASSERT_TRUE(parse_transfer_offer(std::span(out).first(n), &back));
  EXPECT_TRUE(std::equal(back.label.begin(), back.label.end(), label.begin(), label.end()));
}

TEST(TransferBodies, OfferRefusesEachValuePastItsLimit) {
  std::array<uint8_t, kMaxTransferControlBytes + 1> out{};
  TransferOffer back;
  const auto parses = [&](uint64_t size_bytes, size_t label_bytes) {
    const std::vector<uint8_t> label(label_bytes, 7);
    const size_t n = encode_transfer_offer({1, size_bytes, label}, out);
    EXPECT_NE(n, 0u);
    return parse_transfer_offer({out.data(), n}, &back);
  };
  EXPECT_TRUE(parses(1, 0));
  EXPECT_FALSE(parses(0, 0));
  EXPECT_TRUE(parses(1, 64));
  EXPECT_FALSE(parses(1, 65));
  EXPECT_TRUE(parses(kMaxTransferBytes, 0));
  EXPECT_FALSE(parses(kMaxTransferBytes + 1, 0));
  EXPECT_FALSE(parses(UINT64_MAX, 0));
}

TEST(TransferBodies, FixedBodiesRefuseOtherLengthsTypesAndValues) {
  uint16_t id = 0;
  TransferHold hold;
  TransferEnd end;
  TransferOffer offer;
  EXPECT_TRUE(parse_transfer_accept(from_hex("110201"), &id));
  EXPECT_EQ(id, 0x0102);
  for (const char* bad : {"", "11", "1102", "11020100", "120201"}) {
    EXPECT_FALSE(parse_transfer_accept(from_hex(bad), &id)) << bad;
  }
  EXPECT_TRUE(parse_transfer_hold(from_hex("12020100"), &hold));
  EXPECT_FALSE(hold.held);
  for (const char* bad : {"", "120201", "12020102", "1202010100", "11020101"}) {
    EXPECT_FALSE(parse_transfer_hold(from_hex(bad), &hold)) << bad;
  }
  EXPECT_TRUE(parse_transfer_end(from_hex("1302010104"), &end));
  EXPECT_EQ(end.reason, TransferEndReason::kTooLarge);
  EXPECT_TRUE(parse_transfer_end(from_hex("1302010003"), &end));
  EXPECT_EQ(end.side, TransferSide::kSender);
  // Another length, a third side, an unknown reason, and what only a receiver can say.
  for (const char* bad : {"", "13020101", "130201010000", "1302010200", "1302010105", "1302010000",
                          "1302010001", "1302010004", "1202010100"}) {
    EXPECT_FALSE(parse_transfer_end(from_hex(bad), &end)) << bad;
  }
  EXPECT_FALSE(parse_transfer_offer(from_hex("11010000127a0000000000"), &offer));
}

TEST(TransferBodies, ChunkHasAtLeastOneByte) {
  TransferChunk chunk;
  const auto body = from_hex("0100ac02aabb");
  EXPECT_TRUE(parse_transfer_chunk(body, &chunk));
  EXPECT_EQ(chunk.id, 1);
  EXPECT_EQ(chunk.offset, 300u);
  EXPECT_EQ(to_hex(chunk.bytes), "aabb");
  for (const char* bad : {"", "01", "0100", "0100ac", "0100ac02", "01008000aa"}) {
    EXPECT_FALSE(parse_transfer_chunk(from_hex(bad), &chunk)) << bad;
  }
}

TEST(TransferBodies, ChunkHeadersOfEveryLengthComeBack) {
  std::array<uint8_t, kMaxChunkHeaderBytes + 1> out{};
  for (unsigned bit = 0; bit < 40; ++bit) {
    const uint64_t offset = uint64_t{1} << bit;
    const size_t n = encode_transfer_chunk_header(7, offset, out);
    ASSERT_EQ(n, transfer_chunk_header_bytes(offset));
    ASSERT_LE(n, kMaxChunkHeaderBytes);
    EXPECT_EQ(encode_transfer_chunk_header(7, offset, std::span(out).first(n - 1)), 0u);
    TransferChunk chunk;
    ASSERT_TRUE(parse_transfer_chunk(std::span(out).first(n + 1), &chunk));
    EXPECT_EQ(chunk.offset, offset);
    EXPECT_EQ(chunk.bytes.size(), 1u);
  }
  EXPECT_EQ(transfer_chunk_header_bytes(kMaxTransferBytes - 1), kMaxChunkHeaderBytes);
}

// --- The channel mode

TEST(BulkChannel, FramedAsUnreliableWithoutFlags) {
  ChannelTable channels;
  ASSERT_TRUE(channels.declare(13, ChannelMode::kBulk));
  FramingSummary summary;
  const char* payload = "e0001812040b000000d000180100ac02aabb";
  ASSERT_EQ(check_framing(from_hex(payload), channels, &summary), FramingError::kNone);
  EXPECT_EQ(summary.message_count, 1u);
  EXPECT_EQ(summary.reliable_count, 0u);
  for (const char* first : {"d1", "d2", "d4", "d8"}) {
    const std::string bad = std::string("e0001812040b000000") + first + "00180100ac02aabb";
    EXPECT_EQ(check_framing(from_hex(bad), channels, &summary), FramingError::kReservedFlag) << first;
  }
  const ChannelTable without;
  EXPECT_EQ(check_framing(from_hex(payload), without, &summary), FramingError::kUndeclaredChannel);
}

TEST(BulkChannel, OnlyApplicationChannels) {
  ChannelTable channels;
  EXPECT_FALSE(channels.declare(3, ChannelMode::kBulk));
  EXPECT_FALSE(channels.declare(14, ChannelMode::kBulk));
  EXPECT_FALSE(channels.declare(13, ChannelMode::kUndeclared));
  EXPECT_TRUE(channels.declare(4, ChannelMode::kBulk));
}

}  // namespace
}  // namespace lattice::wire
