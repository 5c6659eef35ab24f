#include "replication/replica_list.h"

#include <gtest/gtest.h>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Receipts = std::vector<uint32_t>;

/// Slots do not rest in the table, so that a slot is taken again at once.
struct ReplicaListTest : testing::Test {
  ReplicaListTest() { authority.recipients.push_back(&recipient); }
  /// Records, sends, and lets the client have the parts. Returns their receipts.
  Receipts step(bool delivered = true) {
    authority.record();
    Receipts receipts;
    for (const SnapshotPart& part : authority.send(recipient)) {
      receipts.push_back(part.receipt);
      if (!delivered) continue;
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
    }
    authority.tick += 2;
    return receipts;
  }
  void resolve(const Receipts& receipts, bool acked) {
    for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, acked);
  }
  /// Steps whose parts are acked, until the client has been told everything.
  void settle() {
    for (int i = 0; i < 4; ++i) resolve(step(), true);
    client.log.take();
  }
  const Removal& only_removal() {
    EXPECT_EQ(recipient.removals().size(), 1u);
    uint32_t slot = 0;
    while (recipient.removals().find(slot) == Removals::kNone) ++slot;
    return recipient.removals()[recipient.removals().find(slot)];
  }
  const SnapshotBuilder::Stats& sent() const { return authority.builder.stats(); }

  Types types;
  Authority authority{types, {}, 4096, kHistoryTicks, 0};
  ReplicaList recipient{ReplicaList::Config{}};
  Client client{types};
};

TEST_F(ReplicaListTest, full_until_acked_then_deltas_then_silence) {
  const uint32_t slot = authority.spawn(types.lamp());
  step();
  authority.state<Lamp>(slot).level = 4;
  const Receipts second = step();
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@1", "full 1@3"}));
  resolve(second, true);
  EXPECT_EQ(recipient.find(slot, authority.store)->acked_tick, 3u);
  authority.state<Lamp>(slot).level = 5;
  resolve(step(), true);
  EXPECT_EQ(client.log.take(), Lines{"delta 1@5"});
  for (int i = 0; i < 100; ++i) resolve(step(), true);
  EXPECT_EQ(client.log.take(), Lines{"rested 1@9"}) << "with the second snapshot after the last change";
}

TEST_F(ReplicaListTest, what_is_in_flight_is_not_sent_again) {
  authority.spawn(types.lamp());
  const Receipts first = step();
  step();
  EXPECT_EQ(sent().full_entries, 1u);
  resolve(first, false);
  step();
  EXPECT_EQ(sent().full_entries, 2u) << "lost";
  authority.tick += 114;
  step();
  EXPECT_EQ(sent().full_entries, 2u);
  step();
  step();
  EXPECT_EQ(sent().full_entries, 3u) << "two seconds without a verdict";
}

TEST_F(ReplicaListTest, only_the_loss_of_the_newest_state_sends_it_again) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.state<Lamp>(slot).level = 1;
  const Receipts old = step();
  authority.state<Lamp>(slot).level = 2;
  const Receipts newest = step();
  const uint64_t states = sent().delta_entries;
  resolve(old, false);
  step();
  EXPECT_EQ(sent().delta_entries, states);
  resolve(newest, false);
  step();
  EXPECT_EQ(sent().delta_entries, states + 1);
}

TEST_F(ReplicaListTest, own_objects_are_sent_in_each_snapshot_until_acked) {
  ReplicaList::Config config;
  config.peer_id = 9;
  ReplicaList owner(config);
  authority.recipients = {&owner};
  const uint32_t slot = authority.spawn(types.lamp(), 9);
  uint32_t receipt = 0;
  for (uint64_t i = 1; i <= 5; ++i, authority.tick += 2) {
    authority.record();
    receipt = authority.send(owner)[0].receipt;
    EXPECT_EQ(sent().full_entries, i);
  }
  owner.on_receipt(receipt, true);
  authority.record();
  authority.send(owner);
  EXPECT_EQ(sent().full_entries, 5u);
  EXPECT_EQ(owner.find(slot, authority.store)->acked_version, 1u);
}

