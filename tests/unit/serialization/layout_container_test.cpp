// Lists, maps and unions: golden deltas, round trips, hostile input, host memory, what is refused.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "unit/serialization/containers.h"
#include "unit/serialization/deltas.h"

namespace lattice::serialization {
namespace {

using test::Bag;
using test::Choice;
using test::Deal;
using test::delta;
using test::quantized;
using test::reads;
using test::Slot;
using test::Words;

// clang-format off
struct Entry { LATTICE_NETSTRUCT(Entry, (id, uint8, BITS(4)), (amount, uint8, BITS(4))) };
struct Pick { LATTICE_NETUNION(Pick, (lit, bool), (level, uint8, BITS(4))) };
LATTICE_NETWORKED(Little, (items, uint8, LIST(3)), (by_id, Entry, MAP(2)), (pick, Pick))
// clang-format on

// "101 1" as the bytes that begin with these bits.
std::vector<uint8_t> bits(const std::string& text) {
  std::vector<uint8_t> bytes;
  size_t n = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (n++ % 8 == 0) bytes.push_back(0);
    if (c == '1') bytes.back() |= static_cast<uint8_t>(0x80 >> (n - 1) % 8);
  }
  return bytes;
}

TEST(LayoutContainer, GoldenDeltas) {
  const Layout layout = test::layout_of(struct_desc<Little>());
  Little now;
  now.items.push_back(5);
  now.items.push_back(0);
  now.by_id.insert({2, 7});
  now.pick.set_level() = 9;
  const Words empty = quantized(layout, Little{}), first = quantized(layout, now);
  // all three members; length 2, element 0 changed; another entry, no more; tag 2 and its value
  EXPECT_EQ(delta(layout, empty, first), bits("111  1 10 1 00000101 0  1 0010 0111 0  1 10 1001"));
  now.items.push_back(8);
  now.by_id.find(2)->amount = 8;
  now.by_id.insert({9, 1});
  now.pick.level = 3;
  const Words second = quantized(layout, now);
  // the map is full, so nothing says that it ends
  EXPECT_EQ(delta(layout, first, second), bits("111  1 11 0 0 1 00001000  1 0 1000 1 1001 0001  0 0011"));
  now.items.count = 1;
  now.by_id.erase(2);
  now.pick.set_none();
  const Words third = quantized(layout, now);
  EXPECT_EQ(delta(layout, second, third), bits("111  1 01 0  1 1 0 0  1 00"));
  now.pick.set_lit() = false;
  EXPECT_EQ(delta(layout, third, quantized(layout, now)), bits("001  1 01 0"));
  const Words unlit = quantized(layout, now);
  now.pick.lit = true;
  EXPECT_EQ(delta(layout, unlit, quantized(layout, now)), bits("001  0"));
  EXPECT_EQ(layout.canonical_members(),
            "behaviour Little\n member items list 3 uint8 fixed 8 flags 0\n"
            " member by_id map 2 struct Entry whole\n  member id uint8 bits 4 flags 0\n"
            "  member amount uint8 bits 4 flags 0\n member pick struct Pick union\n"
            "  member lit bool flags 0\n  member level uint8 bits 4 flags 0\n");
}

TEST(LayoutContainer, WhatNoEncoderWritesIsRefused) {
  const Layout layout = test::layout_of(struct_desc<Little>());
  Little value;
  value.items.push_back(5);
  value.by_id.insert({2, 7});
  value.pick.set_level() = 9;
  const Words base = quantized(layout, value);
  const char* const kBad[] = {
      "100  1 01 1 00000110",              // a length that did not change
      "100  0 1 00000101",                 // an element that did not change
      "100  0 0",                          // a list that did not change
      "010  1 0 0111",                     // an entry that did not change
      "010  0 1 0010 0001 0",              // an entry of the baseline as a new one
      "010  1 1 1 0010 0001 0",            // the same, removed before
      "010  1 1 1 0101 0001 1 0100 0001",  // keys that descend
      "010  1 1 1 0101 0001 1 0101 0010",  // a key twice
      "010  0 0",                          // a map that did not change
      "001  0 1001",                       // an alternative that did not change
      "001  1 10 0001",                    // a tag that did not change
      "001  1 11 0001",                    // a tag that is none
  };
  for (const char* bad : kBad) {
    Words out;
    EXPECT_FALSE(reads(layout, base, bits(bad), &out)) << bad;
    EXPECT_EQ(out, base) << bad;
  }
  Words out;
  EXPECT_TRUE(reads(layout, base, bits("010  1 1 1 0100 0001 1 0101 0001"), &out));
  value.pick.set_none();
  EXPECT_FALSE(reads(layout, quantized(layout, value), bits("001  0 1001"), &out));
  std::vector<uint8_t> whole = bits("11 00000001 00000010 00000011  10 0010 0000 0001 0000  00");
  BitReader r(whole);
  EXPECT_FALSE(layout.decode_whole(r, out.data()));  // keys descend
  EXPECT_EQ(out, quantized(layout, Little{}));
}

TEST(LayoutContainer, DeltasAndWholeStatesRoundTrip) {
  const Layout layout = test::object_layout_of<Bag>();
  const Layout lone = test::layout_of(struct_desc<Bag>());
  EXPECT_TRUE(rc::check(
      "a delta leads from any state to any other, and a whole state is what Serialize() writes", [&] {
        base::Random random(*rc::gen::arbitrary<uint64_t>());
        Bag a;
        for (int i = 0; i < 8; ++i) change_some(random, &a);
        Bag b = a;
        change_some(random, &b);
        if (random.chance(0.2)) b = Bag{};
        const Words from = quantized(layout, a), to = quantized(layout, b);
        Words read;
        RC_ASSERT(reads(layout, from, delta(layout, from, to), &read));
        RC_ASSERT(read == to);
        Bag back;
        test::fill_garbage(random, &back);
        void* host[] = {&back};
        layout.dequantize(to.data(), host);
        RC_ASSERT(quantized(layout, back) == to);
        RC_ASSERT(layout.approx_equal(to.data(), to.data()));
        RC_ASSERT((from == to) == layout.first_difference(from.data(), to.data()).empty());
        std::vector<uint8_t> whole(lone.max_whole_bits() / 8 + 1), written(whole.size()),
            direct(whole.size());
        BitWriter w(whole), s(written), d(direct);
        lone.encode_whole(w, to.data());
        back.Serialize(s);
        b.Serialize(d);
        const auto bytes = w.finish();
        RC_ASSERT(bytes.size() == s.finish().size() && bytes.size() == d.finish().size());
        RC_ASSERT(std::equal(bytes.begin(), bytes.end(), written.begin()));
        RC_ASSERT(std::equal(bytes.begin(), bytes.end(), direct.begin()));
        BitReader r(bytes), again(bytes);
        Words out(lone.word_count());
        RC_ASSERT(lone.decode_whole(r, out.data()) && r.at_end() && out == to);
        Bag deserialized;
        deserialized.Deserialize(again);
        RC_ASSERT(again.at_end() && quantized(layout, deserialized) == to);
        RC_ASSERT(deserialized == back);
      }));
}

TEST(LayoutContainer, GarbageInHostMemoryIsTaken) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  base::Random random(7);
  for (int i = 0; i < 500; ++i) {
    Bag bag;
    test::fill_garbage(random, &bag);
    if (random.chance(0.5)) bag.slots.count = static_cast<uint16_t>(random.next_below(8));
    const Words words = quantized(layout, bag);
    void* host[] = {&bag};
    layout.dequantize(words.data(), host);
    EXPECT_EQ(quantized(layout, bag), words);
    Words read;
    EXPECT_TRUE(
        reads(layout, quantized(layout, Bag{}), delta(layout, quantized(layout, Bag{}), words), &read));
    EXPECT_EQ(read, words);
  }
}

