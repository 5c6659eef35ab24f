// BitWriter and BitReader: the known-answer vectors, round trips of every method, every truncation, one past
// each limit.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"

namespace lattice {
namespace {

enum class Letter { kA, kB, kC };
LATTICE_ENUM(Letter, kA, kB, kC)

template <typename Write>
std::vector<uint8_t> packed(Write write, size_t capacity = 4096) {
  std::vector<uint8_t> buffer(capacity, 0xEE);
  BitWriter w(buffer);
  write(w);
  EXPECT_TRUE(w.ok());
  const std::span<const uint8_t> out = w.finish();
  return {out.begin(), out.end()};
}

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string out;
  for (uint8_t b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

TEST(BitCursor, VectorsV1ToV5) {
  EXPECT_EQ(hex(packed([](BitWriter& w) {
              w.WriteBits(5, 3);
              w.WriteBool(true);
              w.WriteBits(0x3FF, 10);
            })),
            "bffc");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteRangedInt(1000, 0, 1023); })), "fa00");
  EXPECT_EQ(hex(packed([](BitWriter& w) {
              w.WriteBits(0xA, 4);
              w.WriteU16(0x1234);
            })),
            "a34120");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteBits(0x1234, 16); })), "1234");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteU16(0x1234); })), "3412");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteFloat(1.0f); })), "0000803f");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteDouble(1.0); })), "000000000000f03f");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteU64(0x0102030405060708u); })), "0807060504030201");
}

TEST(BitCursor, VectorV6Varints) {
  const auto varint = [](uint64_t v) { return hex(packed([v](BitWriter& w) { w.WriteVarint(v); })); };
  EXPECT_EQ(varint(0), "00");
  EXPECT_EQ(varint(127), "7f");
  EXPECT_EQ(varint(128), "8001");
  EXPECT_EQ(varint(300), "ac02");
  EXPECT_EQ(varint(16384), "808001");
  EXPECT_EQ(varint((uint64_t{1} << 56) - 1), "ffffffffffffff7f");
  EXPECT_EQ(varint(uint64_t{1} << 56), "808080808080808001");
  EXPECT_EQ(varint(UINT64_MAX), "ffffffffffffffffff");
  const auto int32 = [](int32_t v) { return hex(packed([v](BitWriter& w) { w.WriteInt(v); })); };
  EXPECT_EQ(int32(-1), "01");
  EXPECT_EQ(int32(1), "02");
  EXPECT_EQ(int32(-64), "7f");
  EXPECT_EQ(int32(64), "8001");
  EXPECT_EQ(int32(300), "d804");
  EXPECT_EQ(int32(INT32_MIN), "ffffffff0f");
  EXPECT_EQ(int32(INT32_MAX), "feffffff0f");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteLong(INT64_MIN); })), "ffffffffffffffffff");
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteLong(INT64_MAX); })), "feffffffffffffffff");
}

TEST(BitCursor, VectorV7Bytes) {
  const auto code = [](float v) {
    return hex(packed([v](BitWriter& w) { w.WriteCompressedFloat(v, -512.0f, 512.0f, 0.01f); }));
  };
  EXPECT_EQ(code(0.0f), "640000");
  EXPECT_EQ(code(3.14159f), "649d00");
  EXPECT_EQ(code(512.0f), "c80000");
  EXPECT_EQ(code(-512.0f), "000000");
  EXPECT_EQ(code(0.006f), "640080");
  const auto rotation = [](Quaternion q) { return hex(packed([q](BitWriter& w) { w.WriteQuaternion(q); })); };
  EXPECT_EQ(rotation({0, 0, 0, 1}), "dff7fdff");
  EXPECT_EQ(rotation({0, 0, 0, -1}), "dff7fdff");
  EXPECT_EQ(rotation({0.5f, 0.5f, 0.5f, 0.5f}), "368da368");
  EXPECT_EQ(rotation({0.70710678f, 0, 0, 0.70710678f}), "1ff7fffe");
  EXPECT_EQ(rotation({0.1f, -0.2f, 0.3f, 0.9f}), "e495aedd");
  EXPECT_EQ(rotation({0, 0, 0, 0}), "dff7fdff");
  EXPECT_EQ(rotation({0, std::numeric_limits<float>::quiet_NaN(), 0, 0}), "dff7fdff");
}

// One call of each method, in an order and with values taken from a seed; `Reader` checks them back.
class Script {
 public:
  explicit Script(uint64_t seed) : random_(seed) {}