TEST_F(ReplicaListTest, an_older_ack_does_not_move_the_baseline_back) {
  const uint32_t slot = authority.spawn(types.lamp());
  const Receipts first = step();
  authority.state<Lamp>(slot).level = 5;
  const Receipts second = step();
  resolve(second, true);
  resolve(first, true);
  EXPECT_EQ(recipient.find(slot, authority.store)->acked_tick, 3u);
  EXPECT_EQ(recipient.find(slot, authority.store)->acked_version, 2u);
}

TEST_F(ReplicaListTest, lost_parts_give_their_priority_back) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.state<Lamp>(slot).level = 5;
  const Receipts receipts = step();
  EXPECT_EQ(recipient.find(slot, authority.store)->accumulator, 0.0f);
  resolve(receipts, false);
  authority.record();
  authority.send(recipient, 12);  // room for nothing: what it has gained stays
  const Tick behind = authority.tick - recipient.find(slot, authority.store)->acked_tick;
  EXPECT_GT(behind, 2u);
  EXPECT_FLOAT_EQ(recipient.find(slot, authority.store)->accumulator, static_cast<float>(behind) / 2.0f)
      << "since the acked state";
}

TEST_F(ReplicaListTest, a_changed_owner_is_sent_as_a_full_entry) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  const Tick tick = authority.tick;
  authority.table.set_authority(slot, 77, LATTICE_AUTHORITY_SHARED, tick);
  authority.store.announce(slot);
  resolve(step(), true);
  const std::string at = "1@" + std::to_string(tick);
  EXPECT_EQ(client.log.take(), (Lines{"authority " + at, "full " + at}));
  EXPECT_EQ(client.mirror.info(client.mirror.find(1)).owner, 77u);
  EXPECT_EQ(client.mirror.info(client.mirror.find(1)).authority, (replication::Authority{77, tick}));
}

TEST_F(ReplicaListTest, loaded_once_everything_from_join_is_acked_or_gone) {
  const uint32_t a = authority.spawn(types.lamp());
  authority.spawn(types.lamp());
  ReplicaList late{ReplicaList::Config{}};
  late.join(authority.table, authority.store);
  EXPECT_FALSE(late.loaded());
  authority.recipients.push_back(&late);
  authority.spawn(types.lamp());  // after the join: does not count
  authority.record();
  const auto parts = authority.send(late);
  ASSERT_EQ(parts.size(), 1u);
  authority.despawn(a);
  EXPECT_FALSE(late.loaded());
  late.on_receipt(parts[0].receipt, true);
  EXPECT_TRUE(late.loaded());
}

// ---- Rest (D-17) ------------------------------------------------------------------------------------

TEST_F(ReplicaListTest, a_moving_object_that_stands_still_is_said_to_rest_at_once) {
  const uint32_t slot = authority.spawn(types.actor());
  authority.state<Body>(slot).velocity[0] = 3;  // pressed against a wall
  for (int i = 0; i < 100; ++i) resolve(step(), true);
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@1", "rested 1@3"}));
  EXPECT_EQ(sent().rested_entries, 1u);
}

TEST_F(ReplicaListTest, a_lost_rested_entry_is_sent_again) {
  authority.spawn(types.lamp());
  resolve(step(), true);
  resolve(step(), true);
  resolve(step(false), false);
  EXPECT_EQ(sent().rested_entries, 1u);
  resolve(step(), true);
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@1", "rested 1@7"}));
  for (int i = 0; i < 10; ++i) resolve(step(), true);
  EXPECT_EQ(sent().rested_entries, 2u);
}

TEST_F(ReplicaListTest, rest_is_said_again_after_a_later_state) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.state<Lamp>(slot).level = 3;
  const Tick changed = authority.tick;
  for (int i = 0; i < 10; ++i) resolve(step(), true);
  EXPECT_EQ(client.log.take(),
            (Lines{"delta 1@" + std::to_string(changed), "rested 1@" + std::to_string(changed + 4)}));
}

