// The two halves of a delta: the mask and the changed members agree with the whole delta, and refuse what it
// refuses.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "unit/serialization/everything.h"

namespace lattice::serialization {
namespace {

using test::Everything;
using test::layout_of;
using test::words_of;
using Words = std::vector<Word>;

// clang-format off
LATTICE_NETWORKED(Walker,
  (position, vec3, BOUNDS(-500, 500, 0.01f), POSITION), (yaw, float, BOUNDS(-3.2f, 3.2f, 0.00625f)),
  (armed, bool), (alive, bool))
LATTICE_NETWORKED(Purse, (coins, uint16, BITS(10)), (open, bool), (heading, quat, SMALLEST_THREE(10)))
// Above and below 64 bits: fields without any, and a member that ends a read.
LATTICE_NETWORKED(Wide,
  (none, uint8, RANGED(3, 3)), (a, uint32, BITS(32)), (b, uint32, BITS(32)), (nothing, uint8, RANGED(4, 4)),
  (c, vec3, BOUNDS(-500, 500, 0.01f)), (turn, quat, SMALLEST_THREE(10)), (on, bool), (d, uint16, BITS(9)))
// In a plan each vector is a read of its own, with an odd number of fields.
LATTICE_NETWORKED(Crammed,
  (a, vec3, BOUNDS(-300, 300, 0.01f)), (b, vec3, BOUNDS(-300, 300, 0.01f)), (c, vec3, BOUNDS(-300, 300, 0.01f)),
  (d, vec3, BOUNDS(-300, 300, 0.01f)), (e, vec3, BOUNDS(-300, 300, 0.01f)), (f, vec3, BOUNDS(-300, 300, 0.01f)),
  (g, vec3, BOUNDS(-300, 300, 0.01f)), (h, vec3, BOUNDS(-300, 300, 0.01f)), (i, vec3, BOUNDS(-300, 300, 0.01f)),
  (j, vec3, BOUNDS(-300, 300, 0.01f)), (k, vec3, BOUNDS(-300, 300, 0.01f)), (l, vec3, BOUNDS(-300, 300, 0.01f)),
  (m, uint32, BITS(32)))
struct Flags {
  LATTICE_NETSTRUCT(Flags, (a, bool), (level, uint8, RANGED(0, 200)), (b, bool))
};
LATTICE_NETWORKED(Deep, (flags, Flags), (one, uint8, RANGED(7, 7)), (many, uint8, ARRAY(70)))
// clang-format on

std::vector<uint8_t> members(const Layout& layout, uint64_t mask, const Words& base, const Words& current,
                             size_t* bits) {
  std::vector<uint8_t> buffer(layout.max_delta_bits() / 8 + 1);
  BitWriter w(buffer);
  layout.encode_members(w, mask, base.data(), current.data());
  EXPECT_TRUE(w.ok());
  *bits = w.bit_count();
  const auto out = w.finish();
  return {out.begin(), out.end()};
}

// Words of host structures of random bytes, for a type without custom members.
Words any_words(const Layout& layout, base::Random& random) {
  std::vector<std::vector<uint8_t>> blocks;
  std::vector<const void*> host;
  for (const LayoutBehaviour& behaviour : layout.behaviours()) {
    blocks.emplace_back(behaviour.host_bytes);
    for (uint8_t& byte : blocks.back()) byte = static_cast<uint8_t>(random.next_below(256));
    host.push_back(blocks.back().data());
  }
  Words words(layout.word_count());
  layout.quantize(host.data(), words.data());
  return words;
}

// `current`, of which about half are made those of `base`.
Words half_of(const Layout& layout, base::Random& random, const Words& base, Words current) {
  for (const LayoutNode& node : layout.nodes()) {
    if (random.chance(0.5)) {
      std::copy_n(base.begin() + node.first_word, node.word_count, current.begin() + node.first_word);
    }
  }
  return current;
}
Words changed_words(const Layout& layout, base::Random& random, const Words& base) {
  return half_of(layout, random, base, words_of(layout, random));
}

TEST(LayoutFlat, MaskBitsAreCounted) {
  const Layout one = test::object_layout_of<Walker>();
  EXPECT_EQ(one.flat_mask_bits(), 4u);
  const Layout two = test::object_layout_of<Walker, Purse>();
  EXPECT_EQ(two.flat_mask_bits(), 7u);
  EXPECT_TRUE(two.has_flat_mask());
  EXPECT_EQ(layout_of(struct_desc<Everything>()).flat_mask_bits(), 32u);
  const Layout large = test::object_layout_of<Everything, Walker, test::Mover, Purse, test::Slots, Deep>();
  EXPECT_EQ(large.flat_mask_bits(), 32u + 4 + 12 + 3 + 4 + 3);
  EXPECT_TRUE(large.has_flat_mask());  // with 6 presence bits, exactly 64
}

TEST(LayoutFlat, MemberZeroIsTheHighestBit) {
  const Layout layout = test::object_layout_of<Walker, Purse>();
  Walker walker;
  Purse purse;
  const void* host[] = {&walker, &purse};
  Words base(layout.word_count()), current(layout.word_count());
  layout.quantize(host, base.data());
  EXPECT_EQ(layout.changed_mask(base.data(), base.data()), 0u);
  walker.position.z = 1;
  walker.alive = true;
  purse.coins = 1000;
  layout.quantize(host, current.data());
  ASSERT_EQ(layout.changed_mask(base.data(), current.data()), 0b1001'100u);
  size_t bits = 0;
  const auto bytes = members(layout, 0b1001'100, base, current, &bits);
  EXPECT_EQ(bits, 3 * 17u + 10);  // nothing for the bool
  BitReader r(bytes);
  EXPECT_EQ(r.ReadBits(17), 50000u);
  EXPECT_EQ(r.ReadBits(17), 50000u);
  EXPECT_EQ(r.ReadBits(17), 50100u);
  EXPECT_EQ(r.ReadBits(10), 1000u);
}

TEST(LayoutFlat, TheHalvesMakeTheDeltaOfAStructure) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("mask and members are the delta", [&](uint64_t seed) {
    base::Random random(seed);
    const Words base = words_of(layout, random);
    const Words current = changed_words(layout, random, base);
    const uint64_t mask = layout.changed_mask(base.data(), current.data());
    std::vector<uint8_t> whole(layout.max_delta_bits() / 8 + 1), halves(whole.size());
    BitWriter w(whole), h(halves);
    layout.encode_delta(w, base.data(), current.data());
    h.WriteBits(mask, static_cast<int>(layout.flat_mask_bits()));
    layout.encode_members(h, mask, base.data(), current.data());
    RC_ASSERT(w.bit_count() == h.bit_count());
    const auto a = w.finish(), b = h.finish();
    RC_ASSERT(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }));
}

TEST(LayoutFlat, MembersRoundTrip) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("decode ends where encode did", [&](uint64_t seed) {
    base::Random random(seed);
    const Words base = words_of(layout, random);
    const Words current = changed_words(layout, random, base);
    const uint64_t mask = layout.changed_mask(base.data(), current.data());
    size_t bits = 0;
    const auto bytes = members(layout, mask, base, current, &bits);
    Words out(layout.word_count(), 99);
    BitReader r(bytes);
    RC_ASSERT(layout.decode_members(r, mask, base.data(), out.data()));
    RC_ASSERT(out == current);
    RC_ASSERT(r.position_bits() == bits);
    for (size_t n = 0; n < bits; ++n) {
      BitReader cut(bytes, n);
      RC_ASSERT(!layout.decode_members(cut, mask, base.data(), out.data()));
      RC_ASSERT(!cut.ok());
      RC_ASSERT(out == base);
    }
  }));
}

// Whatever bytes decode, encode to themselves.
TEST(LayoutFlat, HostileMembersAreRefusedOrCanonical) {
  const Layout layout = layout_of(struct_desc<Everything>());
  EXPECT_TRUE(rc::check("accepted means canonical", [&](uint64_t seed) {
    base::Random random(seed);
    const Words base = words_of(layout, random);
    const Words current = changed_words(layout, random, base);
    uint64_t mask = layout.changed_mask(base.data(), current.data());
    size_t bits = 0;
    auto bytes = members(layout, mask, base, current, &bits);
    if (bytes.empty()) return;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[random.next_below(bytes.size())] ^= static_cast<uint8_t>(1u << random.next_below(8));
    }
    if (random.chance(0.2)) mask ^= uint64_t{1} << random.next_below(layout.flat_mask_bits());
    Words out(layout.word_count());
    BitReader r(bytes);
    if (!layout.decode_members(r, mask, base.data(), out.data())) {
      RC_ASSERT(out == base);
      return;
    }
    RC_ASSERT(layout.changed_mask(base.data(), out.data()) == mask);
    const size_t used = r.position_bits();
    const auto again = members(layout, mask, base, out, &bits);
    RC_ASSERT(bits == used);
    BitReader x(bytes, used), y(again, used);
    while (x.bits_left() != 0) RC_ASSERT(x.ReadBool() == y.ReadBool());
  }));
}