  void run(BitWriter* w, BitReader* r) {
    for (int step = 0; step < 40; ++step) one(w, r);
  }

 private:
  template <typename T, typename Write, typename Read>
  void both(BitWriter* w, BitReader* r, T v, Write write, Read read) {
    if (w) {
      write(*w, v);
    } else if (r->ok()) {
      const T got = read(*r);
      if (r->ok()) {
        EXPECT_TRUE(got == v);
      }
    }
  }

  void one(BitWriter* w, BitReader* r) {
    const uint64_t v = random_.next_u64() >> random_.next_below(64);
    const int bits = static_cast<int>(random_.next_below(65));
    const uint64_t mask = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    switch (random_.next_below(14)) {
      case 0:
        return both(
            w, r, v & mask, [&](BitWriter& o, uint64_t x) { o.WriteBits(x, bits); },
            [&](BitReader& i) { return i.ReadBits(bits); });
      case 1:
        return both(
            w, r, (v & 1) != 0, [](BitWriter& o, bool x) { o.WriteBool(x); },
            [](BitReader& i) { return i.ReadBool(); });
      case 2:
        return both(
            w, r, static_cast<uint8_t>(v), [](BitWriter& o, uint8_t x) { o.WriteByte(x); },
            [](BitReader& i) { return i.ReadByte(); });
      case 3:
        return both(
            w, r, static_cast<int32_t>(v), [](BitWriter& o, int32_t x) { o.WriteInt(x); },
            [](BitReader& i) { return i.ReadInt(); });
      case 4:
        return both(
            w, r, static_cast<int64_t>(v), [](BitWriter& o, int64_t x) { o.WriteLong(x); },
            [](BitReader& i) { return i.ReadLong(); });
      case 5:
        return both(
            w, r, static_cast<int32_t>(v % 1000) - 17,
            [](BitWriter& o, int32_t x) { o.WriteRangedInt(x, -17, 982); },
            [](BitReader& i) { return i.ReadRangedInt(-17, 982); });
      case 6:
        return both(
            w, r, static_cast<int64_t>(v),
            [](BitWriter& o, int64_t x) { o.WriteRangedLong(x, INT64_MIN, INT64_MAX); },
            [](BitReader& i) { return i.ReadRangedLong(INT64_MIN, INT64_MAX); });
      case 7:
        return both(
            w, r, static_cast<uint32_t>(v),
            [](BitWriter& o, uint32_t x) { o.WriteFloat(std::bit_cast<float>(x)); },
            [](BitReader& i) { return std::bit_cast<uint32_t>(i.ReadFloat()); });
      case 8:
        return both(
            w, r, v, [](BitWriter& o, uint64_t x) { o.WriteDouble(std::bit_cast<double>(x)); },
            [](BitReader& i) { return std::bit_cast<uint64_t>(i.ReadDouble()); });
      case 9:
        return both(
            w, r, EnumTraits<Letter>::value(v % 3), [](BitWriter& o, Letter x) { o.WriteEnum(x); },
            [](BitReader& i) { return i.ReadEnum<Letter>(); });
      case 10:
        return both(
            w, r, std::string(v % 40, static_cast<char>('a' + v % 26)),
            [](BitWriter& o, const std::string& x) { o.WriteString(x); },
            [](BitReader& i) { return i.ReadString(); });
      case 11:
        return both(
            w, r, std::vector<uint8_t>(v % 9, static_cast<uint8_t>(v)),
            [](BitWriter& o, const std::vector<uint8_t>& x) { o.WriteBytes(x.data(), x.size()); },
            [](BitReader& i) {
              std::vector<uint8_t> out(16);
              out.resize(i.ReadBytes(out.data(), out.size()));
              return out;
            });
      case 12:
        return both(
            w, r, v, [](BitWriter& o, uint64_t x) { o.WriteU64(x); },
            [](BitReader& i) { return i.ReadU64(); });
      default:
        return both(
            w, r, v, [](BitWriter& o, uint64_t x) { o.WriteVarint(x); },
            [](BitReader& i) { return i.ReadVarint(); });
    }
  }

  base::Random random_;
};

TEST(BitCursor, RoundTripsAnySequence) {
  EXPECT_TRUE(rc::check("what was written is read", [](uint64_t seed) {
    const std::vector<uint8_t> bytes = packed([&](BitWriter& w) { Script(seed).run(&w, nullptr); });
    BitReader r(bytes);
    Script(seed).run(nullptr, &r);
    RC_ASSERT(r.at_end());
  }));
}