TEST_F(ReplicaListTest, a_state_in_flight_is_said_to_rest_too_and_again_when_it_was_lost) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.state<Lamp>(slot).level = 3;
  const Tick changed = authority.tick;
  const Receipts lost = step(false);
  step(), step(), step();
  EXPECT_EQ(client.log.take(), Lines{}) << "the client waits for the state that rests";
  EXPECT_EQ(sent().rested_entries, 3u) << "the newest twice: it is not acked";
  resolve(lost, false);
  resolve(step(), true);
  resolve(step(), true);
  const auto at = [&](Tick after) { return "1@" + std::to_string(changed + after); };
  EXPECT_EQ(client.log.take(), (Lines{"delta " + at(8), "rested " + at(10)}));
}

TEST_F(ReplicaListTest, rest_is_said_twice_while_the_state_is_not_acked) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  const uint64_t before = sent().rested_entries;
  authority.state<Lamp>(slot).level = 3;
  const Receipts changed = step();
  step();
  EXPECT_EQ(sent().rested_entries, before);
  step();
  EXPECT_EQ(sent().rested_entries, before + 1);
  step();
  EXPECT_EQ(sent().rested_entries, before + 2);
  step(), step();
  EXPECT_EQ(sent().rested_entries, before + 2);
  resolve(changed, true);
  step(), step();
  EXPECT_EQ(sent().rested_entries, before + 2) << "both are on their way";
}

TEST_F(ReplicaListTest, rest_of_a_new_object_waits_for_no_ack_and_is_said_again_behind_it) {
  const uint32_t slot = authority.spawn(types.lamp());
  const Receipts first = step(false);
  authority.state<Lamp>(slot).level = 3;
  const Receipts second = step(false);
  step(), step(), step(), step();
  EXPECT_EQ(sent().rested_entries, 2u);
  EXPECT_EQ(client.log.take(), Lines{}) << "the client has no object yet, and ignores what is said of it";
  resolve(first, false);
  resolve(second, true);
  step();
  EXPECT_EQ(sent().rested_entries, 3u);
}

TEST_F(ReplicaListTest, rest_of_an_object_with_a_single_state_waits_for_its_ack) {
  authority.spawn(types.lamp());
  const Receipts first = step();
  step(), step(), step(), step();
  EXPECT_EQ(sent().rested_entries, 0u);
  resolve(first, true);
  step();
  EXPECT_EQ(sent().rested_entries, 1u);
}

// The removal is on its way when the object comes back, and the client has neither.
TEST_F(ReplicaListTest, rest_of_an_object_that_came_back_does_not_touch_its_earlier_stay) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  recipient.leave(slot, authority.table.network_id(slot));
  step(false);
  authority.state<Lamp>(slot).level = 7;
  recipient.enter(slot, authority.table.network_id(slot));
  step(false);
  authority.state<Lamp>(slot).level = 8;
  step(false);
  step();
  step();
  EXPECT_EQ(client.log.take(), Lines{}) << "remembered for the state that has not come";
}

// ---- Removals ---------------------------------------------------------------------------------------

TEST_F(ReplicaListTest, removals_repeat_until_acked) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  authority.despawn(slot);
  EXPECT_EQ(recipient.pending_removals(), 1u);
  resolve(step(false), false);
  EXPECT_EQ(recipient.pending_removals(), 1u);
  resolve(step(), true);
  EXPECT_EQ(recipient.pending_removals(), 0u);
  EXPECT_EQ(client.mirror.size(), 0u);
  step();
  EXPECT_EQ(sent().removed_entries, 2u);
}

TEST_F(ReplicaListTest, a_removal_in_flight_is_not_sent_again) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  authority.despawn(slot);
  const Receipts first = step();
  step();
  EXPECT_EQ(sent().removed_entries, 1u);
  resolve(first, false);
  step();
  EXPECT_EQ(sent().removed_entries, 2u);
  authority.tick += 116;
  step();
  EXPECT_EQ(sent().removed_entries, 2u);
  step();  // two seconds without a verdict
  EXPECT_EQ(sent().removed_entries, 3u);
}

