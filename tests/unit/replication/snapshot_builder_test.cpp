#include "replication/snapshot_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "support/seed_share.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Bytes = std::vector<uint8_t>;

/// One recipient that hears of all objects.
struct SnapshotBuilderTest : testing::Test {
  SnapshotBuilderTest() { authority.recipients.push_back(&recipient); }
  /// Records tick `tick` and returns its only part, which is acked.
  Bytes part_at(Tick tick, const SnapshotHeader& header = {}) {
    authority.tick = tick;
    authority.record();
    authority.builder.begin_send(tick);
    const auto parts = authority.builder.build(recipient, header, 0);
    EXPECT_EQ(parts.size(), 1u);
    const Bytes bytes = copy(parts[0].bytes);
    recipient.on_receipt(parts[0].receipt, true);
    return bytes;
  }
  std::vector<uint32_t> lamps(int count) {
    std::vector<uint32_t> slots;
    for (int i = 0; i < count; ++i) slots.push_back(authority.spawn(types.lamp()));
    return slots;
  }

  Types types;
  Authority authority{types};
  ReplicaList recipient{ReplicaList::Config{}};
};

// ---- Golden bytes, worked out by hand from the document; 1000 is a keep tick
// ---------------------------------------------------

TEST_F(SnapshotBuilderTest, golden_bytes_of_each_kind) {
  authority.tick = 900;
  authority.table.set_local_peer(5);  // the writer of the lamp
  const uint32_t lamp = authority.table.spawn(types.lamp(), 5, LATTICE_AUTHORITY_SHARED, 990, 900);
  authority.store.begin(lamp, types.lamp());
  recipient.enter(lamp, 1);
  authority.state<Lamp>(lamp) = Lamp{1, 10};
  SnapshotHeader header;
  header.has_input = true;
  header.last_input_tick = 998;
  header.input_margin = -3;
  // Full, one entry, slot 0; type 7, owner 5, mode 01, tenure 10, id 1; mask 11, level 1010.
  EXPECT_EQ(part_at(1000, header),
            (Bytes{0xE8, 0x03, 0, 0, 0xE0, 0x03, 0xFD, 0x20, 1, 0, 7, 5, 0x42, 0x80, 0x7A}));
  authority.state<Lamp>(lamp).level = 11;
  // Delta, one entry, age 2, slot 0; mask 01, level 1011.
  EXPECT_EQ(part_at(1002), (Bytes{0xEA, 0x03, 0, 0, 0x40, 0x00, 1, 2, 0, 0x6C}));
  EXPECT_EQ(part_at(1004), (Bytes{0xEC, 0x03, 0, 0, 0x50, 2}))
      << "a header: nothing is new, own objects did not change, snapshots come every two ticks";
  // Rested with the second snapshot after the change: the state of four ticks ago.
  EXPECT_EQ(part_at(1006), (Bytes{0xEE, 0x03, 0, 0, 0x40, 0x60, 1, 4, 0}));
  for (int i = 0; i < 130; ++i) recipient.count_reliable_rpc(lamp);
  authority.despawn(lamp);
  // Removed, one entry, slot 0: destroyed, no name, 130 RPCs.
  EXPECT_EQ(part_at(1008), (Bytes{0xF0, 0x03, 0, 0, 0x40, 0x40, 1, 0, 0x30, 0x40, 0x20}));
}

TEST_F(SnapshotBuilderTest, is_silent_only_behind_a_snapshot_that_said_so) {
  const auto parts_at = [&](Tick tick, SnapshotBuilder::Silence silence) {
    authority.tick = tick;
    authority.record();
    authority.builder.begin_send(tick);
    const auto parts = authority.builder.build(recipient, {}, 0, nullptr, silence);
    for (const SnapshotPart& part : parts) recipient.on_receipt(part.receipt, true);
    return parts.size();
  };
  using Silence = SnapshotBuilder::Silence;
  const uint32_t lamp = lamps(1)[0];
  EXPECT_EQ(parts_at(1000, Silence::kAllowed), 1u) << "the object";
  EXPECT_EQ(parts_at(1002, Silence::kAllowed), 1u) << "that nothing is new";
  EXPECT_EQ(parts_at(1004, Silence::kAllowed), 1u) << "that it rests";
  EXPECT_EQ(parts_at(1006, Silence::kAllowed), 1u) << "that nothing is new";
  EXPECT_EQ(parts_at(1008, Silence::kAllowed), 0u);
  EXPECT_EQ(parts_at(1010, Silence::kForbidden), 1u);
  EXPECT_EQ(parts_at(1012, Silence::kAllowed), 0u);
  authority.state<Lamp>(lamp).level = 3;
  EXPECT_EQ(parts_at(1014, Silence::kAllowed), 1u) << "the change";
  EXPECT_EQ(parts_at(1016, Silence::kAllowed), 1u) << "that nothing is new";
}

