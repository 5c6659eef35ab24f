#include "replication/settled_replicas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Settled = SettledReplicas::State;

Settled state_of(uint32_t number) {
  Settled state;
  state.version = number * 1001 % SettledReplicas::kMostVersion;
  state.tick = number * 77 + 1;
  state.losses = static_cast<uint8_t>(number % (SettledReplicas::kMostLosses + 1));
  state.entry_bytes = static_cast<uint8_t>(number % 256);
  state.acked_full = number % 2 != 0;
  state.is_kept = number % 3 == 0;
  return state;
}

bool same(const Settled& a, const Settled& b) {
  return a.version == b.version && a.tick == b.tick && a.losses == b.losses &&
         a.entry_bytes == b.entry_bytes && a.acked_full == b.acked_full && a.is_kept == b.is_kept;
}

TEST(SettledReplicas, finds_each_state_after_random_changes) {
  SettledReplicas settled;
  std::map<uint32_t, uint32_t> model;
  base::Random random(5);
  for (uint32_t step = 1; step <= 20000; ++step) {
    const auto slot = static_cast<uint32_t>(random.next_below(step < 10000 ? 600 : 40) * 3001);
    const std::optional<Settled> found = settled.find(slot);
    ASSERT_EQ(found.has_value(), model.contains(slot));
    if (found) {
      ASSERT_TRUE(same(*found, state_of(model[slot])));
      ASSERT_TRUE(same(*settled.take(slot), state_of(model[slot])));
      model.erase(slot);
      ASSERT_FALSE(settled.take(slot));
    } else {
      settled.add(slot, state_of(step));
      model[slot] = step;
    }
    if (step % 100 != 0) continue;
    const auto remainder = static_cast<uint32_t>(random.next_below(5));
    settled.take_if(
        [&](uint32_t each, size_t place) {
          EXPECT_EQ(settled.version_at(place), state_of(model[each]).version);
          return each % 5 == remainder;
        },
        [&](uint32_t each, const Settled& state) {
          ASSERT_TRUE(same(state, state_of(model[each])));
          ASSERT_EQ(model.erase(each), 1u);
        });
    for (const auto& [each, number] : model) ASSERT_NE(each % 5, remainder);
    ASSERT_EQ(settled.size(), model.size());
  }
}

TEST(SettledReplicas, room_for_300_takes_15_bytes_each_and_is_enough) {
  SettledReplicas settled;
  settled.reserve(300);
  const size_t bytes = settled.heap_bytes();
  EXPECT_LE(bytes, 15 * 300u + 12);
  for (uint32_t slot = 0; slot < 300; ++slot) settled.add(slot * 7, {});
  EXPECT_EQ(settled.heap_bytes(), bytes);
}

TEST(SettledReplicas, ticks_of_long_ago_move_forward) {
  SettledReplicas settled;
  settled.add(1, {.version = 4, .tick = 100, .is_kept = true});
  settled.add(2, {.version = 4, .tick = 300, .is_kept = true});
  settled.add(3, {.version = 1, .tick = 0});
  settled.age(200);
  EXPECT_EQ(settled.find(1)->tick, 200u);
  EXPECT_FALSE(settled.find(1)->is_kept);
  EXPECT_EQ(settled.find(2)->tick, 300u);
  EXPECT_TRUE(settled.find(2)->is_kept);
  EXPECT_EQ(settled.find(3)->tick, 0u) << "none";
}

// ---- In a list --------------------------------------------------------------------------------------

constexpr uint32_t kLooks = ReplicaList::kSettleLooks;

struct SettledTest : testing::Test {
  SettledTest() { authority.recipients.push_back(&recipient); }
  void spawn(uint32_t count) {
    for (; count != 0; --count) slots.push_back(authority.spawn(types.lamp()));
  }
  /// Records and sends. The verdict on what was sent comes `round_trip` sends later.
  void step() {
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) {
      if (!loses) {
        EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      }
      sent.push_back({authority.tick, part.receipt, !loses});
    }
    while (!sent.empty() && sent.front().tick + 2 * round_trip <= authority.tick) {
      recipient.on_receipt(sent.front().receipt, sent.front().arrived);
      sent.pop_front();
    }
    authority.tick += 2;
  }
  void run(uint32_t steps) {
    for (; steps != 0; --steps) step();
  }
  void change(uint32_t slot) { authority.state<Lamp>(slot).level = static_cast<uint8_t>(1 + level_++ % 15); }
  Replica replica(uint32_t slot) const { return *recipient.find(slot, authority.store); }
  void expect_same_words() {
    for (const uint32_t slot : slots) {
      EXPECT_EQ(client.words(authority.table.network_id(slot)), authority.words(slot)) << slot;
    }
  }
  const SnapshotBuilder::Stats& stats() const { return authority.builder.stats(); }

  struct Sent {
    Tick tick = 0;
    uint32_t receipt = 0;
    bool arrived = true;
  };
  Types types;
  Authority authority{types, {}, 4096, kHistoryTicks, 0};
  ReplicaList recipient{ReplicaList::Config{}};
  Client client{types};
  std::vector<uint32_t> slots;
  std::deque<Sent> sent;
  Tick round_trip = 0;
  bool loses = false;

 private:
  uint32_t level_ = 0;
};

