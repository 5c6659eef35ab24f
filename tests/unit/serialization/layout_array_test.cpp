// Array members: golden deltas, round trips, hostile input, access by property id, what is refused.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/serialization/deltas.h"
#include "unit/serialization/lists.h"

namespace lattice::serialization {
namespace {

using test::delta;
using test::Lists;
using test::quantized;
using test::reads;
using test::Words;

// clang-format off
LATTICE_NETWORKED(Two, (a, uint8, ARRAY(3)), (b, bool, ARRAY(2)))
using Alias = std::array<uint8_t, 3>;
LATTICE_NETWORKED(Aliased, (a, Alias), (b, bool, ARRAY(2)))
struct Leg { LATTICE_NETSTRUCT(Leg, (foot, vec2, POSITION), (speed, vec2, VELOCITY)) };
LATTICE_NETWORKED(Spider, (body, vec2, POSITION), (eyes, vec2, ARRAY(2), POSITION), (drift, vec2, VELOCITY),
                  (glances, vec2, ARRAY(2), VELOCITY), (legs, Leg, ARRAY(2)))
// clang-format on

TEST(LayoutArray, GoldenDeltaAndText) {
  const Layout layout = test::layout_of(struct_desc<Two>());
  Two now;
  now.a[1] = 5;
  now.b[1] = true;
  const Words base = quantized(layout, Two{});
  // mask 11; of a 010 and 00000101; of b 01, where a bool's bit says it all
  EXPECT_EQ(delta(layout, base, quantized(layout, now)), (std::vector<uint8_t>{0xD0, 0x2A}));
  EXPECT_EQ(layout.canonical_members(),
            "behaviour Two\n member a array 3 uint8 fixed 8 flags 0\n member b array 2 bool flags 0\n");
  const Layout aliased = test::layout_of(struct_desc<Aliased>());
  EXPECT_EQ(aliased.canonical_members().substr(17), layout.canonical_members().substr(13));
  uint8_t buffer[8];
  BitWriter w(buffer);
  layout.encode_whole(w, quantized(layout, now).data());
  const auto whole = w.finish();
  EXPECT_EQ(std::vector<uint8_t>(whole.begin(), whole.end()), (std::vector<uint8_t>{0, 5, 0, 0x40}));
}

TEST(LayoutArray, TextSaysElementsOnce) {
  const Layout layout = test::layout_of(struct_desc<Lists>());
  const std::string& text = layout.canonical_members();
  EXPECT_NE(text.find(" member one uint8 fixed 8 flags 0\n"), std::string::npos);  // one element: no array
  EXPECT_NE(text.find(" member items array 3 struct Item whole\n"
                      "  member mood enum ordinal 2 3 3 -7 0 flags 0\n"
                      "  member count uint16 bits 10 flags 0\n"
                      "  member held bool flags 0\n"
                      "  member pair array 2 uint8 fixed 8 flags 0\n"
                      " member stacks array 2 struct Stack delta\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(" member yaws array 2 float angle 16 -3.141592653589793 3.141592653589793 65536 flags 128\n"
                " member heading double angle 16 0 360 36000 flags 128\n"
                " member score int32 varint 32 flags 0\n"),
      std::string::npos)
      << text;
}

TEST(LayoutArray, DeltasAndWholeStatesRoundTrip) {
  const Layout layout = test::object_layout_of<Lists>();
  const Layout lone = test::layout_of(struct_desc<Lists>());
  EXPECT_TRUE(rc::check(
      "a delta leads from any state to any other, and a whole state is what Serialize() writes", [&] {
        base::Random random(*rc::gen::arbitrary<uint64_t>());
        Lists a;
        for (int i = 0; i < 3; ++i) change_some(random, &a);
        Lists b = a;
        change_some(random, &b);
        if (random.chance(0.1)) test::fill_garbage(random, &b);
        const Words from = quantized(layout, a), to = quantized(layout, b);
        Words read;
        RC_ASSERT(reads(layout, from, delta(layout, from, to), &read));
        RC_ASSERT(read == to);
        Lists back;
        void* host[] = {&back};
        layout.dequantize(to.data(), host);
        RC_ASSERT(quantized(layout, back) == to);
        std::vector<uint8_t> whole(lone.max_whole_bits() / 8 + 1), written(whole.size());
        BitWriter w(whole), s(written);
        lone.encode_whole(w, to.data());
        back.Serialize(s);
        const auto bytes = w.finish();
        RC_ASSERT(bytes.size() == s.finish().size());
        RC_ASSERT(std::equal(bytes.begin(), bytes.end(), written.begin()));
        BitReader r(bytes), again(bytes);
        Words out(lone.word_count());
        RC_ASSERT(lone.decode_whole(r, out.data()) && r.at_end() && out == to);
        Lists deserialized;
        deserialized.Deserialize(again);
        RC_ASSERT(again.at_end() && quantized(layout, deserialized) == to);
      }));
}

TEST(LayoutArray, EveryTruncationIsRefusedAndLeavesTheBaseline) {
  const Layout layout = test::object_layout_of<Lists>();
  base::Random random(4);
  Lists a, b;
  for (int i = 0; i < 20; ++i) change_some(random, &b);
  const Words base = quantized(layout, a);
  const std::vector<uint8_t> whole = delta(layout, base, quantized(layout, b));
  for (size_t n = 0; n < whole.size(); ++n) {
    Words out;
    EXPECT_FALSE(reads(layout, base, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}, &out))
        << n;
    EXPECT_EQ(out, base) << n;
  }
}

TEST(LayoutArray, ElementsMarkedButUnchangedAreRefused) {
  const Layout layout = test::layout_of(struct_desc<Two>());
  const Words base = quantized(layout, Two{});
  Words out;
  EXPECT_FALSE(reads(layout, base, {0b10'000'000}, &out));               // a changed, none of its elements
  EXPECT_FALSE(reads(layout, base, {0b10'010'000, 0b00000'000}, &out));  // its second, to the same value
  EXPECT_TRUE(reads(layout, base, {0b10'010'000, 0b00001'000}, &out));
  EXPECT_FALSE(reads(layout, base, {0b01'000'000}, &out));
  EXPECT_TRUE(reads(layout, base, {0b01'100'000}, &out));
}

TEST(LayoutArray, PropertiesAreWholeArrays) {
  const Layout layout = test::layout_of(struct_desc<Two>());
  const uint16_t id = prop_id(0, Two::Member::a);
  Words words = quantized(layout, Two{});
  const std::array<uint8_t, 3> in = {1, 2, 3};
  EXPECT_TRUE(layout.set_prop(words.data(), id, in.data(), in.size()));
  EXPECT_FALSE(layout.set_prop(words.data(), id, in.data(), 1));
  std::array<uint8_t, 3> out{};
  EXPECT_EQ(layout.get_prop(words.data(), id, out.data(), out.size()), 3u);
  EXPECT_EQ(layout.get_prop(words.data(), id, out.data(), 2), 0u);
  EXPECT_EQ(out, in);
  Two changed;
  changed.a[2] = 1;
  EXPECT_EQ(layout.first_difference(quantized(layout, Two{}).data(), quantized(layout, changed).data()),
            "Two.a[2]");
}

TEST(LayoutArray, RolesHoldForEachElementInOrder) {
  const Layout layout = test::layout_of(struct_desc<Spider>());
  Spider spider;
  spider.drift = {1, 0};
  spider.glances = {{{2, 0}, {3, 0}}};
  spider.legs[1].speed = {4, 0};
  Spider later;
  void* host[] = {&later};
  layout.extrapolate(quantized(layout, spider).data(), {.seconds = 1.0}, host);
  EXPECT_EQ(later.body.x, 1.0f);
  EXPECT_EQ(later.eyes[0].x, 2.0f);
  EXPECT_EQ(later.eyes[1].x, 3.0f);
  EXPECT_EQ(later.legs[0].foot.x, 0.0f);
  EXPECT_EQ(later.legs[1].foot.x, 4.0f);
}

lattice_member_desc bytes_member(uint32_t array_count) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "m";
  member.type = LATTICE_WIRE_UINT8;
  member.array_count = array_count;
  return member;
}

std::string refusal_of(const lattice_member_desc& member, uint32_t host_bytes = 65536) {
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = "S";
  desc.host_bytes = host_bytes;
  desc.host_align = 8;
  desc.members = &member;
  desc.member_count = 1;
  Layout layout;
  std::string error;
  return Layout::compile_structure(desc, false, &layout, &error) ? "" : error;
}

TEST(LayoutArray, OneOverEachBoundIsRefusedByName) {
  EXPECT_EQ(refusal_of(bytes_member(LATTICE_MAX_ARRAY_ELEMENTS)), "");
  EXPECT_EQ(refusal_of(bytes_member(LATTICE_MAX_ARRAY_ELEMENTS + 1)),
            "structure 'S', member 'm': array_count is 257; must be at most 256");
  EXPECT_EQ(refusal_of(bytes_member(4), 4), "");
  EXPECT_EQ(refusal_of(bytes_member(4), 3),
            "structure 'S', member 'm': offset 0 plus 4 bytes passes the structure's 3");
  lattice_member_desc inner_members[17];
  std::string names[17];
  for (uint32_t i = 0; i < 17; ++i) {
    names[i] = std::string("m").append(std::to_string(i));
    inner_members[i] = bytes_member(256);
    inner_members[i].name = names[i].c_str(), inner_members[i].offset = 256 * i;
  }
  lattice_struct_desc inner;
  lattice_struct_desc_init(&inner);
  inner.name = "Inner";
  inner.host_bytes = 17 * 256;
  inner.host_align = 1;
  inner.members = inner_members;
  inner.member_count = 16;
  lattice_member_desc nested = bytes_member(0);
  nested.type = LATTICE_WIRE_STRUCT;
  nested.structure = &inner;
  EXPECT_EQ(refusal_of(nested), "");
  inner.member_count = 17;
  EXPECT_EQ(refusal_of(nested),
            "structure 'S', member 'm', member 'm16'[0]: the type has more than 4096 components");
}

}  // namespace
}  // namespace lattice::serialization