TEST_F(ReplicaListTest, what_was_never_sent_needs_no_removal) {
  const uint32_t slot = authority.spawn(types.lamp());
  authority.despawn(slot);
  EXPECT_EQ(recipient.pending_removals(), 0u);
  const uint32_t called = authority.spawn(types.lamp());
  recipient.count_reliable_rpc(called);
  authority.despawn(called);  // a call on it may wait at the client (D-38)
  EXPECT_EQ(recipient.pending_removals(), 1u);
  EXPECT_TRUE(only_removal().named);
  EXPECT_EQ(only_removal().rpc_count, 1u);
}

TEST_F(ReplicaListTest, a_removal_has_a_name_where_no_full_entry_was_acked) {
  const uint32_t known = authority.spawn(types.lamp());
  settle();
  recipient.leave(known, 1);
  EXPECT_FALSE(only_removal().named);
  EXPECT_TRUE(only_removal().left);
  settle();
  authority.tick += 100;
  settle();
  EXPECT_EQ(recipient.removals().size(), 0u);
  const uint32_t unacked = authority.spawn(types.lamp());
  step();
  authority.despawn(unacked);
  EXPECT_TRUE(only_removal().named);
  EXPECT_FALSE(only_removal().left);
  EXPECT_EQ(only_removal().network_id, 2u);
  step();
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(ReplicaListTest, destruction_outside_of_the_set_is_not_told) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  recipient.leave(slot, 1);
  settle();
  authority.tick += 100;
  settle();
  authority.despawn(slot);
  EXPECT_EQ(recipient.pending_removals(), 0u);
  step();
  EXPECT_EQ(sent().removed_entries, 1u);
}

// ---- Stays ------------------------------------------------------------------------------------------

TEST_F(ReplicaListTest, acks_from_before_a_removal_count_for_nothing) {
  const uint32_t slot = authority.spawn(types.lamp());
  const Receipts before = step();
  recipient.leave(slot, 1);
  step();
  recipient.enter(slot, 1);
  resolve(before, true);
  EXPECT_EQ(recipient.find(slot, authority.store)->acked_version, 0u);
  client.log.take();
  step();
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@5"}));
}

TEST_F(ReplicaListTest, losses_from_before_a_removal_count_for_nothing) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.state<Lamp>(slot).level = 3;
  const Receipts state = step();
  recipient.leave(slot, 1);
  const Receipts removal = step();
  recipient.enter(slot, 1);
  step();
  const uint64_t full = sent().full_entries;
  resolve(state, false);
  resolve(removal, false);
  step();
  EXPECT_EQ(sent().full_entries, full);
  EXPECT_EQ(sent().removed_entries, 1u);
}

TEST_F(ReplicaListTest, re_entry_cancels_the_removal_and_leaving_again_restores_it) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  recipient.leave(slot, 1);
  recipient.enter(slot, 1);
  EXPECT_EQ(recipient.pending_removals(), 0u);
  recipient.leave(slot, 1);
  EXPECT_EQ(recipient.pending_removals(), 1u);
  step();
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(ReplicaListTest, the_same_object_re_enters_at_once) {
  const uint32_t slot = authority.spawn(types.lamp());
  for (const bool acked : {true, false}) {
    settle();
    recipient.leave(slot, 1);
    const Receipts removal = step();
    if (acked) resolve(removal, true);
    recipient.enter(slot, 1);
    client.log.take();
    const std::string tick = std::to_string(authority.tick);
    step();
    EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@" + tick}));
  }
}