/// The first `bits` bits of `bytes` behind `skipped` ones.
std::vector<uint8_t> shifted(const std::vector<uint8_t>& bytes, size_t bits, size_t skipped) {
  std::vector<uint8_t> out(bits / 8 + 16);
  BitWriter w(out);
  BitReader r(bytes, bits);
  w.WriteBits(~uint64_t{0} >> (64 - std::max<size_t>(skipped, 1)) >> (skipped == 0 ? 1 : 0),
              static_cast<int>(skipped));
  while (r.bits_left() != 0) w.WriteBool(r.ReadBool());
  const auto written = w.finish();
  return {written.begin(), written.end()};
}

// Bits that were changed, cut, or are read by another mask: a plan takes and refuses what its mask does.
void expect_plans_agree(const Layout& layout, bool whole) {
  EXPECT_TRUE(rc::check("plan and mask agree", [&](uint64_t seed) {
    base::Random random(seed);
    const Words base = any_words(layout, random);
    const Words current = half_of(layout, random, base, any_words(layout, random));
    uint64_t mask = layout.changed_mask(base.data(), current.data());
    size_t bits = 0;
    auto bytes = members(layout, mask, base, current, &bits);
    for (uint64_t flips = random.next_below(3); flips > 0 && !bytes.empty(); --flips) {
      bytes[random.next_below(bytes.size())] ^= static_cast<uint8_t>(1u << random.next_below(8));
    }
    if (random.chance(0.2)) mask ^= uint64_t{1} << random.next_below(layout.flat_mask_bits());
    if (random.chance(0.2)) bits = random.next_below(bits + 1);
    MemberPlan plan;
    layout.plan(~mask & ((uint64_t{2} << (layout.flat_mask_bits() - 1)) - 1),
                &plan);  // leaves nothing behind
    layout.plan(mask, &plan);
    RC_ASSERT(plan.whole || !whole);
    Words by_mask(layout.word_count(), 98), by_plan(layout.word_count(), 99);
    const size_t skipped = random.next_below(64);  // the window stands anywhere in a byte
    const auto later = shifted(bytes, bits, skipped);
    BitReader r(bytes, bits);
    BitWindow p(later, skipped, skipped + bits);
    const bool taken = layout.decode_members(r, mask, base.data(), by_mask.data());
    RC_ASSERT(taken == layout.decode_members(p, plan, base.data(), by_plan.data()));
    if (!taken) return;
    RC_ASSERT(by_mask == by_plan);
    RC_ASSERT(p.ok());
    RC_ASSERT(r.position_bits() == p.position_bits() - skipped);
  }));
}

