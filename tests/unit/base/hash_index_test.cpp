#include "base/hash_index.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <utility>
#include <vector>

namespace lattice::base {
namespace {

TEST(HashIndex, FixedTableRefusesAtItsCapacity) {
  for (size_t expected = 0; expected < 200; ++expected) {
    HashIndex index(expected);
    ASSERT_GE(index.capacity(), expected);
    const auto capacity = static_cast<uint32_t>(index.capacity());
    for (uint32_t i = 0; i < capacity; ++i) ASSERT_TRUE(index.insert(i * 0x1000u, i));
    EXPECT_FALSE(index.insert(0xFFFF'FFFF'FFFF'FFFFu, 1));
    EXPECT_FALSE(index.contains(0xFFFF'FFFF'FFFF'FFFFu));
    EXPECT_TRUE(index.validate());
    for (uint32_t i = 0; i < capacity; ++i) ASSERT_EQ(index.find(i * 0x1000u), i);
  }
}

TEST(HashIndex, SecondInsertKeepsTheFirstValue) {
  HashIndex index(4);
  EXPECT_TRUE(index.insert(0, 10));
  EXPECT_FALSE(index.insert(0, 11));
  EXPECT_EQ(index.find(0), 10u);
  EXPECT_TRUE(index.erase(0));
  EXPECT_FALSE(index.erase(0));
  EXPECT_EQ(index.find(0), HashIndex::kNone);
}

TEST(HashIndex, ClearEmptiesTheTable) {
  HashIndex index(8);
  for (uint32_t i = 0; i < 8; ++i) index.insert(i, i);
  index.clear();
  EXPECT_EQ(index.size(), 0u);
  EXPECT_FALSE(index.contains(3));
  EXPECT_TRUE(index.validate());
}

/// Small keys collide and repeat often; that is where shifting deletion can go wrong.
void compare_with_map(HashIndex index, const std::vector<std::pair<uint8_t, uint8_t>>& operations) {
  std::map<uint64_t, uint32_t> model;
  uint32_t next = 0;
  for (const auto& [kind, small_key] : operations) {
    const uint64_t key = small_key % 64;
    if (kind % 2 == 0) {
      RC_ASSERT(index.insert(key, next) == model.emplace(key, next).second);
      ++next;
    } else {
      RC_ASSERT(index.erase(key) == (model.erase(key) != 0));
    }
    RC_ASSERT(index.validate());
    RC_ASSERT(index.size() == model.size());
  }
  for (uint64_t key = 0; key < 64; ++key) {
    const auto found = model.find(key);
    RC_ASSERT(index.find(key) == (found == model.end() ? HashIndex::kNone : found->second));
  }
  std::map<uint64_t, uint32_t> visited;
  index.for_each([&](uint64_t key, uint32_t value) { visited[key] = value; });
  RC_ASSERT(visited == model);
}

TEST(HashIndex, BehavesLikeAMap) {
  using Operations = std::vector<std::pair<uint8_t, uint8_t>>;
  EXPECT_TRUE(rc::check("fixed", [](const Operations& operations, uint64_t seed) {
    compare_with_map(HashIndex(64, HashIndex::Growth::kFixed, seed), operations);
  }));
  EXPECT_TRUE(rc::check("doubling from nothing", [](const Operations& operations, uint64_t seed) {
    compare_with_map(HashIndex(0, HashIndex::Growth::kDoubling, seed), operations);
  }));
}

TEST(HashIndex, ReservedRoomIsFilledWithoutGrowth) {
  HashIndex index(0, HashIndex::Growth::kDoubling);
  for (uint32_t key = 0; key < 100; ++key) index.insert(key, key + 1);
  for (const size_t entries : {50u, 1000u, 3000u, 10u}) {
    index.reserve(entries);
    const size_t capacity = index.capacity();
    EXPECT_GE(capacity, entries);
    for (auto key = static_cast<uint32_t>(index.size()); key < entries; ++key) index.insert(key, key + 1);
    EXPECT_EQ(index.capacity(), capacity);
    EXPECT_TRUE(index.validate());
  }
  for (uint32_t key = 0; key < 3000; ++key) ASSERT_EQ(index.find(key), key + 1);
}

TEST(HashIndex, ChurnAtFullLoadStaysCorrect) {
  HashIndex index(1000);
  const auto capacity = static_cast<uint32_t>(index.capacity());
  for (uint32_t i = 0; i < capacity; ++i) ASSERT_TRUE(index.insert(i, i));
  for (uint32_t i = 0; i < 200'000; ++i) {
    ASSERT_TRUE(index.erase(i));
    ASSERT_TRUE(index.insert(uint64_t{i} + capacity, i));
  }
  EXPECT_EQ(index.size(), capacity);
  EXPECT_TRUE(index.validate());
}

}  // namespace
}  // namespace lattice::base
