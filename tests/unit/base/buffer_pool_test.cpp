#include "base/buffer_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <utility>
#include <vector>

#include "allocation_counter.h"

namespace lattice::base {
namespace {

TEST(BufferPool, GivesTheSmallestClassThatFits) {
  BufferPool pool(64u << 20);
  for (size_t i = 0; i < BufferPool::kClassBytes.size(); ++i) {
    const uint32_t bytes = BufferPool::kClassBytes[i];
    Buffer exact = pool.allocate(bytes);
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact.capacity_bytes, bytes);
    EXPECT_EQ(exact.size_bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(exact.data) % 16, 0u);
    std::memset(exact.data, 0xCC, bytes);
    pool.release(exact);
    EXPECT_FALSE(exact);
    Buffer more = pool.allocate(bytes + 1);
    if (i + 1 < BufferPool::kClassBytes.size()) {
      EXPECT_EQ(more.capacity_bytes, BufferPool::kClassBytes[i + 1]);
    } else {
      EXPECT_FALSE(more);
    }
    pool.release(more);
  }
  EXPECT_EQ(pool.stats().buffers_live, 0u);
  Buffer empty = pool.allocate(0);
  EXPECT_TRUE(empty);
  pool.release(empty);
}

TEST(BufferPool, LimitIsKeptAndCounted) {
  BufferPool pool(2 * BufferPool::kSlabBytes);
  std::vector<Buffer> buffers;
  for (;;) {
    const Buffer buffer = pool.allocate(1500);
    if (!buffer) break;
    buffers.push_back(buffer);
  }
  EXPECT_EQ(buffers.size(), 2 * (BufferPool::kSlabBytes / 1536));
  EXPECT_EQ(pool.stats().refused, 1u);
  EXPECT_EQ(pool.stats().slab_bytes, 2u * BufferPool::kSlabBytes);
  pool.release(buffers.back());
  EXPECT_TRUE(pool.allocate(1500));
  EXPECT_FALSE(BufferPool(BufferPool::kSlabBytes - 1).allocate(1));
}

TEST(BufferPool, ASystemWithoutMemoryIsARefusalAndNoEnd) {
  BufferPool pool(64u << 20);
  std::vector<Buffer> buffers;
  {
    const test::NoMemory none(BufferPool::kSlabBytes);
    EXPECT_FALSE(pool.allocate(1500));
    EXPECT_FALSE(pool.reserve(1500, 1));
    EXPECT_EQ(pool.stats().refused, 1u);
    EXPECT_EQ(pool.stats().slab_bytes, 0u);
  }
  buffers.push_back(pool.allocate(1500));
  ASSERT_TRUE(buffers.back());
  {
    const test::NoMemory none(BufferPool::kSlabBytes);
    while (const Buffer buffer = pool.allocate(1500)) buffers.push_back(buffer);
  }
  EXPECT_GT(buffers.size(), 200u) << "what the pool has stays";
  EXPECT_TRUE(pool.validate());
  for (Buffer& buffer : buffers) pool.release(buffer);
  EXPECT_TRUE(pool.allocate(1500));
}

TEST(BufferPool, SteadyLoadTakesNoMoreSlabs) {
  BufferPool pool(64u << 20);
  ASSERT_TRUE(pool.reserve(1200, 200));
  const uint64_t slabs = pool.stats().slabs;
  for (int round = 0; round < 100; ++round) {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 200; ++i) buffers.push_back(pool.allocate(1200));
    for (Buffer& buffer : buffers) pool.release(buffer);
  }
  EXPECT_EQ(pool.stats().slabs, slabs);
  EXPECT_EQ(pool.stats().buffers_peak, 200u);
}

TEST(BufferPool, ReserveHonoursTheLimit) {
  BufferPool pool(BufferPool::kSlabBytes);
  EXPECT_TRUE(pool.reserve(65536, 1));
  EXPECT_FALSE(pool.reserve(65536, 2));
  EXPECT_FALSE(pool.reserve(65537, 1));
}

std::vector<Buffer> fill(BufferPool& pool, size_t bytes) {
  std::vector<Buffer> buffers;
  while (const Buffer buffer = pool.allocate(bytes)) buffers.push_back(buffer);
  return buffers;
}

TEST(BufferPool, MemoryReturnsBetweenClasses) {
  constexpr size_t kSlabs = 40;  // More than one chunk.
  BufferPool pool(kSlabs * BufferPool::kSlabBytes);
  for (int round = 0; round < 2; ++round) {
    for (const uint32_t bytes : BufferPool::kClassBytes) {
      std::vector<Buffer> buffers = fill(pool, bytes);
      EXPECT_EQ(buffers.size(), kSlabs * (BufferPool::kSlabBytes / bytes)) << bytes;
      // Every second buffer first: slabs empty in another order than they filled.
      for (size_t i = 0; i < buffers.size(); i += 2) pool.release(buffers[i]);
      ASSERT_TRUE(pool.validate());
      for (Buffer& buffer : buffers) pool.release(buffer);
      ASSERT_TRUE(pool.validate());
      EXPECT_EQ(pool.stats().slabs_empty, kSlabs);
    }
  }
  EXPECT_EQ(pool.stats().slabs, kSlabs);
}