TEST_F(SnapshotBuilderTest, golden_bytes_of_a_removal_with_a_name) {
  const uint32_t slot = lamps(1)[0];
  authority.record();
  authority.send(recipient);
  recipient.leave(slot, 1);
  // It left, its name is 1, no RPC: 1 1 00000001 0.
  EXPECT_EQ(part_at(1000), (Bytes{0xE8, 0x03, 0, 0, 0x60, 0x40, 1, 0, 0xC0, 0x40}));
}

TEST_F(SnapshotBuilderTest, neighbours_cost_one_bit_and_equal_heads_and_masks_one_more) {
  const auto slots = lamps(3);
  // Full, three entries from slot 0; type 7, owner 0, mode 00, tenure 1000; id 1, mask 00.
  // Then twice: gap 0, same_head 1, id, same_mask 1.
  // 00'11111010 00000111'00000001 00 | 0 1 00000010 1 | 0 1 00000011 1
  EXPECT_EQ(part_at(1000),
            (Bytes{0xE8, 0x03, 0, 0, 0x60, 0x20, 3, 0, 7, 0, 0x3A, 0x01, 0xC0, 0x44, 0x0A, 0x81, 0xC0}));
  for (const uint32_t slot : slots) authority.state<Lamp>(slot).level = static_cast<uint8_t>(slot + 1);
  // Delta, three entries, age 2, slot 0: 01 0001 | 0 1 0010 | 0 1 0011.
  EXPECT_EQ(part_at(1002),
            (Bytes{0xEA, 0x03, 0, 0, 0x40, 0x00, 3, 2, 0, 0b01000101, 0b00100100, 0b11000000}));
}

TEST_F(SnapshotBuilderTest, golden_bytes_of_mixed_ages) {
  const auto slots = lamps(2);
  part_at(1000);
  authority.state<Lamp>(slots[1]).level = 8;
  part_at(1002);
  authority.state<Lamp>(slots[0]).level = 1;
  authority.state<Lamp>(slots[1]).level = 9;
  // Delta, mixed, age 1 of the second, slot 0: other 1, age 3, mask 01, 0001 | gap 0, other 0, same mask 1,
  // 1001.
  EXPECT_EQ(part_at(1003), (Bytes{0xEB, 0x03, 0, 0, 0x40, 0x10, 2, 1, 0, 0x81, 0xA2, 0x64}));
}

TEST_F(SnapshotBuilderTest, states_of_keep_ticks_are_in_parts_that_say_so) {
  lamps(1);
  Tick tick = 100;
  while (!authority.store.keep_ticks().contains(tick)) ++tick;
  EXPECT_EQ(part_at(tick)[4], kFlagKeep | kFlagConfirmsOwn);
  EXPECT_EQ(part_at(tick + 1)[4], kFlagConfirmsOwn | kFlagUnchanged);
}

// ---- Bytes ---------------------------------------------------------------------------------------------

