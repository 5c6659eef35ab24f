#include "base/bit_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <vector>

namespace lattice::base {
namespace {

template <class Bits>
std::set<size_t> members(const Bits& bits) {
  std::set<size_t> out;
  bits.for_each_set([&](size_t i) { out.insert(i); });
  return out;
}

TEST(BitSet, EmptyAndFull) {
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{200}}) {
    BitSet bits(size);
    EXPECT_TRUE(bits.none());
    EXPECT_EQ(bits.find_first_set(), kNoBit);
    EXPECT_EQ(bits.find_first_clear(), 0u);
    bits.set_all();
    EXPECT_EQ(bits.count(), size);
    EXPECT_EQ(bits.find_first_clear(), kNoBit) << size;
    EXPECT_EQ(bits.find_next_set(size - 1), size - 1);
    EXPECT_EQ(bits.find_next_set(size), kNoBit);
    bits.clear_all();
    EXPECT_TRUE(bits.none());
  }
  EXPECT_EQ(BitSet().find_first_set(), kNoBit);
  EXPECT_EQ(BitSet().find_first_clear(), kNoBit);
}

TEST(BitSet, FixedAndDynamicAgreeOnSizeAndEquality) {
  FixedBitSet<70> a;
  FixedBitSet<70> b;
  EXPECT_EQ(a.size(), 70u);
  a.set(69);
  EXPECT_FALSE(a == b);
  b.assign(69, true);
  EXPECT_TRUE(a == b);
  b.assign(69, false);
  EXPECT_TRUE(b.none());
}

TEST(BitSet, BehavesLikeASetOfIndices) {
  EXPECT_TRUE(rc::check("operations against std::set", [] {
    const auto size = *rc::gen::inRange<size_t>(1, 300);
    const auto operations = *rc::gen::container<std::vector<std::pair<bool, size_t>>>(
        rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange<size_t>(0, size)));
    BitSet bits(size);
    std::set<size_t> model;
    for (const auto& [add, index] : operations) {
      bits.assign(index, add);
      if (add) {
        model.insert(index);
      } else {
        model.erase(index);
      }
      RC_ASSERT(bits.test(index) == add);
    }
    RC_ASSERT(members(bits) == model);
    RC_ASSERT(bits.count() == model.size());
    RC_ASSERT(bits.any() == !model.empty());
    for (size_t from = 0; from <= size + 1; ++from) {
      const auto next_set = model.lower_bound(from);
      RC_ASSERT(bits.find_next_set(from) == (next_set == model.end() ? kNoBit : *next_set));
      size_t next_clear = from;
      while (next_clear < size && model.count(next_clear) != 0) ++next_clear;
      RC_ASSERT(bits.find_next_clear(from) == (next_clear < size ? next_clear : kNoBit));
    }
  }));
}

TEST(BitSet, SetAlgebraMatchesTheModel) {
  EXPECT_TRUE(
      rc::check("unite, intersect, subtract", [](const std::set<uint8_t>& a, const std::set<uint8_t>& b) {
        FixedBitSet<256> left;
        FixedBitSet<256> right;
        for (const uint8_t i : a) left.set(i);
        for (const uint8_t i : b) right.set(i);
        FixedBitSet<256> both = left;
        both.intersect(right);
        FixedBitSet<256> either = left;
        either.unite(right);
        FixedBitSet<256> only = left;
        only.subtract(right);
        for (size_t i = 0; i < 256; ++i) {
          RC_ASSERT(both.test(i) == (left.test(i) && right.test(i)));
          RC_ASSERT(either.test(i) == (left.test(i) || right.test(i)));
          RC_ASSERT(only.test(i) == (left.test(i) && !right.test(i)));
        }
      }));
}

TEST(BitSet, ResizeKeepsCommonBitsAndClearsNewOnes) {
  EXPECT_TRUE(rc::check("resize", [](const std::set<uint8_t>& set) {
    const auto smaller = *rc::gen::inRange<size_t>(0, 256);
    BitSet bits(256);
    for (const uint8_t i : set) bits.set(i);
    bits.resize(smaller);
    RC_ASSERT(bits.size() == smaller);
    bits.resize(400);
    for (size_t i = 0; i < 400; ++i) {
      RC_ASSERT(bits.test(i) == (i < smaller && set.count(static_cast<uint8_t>(i)) != 0));
    }
  }));
}

}  // namespace
}  // namespace lattice::base