TEST(LayoutFlat, APlanDecodesAsItsMaskDoes) {
  expect_plans_agree(test::object_layout_of<Walker, Purse>(), true);
  expect_plans_agree(layout_of(struct_desc<Wide>()), true);
  expect_plans_agree(layout_of(struct_desc<Deep>()), false);
}

TEST(LayoutFlat, APlanHasNoMoreFieldsThanItHasRoomFor) {
  const Layout layout = layout_of(struct_desc<Crammed>());
  unsigned full = 0;
  for (uint64_t mask = 1; mask < uint64_t{1} << layout.flat_mask_bits(); ++mask) {
    MemberPlan plan;
    layout.plan(mask, &plan);
    ASSERT_LE(plan.field_count, MemberPlan::kMaxFields) << mask;
    if (plan.field_count == MemberPlan::kMaxFields) ++full;
  }
  EXPECT_GT(full, 0u);
  expect_plans_agree(layout, false);
}

TEST(LayoutFlat, AMarkedMemberDiffersFromItsBaseline) {
  const Layout layout = layout_of(struct_desc<Everything>());
  base::Random random(1);
  const Words base = words_of(layout, random);
  Words out(layout.word_count(), 99);
  BitReader none(std::span<const uint8_t>{});
  EXPECT_TRUE(layout.decode_members(none, 0, base.data(), out.data()));
  EXPECT_EQ(out, base);
  unsigned refused = 0;
  for (unsigned i = 0; i < layout.flat_mask_bits(); ++i) {
    const uint64_t mask = uint64_t{1} << i;
    size_t bits = 0;
    const auto bytes = members(layout, mask, base, base, &bits);
    BitReader r(bytes);
    if (layout.decode_members(r, mask, base.data(), out.data())) {
      EXPECT_EQ(layout.nodes()[layout.flat_mask_bits() - 1 - i].kind, LayoutNode::Kind::kBool);
      continue;
    }
    EXPECT_FALSE(r.ok());
    EXPECT_EQ(out, base);
    ++refused;
  }
  EXPECT_EQ(refused, layout.flat_mask_bits() - 1);  // all but the only bool
}