TEST_F(ReplicaListTest, another_object_in_the_slot_waits_for_ack_and_64_ticks) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.despawn(slot);
  ASSERT_EQ(authority.spawn(types.lamp()), slot);
  const Tick removed = authority.tick;
  const Receipts removal = step();
  for (int i = 0; i < 50; ++i) resolve(step(), true);
  EXPECT_EQ(client.mirror.size(), 0u) << "as long as the removal is not acked";
  resolve(removal, true);
  ASSERT_GT(authority.tick, removed + 64);
  const Tick entered = authority.tick;
  step();
  EXPECT_EQ(client.log.take(), (Lines{"despawn 1", "spawn 2", "full 2@" + std::to_string(entered)}));
}

TEST_F(ReplicaListTest, a_slot_rests_64_ticks_though_the_removal_is_acked) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.despawn(slot);
  ASSERT_EQ(authority.spawn(types.lamp()), slot);
  const Tick removed = authority.tick;
  resolve(step(), true);
  for (; authority.tick <= removed + 64;) resolve(step(), true);
  EXPECT_EQ(client.mirror.size(), 0u);
  EXPECT_EQ(authority.tick, removed + 66);
  resolve(step(), true);
  EXPECT_NE(client.mirror.find(2), kNoSlot);
}

TEST_F(ReplicaListTest, of_several_objects_that_waited_for_a_slot_only_the_last_is_told) {
  const uint32_t slot = authority.spawn(types.lamp());
  settle();
  authority.despawn(slot);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(authority.spawn(types.lamp()), slot);
    EXPECT_EQ(recipient.pending_removals(), 1u);
    authority.despawn(slot);
  }
  ASSERT_EQ(authority.spawn(types.lamp()), slot);
  for (int i = 0; i < 50; ++i) resolve(step(), true);
  EXPECT_EQ(sent().removed_entries, 1u);
  EXPECT_EQ(client.mirror.size(), 1u);
  EXPECT_NE(client.mirror.find(7), kNoSlot);
}

TEST_F(ReplicaListTest, an_ack_for_a_slot_that_was_reused_is_ignored) {
  const uint32_t slot = authority.spawn(types.lamp());
  const Receipts receipts = step();
  authority.despawn(slot);
  ASSERT_EQ(authority.spawn(types.lamp()), slot);
  resolve(receipts, true);
  EXPECT_EQ(recipient.find(slot, authority.store)->acked_version, 0u);
}

TEST_F(ReplicaListTest, an_object_that_left_and_came_back_between_two_builds_is_sent_once) {
  std::vector<uint32_t> slots;
  for (int i = 0; i < 5; ++i) slots.push_back(authority.spawn(types.lamp()));
  for (const uint32_t slot : slots) {
    recipient.leave(slot, authority.table.network_id(slot));
    recipient.enter(slot, authority.table.network_id(slot));
  }
  step();
  EXPECT_EQ(sent().full_entries, 5u);
  EXPECT_EQ(client.mirror.size(), 5u);
}

// ---- Cost -------------------------------------------------------------------------------------------

/// What ten builds visit for a set of 64 objects, while `moving` objects of a world of `objects` change in
/// each tick. The set lies all over the world, or `together` in its first slots, and so goes in step.
uint64_t visited_in(uint32_t objects, uint32_t moving, bool together = false) {
  Types types;
  Authority authority(types, {}, 20000);
  ReplicaList recipient{ReplicaList::Config{}};
  for (uint32_t i = 0; i < objects; ++i) {
    const uint32_t slot = authority.spawn(types.lamp());
    const bool is_seen = together ? i < 64 : i % (objects / 64) == 0;
    if (is_seen) recipient.enter(slot, authority.table.network_id(slot));
  }
  EXPECT_EQ(recipient.size(), 64u);
  uint64_t before = 0;
  for (int build = 0; build < 15; ++build, ++authority.tick) {
    if (build == 5) before = recipient.visited();
    for (uint32_t i = 0; i < moving; ++i) {
      const uint32_t slot = i * (objects / 64) % objects + i / 64;
      authority.state<Lamp>(slot).level = static_cast<uint8_t>(authority.tick % 16);
    }
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) recipient.on_receipt(part.receipt, true);
  }
  return recipient.visited() - before;
}