/// A world of `count` objects of two types with all kinds of news, behind a budget. Every part goes to a
/// client.
struct Busy {
  Busy(uint64_t seed, uint32_t capacity, uint32_t count) : random(seed), authority(types, config(capacity)) {
    authority.recipients.push_back(&recipient);
    for (uint32_t i = 0; i < count; ++i) spawn();
  }
  static SnapshotBuilder::Config config(uint32_t capacity) {
    SnapshotBuilder::Config c;
    c.part_capacity_bytes = capacity;
    return c;
  }
  void spawn() {
    const uint64_t owner = random.chance(0.05) ? 9 : random.next_below(3);
    authority.spawn(random.chance(0.6) ? types.actor() : types.lamp(), owner);
  }
  uint32_t any() { return authority.table.ascending()[random.next_below(authority.table.size())]; }
  void disturb(uint64_t changes) {
    for (uint64_t i = 0; i < changes; ++i) {
      const uint32_t slot = any();
      if (authority.table.info(slot).type == &types.lamp()) {
        authority.state<Lamp>(slot) = Lamp{1, static_cast<uint8_t>(random.next_below(16))};
      } else {
        authority.state<Body>(slot).position[random.next_below(3)] =
            static_cast<float>(random.next_unit() * 100);
        if (random.chance(0.2))
          authority.state<Soul>(slot, 1).target = random.next_u64() >> random.next_below(64);
      }
    }
    if (random.chance(0.3)) authority.despawn(any());
    if (random.chance(0.3)) spawn();
  }
  /// Sends one snapshot and returns its bytes.
  size_t send(uint32_t budget) {
    authority.record();
    size_t bytes = 0;
    for (const SnapshotPart& part : authority.send(recipient, budget)) {
      bytes += part.bytes.size();
      most_part = std::max(most_part, part.bytes.size());
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied)
          << snapshot_refusal_name(client.applier.refusal());
      waiting.push_back(part.receipt);
    }
    while (waiting.size() > 3) {
      recipient.on_receipt(waiting.front(), random.chance(0.9));
      waiting.erase(waiting.begin());
    }
    authority.tick += 2;
    return bytes;
  }
  static ReplicaList::Config peer() {
    ReplicaList::Config c;
    c.peer_id = 9;
    return c;
  }
  Types types;
  base::Random random;
  Authority authority;
  ReplicaList recipient{peer()};
  Client client{types};
  std::vector<uint32_t> waiting;
  size_t most_part = 0;
};

TEST(SnapshotBudget, is_never_exceeded_and_parts_fit) {
  for (uint64_t seed = 1; seed <= lattice::test::share_of_seeds(24); ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const uint32_t capacity =
        seed % 3 == 0 ? kMinPartCapacity : 64 + static_cast<uint32_t>(random.next_below(1437));
    Busy busy(seed, capacity, 10 + static_cast<uint32_t>(random.next_below(300)));
    for (int i = 0; i < 40; ++i) {
      busy.disturb(random.next_below(200));
      const uint32_t budget = 60 + static_cast<uint32_t>(random.next_below(random.chance(0.5) ? 200 : 6000));
      ASSERT_LE(busy.send(budget), budget);
      ASSERT_LE(busy.most_part, capacity);
    }
  }
}

// With more news than 64 parts hold, the number of parts is the bound as well.
TEST(SnapshotBudget, is_never_exceeded_near_the_most_parts) {
  Busy busy(5, kMinPartCapacity, 3000);
  base::Random random(5);
  for (int i = 0; i < 20; ++i) {
    busy.disturb(3000);
    const uint32_t budget =
        SnapshotBuilder::kMaxParts * kMinPartCapacity - static_cast<uint32_t>(random.next_below(900));
    ASSERT_LE(busy.send(budget), budget);
  }
}

// Where groups take turns, one that has grown since its bytes were reserved may not fit them: now and then a
// part of the budget stays free.
TEST(SnapshotBudget, is_used_when_much_is_pending) {
  const uint64_t seeds = lattice::test::share_of_seeds(12);
  int all = 0, less_used = 0;
  for (uint64_t run = 0; run < 3 * seeds; ++run) {
    const uint32_t budget = std::array{700u, 1400u, 4000u}[run % 3];
    SCOPED_TRACE(budget);
    Busy busy(budget + 7777 * (run / 3), 1100, 1200);
    int cut = 0;
    for (int i = 0; i < 60; ++i) {
      busy.disturb(4000);
      const uint64_t before = busy.authority.builder.stats().postponed;
      const size_t bytes = busy.send(budget);
      const uint64_t postponed = busy.authority.builder.stats().postponed - before;
      EXPECT_LE(bytes, budget);
      if (postponed < 30) continue;
      ++cut;
      const double used = static_cast<double>(bytes) / budget;
      EXPECT_GE(used, 0.75) << "snapshot " << i << " " << postponed << " wait";
      less_used += used < 0.9 ? 1 : 0;
    }
    EXPECT_GT(cut, 30);
    all += cut;
  }
  EXPECT_LE(less_used * 100, all) << "of one snapshot in a hundred";
}

