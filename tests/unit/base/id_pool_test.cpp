#include "base/id_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <vector>

namespace lattice::base {
namespace {

TEST(IdPool, ZeroIsNeverValid) {
  IdPool pool(4);
  EXPECT_FALSE(PoolId{});
  EXPECT_FALSE(pool.valid(PoolId{}));
  EXPECT_FALSE(pool.release(PoolId{}));
  const PoolId first = pool.acquire();
  EXPECT_TRUE(first);
  EXPECT_EQ(first.slot, 0u);
  EXPECT_FALSE(pool.valid(PoolId{}));
}

TEST(IdPool, StaleHandlesAreRefused) {
  IdPool pool(2);
  const PoolId old = pool.acquire();
  ASSERT_TRUE(pool.release(old));
  EXPECT_FALSE(pool.valid(old));
  EXPECT_FALSE(pool.release(old));
  const PoolId now = pool.acquire();
  EXPECT_EQ(now.slot, old.slot);
  EXPECT_NE(now.generation, old.generation);
  EXPECT_FALSE(pool.valid(old));
  EXPECT_TRUE(pool.valid(now));
  EXPECT_EQ(pool.at(now.slot), now);
  EXPECT_FALSE(pool.at(1));
  EXPECT_FALSE(pool.at(2));
  EXPECT_FALSE(pool.valid({7, 1}));
}

TEST(IdPool, FullAnswersNone) {
  IdPool pool(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pool.acquire());
  EXPECT_TRUE(pool.full());
  EXPECT_FALSE(pool.acquire());
  EXPECT_FALSE(IdPool(0).acquire());
}

TEST(IdPool, ClearStalesEverything) {
  IdPool pool(3);
  const PoolId a = pool.acquire();
  const PoolId b = pool.acquire();
  pool.clear();
  EXPECT_EQ(pool.size(), 0u);
  EXPECT_FALSE(pool.valid(a));
  EXPECT_FALSE(pool.valid(b));
  EXPECT_EQ(pool.acquire().slot, 0u);
}

TEST(IdPool, TakesTheLowestFreeSlotWhateverTheHistory) {
  EXPECT_TRUE(rc::check("acquire and release against std::map", [](const std::vector<uint16_t>& operations) {
    constexpr size_t kCapacity = 100;
    IdPool pool(kCapacity);
    std::map<uint32_t, PoolId> live;
    std::vector<PoolId> dead;
    for (const uint16_t operation : operations) {
      if (operation % 3 != 0) {
        const PoolId id = pool.acquire();
        RC_ASSERT(static_cast<bool>(id) == (live.size() < kCapacity));
        if (!id) continue;
        uint32_t lowest = 0;
        while (live.count(lowest) != 0) ++lowest;
        RC_ASSERT(id.slot == lowest);
        live[id.slot] = id;
      } else if (!live.empty()) {
        auto victim = live.begin();
        std::advance(victim, operation % live.size());
        RC_ASSERT(pool.release(victim->second));
        dead.push_back(victim->second);
        live.erase(victim);
      }
      RC_ASSERT(pool.size() == live.size());
      for (const auto& [slot, id] : live) RC_ASSERT(pool.valid(id));
      for (const PoolId& id : dead) RC_ASSERT(!pool.valid(id));
    }
    std::vector<size_t> visited;
    pool.used().for_each_set([&](size_t slot) { visited.push_back(slot); });
    RC_ASSERT(visited.size() == live.size());
  }));
}

}  // namespace
}  // namespace lattice::base
