// Outer header: golden bytes, round trips, every truncation, one spelling per value.
#include "transport/wire/packet_header.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/transport/hex.h"

namespace lattice::wire {
namespace {

using test::from_hex;
using test::to_hex;

HeaderStatus parse(std::span<const uint8_t> bytes, PacketHeader* out, size_t* n) {
  return parse_packet_header(bytes, kProtocolId, out, n);
}

TEST(PacketHeader, GoldenV8) {
  PacketHeader header;
  header.type = PacketType::kPayload;
  header.connection_id = 0x1122334455667788u;
  header.key_epoch = 1;
  header.packet_seq = 300;
  uint8_t bytes[kMaxHeaderBytes];
  const size_t n = encode_packet_header(header, bytes);
  EXPECT_EQ(to_hex({bytes, n}), "4c54000101887766554433221101ac02");
  EXPECT_EQ(n, packet_header_bytes(300));
  PacketHeader back;
  size_t header_bytes = 0;
  ASSERT_EQ(parse({bytes, n}, &back, &header_bytes), HeaderStatus::kOk);
  EXPECT_EQ(back, header);
  EXPECT_EQ(header_bytes, n);
}

TEST(PacketHeader, GoldenVarintSizesV6) {
  const struct {
    uint64_t seq;
    const char* varint;
  } kCases[] = {{0, "00"},
                {127, "7f"},
                {128, "8001"},
                {300, "ac02"},
                {16384, "808001"},
                {(uint64_t{1} << 56) - 1, "ffffffffffffff7f"},
                {uint64_t{1} << 56, "808080808080808001"},
                {~uint64_t{0}, "ffffffffffffffffff"}};
  for (const auto& c : kCases) {
    PacketHeader header;
    header.packet_seq = c.seq;
    uint8_t bytes[kMaxHeaderBytes];
    const size_t n = encode_packet_header(header, bytes);
    EXPECT_EQ(to_hex(std::span<const uint8_t>(bytes, n).subspan(kFixedHeaderBytes)), c.varint);
    EXPECT_EQ(n, packet_header_bytes(c.seq));
  }
}

TEST(PacketHeader, OverlongVarintIsRefused) {
  for (const char* varint : {"8000", "808000", "ffffffffffffffff00", "808080808080808000"}) {
    auto bytes = from_hex(
        "4c540001018877665544332211"
        "01");
    const auto tail = from_hex(varint);
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    PacketHeader header;
    size_t n = 0;
    EXPECT_EQ(parse(bytes, &header, &n), HeaderStatus::kBadPacketSeq) << varint;
  }
}

TEST(PacketHeader, NamesWhatIsWrong) {
  PacketHeader header;
  size_t n = 0;
  EXPECT_EQ(parse(from_hex("4d5400010100000000000000000001"), &header, &n), HeaderStatus::kBadMagic);
  EXPECT_EQ(parse(from_hex("4c5400010600000000000000000001"), &header, &n), HeaderStatus::kUnknownType);
  EXPECT_EQ(parse(from_hex("4c540001"), &header, &n), HeaderStatus::kTooShort);
  EXPECT_EQ(parse({}, &header, &n), HeaderStatus::kTooShort);
  // Another version still fills the header: a server may answer a request with a denial (P-03).
  EXPECT_EQ(parse(from_hex("4c5401010000000000000000000000"), &header, &n), HeaderStatus::kWrongVersion);
  EXPECT_EQ(header.protocol_id, 0x0101544Cu);
  EXPECT_EQ(header.type, PacketType::kHandshake);
}

TEST(PacketHeader, RoundTripAndTruncation) {
  EXPECT_TRUE(rc::check("any header survives; any shorter prefix is refused", [] {
    PacketHeader header;
    header.type = static_cast<PacketType>(*rc::gen::inRange(0, 6));
    header.connection_id = *rc::gen::arbitrary<uint64_t>();
    header.key_epoch = *rc::gen::arbitrary<uint8_t>();
    header.packet_seq = *rc::gen::arbitrary<uint64_t>() >> *rc::gen::inRange(0, 64);
    uint8_t bytes[kMaxHeaderBytes];
    const size_t n = encode_packet_header(header, bytes);
    RC_ASSERT(n == packet_header_bytes(header.packet_seq));
    PacketHeader back;
    size_t header_bytes = 0;
    RC_ASSERT(parse({bytes, n}, &back, &header_bytes) == HeaderStatus::kOk);
    RC_ASSERT(back == header);
    RC_ASSERT(header_bytes == n);
    for (size_t cut = 0; cut < n; ++cut) {
      RC_ASSERT(parse({bytes, cut}, &back, &header_bytes) != HeaderStatus::kOk);
      RC_ASSERT(encode_packet_header(header, {bytes, cut}) == 0);
    }
  }));
}

}  // namespace
}  // namespace lattice::wire