TEST(BitCursor, EveryTruncationFails) {
  EXPECT_TRUE(rc::check("a shorter message is never accepted", [](uint64_t seed) {
    const std::vector<uint8_t> bytes = packed([&](BitWriter& w) { Script(seed).run(&w, nullptr); });
    for (size_t n = 0; n < bytes.size(); ++n) {
      BitReader r(std::span<const uint8_t>(bytes).first(n));
      Script(seed).run(nullptr, &r);
      RC_ASSERT(!r.at_end());
    }
  }));
}

TEST(BitCursor, WriterStopsAtItsEnd) {
  EXPECT_TRUE(rc::check("no byte past the buffer is touched", [](uint64_t seed) {
    std::vector<uint8_t> bytes(8192, 0xEE);
    const size_t capacity = seed % 200;
    BitWriter w(std::span<uint8_t>(bytes).first(capacity));
    Script(seed).run(&w, nullptr);
    w.finish();
    for (size_t i = capacity; i < bytes.size(); ++i) RC_ASSERT(bytes[i] == 0xEE);
    if (!w.ok()) RC_ASSERT(w.byte_count() <= capacity);
  }));
}

TEST(BitCursor, RewindForgets) {
  EXPECT_TRUE(rc::check("as if never written", [](uint64_t seed, uint64_t other) {
    const std::vector<uint8_t> plain = packed([&](BitWriter& w) {
      Script(seed).run(&w, nullptr);
      Script(seed + 1).run(&w, nullptr);
    });
    const std::vector<uint8_t> rewound = packed([&](BitWriter& w) {
      Script(seed).run(&w, nullptr);
      const BitWriter::Mark mark = w.mark();
      Script(other).run(&w, nullptr);
      w.finish();
      w.rewind(mark);
      Script(seed + 1).run(&w, nullptr);
    });
    RC_ASSERT(plain == rewound);
  }));
}

TEST(BitCursor, RewindClearsAnOverflow) {
  uint8_t buffer[2];
  BitWriter w(buffer);
  w.WriteBits(0x5, 3);
  const BitWriter::Mark mark = w.mark();
  w.WriteU32(7);
  EXPECT_FALSE(w.ok());
  w.rewind(mark);
  w.WriteBits(0x1FFF, 13);
  EXPECT_TRUE(w.ok());
  EXPECT_EQ(w.finish().size(), 2u);
  EXPECT_EQ(buffer[0], 0xBF);
}

TEST(BitCursor, CodesPastTheLimitFail) {
  const auto fails = [](uint64_t code, int bits, auto read) {
    const std::vector<uint8_t> bytes = packed([&](BitWriter& w) { w.WriteBits(code, bits); });
    BitReader r(bytes);
    read(r);
    return !r.ok();
  };
  EXPECT_FALSE(fails(1000, 10, [](BitReader& r) { EXPECT_EQ(r.ReadRangedInt(0, 1000), 1000); }));
  EXPECT_TRUE(fails(1001, 10, [](BitReader& r) { EXPECT_EQ(r.ReadRangedInt(0, 1000), 0); }));
  EXPECT_TRUE(fails(3, 2, [](BitReader& r) { EXPECT_EQ(r.ReadEnum<Letter>(), Letter::kA); }));
  EXPECT_TRUE(
      fails(102401, 17, [](BitReader& r) { EXPECT_EQ(r.ReadCompressedFloat(-512, 512, 0.01f), 0.0f); }));
  // Code 2^n - 1 names no component; three components of 1/sqrt(2) are longer than a unit quaternion.
  EXPECT_TRUE(
      fails(uint64_t{1023} << 20, 32, [](BitReader& r) { EXPECT_EQ(r.ReadQuaternion(), Quaternion{}); }));
  EXPECT_TRUE(
      fails((uint64_t{1022} << 20) | (1022 << 10) | 1022, 32, [](BitReader& r) { r.ReadQuaternion(); }));
}

TEST(BitCursor, OverlongVarintsFail) {
  const std::vector<std::vector<uint8_t>> bad = {
      {0x80, 0x00}, {0xFF, 0x80, 0x00}, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, {0x80}};
  for (const auto& bytes : bad) {
    BitReader r(bytes);
    EXPECT_EQ(r.ReadVarint(), 0u);
    EXPECT_FALSE(r.ok());
  }
  const std::vector<uint8_t> wide = {0x80, 0x80, 0x80, 0x80, 0x10};  // 2^32
  BitReader r(wide);
  EXPECT_EQ(r.ReadInt(), 0);
  EXPECT_FALSE(r.ok());
}

