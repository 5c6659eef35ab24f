// What is attached to each other leaves in one part, so that a client shows it as one (D-49).
#include <gtest/gtest.h>

#include <algorithm>

#include "support/seed_share.h"
#include "unit/replication/snapshot_soak.h"

namespace lattice::replication::test {
namespace {

constexpr Tick kBetween = 2;  // ticks from one snapshot to the next

SnapshotBuilder::Config small_parts() {
  SnapshotBuilder::Config config;
  config.part_capacity_bytes = 100;
  return config;
}

class SnapshotGroups : public testing::Test {
 protected:
  SnapshotGroups() { authority_.recipients.push_back(&recipient_); }

  std::vector<uint32_t> lamps(uint32_t count) {
    std::vector<uint32_t> slots;
    for (uint32_t i = 0; i < count; ++i) slots.push_back(authority_.spawn(types_.lamp()));
    return slots;
  }
  void join(const std::vector<uint32_t>& slots) {
    for (const uint32_t slot : slots) groups_.of[slot] = slots.front();
    ++groups_.version;
  }
  void change(uint32_t slot) {
    Lamp& lamp = authority_.state<Lamp>(slot);
    lamp.level = static_cast<uint8_t>((lamp.level + 1) % 16);
  }
  /// Sends, and loses the parts that `loses` says. After each part the client has all of each group or
  /// nothing, of one tick.
  template <class Loses>
  void send(uint32_t budget, Loses loses) {
    authority_.tick += kBetween;
    authority_.record();
    authority_.builder.begin_send(authority_.tick);
    const auto parts = authority_.builder.build(recipient_, SnapshotHeader{}, budget, &groups_);
    parts_ = parts.size();
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool lost = loses(i);
      if (!lost) {
        EXPECT_EQ(client_.apply(parts[i].bytes), SnapshotApplier::Result::kApplied);
      }
      recipient_.on_receipt(parts[i].receipt, !lost);
      for (const std::vector<uint32_t>& slots : whole_) expect_whole(slots);
    }
  }
  void send(uint32_t budget = 0) {
    send(budget, [](size_t) { return false; });
  }
  /// Sends, and the client applies all. Returns the receipts, on which there is no verdict yet.
  std::vector<uint32_t> send_unheard(uint32_t budget = 0) {
    authority_.tick += kBetween;
    authority_.record();
    authority_.builder.begin_send(authority_.tick);
    std::vector<uint32_t> receipts;
    for (const SnapshotPart& part :
         authority_.builder.build(recipient_, SnapshotHeader{}, budget, &groups_)) {
      EXPECT_EQ(client_.apply(part.bytes), SnapshotApplier::Result::kApplied)
          << snapshot_refusal_name(client_.applier.refusal());
      receipts.push_back(part.receipt);
    }
    return receipts;
  }
  /// How many of the objects the client has.
  size_t known(const std::vector<uint32_t>& slots) const {
    return static_cast<size_t>(
        std::count_if(slots.begin(), slots.end(), [&](uint32_t slot) { return tick_at_client(slot) != 0; }));
  }
  /// The tick of the object's newest state at the client; 0: it is not there.
  Tick tick_at_client(uint32_t slot) const {
    const uint32_t mirror = client_.mirror.find(authority_.table.network_id(slot));
    Tick tick = 0;
    if (mirror != kNoSlot) client_.applier.confirmed(mirror, &tick);
    return tick;
  }
  void expect_whole(const std::vector<uint32_t>& slots) const {
    const Tick tick = tick_at_client(slots.front());
    for (const uint32_t slot : slots) ASSERT_EQ(tick_at_client(slot), tick) << "slot " << slot;
  }