// What is gone must not stay because much of high priority moves: removals have a quarter of the budget
// first.
TEST(SnapshotBudget, removals_go_before_any_priority) {
  for (const float priority : {1.0f, 1000.0f}) {
    SCOPED_TRACE(priority);
    Types types;
    ObjectType urgent = types.actor();
    urgent.base_priority = priority;
    Authority authority(types);
    ReplicaList recipient{ReplicaList::Config{}};
    authority.recipients.push_back(&recipient);
    Client client(types);
    std::vector<uint32_t> movers, crates;
    for (int i = 0; i < 60; ++i) movers.push_back(authority.spawn(urgent));
    for (int i = 0; i < 20; ++i) crates.push_back(authority.spawn(types.lamp()));
    uint32_t sends = 0;
    const auto send = [&](uint32_t budget) {
      ++sends;
      for (const uint32_t slot : movers)
        authority.state<Body>(slot).position[0] = static_cast<float>(sends % 90);
      authority.record();
      for (const SnapshotPart& part : authority.send(recipient, budget)) {
        ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
        recipient.on_receipt(part.receipt, true);
      }
      authority.tick += 2;
    };
    for (int i = 0; i < 30; ++i) send(0);
    for (int i = 0; i < 30; ++i) send(150);
    ASSERT_EQ(client.mirror.size(), 80u);
    for (const uint32_t slot : crates) authority.despawn(slot);
    for (int i = 0; i < 3; ++i) send(150);
    EXPECT_EQ(client.mirror.size(), 60u);
    EXPECT_EQ(recipient.pending_removals(), 0u);
  }
}

TEST(SnapshotBudget, starves_nobody) {
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 300; ++i) authority.spawn(types.actor());
  Client client(types);
  base::Random random(3);
  std::map<uint64_t, Tick> last_seen;
  for (int send = 0; send < 200; ++send) {
    for (const uint32_t slot : authority.table.ascending()) {
      authority.state<Body>(slot).position[0] = static_cast<float>(random.next_unit() * 100);
    }
    authority.record();
    std::vector<uint32_t> receipts;
    for (const SnapshotPart& part : authority.send(recipient, 700)) {
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      receipts.push_back(part.receipt);
    }
    for (const uint32_t receipt : receipts) recipient.on_receipt(receipt, true);
    for (const std::string& line : client.log.take()) {
      const size_t at = line.find('@');
      if (at != std::string::npos) last_seen[std::stoull(line.substr(line.find(' ') + 1))] = authority.tick;
    }
    authority.tick += 2;
  }
  ASSERT_EQ(last_seen.size(), 300u);
  for (const auto& [id, tick] : last_seen) EXPECT_LT(authority.tick - tick, 60u) << id;
  EXPECT_GT(authority.builder.stats().postponed, 0u);
}

// It waited for its turn once. With rules each object has a turn of its own.
TEST(SnapshotBudget, what_was_lost_does_not_wait_for_its_turn_again) {
  Types types;
  Authority authority(types);
  ReplicaList recipient({.peer_id = 3});
  authority.recipients.push_back(&recipient);
  struct Apart final : SendRules {
    void terms(uint32_t, bool, SendTerms*) const override {}
    bool common_terms(SendTerms*) const override { return false; }
    bool slows() const override { return false; }
    void add_members(uint32_t, std::vector<uint32_t>*) const override {}
    uint32_t groups_version() const override { return 0; }
  } rules;
  std::vector<uint32_t> slots;
  for (int i = 0; i < 3000; ++i) slots.push_back(authority.spawn(types.lamp()));
  std::vector<uint32_t> lost;
  const auto send = [&](bool loses) {
    for (const uint32_t slot : slots) {
      Lamp& lamp = authority.state<Lamp>(slot);
      lamp.level = static_cast<uint8_t>(1 + lamp.level % 15);
    }
    authority.record();
    authority.builder.begin_send(authority.tick);
    for (const SnapshotPart& part : authority.builder.build(recipient, {}, 60, &rules)) {
      recipient.on_receipt(part.receipt, !loses);
    }
    if (loses) {
      for (const uint32_t slot : slots) {
        if (recipient.find(slot, authority.store)->sent_tick == authority.tick) lost.push_back(slot);
      }
    }
    ++authority.tick;
  };
  for (int i = 0; i < 600; ++i) send(false);
  send(true);
  const Tick lost_tick = authority.tick - 1;
  ASSERT_GT(lost.size(), 5u);
  const auto come = [&] {
    return std::ranges::all_of(lost, [&](uint32_t slot) {
      return base::tick_after(recipient.find(slot, authority.store)->sent_tick, lost_tick);
    });
  };
  int snapshots = 0;
  for (; !come() && snapshots < 300; ++snapshots) send(false);
  EXPECT_LE(snapshots, 3);
}

