#include "replication/removals.h"

#include <gtest/gtest.h>

#include "replication/part_ledger.h"
#include "unit/replication/replication_fixture.h"

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

/// Slots do not rest in the table, so that a slot is taken again at once.
struct SlotRest : testing::Test {
  /// Records, sends, lets the client have the parts, and acks them.
  void step() {
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) {
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      recipient.on_receipt(part.receipt, true);
    }
    authority.tick += 2;
  }
  void despawn(uint32_t slot) {
    recipient.destroyed(slot, authority.table.network_id(slot));
    authority.despawn(slot);
  }
  uint32_t spawn() {
    const uint32_t slot = authority.spawn(types.lamp());
    recipient.enter(slot, authority.table.network_id(slot));
    return slot;
  }

  Types types;
  Authority authority{types, {}, 4096, kHistoryTicks, 0};
  ReplicaList recipient{ReplicaList::Config{}};
  Client client{types};
};

// It comes back into the set and is destroyed before a state of it is sent.
TEST_F(SlotRest, it_goes_on_though_the_object_came_back_and_went_unsent) {
  const uint32_t slot = spawn();
  authority.record();
  const std::vector<uint8_t> late = copy(authority.send(recipient).front().bytes);
  authority.tick += 2;
  recipient.leave(slot, 1);
  step();
  recipient.enter(slot, 1);
  despawn(slot);
  ASSERT_EQ(spawn(), slot);
  step();
  EXPECT_EQ(client.apply(late), SnapshotApplier::Result::kApplied) << "the first state of the old one";
  EXPECT_EQ(client.mirror.size(), 0u) << "the new one waits";
  for (int i = 0; i < 40; ++i) step();
  EXPECT_NE(client.mirror.find(2), kNoSlot);
}

TEST_F(SlotRest, it_ends_when_the_object_is_sent_again_and_begins_anew_with_its_next_removal) {
  const uint32_t slot = spawn();
  step();
  recipient.leave(slot, 1);
  step();
  EXPECT_EQ(recipient.removals().size(), 1u);
  recipient.enter(slot, 1);
  step();
  EXPECT_EQ(recipient.removals().size(), 0u);
  EXPECT_NE(client.mirror.find(1), kNoSlot);
  const Tick removed = authority.tick;
  recipient.leave(slot, 1);
  step();
  ASSERT_EQ(recipient.removals().size(), 1u);
  EXPECT_EQ(recipient.removals()[recipient.removals().find(slot)].sent_tick, removed);
}

}  // namespace
}  // namespace lattice::replication::test