TEST(BufferPool, WhatNobodyNeedsGoesBackToTheSystem) {
  BufferPool pool(64u << 20);
  const int64_t before = test::live_bytes();
  const auto use = [&](size_t count) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < count; ++i) buffers.push_back(pool.allocate(1500));
    for (Buffer& buffer : buffers) pool.release(buffer);
  };
  constexpr size_t kMany = 10'000, kFew = 1'000;
  use(kMany);
  const int64_t all = test::live_bytes() - before;
  pool.give_back_idle();
  EXPECT_EQ(test::live_bytes() - before, all) << "it was needed a moment ago";
  use(kFew);
  pool.give_back_idle();
  EXPECT_TRUE(pool.validate());
  const int64_t few = test::live_bytes() - before;
  EXPECT_LT(few, all / 4);
  EXPECT_GE(few, static_cast<int64_t>(kFew * 1536));
  std::vector<Buffer> buffers(kFew);
  const uint64_t allocations = test::allocation_count();
  for (int i = 0; i < 10; ++i) {
    for (Buffer& buffer : buffers) buffer = pool.allocate(1500);
    for (Buffer& buffer : buffers) pool.release(buffer);
    pool.give_back_idle();
  }
  EXPECT_EQ(test::allocation_count(), allocations) << "what is needed all the time stays";
  use(kMany);
  EXPECT_TRUE(pool.validate());
}

TEST(BufferPool, NothingStaysButWhatIsKept) {
  BufferPool pool(64u << 20);
  const int64_t empty = test::live_bytes();
  const auto use_and_idle = [&](size_t count) {
    {
      std::vector<Buffer> buffers;
      for (size_t i = 0; i < count; ++i) buffers.push_back(pool.allocate(1500));
      for (Buffer& buffer : buffers) pool.release(buffer);
    }
    pool.give_back_idle();
    pool.give_back_idle();
    EXPECT_TRUE(pool.validate());
  };
  for (const size_t count : {size_t{1}, size_t{5000}}) {
    use_and_idle(count);
    EXPECT_EQ(test::live_bytes(), empty) << count;
  }
  ASSERT_TRUE(pool.reserve(1500, 200));
  const int64_t kept = test::live_bytes();
  use_and_idle(5000);
  EXPECT_EQ(test::live_bytes(), kept) << "what the class keeps moves into one chunk";
  const uint64_t slabs = pool.stats().slabs;
  std::vector<Buffer> buffers(200);
  for (Buffer& buffer : buffers) buffer = pool.allocate(1500);
  EXPECT_EQ(pool.stats().slabs, slabs);
}

TEST(BufferPool, OneBufferHoldsOneSlab) {
  BufferPool pool(2 * BufferPool::kSlabBytes);
  std::vector<Buffer> small = fill(pool, 64);
  for (size_t i = 1; i < small.size(); ++i) pool.release(small[i]);
  EXPECT_EQ(fill(pool, 65536).size(), 1u);
}

TEST(BufferPool, AClassKeepsWhatWasReservedForIt) {
  BufferPool pool(2 * BufferPool::kSlabBytes);
  ASSERT_TRUE(pool.reserve(1200, 1));
  Buffer buffer = pool.allocate(1200);
  pool.release(buffer);
  EXPECT_EQ(fill(pool, 65536).size(), 1u) << "the other slab is the reserve";
  EXPECT_TRUE(pool.allocate(1200));
}

TEST(BufferPool, LiveBuffersNeverOverlap) {
  EXPECT_TRUE(rc::check("contents survive other buffers' traffic", [] {
    const auto operations = *rc::gen::container<std::vector<std::pair<uint8_t, uint32_t>>>(
        rc::gen::pair(rc::gen::arbitrary<uint8_t>(), rc::gen::inRange<uint32_t>(1, 5000)));
    BufferPool pool(16u << 20);
    std::vector<std::pair<Buffer, uint8_t>> live;
    uint64_t capacity = 0;
    for (const auto& [choice, bytes] : operations) {
      if (choice % 3 != 0 || live.empty()) {
        const Buffer buffer = pool.allocate(bytes);
        RC_ASSERT(static_cast<bool>(buffer));
        RC_ASSERT(buffer.size_bytes == bytes && buffer.capacity_bytes >= bytes);
        std::memset(buffer.data, choice, bytes);
        live.emplace_back(buffer, choice);
        capacity += buffer.capacity_bytes;
      } else {
        auto& [buffer, fill] = live[choice % live.size()];
        for (uint32_t i = 0; i < buffer.size_bytes; ++i) RC_ASSERT(buffer.data[i] == fill);
        capacity -= buffer.capacity_bytes;
        pool.release(buffer);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(choice % live.size()));
      }
      if (bytes % 16 == 0) pool.give_back_idle();
      RC_ASSERT(pool.stats().buffers_live == live.size());
      RC_ASSERT(pool.stats().capacity_live == capacity);
      RC_ASSERT(pool.validate());
    }
  }));
}

}  // namespace
}  // namespace lattice::base
