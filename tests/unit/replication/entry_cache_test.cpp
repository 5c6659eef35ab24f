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
  EntryCache cache(authority.table, authority.store, 1000);
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
  const EntryBody body = cache.body(delta);  // mask 01, level 0111
  EXPECT_EQ(body.mask.count, 2u);
  EXPECT_EQ(body.mask.bits, 0b01u);
  ASSERT_EQ(body.bits, 4u);
  EXPECT_EQ(body.words[0], uint64_t{0b0111} << 60);
  cache.begin_send();
  cache.find(slot, 1);
  EXPECT_EQ(cache.encoded(), 3u);
}

TEST(EntryCache, an_unchanged_state_has_an_empty_mask) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  EntryCache cache(authority.table, authority.store, 1000);
  cache.begin_send();
  const EntryBody body = cache.body(cache.find(slot, 1));
  EXPECT_EQ(body.mask.count, 2u);
  EXPECT_EQ(body.mask.bits, 0u);
  EXPECT_EQ(body.bits, 0u);
}

// D-43: of several behaviours, those without a change have one bit only.
TEST(EntryCache, the_mask_of_several_behaviours_leaves_out_the_unchanged) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.actor());
  authority.record();
  ++authority.tick;
  authority.state<Soul>(slot, 1).alive = 1;
  authority.record();
  ++authority.tick;
  authority.state<Body>(slot).position[1] = 5;
  authority.record();
  EntryCache cache(authority.table, authority.store, 1000);
  cache.begin_send();
  const EntryBody body = cache.body(cache.find(slot, 2));
  EXPECT_EQ(body.mask.count, 4u);  // body 1, soul 0, position 1, velocity 0
  EXPECT_EQ(body.mask.bits, 0b1010u);
  const EntryBody both = cache.body(cache.find(slot, 1));
  EXPECT_EQ(both.mask.count, 8u);  // 11, 10, and health target name 0, alive 1
  EXPECT_EQ(both.mask.bits, 0b11'10'0001u);
  EXPECT_EQ(both.bits, body.bits) << "a bool is its mask bit";
}

TEST(EntryCache, bits_past_the_last_are_zero) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.actor());
  std::strcpy(authority.state<Soul>(slot, 1).name, "abcdefgh");
  authority.state<Body>(slot).position[0] = 99;
  authority.record();
  EntryCache cache(authority.table, authority.store, 1000);
  cache.begin_send();
  const EntryBody body = cache.body(cache.find(slot, 0));
  ASSERT_GT(body.bits, 64u);
  ASSERT_NE(body.bits % 64, 0u);
  EXPECT_EQ(body.words[body.bits / 64] << body.bits % 64, 0u);
}

TEST(EntryCache, what_cannot_fit_is_too_large) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.scroll());
  std::memset(authority.state<Scroll>(slot).text, 'x', 200);
  authority.record();
  EntryCache cache(authority.table, authority.store, 100);
  cache.begin_send();
  EXPECT_EQ(cache.find(slot, 0), EntryCache::kTooLarge);
  EXPECT_EQ(cache.find(slot, 0), EntryCache::kTooLarge);
  EXPECT_EQ(cache.encoded(), 1u);
}

}  // namespace
}  // namespace lattice::replication::test
