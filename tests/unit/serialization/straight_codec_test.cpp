// Straight code gives what the interpreter gives, and code that gives anything else is refused.
#include "lattice/authoring/straight_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/serialization/everything.h"

namespace lattice::serialization {
namespace {

using test::Everything;
using Words = std::vector<Word>;

// clang-format off
LATTICE_NETWORKED(ManyNumbers,
  (near, vec3, BOUNDS(-100, 100, 0.01), POSITION), (far, dvec3, BOUNDS(-1e9, 1e9, 1e-4)), (turn, float, ANGLE),
  (half, vec2, HALF), (moment, nettick), (fixed_moment, nettick, FIXED), (small, uint64, BITS(3)),
  (wide, uint64, BITS(40)), (none, uint8, RANGED(7, 7)), (big, uint64, RANGED(5, INT64_MAX)), (slots, uint16, ARRAY(5)),
  (inner, test::Inner), (slot, test::Slots), (pair, test::Inner, ARRAY(2)), (on, bool), (gates, bool, ARRAY(3)))
LATTICE_NETWORKED(TextOnly, (text, string, STRING(300)), (blob_, blob, BYTES(9)))
LATTICE_NETWORKED(MixedMembers,
  (first, string, STRING(7)), (a, uint16, BITS(9)), (items, int32, LIST(4)), (b, float), (runs, test::Runs, CUSTOM(8)),
  (c, netid), (last, blob, BYTES(3)))
LATTICE_NETWORKED(BoolsApart,
  (on, bool), (a, uint8), (off, bool), (text, string, STRING(3)), (b, uint8), (c, uint8), (d, uint8), (e, uint8),
  (f, uint8), (g, uint8), (end, bool))
LATTICE_NETWORKED(Counters,
  (a, uint32), (b, uint32), (c, int32), (d, nettick), (e, uint64), (f, uint32), (g, netid), (h, int32))
LATTICE_NETWORKED(SideBySide,
  (none, uint8, RANGED(7, 7)), (a, uint32, BITS(30)), (b, bool), (c, float), (on, bool), (d, uint8, RANGED(0, 3)),
  (nothing, uint8, RANGED(7, 7)), (e, bool), (f, int32), (g, uint16), (h, uint64, BITS(57)), (i, uint64, BITS(60)),
  (j, double), (k, bool), (l, uint8, BITS(3)), (least, uint8, RANGED(7, 7)))
// Within a structure that travels whole a difference is against 0, elsewhere against the baseline.
struct Moments { LATTICE_NETSTRUCT(Moments, (since, nettick), (sum, fixed64, VARINT)) };
struct Apart { LATTICE_NETSTRUCT_DELTA(Apart, (since, nettick), (sum, fixed64, VARINT)) };
LATTICE_NETWORKED(Differences,
  (since, nettick), (sum, fixed64, VARINT), (whole, Moments), (apart, Apart), (many, Moments, ARRAY(2)))
struct Bulk { LATTICE_NETSTRUCT(Bulk, (values, uint64, ARRAY(200))) };
LATTICE_NETWORKED(TooLarge, (a, Bulk), (b, Bulk))
// clang-format on

/// One type twice: packed by straight code, and by the interpreter.
struct Twice {
  Layout straight, interpreted;
};

template <typename... Behaviours>
Twice twice() {
  lattice_behaviour_desc behaviours[] = {behaviour_desc<Behaviours>()...};
  const lattice_type_desc desc = type_desc("Thing", behaviours);
  Twice out;
  std::string error;
  EXPECT_TRUE(Layout::compile_object(desc, &out.straight, &error)) << error;
  for (lattice_behaviour_desc& behaviour : behaviours) behaviour.codec = nullptr;
  EXPECT_TRUE(Layout::compile_object(desc, &out.interpreted, &error)) << error;
  EXPECT_FALSE(out.interpreted.is_straight());
  return out;
}

/// Host structures of all behaviours, full of any bytes.
struct Hosts {
  explicit Hosts(const Layout& layout) {
    for (const LayoutBehaviour& behaviour : layout.behaviours()) blocks.emplace_back(behaviour.host_bytes);
    for (auto& block : blocks) pointers.push_back(block.data());
  }
  void fill(base::Random& random) {
    for (auto& block : blocks) {
      for (uint8_t& byte : block) byte = static_cast<uint8_t>(random.next_u64());
    }
  }
  std::vector<std::vector<uint8_t>> blocks;
  std::vector<void*> pointers;
};

std::string packed(const Layout& layout, const Words& base, const Words& current, size_t room, bool* ok) {
  std::vector<uint8_t> buffer(room);
  BitWriter writer(buffer);
  layout.encode_delta(writer, base.data(), current.data());
  *ok = writer.ok();
  if (!*ok) return {};
  const auto out = writer.finish();
  return {out.begin(), out.end()};
}

/// Everything that a layout does with a state, for states of garbage and of what comes out of it.
void expect_same(const Twice& types, uint64_t seed) {
  const Layout &a = types.straight, &b = types.interpreted;
  base::Random random(seed);
  Hosts host(a), back_a(a), back_b(a);
  Words base(a.word_count()), current(a.word_count()), other(a.word_count());
  a.zero_baseline(base.data());
  for (int round = 0; round < 40; ++round) {
    host.fill(random);
    const bool fits = a.quantize(host.pointers.data(), current.data());
    ASSERT_EQ(b.quantize(host.pointers.data(), other.data()), fits);
    ASSERT_EQ(current, other);
    for (const LayoutNode& node : a.nodes()) {  // some members stay as they were, in some rounds
      if (round % 3 == 0 || !random.chance(0.3)) continue;
      std::copy_n(base.begin() + node.first_word, node.word_count, current.begin() + node.first_word);
    }
    back_a.fill(random), back_b.blocks = back_a.blocks;
    for (size_t i = 0; i < back_b.blocks.size(); ++i) back_b.pointers[i] = back_b.blocks[i].data();
    a.dequantize(current.data(), back_a.pointers.data()),
        b.dequantize(current.data(), back_b.pointers.data());
    ASSERT_EQ(back_a.blocks, back_b.blocks);
    if (a.has_flat_mask()) {
      ASSERT_EQ(a.changed_mask(base.data(), current.data()), b.changed_mask(base.data(), current.data()));
    }

    bool ok_a = false, ok_b = false;
    const size_t room = a.max_delta_bits() / 8 + 1;
    const std::string bits = packed(b, base, current, room, &ok_b);
    ASSERT_TRUE(ok_b);
    ASSERT_EQ(packed(a, base, current, room, &ok_a), bits);
    // Exactly enough room, and one byte too little.
    ASSERT_EQ(packed(a, base, current, bits.size(), &ok_a), bits);
    ASSERT_TRUE(ok_a);
    if (!bits.empty()) {
      packed(a, base, current, bits.size() - 1, &ok_a);
      ASSERT_FALSE(ok_a);
    }
    // Whole, cut off anywhere, and with a bit changed.
    const auto read_both = [&](const std::string& from) {
      const std::span bytes(reinterpret_cast<const uint8_t*>(from.data()), from.size());
      BitReader reader_a(bytes), reader_b(bytes);
      Words out_a(base.size()), out_b(base.size());
      const bool read = a.decode_delta(reader_a, base.data(), out_a.data());
      ASSERT_EQ(b.decode_delta(reader_b, base.data(), out_b.data()), read);
      ASSERT_EQ(out_a, out_b);
      ASSERT_EQ(reader_a.position_bits(), reader_b.position_bits());
      ASSERT_EQ(reader_a.at_end(), reader_b.at_end());
    };
    read_both(bits);
    read_both(bits + std::string(64, '\x55'));
    read_both(bits.substr(0, random.next_below(bits.size() + 1)));
    std::string damaged = bits;
    if (!damaged.empty())
      damaged[random.next_below(bits.size())] ^= static_cast<char>(1u << random.next_below(8));
    read_both(damaged);
    base = current;
  }
}

TEST(StraightCodec, GivesWhatTheInterpreterGives) {
  const Twice everything = twice<Everything>(), numbers = twice<ManyNumbers>(), mover = twice<test::Mover>();
  const Twice mixed = twice<MixedMembers>(), several = twice<test::Mover, MixedMembers, ManyNumbers>();
  const Twice bools = twice<BoolsApart>(), differences = twice<Differences>();
  for (const Twice* types : {&differences, &bools, &everything, &numbers, &mover, &mixed, &several}) {
    ASSERT_TRUE(types->straight.is_straight());
    rc::check("same", [types] { expect_same(*types, *rc::gen::arbitrary<uint64_t>()); });
  }
}

// All members at once have a way of their own: plain numbers side by side, with bools, varints and what has
// no bits between.
TEST(StraightCodec, AllMembersAtOnce) {
  const Twice types = twice<SideBySide>();
  EXPECT_TRUE(types.straight.is_straight());
  rc::check("same", [&types] { expect_same(types, *rc::gen::arbitrary<uint64_t>()); });
  SideBySide thing;
  thing.a = 77, thing.c = 1.5f, thing.d = 3, thing.f = -9, thing.g = 40'000, thing.h = 1;
  thing.i = 0x123456789Au, thing.j = 2.5, thing.l = 5;
  const void* host = &thing;
  Words zero(types.straight.word_count()), words(zero.size());
  types.straight.zero_baseline(zero.data());
  for (const bool on : {false, true}) {
    thing.b = on;
    types.straight.quantize(&host, words.data());
    bool ok_a = false, ok_b = false;
    const std::string bits = packed(types.straight, zero, words, 64, &ok_a);
    EXPECT_EQ(bits, packed(types.interpreted, zero, words, 64, &ok_b));
    BitReader reader({reinterpret_cast<const uint8_t*>(bits.data()), bits.size()});
    Words out(zero.size());
    EXPECT_TRUE(types.straight.decode_delta(reader, zero.data(), out.data()) && reader.at_end());
    EXPECT_EQ(out, words);
  }
}

// Varints of every length: the last of one length, and the first of the next.
TEST(StraightCodec, VarintsOfEveryLength) {
  const Twice types = twice<Counters>();
  Words base(types.straight.word_count()), words(base.size());
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const uint64_t value : {(uint64_t{1} << bits) - 1, uint64_t{1} << bits}) {
      Counters counters;
      counters.a = static_cast<uint32_t>(value), counters.c = static_cast<int32_t>(value);
      counters.b = 1, counters.e = value, counters.g.value = ~value, counters.h = -1;
      const void* host = &counters;
      types.straight.quantize(&host, words.data());
      bool ok = false;
      const std::string bytes = packed(types.straight, base, words, 64, &ok);
      ASSERT_EQ(bytes, packed(types.interpreted, base, words, 64, &ok)) << value;
      BitReader reader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
      Words out(base.size());
      ASSERT_TRUE(types.straight.decode_delta(reader, base.data(), out.data()) && reader.at_end()) << value;
      ASSERT_EQ(out, words) << value;
    }
  }
}

