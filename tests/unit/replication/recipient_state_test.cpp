#include "replication/recipient_state.h"

#include <gtest/gtest.h>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

struct RecipientStateTest : testing::Test {
  RecipientStateTest() { authority.recipients.push_back(&recipient); }
  // Records, sends to `recipient`, and returns the receipts and the kinds the parts contain.
  std::vector<uint32_t> step() {
    authority.record();
    std::vector<uint32_t> receipts;
    for (const SnapshotPart& part : authority.send(recipient)) {
      receipts.push_back(part.receipt);
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
    }
    authority.tick += 2;
    return receipts;
  }
  void resolve(const std::vector<uint32_t>& receipts, bool acked) {
    for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, acked);
  }

  Types types;
  Authority authority{types};
  RecipientState recipient{RecipientState::Config{}};
  Client client{types};
};

TEST_F(RecipientStateTest, full_until_acked_then_deltas_then_silence) {
  const uint32_t slot = authority.spawn(types.lamp());
  step();
  const auto second = step();
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@1", "full 1@3"}));
  resolve(second, true);
  EXPECT_EQ(recipient.knowledge(slot).acked_tick, 3u);
  step();
  EXPECT_EQ(client.log.take(), Lines{});
  authority.state<Lamp>(slot).level = 5;
  step();
  EXPECT_EQ(client.log.take(), Lines{"delta 1@7"});
}

TEST_F(RecipientStateTest, an_older_ack_does_not_move_the_baseline_back) {
  const uint32_t slot = authority.spawn(types.lamp());
  const auto first = step();
  authority.state<Lamp>(slot).level = 5;
  const auto second = step();
  resolve(second, true);
  resolve(first, true);
  EXPECT_EQ(recipient.knowledge(slot).acked_tick, 3u);
  EXPECT_EQ(recipient.knowledge(slot).acked_version, 2u);
}

TEST_F(RecipientStateTest, a_baseline_older_than_60_ticks_is_not_referenced) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  client.log.take();
  authority.tick = 61;
  authority.state<Lamp>(slot).level = 1;
  step();
  EXPECT_EQ(client.log.take(), Lines{"delta 1@61"});
  authority.tick = 63;
  authority.state<Lamp>(slot).level = 2;
  step();
  EXPECT_EQ(client.log.take(), Lines{"full 1@63"});
}

TEST_F(RecipientStateTest, removals_repeat_until_acked) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  authority.despawn(slot);
  EXPECT_EQ(recipient.pending_removals(), 1u);
  resolve(step(), false);
  EXPECT_EQ(recipient.pending_removals(), 1u);
  resolve(step(), true);
  EXPECT_EQ(recipient.pending_removals(), 0u);
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(RecipientStateTest, what_was_never_sent_needs_no_removal) {
  const uint32_t slot = authority.spawn(types.lamp());
  authority.despawn(slot);
  EXPECT_EQ(recipient.pending_removals(), 0u);
}

TEST_F(RecipientStateTest, acks_from_before_a_removal_count_for_nothing) {
  const uint32_t slot = authority.spawn(types.lamp());
  const auto before = step();
  recipient.set_in_set(slot, 1, false);
  step();
  recipient.set_in_set(slot, 1, true);
  resolve(before, true);
  EXPECT_FALSE(recipient.knows(slot));
  client.log.take();
  step();
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@5"}));
}

TEST_F(RecipientStateTest, re_entry_cancels_the_removal_and_leaving_again_restores_it) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  recipient.set_in_set(slot, 1, false);
  recipient.set_in_set(slot, 1, true);
  EXPECT_EQ(recipient.pending_removals(), 0u);
  recipient.set_in_set(slot, 1, false);
  EXPECT_EQ(recipient.pending_removals(), 1u);
  step();
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(RecipientStateTest, an_ack_for_a_slot_that_was_reused_is_ignored) {
  const uint32_t slot = authority.spawn(types.lamp());
  const auto receipts = step();
  authority.despawn(slot);
  const uint32_t reused = authority.spawn(types.lamp());
  ASSERT_EQ(reused, slot);
  resolve(receipts, true);
  EXPECT_FALSE(recipient.knows(slot));
}

TEST_F(RecipientStateTest, loaded_once_everything_from_join_is_acked_or_gone) {
  const uint32_t a = authority.spawn(types.lamp());
  authority.spawn(types.lamp());
  RecipientState late{RecipientState::Config{}};
  late.join(authority.table);
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

TEST_F(RecipientStateTest, lost_parts_give_their_priority_back) {
  const uint32_t slot = authority.spawn(types.lamp());
  authority.record();
  const auto receipts = std::vector<uint32_t>{authority.send(recipient)[0].receipt};
  EXPECT_EQ(recipient.knowledge(slot).accumulator, 0.0f);
  resolve(receipts, false);
  EXPECT_GT(recipient.knowledge(slot).accumulator, 0.0f);
}

TEST_F(RecipientStateTest, a_changed_owner_is_sent_as_a_full_entry) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  client.log.take();
  authority.table.set_authority(slot, 77, LATTICE_AUTHORITY_SHARED, 3);
  authority.history.announce(slot);
  resolve(step(), true);
  EXPECT_EQ(client.log.take(), (Lines{"authority 1@3", "full 1@3"}));
  EXPECT_EQ(client.mirror.info(client.mirror.find(1)).owner, 77u);
  step();
  EXPECT_EQ(client.log.take(), Lines{});
}

TEST_F(RecipientStateTest, a_removal_in_flight_is_not_sent_again) {
  const uint32_t slot = authority.spawn(types.lamp());
  resolve(step(), true);
  authority.despawn(slot);
  const auto first = step();
  step();
  EXPECT_EQ(authority.builder.stats().removed_entries, 1u);
  resolve(first, false);
  step();
  EXPECT_EQ(authority.builder.stats().removed_entries, 2u);
  authority.tick += 116;
  step();
  EXPECT_EQ(authority.builder.stats().removed_entries, 2u);
  step();  // two seconds without a verdict
  EXPECT_EQ(authority.builder.stats().removed_entries, 3u);
}

TEST(RecipientState, removals_of_objects_that_were_never_sent_are_bounded) {
  Types types;
  Authority authority(types, {}, 4);
  RecipientState::Config config;
  config.max_objects = 4;
  RecipientState recipient(config);
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 100; ++i) {
    const uint32_t slot = authority.spawn(types.lamp());
    recipient.count_reliable_rpc(slot);
    authority.despawn(slot);
  }
  EXPECT_EQ(recipient.pending_removals(), 8u);
}

// The client has room for twice the world's limit: what it may still hold counts.
TEST(RecipientState, new_objects_wait_for_removals_that_are_not_acked) {
  Types types;
  Authority authority(types, {}, 4);
  RecipientState::Config config;
  config.max_objects = 4;
  RecipientState recipient(config);
  authority.recipients.push_back(&recipient);
  std::vector<uint32_t> receipts;
  for (int i = 0; i < 20; ++i) {
    const uint32_t slot = authority.spawn(types.lamp());
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) receipts.push_back(part.receipt);
    ++authority.tick;
    authority.despawn(slot);
  }
  EXPECT_EQ(authority.builder.stats().full_entries, 8u);
  EXPECT_EQ(recipient.pending_removals(), 8u);
  EXPECT_EQ(recipient.room_for_new(), 0u);
  for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, true);
  EXPECT_GT(recipient.room_for_new(), 0u);
  authority.spawn(types.lamp());
  authority.record();
  authority.send(recipient);
  EXPECT_EQ(authority.builder.stats().full_entries, 9u);
}

}  // namespace
}  // namespace lattice::replication::test
