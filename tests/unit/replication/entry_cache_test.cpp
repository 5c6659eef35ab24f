#include "replication/entry_cache.h"

#include <gtest/gtest.h>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

TEST(EntryCache, encodes_each_baseline_once_per_send) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  ++authority.tick;
  authority.state<Lamp>(slot).level = 7;
  authority.record();
  EntryCache cache(authority.table, authority.history, 1000);
  cache.begin_send();
  const uint32_t full = cache.find(slot, 0);
  const uint32_t delta = cache.find(slot, 1);
  EXPECT_NE(full, delta);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(cache.find(slot, 0), full);
    EXPECT_EQ(cache.find(slot, 1), delta);
  }
  EXPECT_EQ(cache.encoded(), 2u);
  EXPECT_EQ(cache.shared(), 20u);
  // presence 1, mask 01, level 0111
  ASSERT_EQ(cache.bits(delta), 7u);
  EXPECT_EQ(cache.body(delta).words[0], uint64_t{0b1010111} << 57);
  cache.begin_send();
  cache.find(slot, 1);
  EXPECT_EQ(cache.encoded(), 3u);
}

TEST(EntryCache, what_cannot_fit_is_too_large) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.scroll());
  std::memset(authority.state<Scroll>(slot).text, 'x', 200);
  authority.record();
  EntryCache cache(authority.table, authority.history, 100);
  cache.begin_send();
  EXPECT_EQ(cache.find(slot, 0), EntryCache::kTooLarge);
  EXPECT_EQ(cache.find(slot, 0), EntryCache::kTooLarge);
  EXPECT_EQ(cache.encoded(), 1u);
}

}  // namespace
}  // namespace lattice::replication::test