TEST(LayoutFlat, ACodePastItsLimitIsRefused) {
  const Layout layout = layout_of(struct_desc<Deep>());
  Words base(layout.word_count()), out(layout.word_count());
  layout.zero_baseline(base.data());
  const auto decodes = [&](uint64_t level) {
    uint8_t buffer[4];
    BitWriter w(buffer);
    w.WriteBits(0, 1), w.WriteBits(level, 8), w.WriteBits(1, 1);
    BitReader r(w.finish());
    return layout.decode_members(r, 0b100, base.data(), out.data());
  };
  EXPECT_TRUE(decodes(200));
  EXPECT_FALSE(decodes(201));
  const Layout purse = layout_of(struct_desc<Purse>());
  Words rest(purse.word_count());
  purse.zero_baseline(rest.data());
  const uint8_t ones[] = {0xFF, 0xFF, 0xFF, 0xFF};  // three codes of 1023, which no rotation has
  BitReader r(ones);
  EXPECT_FALSE(purse.decode_members(r, 0b001, rest.data(), out.data()));
}

TEST(LayoutFlat, AFieldWithoutBitsIsNeverMarked) {
  const Layout layout = layout_of(struct_desc<Deep>());
  Words base(layout.word_count()), out(layout.word_count());
  layout.zero_baseline(base.data());
  BitReader r(std::span<const uint8_t>{});
  EXPECT_FALSE(layout.decode_members(r, 0b010, base.data(), out.data()));
}

// clang-format off
LATTICE_NETWORKED(Other1, (a, uint8), (b, bool))
// clang-format on

TEST(LayoutFlat, LargerMasksHaveNoHalvesButADelta) {
  const Layout layout =
      test::object_layout_of<Everything, test::Mover, Walker, Deep, Purse, Other1, test::Slots>();
  EXPECT_EQ(layout.flat_mask_bits(), 32u + 12 + 4 + 3 + 3 + 2 + 4);  // and 7 presence bits: 67
  ASSERT_FALSE(layout.has_flat_mask());
  Everything everything;
  test::Mover mover;
  Walker walker;
  Deep deep;
  Purse purse;
  Other1 other;
  test::Slots slots;
  const void* host[] = {&everything, &mover, &walker, &deep, &purse, &other, &slots};
  Words base(layout.word_count()), current(layout.word_count()), out(layout.word_count());
  layout.quantize(host, base.data());
  walker.alive = true, deep.many[3] = 4, slots.inner.on = true;
  layout.quantize(host, current.data());
  std::vector<uint8_t> buffer(layout.max_delta_bits() / 8 + 1);
  BitWriter w(buffer);
  layout.encode_delta(w, base.data(), current.data());
  // Presence; Walker's mask; Deep's mask, its array's mask and element; the mask of Slots, Inner whole.
  EXPECT_EQ(w.bit_count(), 7u + 4 + (3 + 70 + 8) + (4 + 1 + 8 + 11 + 11));
  BitReader r(w.finish());
  EXPECT_TRUE(layout.decode_delta(r, base.data(), out.data()));
  EXPECT_EQ(out, current);
}

}  // namespace
}  // namespace lattice::serialization