// A removal costs budget like a state, and does not go before all states.
TEST(SnapshotBudget, removals_do_not_starve_states) {
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  std::vector<uint32_t> slots;
  for (int i = 0; i < 1500; ++i) slots.push_back(authority.spawn(types.lamp()));
  const uint32_t stays = authority.spawn(types.actor());
  Client client(types);
  const auto send = [&](uint32_t budget) {
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient, budget)) {
      client.apply(part.bytes);
      recipient.on_receipt(part.receipt, true);
    }
    authority.tick += 2;
  };
  for (int i = 0; i < 10; ++i) send(0);
  for (size_t i = 0; i < slots.size(); i += 2) authority.despawn(slots[i]);
  authority.state<Soul>(stays, 1).health = 50;
  for (int i = 0; i < 4; ++i) send(60);
  EXPECT_EQ(client.words(authority.table.network_id(stays)), authority.words(stays));
  EXPECT_GT(recipient.pending_removals(), 0u);
  for (int i = 0; i < 40; ++i) send(60);
  EXPECT_EQ(recipient.pending_removals(), 0u);
}

TEST(BlockPlan, plans_at_least_what_is_written_and_little_more) {
  for (uint64_t seed = 1; seed <= lattice::test::share_of_seeds(10); ++seed) {
    base::Random random(seed);
    Types types;
    Authority authority(types);
    for (int i = 0; i < 400; ++i)
      authority.spawn(random.chance(0.5) ? types.actor() : types.lamp(), random.next_below(3));
    authority.record();
    std::vector<Candidate> candidates;
    for (uint32_t slot = 0; slot < 400; ++slot) {
      if (random.chance(0.3)) continue;
      Candidate candidate;
      candidate.slot = slot;
      candidate.kind = EntryKind::kRested;
      candidate.body = EntryCache::kTooLarge;
      candidate.age = 1 + static_cast<uint32_t>(random.next_below(3));
      candidates.push_back(candidate);
    }
    BlockPlan plan(200);
    ASSERT_TRUE(plan.plan(candidates, authority.table, 64));
    EXPECT_EQ(plan.order().size(), candidates.size());
    uint32_t entries = 0;
    for (const BlockPlan::Block& block : plan.blocks()) {
      EXPECT_EQ(block.age, 1u) << "the newest of its entries";
      EXPECT_TRUE(block.mixed);
      entries += block.count;
    }
    EXPECT_EQ(entries, candidates.size());
    EXPECT_LE(plan.bytes(), plan.parts().size() * 200);
    EXPECT_FALSE(BlockPlan(64).plan(candidates, authority.table, 1));
  }
}

// A gap's parameter follows the density of the slots.
TEST(BlockPlan, gaps_of_any_density_cost_little) {
  Types types;
  Authority authority(types);
  for (const uint32_t step : {1u, 2u, 7u, 50u, 1000u, 20000u}) {
    std::vector<Candidate> candidates(100);
    for (uint32_t i = 0; i < 100; ++i) {
      candidates[i].slot = i * step;
      candidates[i].kind = EntryKind::kRested;
      candidates[i].body = EntryCache::kTooLarge;
      candidates[i].age = 1;
    }
    BlockPlan plan(1100);
    ASSERT_TRUE(plan.plan(candidates, authority.table, 1));
    const double bits = static_cast<double>(plan.bytes() - kSnapshotHeaderBytes - 6) * 8 / 99;
    EXPECT_LE(bits, std::bit_width(step - 1) + 2.0) << step;
  }
}

