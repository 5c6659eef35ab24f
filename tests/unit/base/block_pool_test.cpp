#include "base/block_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <utility>
#include <vector>

namespace lattice::base {
namespace {

TEST(BlockPool, GivesTheSmallestClassThatFits) {
  BlockPool pool(64u << 20);
  for (size_t i = 0; i < BlockPool::kClassBytes.size(); ++i) {
    const uint32_t bytes = BlockPool::kClassBytes[i];
    Block exact = pool.allocate(bytes);
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact.capacity_bytes, bytes);
    EXPECT_EQ(exact.size_bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(exact.data) % 16, 0u);
    std::memset(exact.data, 0xCC, bytes);
    pool.release(exact);
    EXPECT_FALSE(exact);
    Block more = pool.allocate(bytes + 1);
    if (i + 1 < BlockPool::kClassBytes.size()) {
      EXPECT_EQ(more.capacity_bytes, BlockPool::kClassBytes[i + 1]);
    } else {
      EXPECT_FALSE(more);
    }
    pool.release(more);
  }
  EXPECT_EQ(pool.stats().blocks_live, 0u);
  Block empty = pool.allocate(0);
  EXPECT_TRUE(empty);
  pool.release(empty);
}

TEST(BlockPool, LimitIsKeptAndCounted) {
  BlockPool pool(2 * BlockPool::kSlabBytes);
  std::vector<Block> blocks;
  for (;;) {
    const Block block = pool.allocate(1500);
    if (!block) break;
    blocks.push_back(block);
  }
  EXPECT_EQ(blocks.size(), 2 * (BlockPool::kSlabBytes / 1536));
  EXPECT_EQ(pool.stats().refused_limit, 1u);
  EXPECT_EQ(pool.stats().slab_bytes, 2u * BlockPool::kSlabBytes);
  pool.release(blocks.back());
  EXPECT_TRUE(pool.allocate(1500));
  EXPECT_FALSE(BlockPool(BlockPool::kSlabBytes - 1).allocate(1));
}

TEST(BlockPool, SteadyLoadTakesNoMoreSlabs) {
  BlockPool pool(64u << 20);
  ASSERT_TRUE(pool.reserve(1200, 200));
  const uint64_t slabs = pool.stats().slabs;
  for (int round = 0; round < 100; ++round) {
    std::vector<Block> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(pool.allocate(1200));
    for (Block& block : blocks) pool.release(block);
  }
  EXPECT_EQ(pool.stats().slabs, slabs);
  EXPECT_EQ(pool.stats().blocks_peak, 200u);
}

TEST(BlockPool, ReserveHonoursTheLimit) {
  BlockPool pool(BlockPool::kSlabBytes);
  EXPECT_TRUE(pool.reserve(65536, 1));
  EXPECT_FALSE(pool.reserve(65536, 2));
  EXPECT_FALSE(pool.reserve(65537, 1));
}

TEST(BlockPool, LiveBlocksNeverOverlap) {
  EXPECT_TRUE(rc::check("contents survive other blocks' traffic", [] {
    const auto operations = *rc::gen::container<std::vector<std::pair<uint8_t, uint32_t>>>(
        rc::gen::pair(rc::gen::arbitrary<uint8_t>(), rc::gen::inRange<uint32_t>(1, 5000)));
    BlockPool pool(16u << 20);
    std::vector<std::pair<Block, uint8_t>> live;
    uint64_t capacity = 0;
    for (const auto& [choice, bytes] : operations) {
      if (choice % 3 != 0 || live.empty()) {
        const Block block = pool.allocate(bytes);
        RC_ASSERT(static_cast<bool>(block));
        RC_ASSERT(block.size_bytes == bytes && block.capacity_bytes >= bytes);
        std::memset(block.data, choice, bytes);
        live.emplace_back(block, choice);
        capacity += block.capacity_bytes;
      } else {
        auto& [block, fill] = live[choice % live.size()];
        for (uint32_t i = 0; i < block.size_bytes; ++i) RC_ASSERT(block.data[i] == fill);
        capacity -= block.capacity_bytes;
        pool.release(block);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(choice % live.size()));
      }
      RC_ASSERT(pool.stats().blocks_live == live.size());
      RC_ASSERT(pool.stats().capacity_live == capacity);
    }
  }));
}

}  // namespace
}  // namespace lattice::base
