#include "replication/block_cache.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

constexpr uint32_t kBodyBytes = 1000, kBlockBytes = 2000;

/// Objects of three types in one group, each changed now and then over some ticks.
struct BlockWorld {
  explicit BlockWorld(uint64_t seed) : random(seed), authority(types) {
    for (uint32_t i = 0; i < kGroupSlots; ++i) {
      const uint64_t kind = random.next_below(8);
      const ObjectType& type = kind == 0 ? types.actor() : kind == 1 ? types.scroll() : types.lamp();
      slots.push_back(authority.spawn(type));
    }
    authority.record();
    for (int step = 0; step < 10; ++step) change();
  }
  void change() {
    ++authority.tick;
    for (const uint32_t slot : slots) {
      if (random.chance(0.3)) continue;
      const ObjectType& type = *authority.table.info(slot).type;
      if (&type == &types.lamp()) {
        authority.state<Lamp>(slot).level = static_cast<uint8_t>(random.next_below(16));
      } else if (&type == &types.actor()) {
        authority.state<Body>(slot).position[1] = static_cast<float>(random.next_below(100));
      }
    }
    authority.record();
  }
  uint32_t mask_of_most() {
    uint32_t mask = UINT32_MAX;
    for (uint64_t gone = 1 + random.next_below(4); gone != 0; --gone) mask &= ~(1u << random.next_below(32));
    if (random.chance(0.3)) mask &= UINT32_MAX << random.next_below(6);  // the first ones
    if (random.chance(0.3)) mask &= UINT32_MAX >> random.next_below(6);  // the last ones
    return mask;
  }

  Types types;
  base::Random random;
  Authority authority;
  std::vector<uint32_t> slots;
};

struct BlockCaches {
  explicit BlockCaches(BlockWorld& world, uint32_t block_bytes = kBlockBytes)
      : entries(world.authority.table, world.authority.store, kBodyBytes),
        blocks(world.authority.table, world.authority.store, entries, block_bytes) {
    entries.begin_send();
    blocks.begin_send(world.authority.tick);
  }
  std::vector<uint8_t> bytes(uint32_t group, uint32_t mask, Tick baseline) {
    const uint32_t index = blocks.find(group, mask, baseline);
    if (index == BlockCache::kTooLong) return {};
    const std::span<const uint8_t> bytes = blocks.bytes(index);
    return {bytes.begin(), bytes.end()};
  }
  EntryCache entries;
  BlockCache blocks;
};

TEST(BlockCache, a_block_that_was_cut_is_as_one_that_was_encoded) {
  uint64_t cut = 0, cut_without_all = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    BlockWorld world(seed);
    const uint32_t group = world.slots[0] >> kGroupBits;
    ASSERT_EQ(world.slots[0] % kGroupSlots, 0u);
    BlockCaches warm(world);
    for (const Tick age : {1u, 3u, 7u}) warm.bytes(group, UINT32_MAX, world.authority.tick - age);
    BlockCaches without_all(world);
    for (int i = 0; i < 40; ++i) {
      const Tick baseline = world.authority.tick - (i % 2 == 0 ? 3u : 7u);
      const uint32_t mask = world.mask_of_most();
      BlockCaches cold(world);
      const std::vector<uint8_t> expected = cold.bytes(group, mask, baseline);
      ASSERT_EQ(cold.blocks.cut(), 0u);
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(warm.bytes(group, mask, baseline), expected) << seed << " " << i;
      ASSERT_EQ(without_all.bytes(group, mask, baseline), expected) << seed << " " << i;
    }
    cut += warm.blocks.cut();
    cut_without_all += without_all.blocks.cut();
  }
  EXPECT_GT(cut, 60u * 20u);
  EXPECT_GT(cut_without_all, 60u * 5u);
}

TEST(BlockCache, entries_are_cut_from_no_block_with_another_baseline_or_other_gaps) {
  BlockWorld world(5);
  const uint32_t group = world.slots[0] >> kGroupBits;
  const Tick tick = world.authority.tick;
  BlockCaches cache(world);
  cache.bytes(group, UINT32_MAX, tick - 3);
  cache.bytes(group, UINT32_MAX & ~2u, tick - 2);
  EXPECT_EQ(cache.blocks.cut(), 0u);
  cache.bytes(group, 0x80000001u, tick - 3);  // with so large a gap, gaps are written in another way
  EXPECT_EQ(cache.blocks.cut(), 0u);
  cache.bytes(group, UINT32_MAX & ~2u, tick - 3);
  EXPECT_EQ(cache.blocks.cut(), 1u);
  EXPECT_EQ(cache.blocks.encoded(), 4u);
}

TEST(BlockCache, a_block_of_all_that_is_too_long_is_tried_once) {
  BlockWorld world(9);
  const uint32_t group = world.slots[0] >> kGroupBits;
  const Tick baseline = world.authority.tick - 3;
  const size_t all_bytes = BlockCaches(world).bytes(group, UINT32_MAX, baseline).size();
  for (const bool asks_for_all : {false, true}) {
    BlockCaches cache(world, static_cast<uint32_t>(all_bytes - 1));
    if (asks_for_all) {
      EXPECT_TRUE(cache.bytes(group, UINT32_MAX, baseline).empty());
    }
    for (uint32_t own = 1; own < 31; ++own) cache.bytes(group, ~(1u << own), baseline);
    EXPECT_EQ(cache.blocks.encoded(), 31u) << asks_for_all;
    EXPECT_EQ(cache.blocks.cut(), 0u);
  }
}

// Each player owns an object of the group, and nobody wants all of it.
TEST(BlockCache, blocks_that_each_lack_another_object_are_cut_from_one) {
  BlockWorld world(9);
  const uint32_t group = world.slots[0] >> kGroupBits;
  const Tick baseline = world.authority.tick - 3;
  BlockCaches warm(world);
  for (uint32_t own = 1; own < 31; ++own) {
    BlockCaches cold(world);
    EXPECT_EQ(warm.bytes(group, ~(1u << own), baseline), cold.bytes(group, ~(1u << own), baseline)) << own;
  }
  EXPECT_EQ(warm.blocks.cut(), 29u) << "all but the first";
  EXPECT_EQ(warm.blocks.encoded(), 31u) << "each, and the block of all";
  warm.bytes(group, UINT32_MAX, baseline);
  EXPECT_EQ(warm.blocks.shared(), 1u);
  // Two that differ by more say nothing about others.
  warm.bytes(group, 0x7FFFFFFFu, baseline - 2);
  warm.bytes(group, 0xFFFFFF00u, baseline - 2);
  EXPECT_EQ(warm.blocks.cut(), 29u);
}

}  // namespace
}  // namespace lattice::replication::test