// The ledger's smallest size holds one part, though an entry may take a single bit.
TEST(BlockPlan, a_part_has_no_more_entries_than_the_smallest_ledger) {
  static_assert(kMaxPartEntries <= PartLedger::kMinEntries);
  Types types;
  Authority authority(types);
  std::vector<Candidate> candidates(8000);
  for (uint32_t i = 0; i < 8000; ++i) {
    candidates[i].slot = i;
    candidates[i].kind = EntryKind::kRested;
    candidates[i].body = EntryCache::kTooLarge;
    candidates[i].age = 1;
  }
  BlockPlan plan(1100);
  ASSERT_TRUE(plan.plan(candidates, authority.table, 64));
  for (const BlockPlan::Part& part : plan.parts()) {
    uint32_t entries = 0;
    for (uint32_t b = 0; b < part.block_count; ++b) entries += plan.blocks()[part.first_block + b].count;
    EXPECT_LE(entries, kMaxPartEntries);
  }
}

// ---- Parts ----------------------------------------------------------------------------------------------

TEST(SnapshotBuilder, late_join_spreads_over_more_than_15_parts) {
  Types types;
  Authority authority(types);
  base::Random random(9);
  for (int i = 0; i < 2000; ++i) {
    const uint32_t slot = authority.spawn(types.actor());
    authority.state<Soul>(slot, 1).target = random.next_u64();
    authority.state<Body>(slot).position[0] = static_cast<float>(random.next_unit() * 100);
    std::strcpy(authority.state<Soul>(slot, 1).name, "abcdefghijkl");
  }
  authority.record();
  ReplicaList recipient{ReplicaList::Config{}};
  recipient.join(authority.table, authority.store);
  Client client(types);
  const auto parts = authority.send(recipient);
  EXPECT_GT(parts.size(), 15u);
  for (const SnapshotPart& part : parts) {
    ASSERT_LE(part.bytes.size(), 1100u);
    ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
    recipient.on_receipt(part.receipt, true);
  }
  EXPECT_TRUE(recipient.loaded()) << "all in one snapshot";
  for (const uint32_t slot : authority.table.ascending()) {
    ASSERT_EQ(client.words(authority.table.network_id(slot)), authority.words(slot));
  }
}

TEST(SnapshotBuilder, what_64_parts_do_not_hold_waits) {
  Types types;
  SnapshotBuilder::Config config;
  config.part_capacity_bytes = 128;
  Authority authority(types, config);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 1500; ++i) {
    std::strcpy(authority.state<Soul>(authority.spawn(types.actor()), 1).name, "abcdefghijkl");
  }
  Client client(types);
  size_t most = 0;
  int snapshots = 0;
  for (; client.mirror.size() < 1500 && snapshots < 20; ++snapshots) {
    authority.record();
    const auto parts = authority.send(recipient);
    most = std::max(most, parts.size());
    for (const SnapshotPart& part : parts) {
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      recipient.on_receipt(part.receipt, true);
    }
    authority.tick += 2;
  }
  EXPECT_EQ(client.mirror.size(), 1500u);
  EXPECT_LE(most, SnapshotBuilder::kMaxParts);
  EXPECT_GE(most, SnapshotBuilder::kMaxParts - 4);
}

// The budget has no room for a piece either.
TEST(SnapshotBuilder, one_that_is_longer_than_the_budget_holds_nothing_up) {
  Types types;
  SnapshotBuilder::Config config;
  config.part_capacity_bytes = 400;
  Authority authority(types, config);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  const uint32_t big = authority.spawn(types.scroll());
  std::memset(authority.state<Scroll>(big).text, 'x', 300);
  for (int i = 0; i < 10; ++i) authority.spawn(types.lamp());
  authority.record();
  Client client(types);
  const auto parts = authority.send(recipient, 80);  // the first in line needs more than all of it
  ASSERT_EQ(parts.size(), 1u);
  client.apply(parts[0].bytes);
  EXPECT_EQ(client.mirror.find(1), kNoSlot);
  EXPECT_EQ(client.mirror.size(), 10u) << "the whole budget serves those that fit";
  EXPECT_EQ(authority.builder.stats().over_budget, 1u);
  EXPECT_GT(recipient.find(big, authority.store)->accumulator, 0.0f);
}

