#include "replication/version_history.h"

#include <gtest/gtest.h>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

TEST(VersionHistory, makes_a_version_only_when_words_differ) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  EXPECT_EQ(authority.history.version(slot), 0u);
  authority.record();
  EXPECT_EQ(authority.history.version(slot), 1u);
  ++authority.tick;
  authority.state<Lamp>(slot).level = 0;  // written, not changed
  EXPECT_EQ(authority.history.record(authority.table, authority.tick), 0u);
  ++authority.tick;
  authority.state<Lamp>(slot).level = 3;
  EXPECT_EQ(authority.history.record(authority.table, authority.tick), 1u);
  EXPECT_EQ(authority.history.version(slot), 2u);
  ++authority.tick;
  static_cast<Lamp*>(authority.table.host(slot)[0])->level = 9;  // nobody said so: not looked at
  EXPECT_EQ(authority.history.record(authority.table, authority.tick), 0u);
}

/// Every tick within `depth` has its state, and none before.
void answers_for_every_tick_of(int32_t depth) {
  Types types;
  Authority authority(types, {}, 4096, depth);
  const auto kept = static_cast<Tick>(depth);
  const uint32_t slot = authority.spawn(types.actor());
  std::map<Tick, std::vector<serialization::Word>> truth;
  base::Random random(5);
  for (; authority.tick <= 300; ++authority.tick) {
    if (random.chance(authority.tick < 150 ? 1.0 : 0.1)) {
      authority.state<Soul>(slot, 1).health = static_cast<int32_t>(random.next_below(101));
    }
    authority.record();
    truth[authority.tick] = authority.words(slot);
    const Tick oldest = authority.tick > kept ? authority.tick - kept : 1;
    for (Tick t = oldest; t <= authority.tick; ++t) {
      const serialization::Word* words = authority.history.at_tick(slot, t);
      ASSERT_NE(words, nullptr) << t << " at " << authority.tick;
      EXPECT_EQ(std::vector<serialization::Word>(words, words + truth[t].size()), truth[t]);
      EXPECT_EQ(authority.history.words(slot, authority.history.version_at(slot, t)), words);
    }
    EXPECT_EQ(authority.history.at_tick(slot, authority.tick - kept - 1), nullptr);
  }
}

TEST(VersionHistory, answers_for_every_tick_it_keeps) {
  for (const int32_t depth : {2, 8, 33, 64}) answers_for_every_tick_of(depth);
}

TEST(VersionHistory, a_delta_refers_to_nothing_that_is_not_kept) {
  EXPECT_EQ(VersionHistory(8).max_baseline_ticks(), 8);
  EXPECT_EQ(VersionHistory(60).max_baseline_ticks(), 60);
  EXPECT_EQ(VersionHistory(64).max_baseline_ticks(), kMaxBaselineTicks) << "the format's own bound";
}

TEST(VersionHistory, an_object_that_stands_still_outlives_the_wrap_of_ticks) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  for (; authority.tick < 0xFFF00000u; authority.tick += kAgingTicks / 2) authority.record();
  EXPECT_EQ(authority.history.version_at(slot, authority.tick - kAgingTicks / 2), 1u);
  EXPECT_EQ(authority.history.version(slot), 1u);
}

TEST(VersionHistory, version_zero_is_the_zero_baseline_and_unknown_ones_are_null) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  EXPECT_EQ(authority.history.words(slot, 0), types.lamp().zero_words.data());
  EXPECT_NE(authority.history.words(slot, 1), nullptr);
  EXPECT_EQ(authority.history.words(slot, 2), nullptr);
}

TEST(VersionHistory, announcing_makes_a_version_that_needs_a_full_entry) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  EXPECT_EQ(authority.history.summary(slot).full_version, 1u);
  ++authority.tick;
  authority.history.announce(slot);
  authority.record();
  EXPECT_EQ(authority.history.version(slot), 2u);
  EXPECT_EQ(authority.history.summary(slot).full_version, 2u);
}

TEST(VersionHistory, rounds_host_values_when_the_type_asks) {
  Types types;
  TypeTable rounding;
  const ObjectType& type = *rounding.add(Types::kActor, *types.actor().layout, 1.0f, true);
  Authority authority(types);
  const uint32_t slot = authority.spawn(type);
  authority.state<Body>(slot).position[0] = 1.00321f;
  authority.record();
  EXPECT_FLOAT_EQ(authority.state<Body>(slot).position[0], 1.0f);
}

TEST(VersionHistory, knows_what_moves) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.actor());
  authority.record();
  EXPECT_FALSE(authority.history.summary(slot).moving);
  ++authority.tick;
  authority.state<Body>(slot).velocity[1] = 2;
  authority.record();
  EXPECT_TRUE(authority.history.summary(slot).moving);
}

}  // namespace
}  // namespace lattice::replication::test
