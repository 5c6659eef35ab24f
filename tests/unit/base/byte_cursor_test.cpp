#include "base/byte_cursor.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <vector>

namespace lattice::base {
namespace {

TEST(ByteCursor, GoldenBytes) {
  std::array<uint8_t, 32> buffer{};
  ByteWriter writer(buffer);
  writer.u8(0xAB);
  writer.u16(0x0102);
  writer.u32(0x03040506);
  writer.u64(0x0708090A0B0C0D0Eu);
  writer.varint(300);
  writer.zeros(2);
  ASSERT_TRUE(writer.ok());
  const std::vector<uint8_t> expected = {0xAB, 2,    1, 6, 5, 4,    3, 0x0E, 0x0D, 0x0C,
                                         0x0B, 0x0A, 9, 8, 7, 0xAC, 2, 0,    0};
  EXPECT_EQ(std::vector<uint8_t>(writer.written().begin(), writer.written().end()), expected);
}

TEST(ByteCursor, ReadFailureIsSticky) {
  const std::array<uint8_t, 3> bytes = {1, 2, 3};
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u16(), 0x0201);
  EXPECT_EQ(reader.u16(), 0);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0);
  EXPECT_EQ(reader.remaining(), 0u);
  uint8_t copied[2] = {9, 9};
  reader.copy(copied, 2);
  EXPECT_EQ(copied[0], 0);
  EXPECT_TRUE(reader.bytes(1).empty());
}

TEST(ByteCursor, WriteFailureIsStickyAndStaysInBounds) {
  std::array<uint8_t, 4> buffer = {7, 7, 7, 7};
  ByteWriter writer(std::span<uint8_t>(buffer).first(3));
  writer.u16(0x1111);
  writer.u16(0x2222);
  writer.u8(0x33);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.size(), 2u);
  EXPECT_EQ(buffer, (std::array<uint8_t, 4>{0x11, 0x11, 7, 7}));
}

TEST(ByteCursor, VarintEdges) {
  const std::array<std::pair<uint64_t, size_t>, 9> edges = {{{0, 1},
                                                             {0x7F, 1},
                                                             {0x80, 2},
                                                             {0x3FFF, 2},
                                                             {0x4000, 3},
                                                             {(uint64_t{1} << 56) - 1, 8},
                                                             {uint64_t{1} << 56, 9},
                                                             {uint64_t{1} << 63, 9},
                                                             {UINT64_MAX, 9}}};
  for (const auto& [value, bytes] : edges) {
    std::array<uint8_t, 9> buffer{};
    ByteWriter writer(buffer);
    writer.varint(value);
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(writer.size(), bytes) << value;
    EXPECT_EQ(varint_bytes(value), bytes) << value;
    ByteReader reader(writer.written());
    EXPECT_EQ(reader.varint(), value);
    EXPECT_TRUE(reader.ok());
  }
}

TEST(ByteCursor, OverlongVarintsAreRefused) {
  const std::vector<std::vector<uint8_t>> overlong = {
      {0x80, 0x00}, {0xFF, 0x80, 0x00}, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}};
  for (const std::vector<uint8_t>& bytes : overlong) {
    ByteReader reader(bytes);
    EXPECT_EQ(reader.varint(), 0u);
    EXPECT_FALSE(reader.ok());
  }
}

TEST(ByteCursor, RoundTripAndEveryTruncationRefused) {
  EXPECT_TRUE(rc::check("write, read, cut", [](uint8_t a, uint16_t b, uint32_t c, uint64_t d, uint64_t e,
                                               const std::vector<uint8_t>& tail) {
    std::vector<uint8_t> buffer(64 + tail.size());
    ByteWriter writer(buffer);
    writer.u8(a);
    writer.u16(b);
    writer.u32(c);
    writer.u64(d);
    writer.varint(e >> (a % 64));
    writer.bytes(tail);
    RC_ASSERT(writer.ok());
    const auto read_all = [&](std::span<const uint8_t> input, bool check) {
      ByteReader reader(input);
      const uint8_t ra = reader.u8();
      const uint16_t rb = reader.u16();
      const uint32_t rc_ = reader.u32();
      const uint64_t rd = reader.u64();
      const uint64_t re = reader.varint();
      const auto rest = reader.bytes(tail.size());
      if (check) {
        RC_ASSERT(ra == a && rb == b && rc_ == c && rd == d && re == e >> (a % 64));
        RC_ASSERT(std::vector<uint8_t>(rest.begin(), rest.end()) == tail);
        RC_ASSERT(reader.remaining() == 0);
      }
      return reader.ok();
    };
    RC_ASSERT(read_all(writer.written(), true));
    for (size_t cut = 0; cut < writer.size(); ++cut) RC_ASSERT(!read_all(writer.written().first(cut), false));
  }));
}

}  // namespace
}  // namespace lattice::base