// The client owns a lamp and sees others, all of which change all the time.
TEST(SnapshotBuilder, one_that_is_longer_than_the_budget_goes_in_pieces) {
  const Types types;
  for (const uint32_t budget : {200u, 266u, 500u, 800u}) {
    for (const size_t length : {150u, 250u, 400u, 700u, 1000u}) {
      SCOPED_TRACE("budget " + std::to_string(budget) + ", length " + std::to_string(length));
      Authority authority(types);
      ReplicaList recipient{ReplicaList::Config{.peer_id = 3}};
      authority.recipients.push_back(&recipient);
      Client client(types);
      const uint32_t own = authority.spawn(types.lamp(), 3);
      const uint32_t scroll = authority.spawn(types.scroll());
      std::memset(authority.state<Scroll>(scroll).text, 'x', length);
      for (int i = 0; i < 10; ++i) authority.spawn(types.lamp());
      for (uint32_t snapshot = 0; snapshot < 40; ++snapshot) {
        for (const uint32_t slot : authority.table.ascending()) {
          if (slot != scroll) authority.state<Lamp>(slot).level ^= 1;
        }
        authority.record();
        for (const SnapshotPart& part : authority.send(recipient, budget)) {
          ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
          recipient.on_receipt(part.receipt, true);
        }
        Tick tick = 0;
        client.applier.confirmed(client.mirror.find(authority.table.network_id(own)), &tick);
        EXPECT_EQ(tick, authority.tick) << "the own object is told in each snapshot";
        authority.tick += 2;
      }
      EXPECT_EQ(client.words(authority.table.network_id(scroll)), authority.words(scroll));
      EXPECT_EQ(authority.builder.stats().over_budget, 0u);
    }
  }
}

// A client that predicts the object would take it for unchanged otherwise.
TEST(SnapshotBuilder, an_own_object_in_pieces_that_fits_a_part_is_not_confirmed) {
  const Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{.peer_id = 3}};
  authority.recipients.push_back(&recipient);
  Client client(types);
  const uint32_t own = authority.spawn(types.panel(3), 3);
  const auto turn = [&](uint32_t budget) {
    authority.tick += 2;
    authority.record();
    std::vector<bool> confirms;
    for (const SnapshotPart& part : authority.send(recipient, budget)) {
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      confirms.push_back(client.applier.header().confirms_own);
      recipient.on_receipt(part.receipt, true);
    }
    return confirms;
  };
  EXPECT_EQ(turn(0), std::vector<bool>{true});
  for (uint32_t b = 0; b < 16; ++b) {
    for (int32_t& value : authority.state<Dials>(own, b).values) value = 999;
  }
  uint32_t snapshots = 0;
  do {
    for (const bool confirms : turn(100)) EXPECT_FALSE(confirms);
  } while (recipient.longs().size() != 0 && ++snapshots < 10);
  EXPECT_GT(authority.builder.stats().pieces, 1u);
  EXPECT_EQ(client.words(authority.table.network_id(own)), authority.words(own));
  EXPECT_EQ(turn(100), std::vector<bool>{true});
}

TEST(SnapshotBuilder, where_all_move_only_those_first_in_line_are_encoded_and_all_take_turns) {
  constexpr uint32_t kObjects = 4000;
  constexpr uint32_t kBudget = 500;
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < kObjects; ++i) slots.push_back(authority.spawn(types.lamp()));
  for (const uint32_t slot : slots) recipient.owe(slot);
  uint32_t fewest = kObjects;
  uint32_t longest_wait = 0;
  for (int snapshot = 0; snapshot < 200; ++snapshot, authority.tick += 2) {
    for (const uint32_t slot : slots)
      authority.state<Lamp>(slot).level ^= static_cast<uint8_t>(1 + slot % 15);
    authority.record();
    const uint64_t encoded = authority.builder.cache().encoded();
    for (const SnapshotPart& part : authority.send(recipient, kBudget))
      recipient.on_receipt(part.receipt, true);
    uint32_t now = 0;
    for (const uint32_t slot : slots) {
      const Tick tick = recipient.find(slot, authority.store)->sent_tick;
      now += tick == authority.tick ? 1 : 0;
      if (snapshot > 100) longest_wait = std::max(longest_wait, (authority.tick - tick) / 2);
    }
    if (snapshot <= 100) continue;
    fewest = std::min(fewest, now);
    EXPECT_LT(authority.builder.cache().encoded() - encoded, 1000u);  // an entry takes 6 bits at least
  }
  EXPECT_GT(fewest, 100u);
  EXPECT_LE(longest_wait, kObjects / fewest + 2);
}