// An index of the list counts its stays in nine bits.
TEST(ReplicaList, an_ack_of_hundreds_of_stays_ago_counts_for_nothing) {
  for (const uint32_t stays : {1u, 255u, 256u, 257u, 512u}) {
    const Types types;
    Authority authority{types};
    ReplicaList recipient{ReplicaList::Config{}};
    authority.recipients.push_back(&recipient);
    uint32_t slot = authority.spawn(types.lamp());
    authority.record();
    const uint32_t old_receipt = authority.send(recipient)[0].receipt;
    authority.tick += 2;
    for (uint32_t i = 0; i < stays; ++i) {
      authority.despawn(slot);
      slot = authority.spawn(types.lamp());
    }
    ASSERT_EQ(recipient.index_of(slot), 0u) << "the place of the first";
    authority.record();
    const uint32_t receipt = authority.send(recipient)[0].receipt;
    recipient.on_receipt(old_receipt, true);
    EXPECT_EQ(recipient.find(slot, authority.store)->acked_version, 0u) << stays;
    recipient.on_receipt(receipt, true);
    EXPECT_EQ(recipient.find(slot, authority.store)->acked_version, 1u) << stays;
  }
}

TEST(ReplicaList, a_set_of_64_costs_the_same_in_any_world) {
  const uint64_t apart = visited_in(4096, 64);
  EXPECT_GE(apart, 10u * 64u);
  EXPECT_LE(apart, 10u * 128u);
  EXPECT_EQ(visited_in(16384, 64), apart) << "only the set moves";
  EXPECT_EQ(visited_in(16384, 16384), apart) << "all of the world moves";
  EXPECT_EQ(visited_in(64, 64), 10u * 4u) << "in step: two groups, looked at twice";
  EXPECT_EQ(visited_in(16384, 16384, true), 10u * (4u + 64u)) << "in step, while others move elsewhere";
}

TEST(ReplicaList, what_does_not_change_is_not_visited) {
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 2000; ++i) authority.spawn(types.lamp());
  uint64_t before = 0;
  for (int build = 0; build < 20; ++build, authority.tick += 2) {
    if (build == 10) before = recipient.visited();
    authority.state<Lamp>(17).level ^= 1;
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) recipient.on_receipt(part.receipt, true);
  }
  EXPECT_EQ(recipient.visited() - before, 10u * 2u) << "once in the change log, once awake";
}

/// A client that is owed the removals of 5,000 objects.
struct OwedRemovals : testing::Test {
  static constexpr uint32_t kObjects = 5000;

  OwedRemovals() {
    authority.recipients.push_back(&recipient);
    for (uint32_t i = 0; i < kObjects; ++i) slots.push_back(authority.spawn(types.lamp()));
    for (int build = 0; build < 6; ++build) send(0, true);
    for (const uint32_t slot : slots) authority.despawn(slot);
  }
  /// What a build visits.
  uint64_t send(uint32_t budget, bool arrives) {
    authority.tick += 2;
    authority.record();
    const uint64_t before = recipient.visited();
    for (const SnapshotPart& part : authority.send(recipient, budget)) {
      receipts.push_back(part.receipt);
      if (arrives) recipient.on_receipt(part.receipt, true);
    }
    return recipient.visited() - before;
  }
  uint64_t removed() const { return authority.builder.stats().removed_entries; }

  Types types;
  Authority authority{types, {}, 6000, kHistoryTicks, 1};
  ReplicaList recipient{ReplicaList::Config{}};
  std::vector<uint32_t> slots;
  std::vector<uint32_t> receipts;
};

TEST_F(OwedRemovals, in_flight_are_not_visited_again) {
  ASSERT_EQ(recipient.pending_removals(), kObjects);
  send(0, false);
  ASSERT_EQ(removed(), kObjects);
  for (int build = 0; build < 50; ++build) EXPECT_LE(send(0, false), 2u) << build;
  EXPECT_EQ(removed(), kObjects);
  EXPECT_EQ(recipient.pending_removals(), kObjects);
}

