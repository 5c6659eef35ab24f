// Objects in step: what a client gets is the truth and converges whatever the link does, blocks are those
// that entries on their own would make, and clients share them.
#include "replication/step_list.h"

#include "base/random.h"
#include "support/seed_share.h"
#include "unit/replication/crowd.h"
#include "unit/replication/snapshot_soak.h"

namespace lattice::replication::test {
namespace {

void soak(uint64_t first_seed, uint64_t seeds, SoakOptions options, double least_share) {
  for (uint64_t seed = first_seed; seed < first_seed + lattice::test::share_of_seeds(seeds); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.max_objects = 160;
    options.objects = 90;
    Soak run(seed, options);
    run.run(600);
    run.settle(500);
    if (testing::Test::HasFatalFailure()) return;
    run.expect_equal();
    EXPECT_GE(static_cast<double>(run.stats().in_step),
              least_share * static_cast<double>(run.stats().delta_entries));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(StepSoak, all_change_in_each_tick) {
  SoakOptions options;
  options.streams = 1;
  options.churn = 0.02;
  options.link.max_delay = 6;
  soak(1, 2, options, 0.5);
}

TEST(StepSoak, objects_pause_come_go_and_change_owner) {
  SoakOptions options;
  options.streams = 0.9;
  options.churn = 0.3;
  options.calls = 0.2;
  soak(10, 3, options, 0.1);
}

TEST(StepSoak, loss_reordering_and_duplicates) {
  SoakOptions options;
  options.streams = 0.97;
  options.churn = 0.05;
  options.link = {.loss = 0.2, .ack_loss = 0.1, .duplicate = 0.1, .max_delay = 12};
  soak(20, 4, options, 0.05);
}

TEST(StepSoak, acks_come_late_and_in_any_order) {
  SoakOptions options;
  options.streams = 1;
  options.churn = 0.05;
  options.link = {.loss = 0.02, .duplicate = 0.05, .min_delay = 20, .max_delay = 61};
  soak(30, 3, options, 0.0);
}

TEST(StepSoak, small_parts) {
  SoakOptions options;
  options.streams = 1;
  options.churn = 0.05;
  options.link.loss = 0.05;
  options.builder.part_capacity_bytes = 300;
  soak(40, 2, options, 0.2);
}

TEST(StepSoak, members_that_are_not_for_everyone) {
  SoakOptions options;
  options.streams = 1;
  options.churn = 0.05;
  options.conditions = true;
  options.link = {.loss = 0.05, .max_delay = 6};
  soak(45, 2, options, 0.2);
}

TEST(StepSoak, a_budget_that_is_sometimes_too_small) {
  SoakOptions options;
  options.streams = 0.98;
  options.churn = 0.1;
  options.link.loss = 0.05;
  for (const uint32_t budget : {1500u, 2500u, 4000u}) {
    options.budget_bytes = budget;
    soak(50 + budget, 1, options, 0.0);
  }
}

TEST(StepSoak, silence_and_the_wrap_of_ticks) {
  SoakOptions options;
  options.streams = 1;
  options.churn = 0.02;
  options.silence_from = 200;
  options.first_tick = 0xFFFFFF01u;
  soak(60, 2, options, 0.15);
}

// ---- The base of a group ------------------------------------------------------------------------------

struct StepBase : testing::Test {
  StepBase() {
    Step& step = steps.add(3);
    step.mask = 0xFF;
    step.base = 10;
    step.joined = 13;
    step.sent = 40;
  }
  Tick base() const { return steps.find(3)->base; }
  StepList steps;
};

// Groups that begin and end at random, asked for in turn and out of turn.
TEST(StepList, finds_in_turn_what_it_finds) {
  StepList steps;
  base::Random random(7);
  for (uint32_t i = 0; i < 20'000; ++i) {
    const auto group = static_cast<uint32_t>(random.next_below(24));
    if (const uint64_t choice = random.next_below(8); choice == 0 && steps.find(group) == nullptr) {
      steps.add(group).mask = 1;
    } else if (choice == 1 && steps.find(group) != nullptr) {
      steps.remove(group * kGroupSlots);
    }
    for (uint32_t asked = group; asked < group + 3; ++asked) {
      ASSERT_EQ(steps.find_in_turn(asked), steps.find(asked)) << "group " << asked;
    }
  }
}

TEST_F(StepBase, moves_with_acked_blocks_and_never_back) {
  steps.find(3)->on_acked(0xFF, 20, false);
  EXPECT_EQ(base(), 20u);
  steps.find(3)->on_acked(0xFF, 18, false);
  EXPECT_EQ(base(), 20u);
}

TEST_F(StepBase, does_not_move_to_a_block_of_which_a_piece_was_lost) {
  steps.find(3)->on_acked(0x0F, 20, false);
  EXPECT_EQ(steps.find(3)->on_lost(0xF0, 20), 0xF0u);
  EXPECT_EQ(base(), 10u);
  steps.find(3)->on_acked(0xF0, 22, false);
  EXPECT_EQ(base(), 10u) << "pieces of two snapshots";
  steps.find(3)->on_acked(0x0F, 22, false);
  EXPECT_EQ(base(), 22u);
}

TEST_F(StepBase, does_not_move_to_a_block_from_before_an_object_came_into_step) {
  steps.find(3)->on_acked(0xFF, 12, false);
  EXPECT_EQ(base(), 10u);
  EXPECT_EQ(steps.find(3)->on_lost(0xFF, 12), 0u);
}

TEST_F(StepBase, an_object_that_left_is_not_waited_for) {
  steps.find(3)->on_acked(0x7F, 20, false);
  EXPECT_EQ(base(), 10u);
  steps.remove(3 * kGroupSlots + 7);
  steps.find(3)->on_acked(0x7F, 22, false);
  EXPECT_EQ(base(), 22u);
}

// ---- Blocks -------------------------------------------------------------------------------------------

TEST(Blocks, are_those_that_entries_on_their_own_make) {
  Crowd crowd(kGroupSlots, 2);
  crowd.run(5);
  ASSERT_EQ(crowd.clients[1]->steps().size(), 1u);
  crowd.change_all();
  crowd.authority.builder.begin_send(crowd.authority.tick);
  crowd.clients[1]->begin_build(crowd.authority.tick, 120);
  crowd.clients[1]->end_steps(crowd.authority.store);
  const uint64_t before = crowd.authority.builder.stats().in_step;
  const auto shared = crowd.send(*crowd.clients[0]);
  const uint64_t in_step = crowd.authority.builder.stats().in_step - before;
  EXPECT_EQ(in_step, crowd.slots.size());
  const auto alone = crowd.send(*crowd.clients[1]);
  EXPECT_EQ(crowd.authority.builder.stats().in_step - before, in_step) << "the second was out of step";
  EXPECT_EQ(shared, alone);
}

TEST(Blocks, are_encoded_once_for_all_clients_that_hold_the_same) {
  const auto encoded = [](uint32_t clients) {
    Crowd crowd(4 * kGroupSlots, clients);
    crowd.run(5);
    const uint64_t before = crowd.authority.builder.blocks().encoded();
    const uint64_t in_step = crowd.authority.builder.stats().in_step;
    crowd.run(1);
    EXPECT_EQ(crowd.authority.builder.stats().in_step - in_step, uint64_t{clients} * crowd.slots.size());
    return crowd.authority.builder.blocks().encoded() - before;
  };
  EXPECT_EQ(encoded(40), encoded(1));
}

TEST(Blocks, an_object_that_rests_comes_out_of_step_and_is_acked) {
  Crowd crowd(kGroupSlots, 1);
  crowd.run(5);
  ReplicaList& client = *crowd.clients[0];
  ASSERT_EQ(client.steps().at(0).mask, 0xFFFFFFFFu);
  const uint32_t rests = crowd.slots[9];
  crowd.slots.erase(crowd.slots.begin() + 9);
  crowd.run(1);
  EXPECT_EQ(client.steps().at(0).mask, ~(1u << rests % kGroupSlots));
  const std::optional<Replica> replica = client.find(rests, crowd.authority.store);
  EXPECT_EQ(replica->acked_version, crowd.authority.store.version(rests));
  EXPECT_FALSE(replica->in_flight);
}

TEST(Blocks, a_lost_block_is_made_good_for_an_object_that_rests_since) {
  Crowd crowd(kGroupSlots, 1);
  crowd.run(5);
  ReplicaList& client = *crowd.clients[0];
  crowd.change_all();
  for (const SnapshotPart& part : crowd.authority.send(client)) client.on_receipt(part.receipt, false);
  const uint32_t rests = crowd.slots[9];
  crowd.slots.erase(crowd.slots.begin() + 9);
  crowd.run(1);
  const std::optional<Replica> replica = client.find(rests, crowd.authority.store);
  EXPECT_EQ(replica->sent_tick, crowd.authority.tick);
  EXPECT_EQ(replica->acked_version, crowd.authority.store.version(rests));
}

// ---- The client's own object ----------------------------------------------------------------------------

struct OwnInStep : testing::Test {
  static constexpr uint64_t kPeer = 10;
  void begin(uint32_t budget_bytes = 0) {
    crowd.budget_bytes = budget_bytes;
    crowd.clients[0] = std::make_unique<ReplicaList>(ReplicaList::Config{.peer_id = kPeer});
    crowd.authority.recipients[0] = crowd.clients[0].get();
    for (const uint32_t slot : crowd.slots) {
      crowd.clients[0]->enter(slot, crowd.authority.table.network_id(slot));
      crowd.clients[0]->owe(slot);
    }
    crowd.authority.table.set_authority(own, kPeer, LATTICE_AUTHORITY_SERVER, crowd.authority.tick);
    crowd.authority.store.announce(own);
    crowd.run(8);
  }
  /// By part, whether it confirms the client's own objects.
  std::vector<bool> confirms(size_t client) {
    crowd.change_all();
    crowd.authority.builder.begin_send(crowd.authority.tick);
    std::vector<bool> flags;
    for (const std::vector<uint8_t>& part : crowd.send(*crowd.clients[client]))
      flags.push_back((part[kFlagsOffset] & kFlagConfirmsOwn) != 0);
    return flags;
  }
  Crowd crowd{16 * kGroupSlots, 2};
  const uint32_t own = crowd.slots[5 * kGroupSlots + 7];
};

TEST_F(OwnInStep, is_confirmed_by_the_first_part_alone) {
  begin();
  ASSERT_TRUE(crowd.clients[0]->in_step(own));
  const std::vector<bool> flags = confirms(0);
  ASSERT_GT(flags.size(), 1u);
  EXPECT_TRUE(flags[0]);
  EXPECT_EQ(std::count(flags.begin(), flags.end(), true), 1);
  const std::vector<bool> of_other = confirms(1);
  EXPECT_EQ(std::count(of_other.begin(), of_other.end(), false), 0) << "who owns nothing lacks nothing";
}

TEST_F(OwnInStep, comes_out_of_step_where_groups_take_turns) {
  begin();
  ASSERT_TRUE(crowd.clients[0]->in_step(own));
  crowd.budget_bytes = 600;
  for (int i = 0; i < 100; ++i) {
    const std::vector<bool> flags = confirms(0);
    ASSERT_EQ(flags[0], true) << "snapshot " << i;
    ASSERT_FALSE(crowd.clients[0]->in_step(own));
  }
  EXPECT_TRUE(crowd.clients[0]->takes_turns());
  EXPECT_FALSE(crowd.clients[0]->steps().empty());
}

// A second own object is always new to the client, in a snapshot of several parts, whose first it is in.
TEST_F(OwnInStep, comes_out_of_step_where_no_part_can_confirm_it) {
  begin();
  ASSERT_TRUE(crowd.clients[0]->in_step(own));
  const uint32_t other = crowd.slots[9 * kGroupSlots + 1];
  for (int i = 0; i < 40; ++i) {
    crowd.authority.table.set_authority(other, kPeer, LATTICE_AUTHORITY_SERVER, crowd.authority.tick);
    crowd.authority.store.announce(other);
    std::vector<uint32_t> spawned;
    for (int n = 0; n < 800; ++n) spawned.push_back(crowd.authority.spawn(crowd.types.actor()));
    const std::vector<bool> flags = confirms(0);
    for (const uint32_t slot : spawned) crowd.authority.despawn(slot);
    ASSERT_GT(flags.size(), 2u);
    ASSERT_TRUE(i == 0 || flags[0]) << "snapshot " << i;
  }
}

// Their blocks fill more than a part.
TEST_F(OwnInStep, objects_of_many_groups_are_confirmed) {
  for (uint32_t group = 0; group < 16; ++group) {
    const uint32_t slot = crowd.slots[group * kGroupSlots + 3];
    crowd.authority.table.set_authority(slot, kPeer, LATTICE_AUTHORITY_SERVER, crowd.authority.tick);
    crowd.authority.store.announce(slot);
  }
  begin();
  int missed = 0;
  for (int i = 0; i < 600; ++i) {
    const std::vector<bool> flags = confirms(0);
    missed += std::count(flags.begin(), flags.end(), true) == 0 ? 1 : 0;
  }
  EXPECT_LE(missed, 3) << "one each time that they try again, after some seconds";
}

TEST_F(OwnInStep, comes_out_of_step_when_it_has_another_owner) {
  begin();
  ASSERT_TRUE(crowd.clients[0]->in_step(own));
  crowd.authority.table.set_authority(own, kPeer + 1, LATTICE_AUTHORITY_SERVER, crowd.authority.tick);
  crowd.authority.store.announce(own);
  EXPECT_TRUE(confirms(0)[0]);
  EXPECT_FALSE(crowd.clients[0]->in_step(own));
}

TEST(Blocks, an_announced_object_comes_out_of_step) {
  Crowd crowd(kGroupSlots, 1);
  crowd.run(5);
  const uint64_t before = crowd.authority.builder.stats().full_entries;
  crowd.authority.table.set_authority(crowd.slots[4], 77, LATTICE_AUTHORITY_SHARED, crowd.authority.tick);
  crowd.authority.store.announce(crowd.slots[4]);
  crowd.run(1);
  EXPECT_EQ(crowd.authority.builder.stats().full_entries - before, 1u);
}

}  // namespace
}  // namespace lattice::replication::test