TEST(LayoutContainer, EveryTruncationIsRefusedAndLeavesTheBaseline) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  base::Random random(3);
  for (int round = 0; round < 40; ++round) {
    Bag a;
    for (int i = 0; i < 6; ++i) change_some(random, &a);
    Bag b = a;
    change_some(random, &b);
    const Words from = quantized(layout, a), to = quantized(layout, b);
    const std::vector<uint8_t> bytes = delta(layout, from, to);
    for (size_t n = 0; n < bytes.size(); ++n) {
      Words out;
      const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      if (!reads(layout, from, part, &out)) {
        EXPECT_EQ(out, from);
      }
    }
    for (int flip = 0; flip < 40; ++flip) {  // any bits either mean one state or leave the baseline
      std::vector<uint8_t> other = bytes;
      other[random.next_below(other.size())] ^= static_cast<uint8_t>(1u << random.next_below(8));
      Words out;
      if (reads(layout, from, other, &out)) {
        EXPECT_EQ(delta(layout, from, out), other);
      } else {
        BitReader r(other);
        if (!layout.decode_delta(r, from.data(), out.data())) {
          EXPECT_EQ(out, from);
        }
      }
    }
  }
}

TEST(LayoutContainer, NothingBehindTheEndIsReadOrKept) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  Bag bag;
  bag.points.count = 1;
  bag.points.items[1] = {std::numeric_limits<float>::quiet_NaN(), 99, 0};  // counts not, so it fits
  Words words(layout.word_count());
  const void* host[] = {&bag};
  EXPECT_TRUE(layout.quantize(host, words.data()));
  void* out[] = {&bag};
  layout.dequantize(words.data(), out);
  EXPECT_EQ(bag.points.items[1], Vector3{});
  EXPECT_TRUE(layout.round(out, words.data()));
}