TEST(StraightCodec, ATypeThatItDoesNotFitIsInterpreted) {
  EXPECT_EQ(codec_desc<TextOnly>(), nullptr);  // no numbers
  EXPECT_EQ(codec_desc<TooLarge>(), nullptr);  // too many bits
  const Twice half = twice<test::Mover, TextOnly>();
  EXPECT_FALSE(half.straight.is_straight());
  expect_same(half, 1);
}

/// Registers Mover with this codec. "" or the refusal.
std::string refusal_of(const lattice_codec_desc& codec) {
  lattice_behaviour_desc behaviours[] = {behaviour_desc<test::Mover>()};
  behaviours[0].codec = &codec;
  Layout layout;
  std::string error;
  return Layout::compile_object(type_desc("Thing", behaviours), &layout, &error) ? "" : error;
}

TEST(StraightCodec, OneThatDoesNotFitTheMembersIsRefused) {
  const lattice_codec_desc good = *codec_desc<test::Mover>();
  EXPECT_EQ(refusal_of(good), "");
  lattice_codec_desc bad = good;
  bad.decode = nullptr;
  EXPECT_EQ(refusal_of(bad), "type 'Thing', behaviour 'Mover': its codec lacks a function");
  bad = good, bad.struct_size = 8;
  EXPECT_NE(refusal_of(bad).find("codec with a bad struct_size"), std::string::npos);
  bad = good, ++bad.member_count;
  EXPECT_NE(refusal_of(bad).find("is for 13 members, and there are 12"), std::string::npos);
  bad = good, ++bad.word_count;
  EXPECT_NE(refusal_of(bad).find("words, and there are"), std::string::npos);
  bad = good, bad.max_bits = LATTICE_MAX_CODEC_BITS + 1;
  EXPECT_NE(refusal_of(bad).find("max_bits of its codec is 16385"), std::string::npos);
  bad = good, bad.wire_members |= uint64_t{1} << 12;
  EXPECT_NE(refusal_of(bad).find("members that it does not have"), std::string::npos);
}

