// Layout: golden deltas, round trips over every type and encoding, hostile input, stability, access by
// property id.
#include "serialization/layout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "unit/serialization/deltas.h"
#include "unit/serialization/everything.h"

namespace lattice::serialization {
namespace {

using test::delta;
using test::Everything;
using test::layout_of;
using test::quantized;
using test::words_of;

std::string hex(std::span<const uint8_t> bytes) {
  std::string out;
  for (uint8_t b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

// clang-format off
LATTICE_NETWORKED(Small, (alive, bool), (hp, uint16, BITS(10)), (armed, bool), (kind, uint8))
LATTICE_NETWORKED(Other, (x, int32))
// clang-format on

// clang-format off
struct Letter { LATTICE_NETSTRUCT(Letter, (text, string, STRING(300))) };
// clang-format on

TEST(Layout, GoldenDeltaOfAStructure) {
  const Layout layout = layout_of(struct_desc<Small>());
  Small a, b;
  b.hp = 1000;
  b.armed = true;
  // mask 0110, hp 1111101000
  EXPECT_EQ(hex(delta(layout, quantized(layout, a), quantized(layout, b))), "6fa0");
  EXPECT_EQ(hex(delta(layout, quantized(layout, b), quantized(layout, b))), "00");
  Small c = b;
  c.armed = false;
  c.alive = true;
  EXPECT_EQ(hex(delta(layout, quantized(layout, b), quantized(layout, c))),
            "a0");  // mask 1010 and nothing else
}

TEST(Layout, GoldenDeltaOfAnObject) {
  const Layout layout = test::object_layout_of<Small, Other>();
  Small small;
  Other other;
  const void* host[] = {&small, &other};
  std::vector<serialization::Word> base(layout.word_count()), current(layout.word_count());
  layout.quantize(host, base.data());
  other.x = -1;
  layout.quantize(host, current.data());
  // presence 01, mask 1, varint zig-zag(-1) = 01
  EXPECT_EQ(hex(delta(layout, base, current)), "6020");
}

TEST(Layout, GoldenNestedDelta) {
  const Layout layout = layout_of(struct_desc<Everything>());
  Everything a, b;
  b.slots.open = true;
  b.slots.inner.level = 250;
  const auto base = quantized(layout, a), current = quantized(layout, b);
  // 32 mask bits with only bit 30 (slots); inner mask 0110; inner whole: on 0, level 11111111, aim 2 x 11
  // bits.
  const auto bytes = delta(layout, base, current);
  BitReader r(bytes);
  EXPECT_EQ(r.ReadBits(32), 2u);
  EXPECT_EQ(r.ReadBits(4), 6u);
  EXPECT_EQ(r.ReadBits(1), 0u);
  EXPECT_EQ(r.ReadBits(8), 255u);
  EXPECT_EQ(r.ReadBits(11), 1000u);
  EXPECT_EQ(r.ReadBits(11), 1000u);
  EXPECT_TRUE(r.at_end());
}

// clang-format off
LATTICE_NETWORKED(Widths,
  (narrow, uint64, BITS(32)), (broad, uint64, BITS(33)), (score, int32), (total, int64), (turn, quat),
  (fine_turn, quat, SMALLEST_THREE(11)), (full_turn, quat, FULL), (name, string, STRING(5)), (on, bool))
// clang-format on

TEST(Layout, AWordHas32BitsAndAWideNumberTwo) {
  const Layout layout = layout_of(struct_desc<Widths>());
  std::vector<uint16_t> counts;
  for (const Leaf& leaf : layout.leaves()) counts.push_back(leaf.word_count);
  EXPECT_EQ(counts, (std::vector<uint16_t>{1, 2, 1, 2, 1, 2, 4, 3, 1}));
  EXPECT_EQ(layout.word_count(), 17u);
  Widths value;
  value.broad = 0x1'2345'6789;
  value.total = INT64_MIN;  // zig-zag: all ones
  const auto words = quantized(layout, value);
  EXPECT_EQ(words[1], 0x2345'6789u);
  EXPECT_EQ(words[2], 1u);
  EXPECT_EQ(words[4], UINT32_MAX);
  EXPECT_EQ(words[5], UINT32_MAX);
}

TEST(Layout, ZeroBaselineIsTheZeroStructure) {
  const Layout layout = layout_of(struct_desc<Everything>());
  alignas(Everything) uint8_t zeros[sizeof(Everything)] = {};
  const void* host[] = {zeros};
  std::vector<serialization::Word> words(layout.word_count()), baseline(layout.word_count(), 7);
  layout.quantize(host, words.data());
  layout.zero_baseline(baseline.data());
  EXPECT_EQ(words, baseline);
  Everything e;
  void* out[] = {&e};
  layout.dequantize(baseline.data(), out);
  EXPECT_EQ(e.quat10, Quaternion{});
  EXPECT_EQ(e.quat_full, Quaternion{});
  EXPECT_EQ(e.mood, test::Mood::kSad);       // 0 is declared, third in the list
  EXPECT_EQ(e.single, test::Single::kOnly);  // 0 is not: the first
  EXPECT_EQ(e.slots.inner.level, 0);
}

TEST(Layout, QuantizingADequantizedStateChangesNothing) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("quantize(dequantize(w)) == w", [&](uint64_t seed) {
    base::Random random(seed);
    const auto words = words_of(layout, random);
    Everything e;
    test::fill_garbage(random, &e);
    void* out[] = {&e};
    layout.dequantize(words.data(), out);
    RC_ASSERT(quantized(layout, e) == words);
  }));
}

TEST(Layout, DeltasRoundTrip) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("decode(encode(base, current)) == current", [&](uint64_t seed) {
    base::Random random(seed);
    const auto base = words_of(layout, random);
    auto current = words_of(layout, random);
    for (const LayoutNode& node : layout.nodes()) {  // leave some members as they were
      if (random.chance(0.5))
        std::copy_n(base.begin() + node.first_word, node.word_count, current.begin() + node.first_word);
    }
    const auto bytes = delta(layout, base, current);
    std::vector<serialization::Word> out(layout.word_count(), 99);
    BitReader r(bytes);
    RC_ASSERT(layout.decode_delta(r, base.data(), out.data()));
    RC_ASSERT(r.at_end());
    RC_ASSERT(out == current);
    RC_ASSERT(layout.equal(out.data(), current.data()));
    RC_ASSERT(layout.state_hash(out.data()) == layout.state_hash(current.data()));
  }));
}

TEST(Layout, WholeStatesRoundTrip) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("decode_whole(encode_whole(w)) == w", [&](uint64_t seed) {
    base::Random random(seed);
    const auto words = words_of(layout, random);
    std::vector<uint8_t> buffer(layout.max_whole_bits() / 8 + 1);
    BitWriter w(buffer);
    layout.encode_whole(w, words.data());
    RC_ASSERT(w.ok());
    std::vector<serialization::Word> out(layout.word_count(), 99);
    BitReader r(w.finish());
    RC_ASSERT(layout.decode_whole(r, out.data()));
    RC_ASSERT(r.at_end());
    RC_ASSERT(out == words);
  }));
}