TEST(LayoutContainer, MapsFindEntriesByTheirKeysInAnyOrder) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  Bag ordered, mixed;
  for (const int32_t price : {-5, -1, 0, 3, 4}) {
    Deal deal;
    deal.price = price;
    deal.slots.push_back({static_cast<uint16_t>(price), 1, true});
    ordered.deals.insert(deal);
  }
  for (const size_t i : {3u, 0u, 4u, 2u, 1u}) mixed.deals.items[mixed.deals.count++] = ordered.deals.items[i];
  EXPECT_EQ(quantized(layout, ordered), quantized(layout, mixed));
  mixed.deals.items[5] = mixed.deals.items[0];
  mixed.deals.items[5].slots.clear();
  mixed.deals.count = 6;  // a second entry of the key 3 is left out, and does not fit
  Words words(layout.word_count());
  const void* host[] = {&mixed};
  EXPECT_FALSE(layout.quantize(host, words.data()));
  EXPECT_EQ(words, quantized(layout, ordered));
  EXPECT_EQ(layout.first_misfit(host),
            "Bag.deals has too many entries, two with one key, or a value that does not fit");
  EXPECT_EQ(ordered.deals.find(3)->slots[0].id, 3);
  EXPECT_EQ(ordered.deals.find(2), nullptr);
  EXPECT_FALSE(ordered.deals.erase(2));
}

// What a client shows is what its game searches: the order of the words is that of lattice::Map.
TEST(LayoutContainer, EntriesAreFoundAfterTheirWayThroughTheWire) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  Bag bag;
  for (const int32_t price : {5, -7, 0, -1, 1, INT32_MIN, INT32_MAX, -2, 2}) {
    Deal deal;
    deal.price = price;
    EXPECT_NE(bag.deals.insert(deal), nullptr);
  }
  for (const test::Mood mood : {test::Mood::kCalm, test::Mood::kAngry, test::Mood::kSad}) {
    test::Ammo ammo;
    ammo.kind = mood;
    ammo.rounds = 9;
    bag.ammo.insert(ammo);
  }
  Bag back;
  void* host[] = {&back};
  layout.dequantize(quantized(layout, bag).data(), host);
  EXPECT_EQ(back, bag);
  for (const Deal& deal : bag.deals) EXPECT_NE(back.deals.find(deal.price), nullptr) << deal.price;
  for (const test::Mood mood : {test::Mood::kCalm, test::Mood::kAngry, test::Mood::kSad}) {
    ASSERT_NE(back.ammo.find(mood), nullptr);
    test::Ammo again = *back.ammo.find(mood);
    again.rounds = 3;
    back.ammo.insert(again);
  }
  EXPECT_EQ(back.ammo.size(), 3u);
  EXPECT_EQ(back.ammo.find(test::Mood::kAngry)->rounds, 3);
  layout.dequantize(quantized(layout, back).data(), host);
  EXPECT_EQ(back.ammo.find(test::Mood::kAngry)->rounds, 3);
}

