#include "replication/removals.h"

#include <gtest/gtest.h>

#include "replication/part_ledger.h"

namespace lattice::replication::test {
namespace {

// A client reads nothing for some seconds, while an object at a border leaves and comes back in each build.
TEST(Removals, a_late_verdict_is_of_its_own_removal_however_often_others_took_its_place) {
  Removals removals;
  removals.add(3, 30);
  const uint32_t index = removals.find(3);
  const SentEntry early = SentEntry::removal(index, removals[index].stay);
  removals.on_sent(index, 1);
  for (Tick tick = 2; tick < 70'000; ++tick) {
    removals.end(index);
    removals.add(3, 30);
    ASSERT_EQ(removals.find(3), index);
    removals.on_sent(index, tick);
    removals.on_acked(early.removal_index(), early.removal_stay());
    ASSERT_FALSE(removals[index].acked()) << tick;
  }
}

// All objects of a world leave a set before any removal of others is acked.
TEST(Removals, as_many_as_slots_are_told_apart) {
  constexpr uint32_t kSlots = slot_bound(kMaxObjects);
  Removals removals;
  for (uint32_t slot = 0; slot < kSlots; ++slot) removals.add(slot, slot + 1);
  for (const uint32_t slot : {0u, kSlots / 2, kSlots - 1}) {
    const uint32_t index = removals.find(slot);
    removals.on_sent(index, 1);
    const SentEntry entry = SentEntry::removal(index, removals[index].stay);
    EXPECT_TRUE(entry.is(EntryKind::kRemoved));
    removals.on_acked(entry.removal_index(), entry.removal_stay());
    EXPECT_TRUE(removals[index].acked()) << slot;
  }
  EXPECT_EQ(removals.unacked(), kSlots - 3);
}

}  // namespace
}  // namespace lattice::replication::test
