// Blocks of many deltas that are like each other: a client reads some at once, and decodes them afterwards.
#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "replication/snapshot_applier.h"
#include "unit/replication/forger.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Result = SnapshotApplier::Result;

/// Lamps 1 to kLamps, in the slots from 10 on, without gaps. All have the states of ticks 100 and 101.
struct AlikeDeltasTest : testing::Test {
  static constexpr uint32_t kLamps = 100, kFirstSlot = 10;

  void SetUp() override {
    Forger full(100);
    for (uint32_t i = 0; i < kLamps; ++i) full.lamp(kFirstSlot + i, i + 1, 1);
    ASSERT_EQ(client.apply(full.done()), Result::kApplied);
    ASSERT_EQ(client.apply(block(101, 1, [](uint32_t) { return 2; })), Result::kApplied);
  }

  /// A part of one block: the lamps' new levels, 0 for the one before, against the state `age` ticks ago.
  static std::vector<uint8_t> block(Tick tick, uint32_t age, const std::function<uint64_t(uint32_t)>& level,
                                    uint64_t count = kLamps, uint32_t without = kLamps) {
    Forger forged(tick);
    forged.block(EntryKind::kDelta, kFirstSlot, age, count - (without < kLamps ? 1 : 0));
    bool had_level = false;
    for (uint32_t i = 0; i < kLamps; ++i) {
      if (i == without) continue;
      const uint64_t to = level(i);
      if (i != 0) forged.bits(i == without + 1 ? 0b10 : 0, i == without + 1 ? 2 : 1);
      if (i != 0 && had_level == (to != 0)) {
        forged.bits(1, 1);
        if (to != 0) forged.bits(to, 4);
      } else {
        if (i != 0) forged.bits(0, 1);
        forged.changes(to);
      }
      had_level = to != 0;
    }
    return forged.done();
  }
  uint64_t level(uint32_t lamp) { return client.words(lamp + 1)[1]; }
  void expect_untouched() {
    for (uint32_t i = 0; i < kLamps; ++i) EXPECT_EQ(level(i), 2u) << i;
    EXPECT_EQ(client.applier.newest_tick(), 101u);
  }

  Types types;
  Client client{types, kLamps + 10};
};

TEST_F(AlikeDeltasTest, levels_and_masks_of_all_arrive) {
  base::Random random(1);
  std::vector<uint64_t> levels(kLamps, 2);
  for (Tick tick = 102; tick < 300; ++tick) {
    std::vector<uint64_t> changes(kLamps, 0);
    for (uint32_t i = 0; i < kLamps; ++i) {
      if (random.chance(0.7)) changes[i] = (levels[i] + 1 + random.next_below(13)) % 15 + 1;
      if (changes[i] == levels[i]) changes[i] = 0;
      if (changes[i] != 0) levels[i] = changes[i];
    }
    ASSERT_EQ(client.apply(block(tick, 1, [&](uint32_t i) { return changes[i]; })), Result::kApplied);
    for (uint32_t i = 0; i < kLamps; ++i) ASSERT_EQ(level(i), levels[i]) << "lamp " << i << " tick " << tick;
  }
}

// Whatever is wrong with entries behind it, and whenever the client finds that: some faults are seen where an
// entry is read, others where it is decoded.
TEST_F(AlikeDeltasTest, the_first_wrong_entry_names_the_refusal_and_nothing_is_applied) {
  constexpr uint64_t kUnchanged = 2;
  for (uint32_t wrong = 0; wrong + 1 < kLamps; wrong += 7) {
    const auto unchanged = [&](uint32_t i) { return i == wrong ? kUnchanged : 5; };
    EXPECT_EQ(client.apply(block(102, 1, unchanged)), Result::kRefused);
    EXPECT_EQ(client.applier.refusal(), SnapshotRefusal::kMalformed) << wrong;
    expect_untouched();
    std::vector<uint8_t> behind = block(102, 1, unchanged, kLamps + 1);  // one more entry, of no object
    behind.insert(behind.end(), 4, 0);
    EXPECT_EQ(client.apply(behind), Result::kRefused);
    EXPECT_EQ(client.applier.refusal(), SnapshotRefusal::kMalformed) << wrong;
    expect_untouched();
  }
  std::vector<uint8_t> behind = block(
      102, 1, [](uint32_t) { return 5; }, kLamps + 1);
  behind.insert(behind.end(), 4, 0);
  EXPECT_EQ(client.apply(behind), Result::kRefused);
  EXPECT_EQ(client.applier.refusal(), SnapshotRefusal::kUnknownObject);
  expect_untouched();
  EXPECT_EQ(client.apply(block(102, 1, [](uint32_t) { return 5; })), Result::kApplied);
  for (uint32_t i = 0; i < kLamps; ++i) EXPECT_EQ(level(i), 5u) << i;
}

TEST_F(AlikeDeltasTest, a_baseline_that_one_of_many_lacks_is_missed_wherever_it_stands) {
  Tick newest = 101;
  for (uint32_t lacks = 9; lacks + 1 < kLamps; lacks += 9) {
    const Tick tick = 101 + lacks;
    const uint32_t age = tick - newest;
    const uint64_t to = lacks % 2 + 3;
    ASSERT_EQ(client.apply(block(
                  tick, age, [&](uint32_t) { return to; }, kLamps, lacks)),
              Result::kApplied);
    const auto next = [&](uint32_t i) { return i == lacks + 1 ? to : 9; };  // and that one has not changed
    EXPECT_EQ(client.apply(block(tick + 1, 1, next)), Result::kRefused);
    EXPECT_EQ(client.applier.refusal(), SnapshotRefusal::kMissingBaseline) << lacks;
    ASSERT_EQ(client.apply(Forger(tick).delta(kFirstSlot + lacks, age, to).done()), Result::kApplied);
    for (uint32_t i = 0; i < kLamps; ++i) EXPECT_EQ(level(i), to) << i;
    newest = tick;
  }
}

}  // namespace
}  // namespace lattice::replication::test