  Types types_;
  Authority authority_{types_, small_parts()};
  ReplicaList recipient_{ReplicaList::Config{2}};
  Client client_{types_};
  Groups groups_;
  std::vector<std::vector<uint32_t>> whole_;  // groups that must arrive whole
  size_t parts_ = 0;                          // of the newest snapshot
};

// A state goes once more, along with one that joined its group. What says that it rests names the later send;
// if that was lost, and the earlier one was not, it said nothing to the client.
TEST_F(SnapshotGroups, a_rest_that_named_a_lost_entry_is_said_again) {
  std::vector<uint32_t> slots = lamps(1);
  const std::vector<uint32_t> first = send_unheard();
  change(slots[0]);
  const std::vector<uint32_t> second = send_unheard();
  slots.push_back(authority_.spawn(types_.lamp()));
  join(slots);
  authority_.tick += kBetween;
  authority_.record();
  authority_.builder.begin_send(authority_.tick);
  std::vector<uint32_t> lost;
  for (const SnapshotPart& part : authority_.builder.build(recipient_, SnapshotHeader{}, 0, &groups_))
    lost.push_back(part.receipt);
  const Tick lost_tick = authority_.tick;
  ASSERT_EQ(recipient_.find(slots[0], authority_.store)->sent_tick, lost_tick) << "it went along";
  for (const uint32_t receipt : first) recipient_.on_receipt(receipt, true);
  std::vector<uint32_t> later;
  for (int i = 0; i < 4; ++i) {
    for (const uint32_t receipt : send_unheard()) later.push_back(receipt);
  }
  ASSERT_TRUE(recipient_.find(slots[0], authority_.store)->rest_sent);
  for (const uint32_t receipt : second) recipient_.on_receipt(receipt, true);
  for (const uint32_t receipt : lost) recipient_.on_receipt(receipt, false);
  for (const uint32_t receipt : later) recipient_.on_receipt(receipt, true);
  EXPECT_FALSE(recipient_.find(slots[0], authority_.store)->rest_sent);
  const uint64_t rested = authority_.builder.stats().rested_entries;
  for (int i = 0; i < 6; ++i) send();
  EXPECT_TRUE(recipient_.find(slots[0], authority_.store)->rest_sent);
  EXPECT_GT(authority_.builder.stats().rested_entries, rested);
}

TEST_F(SnapshotGroups, come_change_and_leave_in_one_part) {
  const std::vector<uint32_t> slots = lamps(120);
  whole_ = {{slots[0], slots[60], slots[119]}, {slots[3], slots[90]}};
  for (const auto& group : whole_) join(group);
  send();
  ASSERT_GT(parts_, 2u);
  EXPECT_EQ(known(whole_[0]), 3u);
  for (uint32_t i = 0; i < 40; ++i) {
    for (const uint32_t slot : slots) change(slot);
    send(0, [](size_t part) { return part == 1; });
  }
  for (const auto& group : whole_) {
    for (const uint32_t slot : group) recipient_.leave(slot, authority_.table.network_id(slot));
  }
  send(0, [](size_t part) { return part == 0; });
  EXPECT_EQ(known(whole_[0]), 3u) << "the part was lost";
  send();
  EXPECT_EQ(known(whole_[0]) + known(whole_[1]), 0u);
}

// More wait than a snapshot can hold, and of each group one half has waited behind all of those.
TEST_F(SnapshotGroups, leave_as_one_where_few_of_many_removals_fit) {
  constexpr uint32_t kBudget = 70, kGroups = 150;
  const std::vector<uint32_t> slots = lamps(3 * kGroups);
  for (uint32_t i = 0; i < kGroups; ++i) whole_.push_back({slots[i], slots[2 * kGroups + i]});
  for (const auto& group : whole_) join(group);
  for (int i = 0; i < 4; ++i) send();
  for (const uint32_t slot : slots) recipient_.leave(slot, authority_.table.network_id(slot));
  for (int i = 0; i < 60 && recipient_.pending_removals() != 0; ++i) {
    send(kBudget);
    ASSERT_EQ(parts_, 1u);
  }
  EXPECT_EQ(known(slots), 0u);
}

TEST_F(SnapshotGroups, a_lost_group_comes_again_as_one) {
  const std::vector<uint32_t> slots = lamps(60);
  whole_ = {{slots[1], slots[30], slots[59]}};
  join(whole_[0]);
  send(0, [](size_t part) { return part == 0; });
  EXPECT_EQ(known(whole_[0]), 0u);
  send();
  EXPECT_EQ(known(whole_[0]), 3u);
}

// The vehicle is on its way when a passenger gets in. That part may be lost: both go together.
TEST_F(SnapshotGroups, a_new_object_takes_those_in_flight_along) {
  const uint32_t vehicle = lamps(1).front();
  const uint32_t receipt = send_unheard().front();
  const uint32_t passenger = lamps(1).front();
  whole_ = {{vehicle, passenger}};
  join(whole_[0]);
  send();
  EXPECT_EQ(known(whole_[0]), 2u);
  recipient_.on_receipt(receipt, false);
  send();
}

// The passenger rests, and the vehicle changes before either was acked. The passenger goes along once more,
// and has no second entry that says that it rests.
TEST_F(SnapshotGroups, one_that_rests_goes_along_with_one_entry) {
  whole_ = {lamps(3)};
  join(whole_[0]);
  std::vector<uint32_t> receipts;
  for (uint32_t i = 0; i < 10; ++i) {
    change(whole_[0][0]);
    SCOPED_TRACE(i);
    const std::vector<uint32_t> sent = send_unheard();
    receipts.insert(receipts.end(), sent.begin(), sent.end());
    expect_whole(whole_[0]);
  }
  for (const uint32_t receipt : receipts) recipient_.on_receipt(receipt, true);
  for (uint32_t i = 0; i < 4; ++i) send();
  EXPECT_GT(authority_.builder.stats().rested_entries, 0u);
}

// A state of the passenger is on its way in pieces. Nothing else about the passenger is sent (D-56).
TEST_F(SnapshotGroups, one_in_pieces_does_not_go_along) {
  for (const size_t later_length : {30u, 200u}) {
    const uint32_t vehicle = lamps(1).front();
    const uint32_t passenger = authority_.spawn(types_.scroll());
    join({vehicle, passenger});
    std::memset(authority_.state<Scroll>(passenger).text, 'x', 200);
    for (uint32_t i = 0; i < 4; ++i) {
      change(vehicle);
      SCOPED_TRACE(i);
      send_unheard();
      EXPECT_EQ(recipient_.find(passenger, authority_.store)->sends, 1u);
      Scroll& scroll = authority_.state<Scroll>(passenger);
      std::memset(scroll.text, 0, sizeof scroll.text);
      std::memset(scroll.text, 'y', later_length);
    }
  }
}

// The passenger is on its way as a whole. Where it would no longer fit beside others, it does not begin in
// pieces as well, and when it is acked it is told to rest.
TEST_F(SnapshotGroups, one_in_flight_does_not_begin_in_pieces) {
  const uint32_t vehicle = lamps(1).front();
  const uint32_t passenger = authority_.spawn(types_.scroll());
  std::memset(authority_.state<Scroll>(passenger).text, 'x', 44);
  join({vehicle, passenger});
  const uint32_t receipt = send_unheard().front();
  const uint32_t book = authority_.spawn(types_.scroll());
  std::memset(authority_.state<Scroll>(book).text, 'y', 50);
  for (uint32_t i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    change(vehicle);
    if (i == 4) recipient_.on_receipt(receipt, true);
    send_unheard(110);
    const LongSends& longs = recipient_.longs();
    for (const LongSend& send : longs.sends()) EXPECT_NE(send.slot, passenger);
  }
}

TEST_F(SnapshotGroups, no_part_is_refused_whatever_is_attached_rests_is_long_and_is_lost) {
  for (uint64_t seed = 0; seed < lattice::test::share_of_seeds(12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SoakOptions options;
    options.link.loss = static_cast<double>(seed % 3) * 0.08;
    options.link.duplicate = static_cast<double>(seed % 2) * 0.05;
    options.link.min_delay = 1 + static_cast<Tick>(seed % 4) * 5;
    options.link.max_delay = options.link.min_delay + static_cast<Tick>(seed % 5) * 4;
    options.builder.part_capacity_bytes = seed % 2 == 0 ? 200 : 1100;
    options.budget_bytes = seed % 3 == 0 ? 0 : 600;
    options.changes = 6;
    options.scrolls = 0.15;
    options.attach = 0.15;
    options.calls = 0.05;
    Soak run(seed, options);
    run.run(600);
    run.settle(900);
    ASSERT_FALSE(HasFatalFailure());
    run.expect_equal();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(SnapshotGroups, a_budget_takes_all_of_a_group_or_nothing) {
  const std::vector<uint32_t> slots = lamps(200);
  base::Random random(7);
  for (uint32_t g = 0; g < 20; ++g) {
    whole_.push_back({slots[g], slots[100 + 2 * g], slots[199 - g]});
    join(whole_.back());
  }
  for (uint32_t i = 0; i < 200; ++i) {
    for (const uint32_t slot : slots) change(slot);
    send(80, [&](size_t) { return random.chance(0.2); });
  }
  EXPECT_EQ(authority_.builder.stats().groups_cut, 0u);
  EXPECT_EQ(known(slots), slots.size()) << "nothing starves";
}

// Now and then a snapshot leaves room to pieces, and then too little for a group: that waits for the next.
TEST_F(SnapshotGroups, pieces_of_another_do_not_cut_a_group) {
  for (const uint32_t budget : {100u, 128u, 190u}) {
    const std::vector<uint32_t> slots = lamps(30);
    const uint32_t scroll = authority_.spawn(types_.tome());
    whole_.clear();
    for (uint32_t g = 0; g < 10; ++g) {
      whole_.push_back({slots[g], slots[10 + 2 * g], slots[29 - 2 * g]});
      join(whole_.back());
    }
    Tome& tome = authority_.state<Tome>(scroll);
    for (uint32_t i = 0; i < 200; ++i) {
      tome.text[i * 7] = static_cast<char>('a' + i % 26);
      for (size_t at = 0; at < 2000; ++at) tome.text[at] = static_cast<char>('a' + (at + i / 80) % 26);
      for (const uint32_t slot : slots) change(slot);
      send(budget);
    }
    EXPECT_EQ(known(slots), slots.size());
    EXPECT_EQ(known({scroll}), 1u) << "the pieces have their turns";
    EXPECT_EQ(authority_.builder.stats().groups_cut, 0u) << budget;
    for (const uint32_t slot : slots) EXPECT_GT(tick_at_client(slot), authority_.tick - 20 * kBetween);
    EXPECT_EQ(authority_.builder.stats().over_budget, 0u);
    for (const uint32_t slot : slots) authority_.despawn(slot);
    authority_.despawn(scroll);
    for (uint32_t i = 0; i < 80; ++i) send();
  }
}

TEST_F(SnapshotGroups, a_group_is_cut_if_one_of_it_goes_in_pieces) {
  const std::vector<uint32_t> slots = {authority_.spawn(types_.tome()), authority_.spawn(types_.lamp())};
  join(slots);
  Tome& tome = authority_.state<Tome>(slots.front());
  for (size_t i = 0; i < 1000; ++i) tome.text[i] = 'a';
  for (int i = 0; i < 20; ++i) send();
  EXPECT_EQ(known(slots), slots.size());
  EXPECT_GT(authority_.builder.stats().groups_cut, 0u);
}

TEST_F(SnapshotGroups, a_group_longer_than_a_part_is_cut) {
  const std::vector<uint32_t> slots = lamps(300);
  join(slots);
  send();
  EXPECT_EQ(known(slots), slots.size());
  EXPECT_EQ(authority_.builder.stats().groups_cut, 1u) << "without a budget too";
  for (uint32_t i = 0; i < 100; ++i) {
    for (const uint32_t slot : slots) change(slot);
    send(80);
  }
  EXPECT_GT(authority_.builder.stats().groups_cut, 0u);
  for (const uint32_t slot : slots) EXPECT_GT(tick_at_client(slot), authority_.tick - 40 * kBetween);
}

TEST_F(SnapshotGroups, objects_in_step_come_out_when_they_are_attached) {
  const std::vector<uint32_t> slots = lamps(64);
  for (uint32_t i = 0; i < 20; ++i) {
    for (const uint32_t slot : slots) change(slot);
    send();
  }
  ASSERT_GT(authority_.builder.stats().in_step, 0u);
  whole_ = {{slots[0], slots[40]}};
  join(whole_[0]);
  for (uint32_t i = 0; i < 20; ++i) {
    for (const uint32_t slot : slots) change(slot);
    send(0, [i](size_t part) { return part == i % 3; });
  }
}

TEST_F(SnapshotGroups, own_objects_in_a_group_are_confirmed) {
  const std::vector<uint32_t> others = lamps(40);
  const uint32_t own = authority_.spawn(types_.lamp(), recipient_.peer_id());
  join({others[3], own});
  send();
  for (uint32_t i = 0; i < 5; ++i) {
    for (const uint32_t slot : others) change(slot);
    change(own);
    authority_.tick += kBetween;
    authority_.record();
    authority_.builder.begin_send(authority_.tick);
    const auto parts = authority_.builder.build(recipient_, SnapshotHeader{}, 80, &groups_);
    ASSERT_EQ(client_.apply(parts[0].bytes), SnapshotApplier::Result::kApplied);
    EXPECT_TRUE(client_.applier.header().confirms_own);
    EXPECT_EQ(tick_at_client(own), authority_.tick);
    EXPECT_EQ(tick_at_client(others[3]), authority_.tick);
    for (const SnapshotPart& part : parts) recipient_.on_receipt(part.receipt, true);
  }
}

// The group takes more than half of the budget, and fits it.
TEST_F(SnapshotGroups, what_hangs_on_a_pawn_does_not_take_its_place_among_the_first) {
  const std::vector<uint32_t> others = lamps(600);
  const uint32_t own = authority_.spawn(types_.lamp(), recipient_.peer_id());
  join({own, others[0], others[1], others[2]});
  for (uint32_t i = 0; i < 20; ++i) send();
  for (uint32_t i = 0; i < 30; ++i) {
    for (const uint32_t slot : others) change(slot);
    change(own);
    send(80);
    EXPECT_EQ(tick_at_client(own), authority_.tick);
  }
}

}  // namespace
}  // namespace lattice::replication::test