TEST(SnapshotBuilder, many_clients_share_the_encoded_entries) {
  Types types;
  Authority authority(types);
  std::vector<std::unique_ptr<ReplicaList>> recipients;
  for (int i = 0; i < 50; ++i) {
    recipients.push_back(std::make_unique<ReplicaList>(ReplicaList::Config{}));
    authority.recipients.push_back(recipients.back().get());
  }
  for (int i = 0; i < 40; ++i) authority.spawn(types.actor());
  authority.record();
  authority.builder.begin_send(authority.tick);
  Bytes first;
  for (auto& recipient : recipients) {
    const auto parts = authority.builder.build(*recipient, SnapshotHeader{}, 0);
    if (first.empty()) first = copy(parts[0].bytes);
    EXPECT_EQ(copy(parts[0].bytes), first);
  }
  EXPECT_EQ(authority.builder.cache().encoded(), 40u);
  EXPECT_EQ(authority.builder.cache().shared(), 40u * 49u);
}

// ---- Own objects (D-40)
// ------------------------------------------------------------------------------------

struct OwnTest : testing::Test {
  OwnTest() {
    ReplicaList::Config config;
    config.peer_id = 42;
    owner = std::make_unique<ReplicaList>(config);
    authority.recipients.push_back(owner.get());
  }
  /// The header flags of each part, which all arrive and are not acked.
  std::vector<bool> confirms(uint32_t budget = 0) {
    authority.record();
    std::vector<bool> flags;
    for (const SnapshotPart& part : authority.send(*owner, budget)) {
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      flags.push_back(client.applier.header().confirms_own);
      receipts.push_back(part.receipt);
    }
    authority.tick += 2;
    return flags;
  }
  void ack_all() {
    for (const uint32_t receipt : receipts) owner->on_receipt(receipt, true);
    receipts.clear();
  }
  Types types;
  Authority authority{types};
  std::unique_ptr<ReplicaList> owner;
  Client client{types};
  std::vector<uint32_t> receipts;
};

TEST_F(OwnTest, go_first_under_a_budget) {
  for (int i = 0; i < 100; ++i) authority.spawn(types.actor(), i == 90 ? 42 : 0);
  EXPECT_EQ(confirms(100), std::vector<bool>{true});
  EXPECT_NE(client.mirror.find(91), kNoSlot);
}

TEST_F(OwnTest, the_part_that_has_them_all_confirms_and_no_other_does) {
  std::vector<uint32_t> own;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t slot = authority.spawn(types.actor(), i % 300 == 7 ? 42 : 0);
    std::strcpy(authority.state<Soul>(slot, 1).name, "abcdefghijkl");
    if (i % 300 == 7) own.push_back(slot);
  }
  const std::vector<bool> flags = confirms();
  ASSERT_GT(flags.size(), 10u);
  EXPECT_EQ(std::count(flags.begin(), flags.end(), true), 1);
  ack_all();
  const std::vector<bool> quiet = confirms();
  EXPECT_EQ(quiet, std::vector<bool>(quiet.size(), true)) << "nothing of its own differs from what it acked";
}

TEST_F(OwnTest, nothing_is_confirmed_when_one_of_them_is_left_out) {
  for (int i = 0; i < 40; ++i) {
    std::strcpy(authority.state<Soul>(authority.spawn(types.actor(), 42), 1).name, "abcdefghijkl");
  }
  EXPECT_EQ(confirms(100), std::vector<bool>{false});
}

TEST_F(OwnTest, an_object_that_changed_hands_counts_until_the_former_owner_acked) {
  const uint32_t slot = authority.spawn(types.actor(), 42);
  confirms();
  ack_all();
  authority.table.set_authority(slot, 7, LATTICE_AUTHORITY_SERVER, authority.tick);
  authority.store.announce(slot);
  const uint64_t full = authority.builder.stats().full_entries;
  confirms();
  confirms();
  EXPECT_EQ(authority.builder.stats().full_entries, full + 2) << "in each snapshot";
  ack_all();
  confirms();
  EXPECT_EQ(authority.builder.stats().full_entries, full + 2);
}

}  // namespace
}  // namespace lattice::replication::test
