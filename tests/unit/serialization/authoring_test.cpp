// The two authoring paths give the same bits (§21.4); the helpers games use.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "lattice/authoring/random.h"
#include "unit/serialization/everything.h"

namespace lattice {
namespace {

enum class ProjKind { kArrow, kBolt, kRocket };
LATTICE_ENUM(ProjKind, kArrow, kBolt, kRocket)

// ----- Path (a): declarative, as in §21.4 -----
struct ProjectileState {
  LATTICE_NETSTRUCT(ProjectileState,                             //
                    (origin, vec3, BOUNDS(-4096, 4096, 0.01f)),  //
                    (velocity, vec3, BOUNDS(-512, 512, 0.01f)),  //
                    (charge, int32, RANGED(0, 1023)),            //
                    (piercing, bool),                            //
                    (kind, ProjKind))
};

// ----- Path (b): explicit, as in §21.4 -----
struct ProjectileStateManual : INetworkSerializable {
  Vector3 origin, velocity;
  int32_t charge = 0;
  bool piercing = false;
  ProjKind kind = ProjKind::kArrow;
  void Serialize(BitWriter& w) const override {
    w.WriteVector3(origin, {.min = -4096, .max = 4096, .precision = 0.01f});
    w.WriteVector3(velocity, {.min = -512, .max = 512, .precision = 0.01f});
    w.WriteRangedInt(charge, 0, 1023);
    w.WriteBool(piercing);
    w.WriteEnum(kind);
  }
  void Deserialize(BitReader& r) override {
    origin = r.ReadVector3({.min = -4096, .max = 4096, .precision = 0.01f});
    velocity = r.ReadVector3({.min = -512, .max = 512, .precision = 0.01f});
    charge = r.ReadRangedInt(0, 1023);
    piercing = r.ReadBool();
    kind = r.ReadEnum<ProjKind>();
  }
};

std::vector<uint8_t> by_layout(const lattice_struct_desc& desc, const void* value) {
  const serialization::Layout layout = test::layout_of(desc);
  std::vector<serialization::Word> words(layout.word_count());
  layout.quantize(&value, words.data());
  std::vector<uint8_t> buffer(layout.max_whole_bits() / 8 + 1);
  BitWriter w(buffer);
  layout.encode_whole(w, words.data());
  EXPECT_TRUE(w.ok());
  const auto out = w.finish();
  return {out.begin(), out.end()};
}

template <typename T>
std::vector<uint8_t> by_serialize(const T& value) {
  std::vector<uint8_t> buffer(4096);
  buffer.resize(serialize_to(value, buffer));
  return buffer;
}

// clang-format off
struct P { LATTICE_NETSTRUCT(P, (v, vec3, BOUNDS(-1, 1, 0.1f), BOUNDS(-2, 2, 0.1f), POSITION)) };
// clang-format on

TEST(Authoring, BothPathsGiveTheSameBits) {
  EXPECT_TRUE(rc::check("layout == generated == hand-written", [](uint64_t seed) {
    base::Random random(seed);
    ProjectileState a;
    ProjectileStateManual b;
    const auto vector = [&](float bound) {
      return Vector3{test::uniform(random, -bound, bound), test::uniform(random, -bound, bound),
                     test::uniform(random, -bound * 1.1f, bound * 1.1f)};
    };
    a.origin = b.origin = vector(4096);
    a.velocity = b.velocity = vector(512);
    a.charge = b.charge = static_cast<int32_t>(random.next_below(1100));
    a.piercing = b.piercing = random.chance(0.5);
    a.kind = b.kind = EnumTraits<ProjKind>::value(random.next_below(3));
    const auto manual = by_serialize(b);
    RC_ASSERT(by_serialize(a) == manual);
    RC_ASSERT(by_layout(struct_desc<ProjectileState>(), &a) == manual);
    ProjectileState back;
    RC_ASSERT(deserialize_from(manual, back));
    RC_ASSERT(by_serialize(back) == manual);
    ProjectileStateManual manual_back;
    RC_ASSERT(deserialize_from(manual, manual_back));
    RC_ASSERT(manual_back.origin == back.origin);
  }));
}

TEST(Authoring, GeneratedPackerMatchesTheLayoutForEveryType) {
  EXPECT_TRUE(rc::check("Serialize == encode_whole", [](uint64_t seed) {
    base::Random random(seed);
    test::Everything e = test::plausible(random);
    e.quat_full = Quaternion{};  // a full rotation of length 0 is the one value only the layout repairs
    const auto bytes = by_serialize(e);
    RC_ASSERT(by_layout(struct_desc<test::Everything>(), &e) == bytes);
    test::Everything back;
    RC_ASSERT(deserialize_from(bytes, back));
    RC_ASSERT(by_serialize(back) == bytes);
    for (size_t n = 0; n < bytes.size(); ++n) {
      test::Everything untouched = e;
      RC_ASSERT(!deserialize_from(std::span<const uint8_t>(bytes).first(n), untouched));
      RC_ASSERT(untouched == e);
    }
  }));
}

TEST(Authoring, DescriptorsSayWhatWasDeclared) {
  const lattice_struct_desc& desc = struct_desc<test::Everything>();
  EXPECT_STREQ(desc.name, "Everything");
  EXPECT_EQ(desc.host_bytes, sizeof(test::Everything));
  ASSERT_EQ(desc.member_count, 32u);
  const auto member = [&](test::Everything::Member m) -> const lattice_member_desc& {
    return desc.members[static_cast<size_t>(m)];
  };
  using M = test::Everything::Member;
  EXPECT_STREQ(member(M::bits).name, "bits");
  EXPECT_EQ(member(M::bits).bits, 10u);
  EXPECT_EQ(member(M::bits).offset, offsetof(test::Everything, bits));
  EXPECT_EQ(member(M::text).capacity, 20u);
  EXPECT_EQ(member(M::mood).enum_count, 3u);
  EXPECT_EQ(member(M::mood).enum_values[1], -7);
  EXPECT_EQ(member(M::slots).structure->flags, uint32_t{LATTICE_STRUCT_DELTA});
  EXPECT_EQ(member(M::fx_difference).encoding, LATTICE_ENCODING_VARINT);
  EXPECT_EQ(struct_desc<test::Mover>().members[0].flags, uint32_t{LATTICE_MEMBER_POSITION});
}

TEST(Authoring, BoundsPerComponent) {
  const lattice_member_desc& m = struct_desc<P>().members[0];
  EXPECT_EQ(m.quant[0].max, 1.0);
  EXPECT_EQ(m.quant[1].max, 2.0);
  EXPECT_EQ(m.quant[2].max, 2.0);
}

TEST(Authoring, HandWrittenMembersTravelInline) {
  const auto bits = [](const test::Everything& e) {
    uint8_t buffer[512];
    BitWriter w(buffer);
    e.Serialize(w);
    EXPECT_TRUE(w.ok());
    return w.bit_count();
  };
  test::Everything e;
  const size_t without = bits(e);
  e.runs.count = 2;
  e.runs.values[0] = 31;
  EXPECT_EQ(bits(e), without + 10);
}

TEST(Fixed64, ArithmeticIsExact) {
  const Fixed64 half = Fixed64::from_double(0.5), three = Fixed64::from_int(3), minus = Fixed64::from_int(-7);
  EXPECT_EQ((half * three).to_double(), 1.5);
  EXPECT_EQ((minus * half).to_double(), -3.5);
  EXPECT_EQ((minus / three).raw, -((int64_t{7} << 32) / 3));
  EXPECT_EQ((three / half).to_double(), 6.0);
  EXPECT_EQ((three / Fixed64{}).raw, INT64_MAX);
  EXPECT_EQ(minus.floor(), -7);
  EXPECT_EQ((minus + half).floor(), -7);
  EXPECT_TRUE(rc::check("products and quotients agree with 128-bit integers", [](int64_t a, int64_t b) {
    a >>= 20;
    b >>= 16;
    RC_PRE(b != 0);
    __extension__ using Wide = __int128;
    const Wide product = static_cast<Wide>(a) * b / (Wide{1} << 32);
    RC_ASSERT((Fixed64{a} * Fixed64{b}).raw == static_cast<int64_t>(product));
    const Wide quotient = static_cast<Wide>(a) * (Wide{1} << 32) / b;
    if (quotient >= INT64_MIN && quotient <= INT64_MAX) {
      RC_ASSERT((Fixed64{a} / Fixed64{b}).raw == static_cast<int64_t>(quotient));
    }
  }));
}

TEST(Random, IsTheSameEverywhereAndInRange) {
  uint64_t state = 1;
  EXPECT_EQ(random_next(state), 0x910A2DEC89025CC1u);  // splitmix64, seed 1
  EXPECT_TRUE(rc::check("bounds hold", [](uint64_t seed, uint32_t bound) {
    uint64_t s = seed;
    if (bound != 0) RC_ASSERT(random_below(s, bound) < bound);
    const int32_t v = random_between(s, -5, 5);
    RC_ASSERT(v >= -5);
    RC_ASSERT(v <= 5);
    const float unit = random_unit(s);
    RC_ASSERT(unit >= 0.0f);
    RC_ASSERT(unit < 1.0f);
    random_between(s, INT32_MIN, INT32_MAX);
  }));
}

TEST(Values, TextAndBlobsKeepTheirBounds) {
  String<5> s;
  s = std::string_view("abcdefgh");
  EXPECT_EQ(s.view(), "abcde");
  s = std::string_view("xy");
  EXPECT_EQ(s.view(), "xy");
  EXPECT_EQ(s.data[4], 0);
  FixedString<3> f;
  f = std::string_view("abcd");
  EXPECT_EQ(f.view(), "abc");
  Bytes<4> b;
  const uint8_t five[] = {1, 2, 3, 4, 5};
  b = std::span<const uint8_t>(five);
  EXPECT_EQ(b.view().size(), 4u);
  Bytes<4> same = b;
  b.size = 9;
  EXPECT_EQ(b.view().size(), 4u);
  EXPECT_TRUE(b == same) << "a size above the capacity counts as the capacity";
  same.size = 3;
  EXPECT_FALSE(b == same);
  EXPECT_TRUE(Bytes<4>() == Bytes<4>());
}

}  // namespace
}  // namespace lattice