TEST(LayoutContainer, MisfitsAndDifferencesHaveNames) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  const auto misfit = [&](const Bag& bag) {
    const void* host[] = {&bag};
    return layout.first_misfit(host);
  };
  Bag bag;
  EXPECT_EQ(misfit(bag), "");
  bag.slots.push_back({});
  bag.slots.push_back({1, 16, false});
  EXPECT_EQ(misfit(bag), "Bag.slots[1].amount is 16 and takes 0 to 15");
  Bag large;
  large.slots.count = 6;
  EXPECT_EQ(misfit(large), "Bag.slots has 6 elements and takes 5");
  Bag hot;
  hot.choices[1].set_heat() = 1e6f;
  EXPECT_EQ(misfit(hot), "Bag.choices[1].heat is 1000000 and takes -65504 to 65504");
  Bag odd;
  odd.choice.which = static_cast<Choice::Which>(9);
  EXPECT_EQ(misfit(odd), "Bag.choice has the tag 9 and takes 0 to 6");
  Bag a, b;
  a.more.push_back({}), b.more.push_back({}), a.more.push_back({}), b.more.push_back({});
  b.more[1].set_slot().id = 3;
  a.more[1].set_slot();
  EXPECT_EQ(layout.first_difference(quantized(layout, a).data(), quantized(layout, b).data()),
            "Bag.more[1].slot.id");
  b.more.push_back({});
  b.more[1] = a.more[1];
  EXPECT_EQ(layout.first_difference(quantized(layout, a).data(), quantized(layout, b).data()), "Bag.more");
}

TEST(LayoutContainer, ElementsInBothStatesAreInterpolated) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  Bag a, b, out;
  a.points.push_back({0, 0, 0}), a.points.push_back({1, 0, 0});
  b.points.push_back({10, 0, 0});
  a.choice.set_heat() = 2, b.choice.set_heat() = 4;
  a.choices[0].set_heat() = 2, b.choices[0].set_lit() = true;
  a.deals.insert({}), b.deals.insert({3, {}});
  const Words from = quantized(layout, a), to = quantized(layout, b);
  void* host[] = {&out};
  layout.interpolate(from.data(), to.data(), 0.5, host);
  ASSERT_EQ(out.points.size(), 2u);
  EXPECT_NEAR(out.points[0].x, 5.0f, 0.01f);
  EXPECT_NEAR(out.points[1].x, 1.0f, 0.01f);
  EXPECT_EQ(out.choice.heat, 3.0f);
  EXPECT_EQ(out.choices[0].which, Choice::Which::heat);
  EXPECT_NE(out.deals.find(0), nullptr);
  layout.interpolate(from.data(), to.data(), 1.0, host);
  EXPECT_EQ(out.choices[0].which, Choice::Which::lit);
}

TEST(LayoutContainer, PropertiesAreWholeContainers) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  Bag bag;
  bag.slots.push_back({4, 5, true});
  Words words = quantized(layout, Bag{});
  const uint16_t id = prop_id(0, Bag::Member::slots);
  EXPECT_FALSE(layout.set_prop(words.data(), id, &bag.slots, sizeof bag.slots - 1));
  EXPECT_TRUE(layout.set_prop(words.data(), id, &bag.slots, sizeof bag.slots));
  EXPECT_EQ(words, quantized(layout, bag));
  List<Slot, 5> read;
  EXPECT_EQ(layout.get_prop(words.data(), id, &read, sizeof read), sizeof read);
  EXPECT_EQ(read, bag.slots);
}

TEST(LayoutContainer, PredictionLeavesOutWhatIsNotPredicted) {
  const Layout layout = test::layout_of(struct_desc<Bag>());
  Bag a, b;
  b.score.push_back(7);
  const Words from = quantized(layout, a), to = quantized(layout, b);
  EXPECT_FALSE(layout.predicts_all());
  EXPECT_TRUE(layout.prediction_equal(from.data(), to.data()));
  EXPECT_FALSE(layout.approx_equal(from.data(), to.data()));
  void* host[] = {&a};
  layout.dequantize_not_predicted(to.data(), host);
  EXPECT_EQ(a.score, b.score);
  Bag near = b;
  near.points.push_back({1, 0, 0}), b.points.push_back({1.011f, 0, 0});
  EXPECT_TRUE(layout.approx_equal(quantized(layout, near).data(), quantized(layout, b).data()));
}

struct Outer {
  LATTICE_NETUNION(Outer, (choice, Choice), (number, uint8))
};
struct Holder {
  LATTICE_NETSTRUCT(Holder, (outer, Outer), (choices, Choice, LIST(2)))
};

