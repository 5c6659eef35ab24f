#include "world/state_receiver.h"

#include "unit/world/parts_rig.h"

namespace lattice::world::test {
namespace {

struct StateReceiverTest : ::testing::Test, PartsRig {
  std::vector<uint8_t> progress(Tick tick, uint32_t missing, uint32_t objects = 10) {
    replication::JoinProgress said;
    return replication::test::copy(said.write(tick, {objects, missing}, 1));
  }
  void despawn(uint32_t slot, uint32_t rpc_count) {
    for (uint32_t i = 0; i < rpc_count; ++i) recipient.count_reliable_rpc(slot);
    authority.despawn(slot);
  }
};

TEST_F(StateReceiverTest, tells_of_an_object_with_its_first_state_and_then_of_each_state) {
  const uint32_t slot = spawn(3);
  EXPECT_TRUE(receiver.has_state(slot));
  EXPECT_EQ(take_events(), (Events{"object " + std::to_string(slot)}));
  set_remote(slot, 7);
  const Tick tick = receive();
  EXPECT_EQ(take_events(), (Events{"state 3 to 7"}));
  EXPECT_EQ(receiver.newest_tick(slot), tick);
}

TEST_F(StateReceiverTest, fills_host_structures_once_somebody_asked_for_them) {
  const uint32_t slot = spawn(3);
  EXPECT_EQ(local(slot), 0) << "nobody asked";
  set_remote(slot, 7);
  receive();
  EXPECT_EQ(local(slot), 0);
  receiver.host(slot);
  EXPECT_EQ(local(slot), 7);
  set_remote(slot, 9);
  receive();
  EXPECT_EQ(local(slot), 9);
}

TEST_F(StateReceiverTest, a_slot_that_another_object_takes_begins_anew) {
  const uint32_t slot = spawn(3);
  receiver.host(slot);
  despawn(slot, 0);
  receive();
  ASSERT_EQ(table.size(), 0u);
  const uint32_t next = authority.spawn(types.lamp(), kPeer);
  set_remote(next, 5);
  receive();
  const uint32_t here = table.find(authority.table.network_id(next));
  ASSERT_EQ(here, slot) << "the test is about a slot that is used again";
  EXPECT_EQ(local(here), 0) << "nobody asked for the structures of this object";
}

TEST_F(StateReceiverTest, says_which_snapshots_came) {
  const Tick first = receive();
  const Tick second = receive();
  EXPECT_EQ(receiver.first_snapshot_tick(), first);
  EXPECT_EQ(receiver.snapshot_tick(), second);
  EXPECT_EQ(receiver.snapshots_applied(), 2u);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->server_tick, second);
}

TEST_F(StateReceiverTest, counts_what_it_refuses) {
  receive();
  EXPECT_EQ(give(std::vector<uint8_t>{1}), reliability::Verdict::kProtocolError);
  EXPECT_EQ(part, nullptr);
  authority.tick += 1000;
  receive();
  const std::vector<uint8_t> old = {1, 0, 0, 0, 0};
  EXPECT_EQ(give(old), reliability::Verdict::kAcceptButDoNotAck);
  EXPECT_EQ(part, nullptr);
  uint64_t refused = 0;
  for (size_t i = 0; i < static_cast<size_t>(replication::SnapshotRefusal::kCount); ++i) {
    refused += receiver.refusals(static_cast<replication::SnapshotRefusal>(i));
  }
  EXPECT_EQ(refused, 2u);
}

// Room for what an authority promises would be more memory than there is.
TEST_F(StateReceiverTest, makes_room_for_no_more_than_it_may_hold) {
  EXPECT_EQ(give(progress(1, UINT32_MAX, UINT32_MAX)), reliability::Verdict::kAccept);
  EXPECT_EQ(receiver.joining().count.objects, UINT32_MAX);
  const uint32_t slot = spawn(3);
  EXPECT_TRUE(receiver.has_state(slot));
}

TEST_F(StateReceiverTest, believes_the_newest_word_about_its_joining) {
  EXPECT_FALSE(receiver.joining().loaded);
  EXPECT_EQ(give(progress(100, 4)), reliability::Verdict::kAccept);
  EXPECT_EQ(part, nullptr) << "it is no part of a snapshot";
  EXPECT_EQ(receiver.joining().count.missing, 4u);
  EXPECT_EQ(take_events(), Events{});
  give(progress(110, 0));
  give(progress(112, 0));
  EXPECT_EQ(take_events(), (Events{"loaded"})) << "once";
  EXPECT_TRUE(receiver.joining().loaded);
  give(progress(105, 2));
  EXPECT_TRUE(receiver.joining().loaded);
  EXPECT_EQ(receiver.joining().count.missing, 0u);
}

// D-35
TEST_F(StateReceiverTest, an_object_waits_for_the_calls_that_its_removal_names) {
  const uint32_t slot = spawn(3);
  const uint64_t id = table.network_id(slot);
  take_events();
  despawn(slot, 2);
  receive();
  EXPECT_EQ(take_events(), (Events{"frozen"}));
  EXPECT_TRUE(receiver.overdue(slot));
  receiver.on_reliable_rpc(id);
  receiver.retry_removals();
  EXPECT_EQ(take_events(), Events{}) << "one more";
  receiver.on_reliable_rpc(id);
  EXPECT_FALSE(receiver.overdue(slot));
  receiver.retry_removals();
  EXPECT_EQ(take_events(), (Events{"gone"}));
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(StateReceiverTest, calls_that_come_before_their_object_count) {
  const uint32_t slot = authority.spawn(types.lamp(), kPeer);
  receiver.on_reliable_rpc(authority.table.network_id(slot));
  receive();
  take_events();
  despawn(slot, 1);
  receive();
  EXPECT_EQ(take_events(), (Events{"gone"}));
}

TEST_F(StateReceiverTest, a_session_leaves_nothing_to_the_next) {
  spawn(3);
  give(progress(100, 0));
  take_events();
  receiver.end_session();
  EXPECT_EQ(take_events(), (Events{"ended"}));
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(receiver.snapshot_tick(), 0u);
  EXPECT_EQ(receiver.first_snapshot_tick(), 0u);
  EXPECT_FALSE(receiver.joining().loaded);
  EXPECT_EQ(give(progress(7, 1)), reliability::Verdict::kAccept);
  EXPECT_EQ(receiver.joining().count.missing, 1u) << "an earlier tick than that of the last session";
  give(progress(8, 0));
  EXPECT_EQ(take_events(), (Events{"loaded"}));
}

}  // namespace
}  // namespace lattice::world::test