TEST(BitCursor, StringsAreCheckedAndCapped) {
  const auto read = [](std::vector<uint8_t> body, size_t cap) {
    body.insert(body.begin(), static_cast<uint8_t>(body.size()));
    BitReader r(body);
    const std::string text = r.ReadString(cap);
    return r.ok() ? text : std::string("!");
  };
  EXPECT_EQ(read({'h', 'i'}, 2), "hi");
  EXPECT_EQ(read({'h', 'i', '!'}, 2), "!");
  EXPECT_EQ(read({0xC3, 0xBC}, 9), "\xC3\xBC");
  EXPECT_EQ(read({0xC3}, 9), "!");
  EXPECT_EQ(read({0xC0, 0x80}, 9), "!");        // overlong
  EXPECT_EQ(read({0xED, 0xA0, 0x80}, 9), "!");  // surrogate
  EXPECT_EQ(read({0xF4, 0x90, 0x80, 0x80}, 9), "!");
  const std::vector<uint8_t> lies = {200, 'a'};
  BitReader r(lies);
  EXPECT_EQ(r.ReadString(), "");
  EXPECT_FALSE(r.ok());
  const std::vector<uint8_t> nine = {9, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  BitReader capped(nine);
  uint8_t out[8];
  EXPECT_EQ(capped.ReadBytes(out, sizeof out), 0u);
  EXPECT_FALSE(capped.ok());
  // What is not UTF-8 is never sent.
  EXPECT_EQ(hex(packed([](BitWriter& w) { w.WriteString("ab\xFF\xFE"); })), "026162");
}

TEST(BitCursor, ErrorsAreSticky) {
  const std::vector<uint8_t> bytes = {0xFF, 0xFF, 0xFF};
  BitReader r(bytes);
  EXPECT_EQ(r.ReadU32(), 0u);
  EXPECT_FALSE(r.ok());
  EXPECT_EQ(r.ReadBits(1), 0u);
  EXPECT_FALSE(r.ReadBool());
  EXPECT_EQ(r.bits_left(), 0u);
  EXPECT_FALSE(r.at_end());
}

TEST(BitCursor, EndNeedsZeroPaddingUnderAByte) {
  const std::vector<uint8_t> clean = {0xE0};
  const std::vector<uint8_t> dirty = {0xE1};
  const std::vector<uint8_t> more = {0xE0, 0x00};
  for (const auto* bytes : {&clean, &dirty, &more}) {
    BitReader r(*bytes);
    EXPECT_EQ(r.ReadBits(3), 7u);
    EXPECT_EQ(r.at_end(), bytes == &clean);
  }
}

TEST(BitCursor, ClampedValuesAreCounted) {
  uint8_t buffer[64];
  BitWriter w(buffer);
  w.WriteRangedInt(5, 0, 4);
  w.WriteCompressedFloat(std::numeric_limits<float>::quiet_NaN(), 1.0f, 2.0f, 0.1f);
  w.WriteEnum(static_cast<Letter>(77));
  w.WriteRangedBits(16, 4);
  EXPECT_EQ(w.clamped_count(), 4u);
  BitReader r(w.finish());
  EXPECT_EQ(r.ReadRangedInt(0, 4), 4);
  EXPECT_EQ(r.ReadCompressedFloat(1.0f, 2.0f, 0.1f), 1.0f);
  EXPECT_EQ(r.ReadEnum<Letter>(), Letter::kA);
  EXPECT_EQ(r.ReadBits(4), 15u);
}

TEST(BitCursor, BitSpansCopyAtAnyPosition) {
  EXPECT_TRUE(rc::check("bits arrive unchanged", [](uint64_t seed) {
    base::Random random(seed);
    const std::vector<uint8_t> source = packed([&](BitWriter& w) { Script(seed).run(&w, nullptr); });
    const size_t bits = random.next_below(source.size() * 8 + 1);
    const int skew = static_cast<int>(random.next_below(8));
    const std::vector<uint8_t> moved = packed([&](BitWriter& w) {
      w.WriteBits(0, skew);
      w.WriteBitSpan(source.data(), bits);
    });
    BitReader r(moved);
    r.Skip(static_cast<size_t>(skew));
    std::vector<uint8_t> back(source.size() + 1, 0);
    r.ReadBitSpan(back.data(), bits);
    RC_ASSERT(r.ok());
    BitReader a(source, bits), b(back, bits);
    while (a.bits_left() != 0) RC_ASSERT(a.ReadBool() == b.ReadBool());
  }));
}

}  // namespace
}  // namespace lattice
