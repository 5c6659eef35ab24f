// Groups of objects in step under a budget that is too small for all: they take turns by priority, beside
// what is on its own, and clients share what they send.
#include "replication/step_plan.h"

#include <deque>
#include <utility>

#include "unit/replication/crowd.h"
#include "unit/replication/snapshot_soak.h"

namespace lattice::replication::test {
namespace {

constexpr uint32_t kObjects = 25 * kGroupSlots;
constexpr uint32_t kBudget = 3000;  // for some 40 % of them

Tick sent_tick(const Crowd& crowd, uint32_t client, uint32_t slot) {
  return crowd.clients[client]->find(slot, crowd.authority.store)->sent_tick;
}

TEST(Turns, all_objects_get_them_and_none_is_visited_for_it) {
  Crowd crowd(kObjects, 1, kBudget);
  crowd.run(60);
  const ReplicaList& client = *crowd.clients[0];
  EXPECT_TRUE(client.takes_turns());
  const SnapshotBuilder::Stats before = crowd.authority.builder.stats();
  const uint64_t visited = client.visited();
  uint32_t longest_wait = 0;
  for (int snapshot = 0; snapshot < 40; ++snapshot) {
    crowd.run(1);
    for (const uint32_t slot : crowd.slots) {
      longest_wait = std::max(longest_wait, (crowd.authority.tick - sent_tick(crowd, 0, slot)) / 2);
    }
  }
  const SnapshotBuilder::Stats& now = crowd.authority.builder.stats();
  const uint64_t sent = now.delta_entries - before.delta_entries;
  EXPECT_GE(static_cast<double>(now.in_step - before.in_step), 0.95 * static_cast<double>(sent));
  EXPECT_LT(client.visited() - visited, 40u * kObjects / 8);
  EXPECT_LE(longest_wait, 40 * kObjects / sent + 1);
  EXPECT_GE(static_cast<double>(now.bytes - before.bytes), 0.9 * 40 * kBudget);
}

// 3000 objects spawn at once, and come to the client without stopping the groups. `before` runs before each
// snapshot, and gets its number.
template <class Before>
void expect_groups_in_a_storm(Crowd& crowd, Before before) {
  crowd.run(60);
  ASSERT_FALSE(crowd.clients[0]->steps().empty());
  for (int i = 0; i < 3000; ++i) crowd.authority.spawn(crowd.types.lamp());
  uint32_t longest_wait = 0, snapshots = 0;
  const uint64_t full = crowd.authority.builder.stats().full_entries;
  for (; crowd.authority.builder.stats().full_entries < full + 3000 && snapshots < 100; ++snapshots) {
    before(snapshots);
    crowd.run(1);
    for (const uint32_t slot : crowd.slots) {
      longest_wait = std::max(longest_wait, (crowd.authority.tick - sent_tick(crowd, 0, slot)) / 2);
    }
  }
  EXPECT_GE(snapshots, 10u);
  EXPECT_LT(snapshots, 60u) << "nor do they stop the newcomers";
  EXPECT_LE(longest_wait, 3u);
}

// They have waited longer than a group that went in the snapshot before, and so would go before it for as
// long as there are any.
TEST(Turns, a_storm_of_newcomers_leaves_groups_a_part) {
  Crowd crowd(kGroupSlots, 1, 600);
  expect_groups_in_a_storm(crowd, [](uint32_t) {});
}

// Nor does it help newcomers that something else, which rested for long, is before the groups.
TEST(Turns, a_storm_leaves_groups_a_part_when_another_old_object_is_before_them) {
  Crowd crowd(kGroupSlots, 1, 600);
  std::vector<uint32_t> seldom;
  for (int i = 0; i < 40; ++i) seldom.push_back(crowd.authority.spawn(crowd.types.lamp()));
  expect_groups_in_a_storm(crowd, [&](uint32_t snapshot) {
    Lamp& lamp = crowd.authority.state<Lamp>(seldom[snapshot % seldom.size()]);
    lamp.level = static_cast<uint8_t>((lamp.level + 1) % 16);
  });
}

TEST(Turns, starve_nobody_whatever_the_budget) {
  for (uint32_t budget = 250; budget < 1000; budget += 50) {
    SCOPED_TRACE(budget);
    Crowd crowd(6 * kGroupSlots + 9, 1, budget);
    crowd.run(30);
    uint32_t longest_wait = 0;
    for (int snapshot = 0; snapshot < 30; ++snapshot) {
      crowd.run(1);
      for (const uint32_t slot : crowd.slots) {
        longest_wait = std::max(longest_wait, (crowd.authority.tick - sent_tick(crowd, 0, slot)) / 2);
      }
    }
    EXPECT_LE(longest_wait, 3 + 3000 / budget);
  }
}

TEST(Turns, clients_that_hold_the_same_share_the_blocks) {
  const auto encoded = [](uint32_t clients) {
    Crowd crowd(kObjects, clients, kBudget);
    crowd.run(40);
    const uint64_t before = crowd.authority.builder.blocks().encoded();
    crowd.run(20);
    return crowd.authority.builder.blocks().encoded() - before;
  };
  EXPECT_EQ(encoded(10), encoded(1));
}

TEST(Turns, end_when_the_budget_suffices_again) {
  Crowd crowd(kObjects, 1, kBudget);
  crowd.run(40);
  crowd.budget_bytes = 4 * kBudget;
  crowd.run(2);
  EXPECT_FALSE(crowd.clients[0]->takes_turns());
  const uint64_t before = crowd.authority.builder.stats().in_step;
  crowd.run(1);
  EXPECT_EQ(crowd.authority.builder.stats().in_step - before, kObjects);
}

TEST(Turns, what_is_longer_than_any_turn_goes_on_its_own) {
  Crowd crowd(4 * kGroupSlots, 1, 4 * kBudget);
  crowd.run(20);
  ASSERT_EQ(crowd.clients[0]->steps().size(), 4u);
  crowd.budget_bytes = 200;
  crowd.run(30);
  for (const uint32_t slot : crowd.slots) {
    EXPECT_LT(crowd.authority.tick - sent_tick(crowd, 0, slot), 50u) << slot;
  }
}

/// A crowd of two types of which one has four times the base priority, in neighbouring slots.
struct TwoPriorities {
  TwoPriorities() : authority(types) {
    layout_dear = types.lamp().layout;
    dear = dear_types.add(1, *layout_dear, {.base_priority = 4.0f});
    cheap = dear_types.add(2, *layout_dear);
    authority.recipients.push_back(&client);
    for (uint32_t i = 0; i < 8 * kGroupSlots; ++i) {
      slots.push_back(authority.spawn(i % 4 == 0 ? *cheap : *dear));
    }
  }
  void run(int snapshots, uint32_t budget) {
    for (int i = 0; i < snapshots; ++i) {
      authority.tick += 2;
      for (const uint32_t slot : slots) {
        authority.state<Lamp>(slot).level = static_cast<uint8_t>((authority.tick / 2 + slot) % 16);
      }
      authority.record();
      for (const SnapshotPart& part : authority.send(client, budget)) client.on_receipt(part.receipt, true);
      for (const uint32_t slot : slots) {
        const bool is_dear = authority.table.info(slot).type == dear;
        const bool sent = client.find(slot, authority.store)->sent_tick == authority.tick;
        (is_dear ? dear_sent : cheap_sent) += sent ? 1u : 0u;
      }
    }
  }
  Types types;
  TypeTable dear_types;
  const serialization::Layout* layout_dear = nullptr;
  const ObjectType* dear = nullptr;
  const ObjectType* cheap = nullptr;
  Authority authority;
  ReplicaList client{ReplicaList::Config{}};
  std::vector<uint32_t> slots;
  uint64_t dear_sent = 0, cheap_sent = 0;
};

TEST(Turns, objects_of_other_priority_in_the_same_slots_have_turns_of_their_own) {
  TwoPriorities crowd;
  crowd.run(20, 0);
  ASSERT_EQ(crowd.client.steps().size(), 8u);
  EXPECT_TRUE(crowd.client.steps().at(0).uneven);
  crowd.run(60, 120);
  crowd.dear_sent = crowd.cheap_sent = 0;
  const uint64_t before = crowd.authority.builder.stats().in_step;
  crowd.run(100, 120);
  for (const Step& step : crowd.client.steps()) EXPECT_FALSE(step.uneven);
  EXPECT_GT(crowd.authority.builder.stats().in_step, before);
  // There are three dear ones for each cheap one. The accumulators grow faster the longer they wait, so four
  // times the priority is about twice the rate.
  const double rates = static_cast<double>(crowd.dear_sent) / 3 / static_cast<double>(crowd.cheap_sent);
  EXPECT_GT(rates, 1.5);
  EXPECT_LT(rates, 4.0);
}

TEST(Turns, hold_up_neither_removals_nor_new_objects_nor_long_ones) {
  Crowd crowd(kObjects, 1, kBudget);
  crowd.run(40);
  ReplicaList& client = *crowd.clients[0];
  for (uint32_t i = 0; i < 40; ++i) {
    crowd.authority.despawn(crowd.slots.back());
    crowd.slots.pop_back();
  }
  const uint32_t scroll = crowd.authority.spawn(crowd.types.scroll());
  std::memset(crowd.authority.state<Scroll>(scroll).text, 'x', 600);
  const uint32_t lamp = crowd.authority.spawn(crowd.types.lamp());
  crowd.run(8);
  EXPECT_EQ(client.pending_removals(), 0u);
  EXPECT_EQ(client.find(scroll, crowd.authority.store)->acked_version, 1u);
  EXPECT_EQ(client.find(lamp, crowd.authority.store)->acked_version, 1u);
}

TEST(Turns, an_object_that_paused_comes_into_step_again) {
  Crowd crowd(kObjects, 1, kBudget);
  crowd.run(60);
  const uint32_t paused = crowd.slots[40];
  crowd.slots.erase(crowd.slots.begin() + 40);
  crowd.run(5);
  ASSERT_FALSE(crowd.clients[0]->in_step(paused));
  crowd.slots.insert(crowd.slots.begin() + 40, paused);
  crowd.run(60);
  EXPECT_TRUE(crowd.clients[0]->in_step(paused));
}

/// A server that is late: it sends once in `every_ticks`, and hears of a part `late_ticks` after it was sent.
/// Returns the share of the entries of the last `counted` snapshots that lay in blocks of objects in step.
double share_in_step(Crowd& crowd, Tick every_ticks, Tick late_ticks, int snapshots, int counted) {
  std::deque<std::pair<Tick, uint32_t>> in_flight;
  ReplicaList& client = *crowd.clients[0];
  SnapshotBuilder::Stats before;
  for (int i = 0; i < snapshots; ++i) {
    if (i + counted == snapshots) before = crowd.authority.builder.stats();
    for (const Tick end = crowd.authority.tick + every_ticks; crowd.authority.tick != end;) {
      ++crowd.authority.tick;
      for (const uint32_t slot : crowd.slots) crowd.change(slot);
      crowd.authority.record();
    }
    while (!in_flight.empty() && crowd.authority.tick - in_flight.front().first >= late_ticks) {
      client.on_receipt(in_flight.front().second, true);
      in_flight.pop_front();
    }
    for (const SnapshotPart& part : crowd.authority.send(client, crowd.budget_bytes)) {
      in_flight.emplace_back(crowd.authority.tick, part.receipt);
    }
  }
  const SnapshotBuilder::Stats& now = crowd.authority.builder.stats();
  return static_cast<double>(now.in_step - before.in_step) /
         static_cast<double>(now.delta_entries - before.delta_entries);
}

// Where snapshots are late, more changes than the change log holds, and states are old when they are acked.
TEST(Turns, a_server_that_is_late_brings_objects_into_step) {
  struct Late {
    Tick every_ticks, late_ticks;
    uint32_t budget;
  };
  for (const Late& late : {Late{6, 12, kBudget}, Late{6, 12, 700}, Late{8, 16, 1000}}) {
    SCOPED_TRACE(late.every_ticks);
    Crowd crowd(kObjects, 1, late.budget);
    EXPECT_GT(share_in_step(crowd, late.every_ticks, late.late_ticks, 60, 10), 0.9);
  }
}

TEST(Turns, a_block_that_was_lost_comes_earlier_again) {
  Crowd crowd(kObjects, 1, kBudget);
  crowd.run(60);
  ReplicaList& client = *crowd.clients[0];
  crowd.change_all();
  std::vector<uint32_t> receipts;
  for (const SnapshotPart& part : crowd.authority.send(client, kBudget)) receipts.push_back(part.receipt);
  std::vector<uint32_t> lost;
  for (const Step& step : client.steps()) {
    if (step.sent == crowd.authority.tick) lost.push_back(step.group);
  }
  ASSERT_FALSE(lost.empty());
  for (const uint32_t receipt : receipts) client.on_receipt(receipt, false);
  crowd.run(1);
  const Tick after = crowd.authority.tick;
  uint32_t again = 0;
  for (const uint32_t group : lost) again += sent_tick(crowd, 0, group << kGroupBits) == after ? 1u : 0u;
  crowd.run(1);
  for (const uint32_t group : lost) again += sent_tick(crowd, 0, group << kGroupBits) > after ? 1u : 0u;
  EXPECT_GE(again, lost.size() * 3 / 4);
}

TEST(TurnsSoak, are_the_truth_on_any_link_and_within_any_budget) {
  SoakOptions options;
  options.streams = 1;
  options.churn = 0.05;
  options.link = {.loss = 0.1, .ack_loss = 0.05, .duplicate = 0.05, .max_delay = 8};
  options.max_objects = 320;
  options.objects = 200;
  options.clients = 2;
  options.most_silent_ticks = 60;
  uint64_t in_step = 0, deltas = 0;
  for (const uint32_t budget : {900u, 1300u, 2500u}) {
    SCOPED_TRACE(budget);
    options.budget_bytes = budget;
    options.builder.part_capacity_bytes = budget == 900 ? 400 : 1100;
    Soak run(budget, options);
    run.run(400);
    run.settle(500);
    if (testing::Test::HasFatalFailure()) return;
    run.expect_equal();
    in_step += run.stats().in_step, deltas += run.stats().delta_entries;
  }
  EXPECT_GT(in_step, deltas / 4);
}

}  // namespace
}  // namespace lattice::replication::test