// The functions of a codec with one of them wrong in one place.
const lattice_codec_desc& good() {
  return *codec_desc<test::Mover>();
}
uint32_t bad_quantize(const void* host, uint32_t* words) {
  const uint32_t fits = good().quantize(host, words);
  words[3] += words[3] == 77 ? 1u : 0u;  // seldom
  words[0] ^= words[0] % 64 == 5 ? 1u : 0u;
  return fits;
}
uint32_t bad_fits(const void* host, uint32_t* words) {
  good().quantize(host, words);
  return 1;
}
void bad_dequantize(const uint32_t* words, void* host) {
  good().dequantize(words, host);
  static_cast<uint8_t*>(host)[0] ^= 1;
}
uint64_t bad_changed(const uint32_t* base, const uint32_t* current) {
  return good().changed(base, current) & ~uint64_t{1};
}
void bad_encode(lattice_bit_output* out, uint64_t mask, const uint32_t* base, const uint32_t* current) {
  good().encode(out, mask & ~uint64_t{4}, base, current);
}
uint32_t far_decode(lattice_bit_input* in, uint64_t mask, const uint32_t* base, uint32_t* out) {
  const uint32_t ok = good().decode(in, mask, base, out);
  if (ok == 0) in->position_bits += 512;  // what it refuses leads it on
  return ok;
}
uint32_t bad_decode(lattice_bit_input* in, uint64_t mask, const uint32_t* base, uint32_t* out) {
  good().decode(in, mask, base, out);
  return 1;  // takes what no encoder writes
}