TEST_F(SettledTest, what_rests_settles_and_is_known_as_before) {
  spawn(20);
  run(2);
  change(slots[7]);
  run(10);
  std::vector<Replica> before;
  for (const uint32_t slot : slots) before.push_back(replica(slot));
  EXPECT_EQ(recipient.settled(), 0u);
  run(2 * kLooks);
  EXPECT_EQ(recipient.settled(), 20u);
  EXPECT_EQ(recipient.size(), 20u);
  for (const uint32_t slot : slots) {
    const Replica& old = before[slot];
    EXPECT_TRUE(recipient.in_set(slot));
    EXPECT_EQ(replica(slot).acked_version, old.acked_version);
    EXPECT_EQ(replica(slot).acked_tick, old.acked_tick);
    EXPECT_EQ(replica(slot).sent_tick, old.sent_tick);
    EXPECT_EQ(replica(slot).entry_bytes, old.entry_bytes);
    EXPECT_EQ(replica(slot).losses, old.losses);
    EXPECT_TRUE(replica(slot).held && replica(slot).rest_sent && !replica(slot).in_flight);
    EXPECT_TRUE(replica(slot).has_full(1));
  }
  EXPECT_FALSE(recipient.in_set(4000));
}

TEST_F(SettledTest, what_settled_is_sent_as_changes_from_what_the_client_has) {
  spawn(40);
  run(4 * kLooks);
  ASSERT_EQ(recipient.settled(), 40u);
  const uint64_t full = stats().full_entries;
  const uint64_t rested = stats().rested_entries;
  change(slots[3]);  // few changes are looked up
  run(1);
  EXPECT_EQ(recipient.settled(), 39u);
  expect_same_words();
  run(6);
  EXPECT_EQ(stats().rested_entries, rested + 1);
  for (const uint32_t slot : slots) change(slot);  // many are found by looking at the set
  run(1);
  EXPECT_EQ(recipient.settled(), 0u);
  expect_same_words();
  EXPECT_EQ(stats().full_entries, full);
  run(4 * kLooks);
  EXPECT_EQ(recipient.settled(), 40u);
}

TEST_F(SettledTest, what_settled_is_found_where_the_change_log_does_not_reach) {
  spawn(20);
  run(4 * kLooks);
  change(slots[5]);
  for (uint32_t i = 0; i < 3000; ++i) {
    change(slots[11 + i % 3]);
    authority.record();
    ++authority.tick;
  }
  run(1);
  EXPECT_EQ(recipient.settled(), 16u);
  expect_same_words();
}

TEST_F(SettledTest, nothing_settles_while_a_part_is_on_its_way) {
  spawn(8);
  run(3);
  round_trip = 4 * kLooks;
  change(slots[0]);
  run(4 * kLooks - 1);
  EXPECT_EQ(recipient.settled(), 0u);
  run(2 * kLooks);
  EXPECT_GE(recipient.settled(), 7u);
}

TEST_F(SettledTest, a_lost_word_of_rest_is_sent_again) {
  spawn(8);
  run(1);
  round_trip = 3 * kLooks;
  loses = true;
  run(3 * kLooks - 2);
  EXPECT_EQ(recipient.settled(), 0u);
  loses = false;
  run(3 * kLooks);
  client.log.take();
  run(12 * kLooks);
  EXPECT_EQ(recipient.settled(), 8u);
  expect_same_words();
}

TEST_F(SettledTest, new_authority_is_told_of_what_settled) {
  spawn(8);
  run(4 * kLooks);
  const uint64_t full = stats().full_entries;
  authority.table.set_authority(slots[2], 5, LATTICE_AUTHORITY_SERVER, authority.tick);
  authority.store.announce(slots[2]);
  run(1);
  EXPECT_EQ(stats().full_entries, full + 1);
  EXPECT_EQ(client.mirror.info(client.mirror.find(authority.table.network_id(slots[2]))).owner, 5u);
}

TEST_F(SettledTest, what_settled_leaves_and_is_destroyed) {
  spawn(8);
  run(4 * kLooks);
  ASSERT_EQ(recipient.settled(), 8u);
  client.log.take();
  recipient.leave(slots[2], authority.table.network_id(slots[2]));
  authority.despawn(slots[4]);
  EXPECT_FALSE(recipient.in_set(slots[2]));
  EXPECT_FALSE(recipient.in_set(slots[4]));
  EXPECT_EQ(recipient.size(), 6u);
  run(1);
  Lines lines = client.log.take();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Lines{"despawn 5", "left 3"}));
  EXPECT_EQ(recipient.pending_removals(), 0u);
}

// Ten of many objects go on changing, with entries on their way while the others settle and the replicas get
// new indexes; some are destroyed meanwhile.
TEST_F(SettledTest, verdicts_find_their_objects_when_replicas_get_new_indexes) {
  constexpr uint32_t kObjects = 400;
  spawn(kObjects);
  round_trip = 5;
  run(12);
  const auto moves = [&](uint32_t i) { return slots[kObjects - 1 - 7 * i]; };
  std::vector<uint32_t> moving;
  for (uint32_t i = 0; i < 10; ++i) moving.push_back(moves(i));
  for (const uint32_t slot : moving) change(slot);
  run(6);
  EXPECT_GT(recipient.index_of(moves(0)), 300u);
  const uint64_t full = stats().full_entries;
  for (uint32_t i = 0; i < 6 * kLooks; ++i) {
    loses = i % 7 == 3;
    for (const uint32_t slot : moving) change(slot);
    step();
    if (i % (kLooks / 2) == 3 && moving.size() > 4) {
      authority.despawn(moving.back());
      std::erase(slots, moving.back());
      moving.pop_back();
    }
    for (const uint32_t slot : moving) {
      EXPECT_LE(authority.tick - replica(slot).acked_tick, 2u * (round_trip + 7)) << slot;
    }
  }
  EXPECT_LT(recipient.index_of(moves(0)), 40u);
  EXPECT_EQ(recipient.settled(), kObjects - 10);
  EXPECT_EQ(stats().full_entries, full);
  loses = false;
  run(12);
  expect_same_words();
}

}  // namespace
}  // namespace lattice::replication::test