TEST(Layout, EveryTruncationIsRefusedAndLeavesTheBaseline) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("no prefix is accepted", [&](uint64_t seed) {
    base::Random random(seed);
    const auto base = words_of(layout, random);
    const auto current = words_of(layout, random);
    const auto bytes = delta(layout, base, current);
    for (size_t n = 0; n < bytes.size(); ++n) {
      std::vector<serialization::Word> out(layout.word_count(), 99);
      BitReader r(std::span<const uint8_t>(bytes).first(n));
      RC_ASSERT(!layout.decode_delta(r, base.data(), out.data()));
      RC_ASSERT(!r.ok());
      RC_ASSERT(out == base);
    }
  }));
}

// Whatever arrives is refused, or is exactly what the encoder writes for the state it gives.
TEST(Layout, HostileBytesAreRefusedOrCanonical) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("accepted means canonical", [&](uint64_t seed) {
    base::Random random(seed);
    const auto base = words_of(layout, random);
    auto bytes = delta(layout, base, words_of(layout, random));
    for (int flips = 0; flips < 3; ++flips) {
      bytes[random.next_below(bytes.size())] ^= static_cast<uint8_t>(1u << random.next_below(8));
    }
    std::vector<serialization::Word> out(layout.word_count());
    BitReader r(bytes);
    if (!layout.decode_delta(r, base.data(), out.data())) {
      RC_ASSERT(out == base);
      return;
    }
    const size_t used = r.position_bits();
    std::vector<uint8_t> again(layout.max_delta_bits() / 8 + 1);
    BitWriter w(again);
    layout.encode_delta(w, base.data(), out.data());
    RC_ASSERT(w.bit_count() == used);
    BitReader x(bytes, used), y(w.finish(), used);
    while (x.bits_left() != 0) RC_ASSERT(x.ReadBool() == y.ReadBool());
    Everything e;
    void* host[] = {&e};
    layout.dequantize(out.data(), host);
  }));
}

TEST(Layout, EmptyChangesAreRefused) {
  const Layout object = test::object_layout_of<Small, Other>();
  std::vector<serialization::Word> base(object.word_count(), 0), out(object.word_count());
  object.zero_baseline(base.data());
  const auto decodes = [&](std::vector<uint8_t> bytes) {
    BitReader r(bytes);
    return object.decode_delta(r, base.data(), out.data());
  };
  EXPECT_TRUE(decodes({0x00}));         // nothing present
  EXPECT_FALSE(decodes({0x80}));        // Small present, mask 0000
  EXPECT_TRUE(decodes({0xA0}));         // Small present, mask 1000: alive
  EXPECT_FALSE(decodes({0x60, 0x00}));  // Other present, x changed to what it was
  EXPECT_TRUE(decodes({0x60, 0x20}));   // x = -1
}