TEST_F(OwedRemovals, with_a_small_budget_those_are_visited_that_fit_it) {
  constexpr uint32_t kBudget = 100;
  for (int build = 0; build < 40; ++build) {
    EXPECT_LE(send(kBudget, false), 2u * kBudget + 3) << "four bits each, at least";
  }
  EXPECT_GE(removed(), 40u * 50u);
  for (int build = 0; build < 200 && recipient.pending_removals() != 0; ++build) send(kBudget, true);
  EXPECT_GE(removed(), kObjects) << "none is forgotten";
}

TEST_F(OwedRemovals, acked_ones_are_visited_once_more) {
  send(0, true);
  ASSERT_EQ(recipient.pending_removals(), 0u);
  uint64_t visited = 0;
  for (int build = 0; build < 100; ++build) visited += send(0, true);
  EXPECT_LE(visited, kObjects + 100u);
  EXPECT_EQ(recipient.removals().size(), 0u) << "the slots have rested";
}

TEST_F(OwedRemovals, lost_ones_go_again_and_those_without_a_verdict_after_two_seconds) {
  send(0, false);
  const uint32_t lost = receipts.back();
  const uint64_t first = removed();
  recipient.on_receipt(lost, false);
  send(0, false);
  const uint64_t again = removed() - first;
  EXPECT_GT(again, 0u);
  EXPECT_LT(again, kObjects) << "there were several parts";
  for (int build = 0; build < 59; ++build) send(0, false);
  EXPECT_LT(removed(), first + again + kObjects);
  for (int build = 0; build < 2; ++build) send(0, false);
  EXPECT_EQ(removed(), first + again + kObjects);
}

TEST_F(OwedRemovals, objects_in_their_slots_are_not_visited_while_they_wait) {
  send(0, false);
  for (uint32_t i = 0; i < kObjects; ++i) authority.spawn(types.lamp());
  ASSERT_EQ(recipient.size(), kObjects);
  send(0, false);
  for (int build = 0; build < 20; ++build) EXPECT_LE(send(0, false), 2u) << build;
  for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, true);
  for (int build = 0; build < 80; ++build) send(0, true);
  EXPECT_EQ(authority.builder.stats().full_entries, 2 * kObjects) << "each came when the slot had rested";
}

/// A client with 300 resting lamps, and 300 outside of its set.
struct RestingClient : testing::Test {
  RestingClient() {
    authority.recipients.push_back(&recipient);
    for (int i = 0; i < 300; ++i) authority.spawn(types.lamp());
    authority.recipients.clear();
    for (int i = 0; i < 300; ++i) authority.spawn(types.lamp());
  }
  /// Builds until the client rests. False when it never does.
  bool come_to_rest(bool acks = true) {
    for (int build = 0; build < 10; ++build) {
      if (rests()) return true;
      for (const SnapshotPart& part : authority.send(recipient)) recipient.on_receipt(part.receipt, acks);
    }
    return false;
  }
  bool rests() {
    authority.tick += 2;
    authority.record();
    return authority.builder.rests(recipient);
  }

  Types types;
  Authority authority{types};
  ReplicaList recipient{ReplicaList::Config{}};
};

TEST_F(RestingClient, is_left_alone_without_a_visit) {
  ASSERT_TRUE(come_to_rest());
  const uint64_t visited = recipient.visited();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(rests());
  EXPECT_EQ(recipient.visited(), visited);
  for (int i = 0; i < 100; ++i) {
    authority.state<Lamp>(400).level ^= 1;
    EXPECT_TRUE(rests()) << "what changes is not in its set";
  }
  EXPECT_EQ(recipient.visited(), visited + 100) << "once in the change log";
}