TEST(LayoutContainer, AUnionMayHoldAUnion) {
  const Layout layout = test::layout_of(struct_desc<Holder>());
  Outer outer;
  outer.set_choice().set_slot().id = 7;
  Holder a, b;
  b.outer = outer;
  Choice choice;
  choice.set_lit() = true;
  b.choices.push_back(choice);
  const Words from = quantized(layout, a), to = quantized(layout, b);
  Words read;
  ASSERT_TRUE(reads(layout, from, delta(layout, from, to), &read));
  EXPECT_EQ(read, to);
  void* host[] = {&a};
  layout.dequantize(to.data(), host);
  EXPECT_EQ(a, b);
  b.outer.choice.slot.id = 8;
  EXPECT_EQ(delta(layout, to, quantized(layout, b)), bits("10  0 0  00001000 00000000 0000 0"));
}

TEST(LayoutContainer, BadDescriptionsAreRefused) {
  const auto refusal = [](const lattice_member_desc& member, uint32_t bytes = 4096) {
    lattice_struct_desc desc;
    lattice_struct_desc_init(&desc);
    desc.name = "S";
    desc.host_bytes = bytes, desc.host_align = 8;
    desc.members = &member, desc.member_count = 1;
    Layout layout;
    std::string error;
    return Layout::compile_structure(desc, false, &layout, &error) ? "" : error.substr(error.rfind(": ") + 2);
  };
  lattice_member_desc list;
  lattice_member_desc_init(&list);
  list.name = "m", list.type = LATTICE_WIRE_UINT8, list.container = LATTICE_CONTAINER_LIST;
  EXPECT_EQ(refusal(list), "array_count is 0; must be 1..1024 for a list or a map");
  list.array_count = 1025;
  EXPECT_EQ(refusal(list), "array_count is 1025; must be 1..1024 for a list or a map");
  list.array_count = 7;
  EXPECT_EQ(refusal(list), "");
  EXPECT_EQ(refusal(list, 9), "offset 0 plus 10 bytes passes the structure's 9");
  list.count_offset = 6;
  EXPECT_EQ(refusal(list), "count_offset is 6; the elements take 7 bytes, of at most 65536");
  list.count_offset = 8, list.container_bytes = 9;
  EXPECT_EQ(refusal(list), "container_bytes is 9; the number of elements ends at 10");
  list.container_bytes = 0;
  list.container = static_cast<lattice_container>(3);
  EXPECT_EQ(refusal(list), "container is 3; must be 0..2");
  list.container = LATTICE_CONTAINER_MAP;
  EXPECT_EQ(refusal(list), "an entry of a map is a structure of a key and at least one other member");
  list.container = LATTICE_CONTAINER_LIST, list.flags = LATTICE_MEMBER_TELEPORT;
  EXPECT_EQ(refusal(list), "a motion flag or TELEPORT cannot be inside a list, a map or a union");

  lattice_member_desc entry[2];
  lattice_member_desc_init(&entry[0]), lattice_member_desc_init(&entry[1]);
  entry[0].name = "key", entry[0].type = LATTICE_WIRE_FLOAT;
  entry[1].name = "value", entry[1].type = LATTICE_WIRE_UINT8, entry[1].offset = 4;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "E", structure.host_bytes = 8, structure.host_align = 4;
  structure.members = entry, structure.member_count = 2;
  lattice_member_desc map;
  lattice_member_desc_init(&map);
  map.name = "m", map.type = LATTICE_WIRE_STRUCT, map.structure = &structure;
  map.container = LATTICE_CONTAINER_MAP, map.array_count = 4;
  EXPECT_EQ(refusal(map), "the key of a map, member 'key', must be an enum, an integer or a netid");
  entry[0].type = LATTICE_WIRE_UINT32;
  EXPECT_EQ(refusal(map), "");
  entry[1].flags = LATTICE_MEMBER_NOT_PREDICTED;
  EXPECT_EQ(refusal(map), "flag NOT_PREDICTED belongs to the whole list, map or union");
  entry[1].flags = 0;

  lattice_member_desc choice = map;
  choice.container = LATTICE_CONTAINER_ARRAY, choice.array_count = 0;
  structure.flags = LATTICE_STRUCT_UNION, structure.tag_offset = 3;
  EXPECT_EQ(refusal(choice), "tag_offset 3 lies in alternative 'key'");
  structure.tag_offset = 8;
  EXPECT_EQ(refusal(choice), "tag_offset 8 passes the union's 8 bytes");
  structure.tag_offset = 7;
  EXPECT_EQ(refusal(choice), "");
  structure.flags |= LATTICE_STRUCT_DELTA;
  EXPECT_EQ(refusal(choice), "its structure's flags is 3; must be 0, 1 or 2");
  structure.flags = LATTICE_STRUCT_UNION;
  Layout layout;
  std::string error;
  EXPECT_FALSE(Layout::compile_structure(structure, false, &layout, &error));
  EXPECT_EQ(error.substr(error.rfind(": ") + 2),
            "a union is a member of a structure, and no behaviour, input or arguments");
}