TEST(StraightCodec, OneThatGivesSomethingElseIsRefused) {
  const char* const kSays = "its codec and its members give different states or bits";
  lattice_codec_desc bad = good();
  bad.quantize = bad_quantize;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
  bad = good(), bad.quantize = bad_fits;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
  bad = good(), bad.dequantize = bad_dequantize;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
  bad = good(), bad.changed = bad_changed;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
  bad = good(), bad.encode = bad_encode;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
  bad = good(), bad.decode = far_decode;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
  bad = good(), bad.decode = bad_decode;
  EXPECT_NE(refusal_of(bad).find(kSays), std::string::npos);
}

// A reader looks once whether there are max_bits. No bytes may lead the codec further, or it reads behind
// them.
TEST(StraightCodec, NoBytesLeadItFurtherThanMaxBits) {
  const lattice_codec_desc codec = *codec_desc<Counters>();
  const std::vector<uint8_t> ones(1000, 0xFF);
  Words base(codec.word_count), out(codec.word_count);
  lattice_bit_input input = {ones.data(), 3};
  EXPECT_EQ(codec.decode(&input, codec.wire_members, base.data(), out.data()), 0u);
  EXPECT_LE(input.position_bits - 3, codec.max_bits);
  expect_same(twice<Counters>(), 1);
}

TEST(StraightCodec, OnlyTheLibraryPacksTextAndContainers) {
  const lattice_codec_desc mixed = *codec_desc<MixedMembers>();
  EXPECT_EQ(mixed.state_members, 0b0101010u);
  EXPECT_EQ(mixed.wire_members, 0b0101010u);
  lattice_codec_desc greedy = mixed;
  greedy.state_members |= 0b1000000u;
  lattice_behaviour_desc behaviours[] = {behaviour_desc<MixedMembers>()};
  behaviours[0].codec = &greedy;
  Layout layout;
  std::string error;
  EXPECT_FALSE(Layout::compile_object(type_desc("Thing", behaviours), &layout, &error));
  EXPECT_NE(error.find("takes member 'first', which only the library packs"), std::string::npos) << error;
}

}  // namespace
}  // namespace lattice::serialization