TEST_F(RestingClient, looks_at_settled_objects_only_after_changes_that_end_a_rest) {
  ASSERT_TRUE(come_to_rest());
  for (int i = 0; i < 64 && recipient.settled() != 300; ++i) ASSERT_TRUE(rests());
  ASSERT_EQ(recipient.settled(), 300u);
  const auto change_others = [&] {
    for (uint32_t slot = 300; slot < 600; ++slot) authority.state<Lamp>(slot).level ^= 1;
  };
  change_others();
  ASSERT_TRUE(rests());
  const uint64_t visited = recipient.visited();
  for (int i = 0; i < 100; ++i) {
    change_others();
    ASSERT_TRUE(rests());
  }
  EXPECT_LE(recipient.visited(), visited + 100 * 32) << "what may not have settled, and no more";
  change_others();
  authority.state<Lamp>(17).level ^= 1;
  EXPECT_FALSE(rests());
  EXPECT_EQ(recipient.settled(), 299u);
}

TEST_F(RestingClient, ends_its_rest_with_what_changes) {
  ASSERT_TRUE(come_to_rest());
  authority.state<Lamp>(17).level ^= 1;
  EXPECT_FALSE(rests());
  const auto parts = authority.send(recipient);
  ASSERT_EQ(parts.size(), 1u);
  const uint32_t receipt = parts[0].receipt;
  EXPECT_FALSE(rests()) << "the change is in flight";
  recipient.on_receipt(receipt, true);
  EXPECT_TRUE(come_to_rest());
  recipient.enter(500, authority.table.network_id(500));
  EXPECT_FALSE(rests()) << "an object came";
  ASSERT_TRUE(come_to_rest());
  recipient.leave(17, authority.table.network_id(17));
  EXPECT_FALSE(rests()) << "an object left";
}

TEST_F(RestingClient, rests_only_when_it_was_told_so_and_holds_everything) {
  EXPECT_FALSE(come_to_rest(false)) << "nothing arrives";
  EXPECT_TRUE(come_to_rest());
  // The rested entry was lost: it is told again.
  authority.state<Lamp>(17).level ^= 1;
  uint32_t rested = 0;
  for (int build = 0; build < 10 && rested == 0; ++build) {
    EXPECT_FALSE(rests());
    const uint64_t before = authority.builder.stats().rested_entries;
    for (const SnapshotPart& part : authority.send(recipient)) {
      if (authority.builder.stats().rested_entries == before) {
        recipient.on_receipt(part.receipt, true);
      } else {
        rested = part.receipt;
      }
    }
  }
  ASSERT_NE(rested, 0u);
  recipient.on_receipt(rested, false);
  EXPECT_FALSE(rests());
  EXPECT_TRUE(come_to_rest());
}

TEST(ReplicaList, a_resting_world_of_100000_objects_costs_nothing) {
  Types types;
  SnapshotBuilder::Config config;
  config.part_capacity_bytes = kMaxPartBytes;
  Authority authority(types, config, 100000);
  for (int i = 0; i < 100000; ++i) authority.spawn(types.lamp());
  authority.record();
  ReplicaList::Config wide;
  wide.max_ledger_entries = 1 << 18;  // the rested entries of all go out at once
  ReplicaList recipient(wide);
  recipient.join(authority.table, authority.store);
  const auto build = [&] {
    for (const SnapshotPart& part : authority.send(recipient)) recipient.on_receipt(part.receipt, true);
    authority.tick += 2;
    authority.record();
  };
  for (int i = 0; i < 60; ++i) build();
  ASSERT_TRUE(recipient.loaded());
  const uint64_t visited = recipient.visited();
  const SnapshotBuilder::Stats before = authority.builder.stats();
  EXPECT_EQ(before.rested_entries, 100000u);
  const uint64_t encoded = authority.builder.cache().encoded();
  const uint64_t compared = authority.store.compared();
  for (int i = 0; i < 100; ++i) build();
  EXPECT_EQ(recipient.visited(), visited);
  EXPECT_EQ(authority.builder.cache().encoded(), encoded);
  EXPECT_EQ(authority.store.compared(), compared);
  EXPECT_EQ(authority.builder.stats().bytes - before.bytes, 100u * 6u) << "a header in each";
}

}  // namespace
}  // namespace lattice::replication::test