TEST(LayoutContainer, LongMasksRoundTrip) {
  std::vector<std::string> names;
  for (int i = 0; i < LATTICE_MAX_MEMBERS; ++i) names.push_back("m" + std::to_string(i));
  std::vector<lattice_member_desc> members(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    lattice_member_desc_init(&members[i]);
    members[i].name = names[i].c_str();
    members[i].type = i % 3 == 0 ? LATTICE_WIRE_BOOL : LATTICE_WIRE_UINT8;
    members[i].offset = static_cast<uint32_t>(i);
  }
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = "Wide", desc.host_bytes = LATTICE_MAX_MEMBERS, desc.host_align = 1;
  desc.members = members.data(), desc.member_count = LATTICE_MAX_MEMBERS;
  const Layout layout = test::layout_of(desc);
  EXPECT_FALSE(layout.has_flat_mask());
  base::Random random(1);
  for (int i = 0; i < 50; ++i) {
    std::array<uint8_t, LATTICE_MAX_MEMBERS> a{}, b{};
    for (uint8_t& v : b) v = random.chance(0.2) ? static_cast<uint8_t>(random.next_u64()) : uint8_t{0};
    const Words from = quantized(layout, a), to = quantized(layout, b);
    Words read;
    ASSERT_TRUE(reads(layout, from, delta(layout, from, to), &read));
    EXPECT_EQ(read, to);
  }
  // One bit for each member, and no presence bit: it is no object (D-8).
  const Words zero = quantized(layout, std::array<uint8_t, LATTICE_MAX_MEMBERS>{});
  EXPECT_EQ(delta(layout, zero, zero), std::vector<uint8_t>(LATTICE_MAX_MEMBERS / 8));
  desc.member_count = LATTICE_MAX_MEMBERS + 1;
  Layout refused;
  std::string error;
  EXPECT_FALSE(Layout::compile_structure(desc, false, &refused, &error));
}

// Every number of 16 bits, and floats between and beside them.
TEST(Half, NearestNumbersAndEveryCodeAgain) {
  std::vector<double> values;
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const uint32_t bits = float_of_half(static_cast<uint16_t>(h));
    EXPECT_EQ(half_of_float(bits), h);
    const auto value = std::bit_cast<float>(bits);
    if (h < 0x7C00) values.push_back(static_cast<double>(value));
    EXPECT_EQ(std::signbit(value), h >= 0x8000);
  }
  EXPECT_EQ(values[1], std::ldexp(1.0, -24));
  EXPECT_EQ(values[0x3C00], 1.0);
  EXPECT_EQ(values[0x3C01], 1.0 + 1.0 / 1024);
  EXPECT_EQ(values.back(), kMaxHalf);
  base::Random random(5);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<uint32_t>(random.next_u64()) & 0x7FFFFFFFu;
    const double v = static_cast<double>(std::bit_cast<float>(bits));
    const uint16_t code = half_of_float(bits);
    if (!(v < 65520.0)) {
      EXPECT_EQ(code >= 0x7BFF, true);
      EXPECT_EQ(fits_half(bits), !std::isfinite(v));
      continue;
    }
    const double error = std::abs(values[code] - v);
    if (code > 0) {
      EXPECT_LE(error, std::abs(values[code - 1u] - v));
    }
    if (code < 0x7BFF) {
      EXPECT_LE(error, std::abs(values[code + 1u] - v));
    }
    if (code < 0x7BFF && error == std::abs(values[code + 1u] - v)) {
      EXPECT_EQ(code % 2, 0);
    }
  }
}

}  // namespace
}  // namespace lattice::serialization