TEST(Layout, OneStepPastTheLimitIsRefused) {
  const Layout layout = layout_of(struct_desc<test::Slots>());
  std::vector<serialization::Word> base(layout.word_count()), out(layout.word_count());
  layout.zero_baseline(base.data());
  const auto level = [&](uint64_t code, uint64_t aim) {
    uint8_t buffer[16];
    BitWriter w(buffer);
    w.WriteBits(0b0010, 4);  // inner
    w.WriteBits(0, 1);
    w.WriteBits(code, 8);
    w.WriteBits(aim, 11);
    w.WriteBits(1000, 11);
    BitReader r(w.finish());
    return layout.decode_delta(r, base.data(), out.data());
  };
  EXPECT_TRUE(level(255, 2000));
  EXPECT_FALSE(level(255, 2001));
}

TEST(Layout, ApproxEqualAllowsOneStep) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("one step apart is close, two are not", [&](uint64_t seed) {
    base::Random random(seed);
    const auto a = words_of(layout, random);
    for (const Leaf& leaf : layout.leaves()) {
      if (leaf.kind != LeafKind::kCompressed) continue;
      auto b = a;
      const uint64_t middle = std::clamp<uint64_t>(a[leaf.word], 2, leaf.max_code - 2);
      b[leaf.word] = a[leaf.word] <= middle ? a[leaf.word] + 1 : a[leaf.word] - 1;
      RC_ASSERT(layout.approx_equal(a.data(), b.data()));
      b[leaf.word] = a[leaf.word] <= middle ? a[leaf.word] + 2 : a[leaf.word] - 2;
      RC_ASSERT(!layout.approx_equal(a.data(), b.data()));
    }
    const auto other = words_of(layout, random);
    for (const Leaf& leaf : layout.leaves()) {
      if (leaf.kind == LeafKind::kCompressed || leaf.kind == LeafKind::kSmallestThree) continue;
      auto b = a;
      std::copy_n(other.begin() + leaf.word, leaf.word_count, b.begin() + leaf.word);
      RC_ASSERT(layout.approx_equal(a.data(), b.data()) == (a == b));
    }
  }));
}

TEST(Layout, ApproxEqualOfRotations) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("noise below a step is close, ten steps are not", [&](uint64_t seed) {
    base::Random random(seed);
    Everything a = test::plausible(random);
    const auto nudge = [&](Quaternion q, double size) {
      const auto r = [&] { return static_cast<float>((random.next_unit() - 0.5) * size); };
      const double n =
          std::sqrt(double{q.x} * q.x + double{q.y} * q.y + double{q.z} * q.z + double{q.w} * q.w);
      const float k = n > 0 ? static_cast<float>(1.0 / n) : 0.0f;
      return Quaternion{q.x * k + r(), q.y * k + r(), q.z * k + r(), q.w * k + r()};
    };
    Everything b = a;
    b.quat10 = nudge(a.quat10, 1e-5);
    RC_ASSERT(layout.approx_equal(quantized(layout, a).data(), quantized(layout, b).data()));
    const Quaternion q = a.quat10;
    b.quat10 = {q.w, -q.z, q.y, -q.x};  // half a turn away
    RC_ASSERT(!layout.approx_equal(quantized(layout, a).data(), quantized(layout, b).data()));
  }));
}

TEST(Layout, PropertiesByFlatId) {
  const Layout layout = test::object_layout_of<Small, Other>();
  std::vector<serialization::Word> words(layout.word_count());
  layout.zero_baseline(words.data());
  const uint16_t hp = prop_id(0, Small::Member::hp), x = prop_id(1, Other::Member::x);
  EXPECT_EQ(hp, 0x0001);
  EXPECT_EQ(x, 0x0100);
  const uint16_t set_hp = 700;
  const int32_t set_x = -5;
  EXPECT_TRUE(layout.set_prop(words.data(), hp, &set_hp, sizeof set_hp));
  EXPECT_TRUE(layout.set_prop(words.data(), x, &set_x, sizeof set_x));
  EXPECT_FALSE(layout.set_prop(words.data(), x, &set_x, 3));
  EXPECT_FALSE(layout.set_prop(words.data(), 0x0004, &set_x, 1));
  EXPECT_FALSE(layout.set_prop(words.data(), 0x0200, &set_x, 4));
  uint16_t got_hp = 0;
  int32_t got_x = 0;
  EXPECT_EQ(layout.get_prop(words.data(), hp, &got_hp, sizeof got_hp), 2u);
  EXPECT_EQ(layout.get_prop(words.data(), x, &got_x, sizeof got_x), 4u);
  EXPECT_EQ(layout.get_prop(words.data(), x, &got_x, 3), 0u);
  EXPECT_EQ(got_hp, 700);
  EXPECT_EQ(got_x, -5);
  Small small;
  Other other;
  void* host[] = {&small, &other};
  layout.dequantize(words.data(), host);
  EXPECT_EQ(small.hp, 700);
  EXPECT_EQ(other.x, -5);
}

TEST(Layout, PropertiesOfNestedMembers) {
  const Layout layout = layout_of(struct_desc<Everything>());
  base::Random random(7);
  const Everything e = test::plausible(random);
  auto words = quantized(layout, Everything{});
  ASSERT_TRUE(layout.set_prop(words.data(), prop_id(0, Everything::Member::slots), &e.slots, sizeof e.slots));
  ASSERT_TRUE(layout.set_prop(words.data(), prop_id(0, Everything::Member::text), &e.text, sizeof e.text));
  Everything out;
  void* host[] = {&out};
  layout.dequantize(words.data(), host);
  EXPECT_EQ(out.slots.first, e.slots.first);
  EXPECT_EQ(out.slots.amount, e.slots.amount);
  EXPECT_EQ(out.text, e.text);
  EXPECT_EQ(out.u64, 0u);
}

TEST(Layout, NamesTheFirstDifference) {
  const Layout layout = layout_of(struct_desc<Everything>());
  Everything a, b;
  EXPECT_EQ(layout.first_difference(quantized(layout, a).data(), quantized(layout, b).data()), "");
  b.slots.inner.level = 9;
  EXPECT_EQ(layout.first_difference(quantized(layout, a).data(), quantized(layout, b).data()),
            "Everything.slots.inner.level");
}

TEST(Layout, TextThatCannotTravelIsCut) {
  const Layout layout = layout_of(struct_desc<Everything>());
  Everything e;
  std::memset(e.text.data, 0xC3, sizeof e.text.data);  // never ends, and is not UTF-8
  std::memset(e.fixed_text.data, 'x', sizeof e.fixed_text.data);
  e.data.size = 60000;
  const auto words = quantized(layout, e);
  Everything out;
  void* host[] = {&out};
  layout.dequantize(words.data(), host);
  EXPECT_EQ(out.text.view(), "");
  EXPECT_EQ(out.fixed_text.view(), "xxxxxxxxx");
  EXPECT_EQ(out.data.size, 11);
}

TEST(Layout, LongTextIsCheckedAcrossWindows) {
  const Layout layout = layout_of(struct_desc<Letter>());
  std::vector<serialization::Word> base(layout.word_count()), out(layout.word_count());
  layout.zero_baseline(base.data());
  const auto decodes = [&](const std::string& text) {
    std::vector<uint8_t> buffer(400);
    BitWriter w(buffer);
    w.WriteBool(true);
    w.WriteBytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    BitReader r(w.finish());
    return layout.decode_delta(r, base.data(), out.data());
  };
  for (size_t lead = 0; lead < 8; ++lead) {
    std::string text(lead, 'a');
    while (text.size() + 4 <= 300) text += "\xF0\x9F\x8E\xAE";
    EXPECT_TRUE(decodes(text));
    for (size_t at = lead; at < text.size(); at += 7) {
      std::string broken = text;
      broken[at] = '\xFF';
      EXPECT_FALSE(decodes(broken)) << lead << " " << at;
    }
    EXPECT_FALSE(decodes(text.substr(0, text.size() - 1)));
  }
  EXPECT_FALSE(decodes(std::string(301, 'a')));
  EXPECT_FALSE(decodes(std::string("a\0b", 3)));
}

TEST(Layout, BoundsOnSizeHold) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("no delta is longer than max_delta_bits", [&](uint64_t seed) {
    base::Random random(seed);
    const auto base = words_of(layout, random);
    const auto current = words_of(layout, random);
    std::vector<uint8_t> buffer(4096);
    BitWriter w(buffer);
    layout.encode_delta(w, base.data(), current.data());
    RC_ASSERT(w.bit_count() <= layout.max_delta_bits());
  }));
}

TEST(Layout, HashSeesEveryWord) {
  const Layout layout = layout_of(struct_desc<Everything>());
  auto words = quantized(layout, Everything{});
  const uint64_t before = layout.state_hash(words.data());
  for (Word& word : words) {
    word ^= 1;
    EXPECT_NE(layout.state_hash(words.data()), before);
    word ^= 1;
  }
  EXPECT_EQ(layout.state_hash(words.data()), before);
}

}  // namespace
}  // namespace lattice::serialization
