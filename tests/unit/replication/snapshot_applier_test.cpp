#include "replication/snapshot_applier.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "support/seed_share.h"
#include "unit/replication/forger.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Result = SnapshotApplier::Result;

std::vector<uint8_t> prefix(const std::vector<uint8_t>& bytes, size_t n) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)};
}

/// Slot 10 + n holds object n.
struct SnapshotApplierTest : testing::Test {
  SnapshotRefusal refusal_of(const std::vector<uint8_t>& bytes) {
    client.log.take();
    const uint32_t before = client.mirror.size();
    const Tick newest = client.applier.newest_tick();
    const Result result = client.apply(bytes);
    if (result == Result::kApplied) return SnapshotRefusal::kNone;
    EXPECT_EQ(client.log.take(), Lines{});
    EXPECT_EQ(client.mirror.size(), before);
    EXPECT_EQ(client.applier.newest_tick(), newest);
    return client.applier.refusal();
  }
  SnapshotRefusal refusal_of(Forger& forged) { return refusal_of(forged.done()); }
  SnapshotRefusal refusal_of(Forger&& forged) { return refusal_of(forged.done()); }
  Result apply(Forger& forged) { return client.apply(forged.done()); }
  Result apply(Forger&& forged) { return client.apply(forged.done()); }
  uint64_t level(uint64_t id) { return client.words(id)[1]; }

  Types types;
  Client client{types, 4};
};

// ---- The header ---------------------------------------------------------------------------------------

TEST_F(SnapshotApplierTest, reports_the_header) {
  ASSERT_EQ(apply(Forger(1000)), Result::kApplied);
  EXPECT_EQ(client.applier.header().server_tick, 1000u);
  EXPECT_FALSE(client.applier.header().has_input);
  EXPECT_FALSE(client.applier.header().confirms_own);
  EXPECT_FALSE(client.applier.header().keep);
  ASSERT_EQ(apply(Forger(1002, kFlagHasInput | kFlagConfirmsOwn | kFlagKeep).varint(5).bits(0xFD, 8)),
            Result::kApplied);
  EXPECT_TRUE(client.applier.header().confirms_own);
  EXPECT_TRUE(client.applier.header().keep);
  EXPECT_EQ(client.applier.header().last_input_tick, 998u);
  EXPECT_EQ(client.applier.header().input_margin, -3);
  ASSERT_EQ(apply(Forger(1003, kFlagHasInput).varint(0).bits(0, 8)), Result::kApplied);
  EXPECT_TRUE(client.applier.header().has_input);
  EXPECT_EQ(client.applier.header().last_input_tick, 0u) << "no input yet";
  EXPECT_EQ(client.applier.newest_tick(), 1003u);
  ASSERT_EQ(apply(Forger(1004, kFlagHasInput | kFlagUnchanged).varint(0).bits(0, 8).varint(UINT32_MAX)),
            Result::kApplied);
  EXPECT_EQ(client.applier.header().interval_ticks, UINT32_MAX);
  ASSERT_EQ(apply(Forger(1005)), Result::kApplied);
  EXPECT_EQ(client.applier.header().interval_ticks, 0u) << "not stated";
  ASSERT_EQ(apply(Forger(1006, kFlagProgress).varint(UINT32_MAX).varint(7)), Result::kApplied);
  EXPECT_TRUE(client.applier.header().progress);
  EXPECT_EQ(client.applier.header().join_objects, UINT32_MAX);
  EXPECT_EQ(client.applier.header().join_missing, 7u);
}

TEST_F(SnapshotApplierTest, refuses_headers_by_name) {
  EXPECT_EQ(refusal_of(std::vector<uint8_t>{}), SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(std::vector<uint8_t>(kMaxPartBytes + 1)), SnapshotRefusal::kTooLarge);
  EXPECT_EQ(refusal_of(Forger(0)), SnapshotRefusal::kTick);
  for (const unsigned flag : {0x01u, 0x02u, 0x04u}) {
    EXPECT_EQ(refusal_of(Forger(5, static_cast<uint8_t>(flag))), SnapshotRefusal::kFlags);
  }
  EXPECT_EQ(refusal_of(Forger(5, kFlagHasInput).varint(uint64_t{1} << 32).bits(0, 8)),
            SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(Forger(5, kFlagHasInput).varint(UINT32_MAX).bits(0, 8)), SnapshotRefusal::kNone);
  EXPECT_EQ(refusal_of(Forger(5, kFlagUnchanged)), SnapshotRefusal::kMalformed) << "no interval";
  EXPECT_EQ(refusal_of(Forger(5, kFlagUnchanged).varint(uint64_t{1} << 32)), SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(Forger(5, kFlagUnchanged).varint(0)), SnapshotRefusal::kUnchanged);
  EXPECT_EQ(refusal_of(Forger(5, kFlagUnchanged).varint(2).rested(10, 1)), SnapshotRefusal::kUnchanged);
  EXPECT_EQ(refusal_of(Forger(5, kFlagProgress).varint(3)), SnapshotRefusal::kMalformed) << "no missing";
  EXPECT_EQ(refusal_of(Forger(5, kFlagProgress).varint(3).varint(4)), SnapshotRefusal::kProgress);
  EXPECT_EQ(refusal_of(Forger(5, kFlagProgress).varint(3).varint(3).rested(10, 1)),
            SnapshotRefusal::kProgress);
  EXPECT_EQ(refusal_of(Forger(5, kFlagProgress | kFlagKeep).varint(3).varint(3)), SnapshotRefusal::kProgress);
  EXPECT_EQ(refusal_of(Forger(5 + kMaxTickJump)), SnapshotRefusal::kNone);
  EXPECT_EQ(refusal_of(Forger(6 + 2 * kMaxTickJump)), SnapshotRefusal::kTick);
}

// ---- Blocks and entries ---------------------------------------------------------------------------------

TEST_F(SnapshotApplierTest, refuses_hostile_blocks_by_name) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3)), Result::kApplied);
  for (uint64_t kind = kEntryKinds; kind < 8; ++kind) {
    EXPECT_EQ(refusal_of(Forger(101).bits(kind << 5, 8).varint(1).varint(11).bits(0, 8)),
              SnapshotRefusal::kBlock);
  }
  EXPECT_EQ(refusal_of(Forger(101).block(EntryKind::kRested, 11, 1, 0)), SnapshotRefusal::kBlock);
  EXPECT_EQ(
      refusal_of(Forger(101).block(EntryKind::kFull, 12, 0, 1, true).bits(0, 1).head().varint(2).changes(1)),
      SnapshotRefusal::kBlock);
  EXPECT_EQ(refusal_of(Forger(101).block(EntryKind::kRemoved, 11, 0, 1, true).bits(0, 8)),
            SnapshotRefusal::kBlock);
  EXPECT_EQ(refusal_of(Forger(101).rested(65536, 1)), SnapshotRefusal::kSlot);
  EXPECT_EQ(refusal_of(Forger(101).rested(UINT32_MAX, 1)), SnapshotRefusal::kSlot);
  EXPECT_EQ(refusal_of(Forger(101).rested(uint64_t{1} << 32, 1)), SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(Forger(101).rested(65535, 1)), SnapshotRefusal::kNone);
  EXPECT_EQ(refusal_of(Forger(101).block(EntryKind::kRested, 65535, 1, 2).bits(0, 1)), SnapshotRefusal::kSlot)
      << "the entry after the last slot";
  EXPECT_EQ(refusal_of(Forger(101).block(EntryKind::kRested, 1, 1, 2).bits(0xFFF, 12).varint(UINT32_MAX)),
            SnapshotRefusal::kSlot)
      << "slots do not wrap";
}

TEST_F(SnapshotApplierTest, refuses_ages_out_of_range) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3)), Result::kApplied);
  constexpr auto kMost = static_cast<uint64_t>(kMaxBaselineTicks);
  EXPECT_EQ(refusal_of(Forger(101).delta(11, 0, 4)), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal_of(Forger(101).rested(11, 0)), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal_of(Forger(101).delta(11, kMost + 1, 4)), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal_of(Forger(101).rested(11, kMost + 1)), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal_of(Forger(101).rested(11, kMost)), SnapshotRefusal::kNone);
  for (const uint64_t age : {uint64_t{0}, kMost + 1}) {
    EXPECT_EQ(
        refusal_of(Forger(101).block(EntryKind::kDelta, 11, 1, 1, true).bits(1, 1).varint(age).changes(4)),
        SnapshotRefusal::kBaselineAge);
  }
  EXPECT_EQ(refusal_of(Forger(100 + kMaxBaselineTicks).delta(11, kMost, 4)), SnapshotRefusal::kNone)
      << "the oldest";
}

TEST_F(SnapshotApplierTest, refuses_hostile_entries_by_name) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3)), Result::kApplied);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 3, 8)), SnapshotRefusal::kUnknownType);
  EXPECT_EQ(refusal_of(Forger(101).lamp(11, 1, 0, Types::kScroll)), SnapshotRefusal::kTypeChanged);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 3, Types::kLamp, 2)), SnapshotRefusal::kMode);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 3, Types::kLamp, 3)), SnapshotRefusal::kMode);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 0, 3)), SnapshotRefusal::kNetworkId);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 1, 3)), SnapshotRefusal::kNetworkId) << "in another slot";
  EXPECT_EQ(refusal_of(Forger(101).lamp(11, 2, 3)), SnapshotRefusal::kSlotTaken);
  EXPECT_EQ(refusal_of(Forger(102).delta(11, 1, 4)), SnapshotRefusal::kMissingBaseline);
  EXPECT_EQ(refusal_of(Forger(101).delta(12, 1, 3)), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(refusal_of(Forger(101).removed(11, 2)), SnapshotRefusal::kSlotTaken) << "it names another object";
  EXPECT_EQ(refusal_of(Forger(101).removed(12, 1)), SnapshotRefusal::kNetworkId) << "it is in another slot";
  EXPECT_EQ(refusal_of(Forger(101).block(EntryKind::kRemoved, 11).bits(0b01, 2).varint(0).bits(0, 1)),
            SnapshotRefusal::kNetworkId);
  EXPECT_EQ(refusal_of(Forger(101).delta(11, 1, 3)), SnapshotRefusal::kMalformed)
      << "marked, but as before (D-10)";
  Forger many(101);
  for (uint64_t id = 2; id <= 5; ++id) many.lamp(10 + id, id, 1);  // four beside the one, limit 4
  EXPECT_EQ(refusal_of(many), SnapshotRefusal::kTooManyObjects);
  EXPECT_EQ(client.applier.refusals(SnapshotRefusal::kMode), 2u);
  EXPECT_EQ(level(1), 3u);
}

TEST_F(SnapshotApplierTest, every_refusal_has_a_name_of_its_own) {
  std::vector<std::string> names;
  for (uint8_t i = 0; i < static_cast<uint8_t>(SnapshotRefusal::kCount); ++i) {
    const std::string name = snapshot_refusal_name(static_cast<SnapshotRefusal>(i));
    EXPECT_NE(name, "unknown");
    EXPECT_EQ(std::find(names.begin(), names.end(), name), names.end()) << name;
    names.push_back(name);
  }
  EXPECT_STREQ(snapshot_refusal_name(SnapshotRefusal::kMissingBaseline), "snapshot_missing_baseline");
}

TEST_F(SnapshotApplierTest, padding_and_trailing_bytes_are_refused) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3)), Result::kApplied);
  std::vector<uint8_t> dirty = Forger(101).delta(11, 1, 4).done();
  dirty.back() |= 1;
  EXPECT_EQ(refusal_of(dirty), SnapshotRefusal::kPadding);
  std::vector<uint8_t> between = Forger(101).removed(11).removed(12).done();
  between[8] |= 1;
  EXPECT_EQ(refusal_of(between), SnapshotRefusal::kPadding);
  std::vector<uint8_t> longer = Forger(101).delta(11, 1, 4).done();
  longer.push_back(0);
  EXPECT_EQ(refusal_of(longer), SnapshotRefusal::kMalformed);
}

TEST_F(SnapshotApplierTest, gaps_have_one_form) {
  for (const uint64_t k : {uint64_t{0}, uint64_t{3}, uint64_t{15}}) {
    const uint64_t longest_short = (uint64_t{kGapEscape} << k) - 1;
    for (const uint64_t gap : {longest_short, longest_short + 1}) {
      Forger forged(100);
      forged.block(EntryKind::kRested, 1, 1, 2, false, k).bits(0xFFF, 12).varint(gap);
      const SnapshotRefusal expected = gap == longest_short       ? SnapshotRefusal::kMalformed
                                       : 2 + gap >= slot_bound(4) ? SnapshotRefusal::kSlot
                                                                  : SnapshotRefusal::kNone;
      EXPECT_EQ(refusal_of(forged), expected) << gap << " with k " << k;
    }
  }
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3).lamp(27, 2, 3)), Result::kApplied);
  ASSERT_EQ(apply(Forger(101)
                      .block(EntryKind::kDelta, 11, 1, 2, false, 2)
                      .changes(4)
                      .bits(0b1110'11, 6)
                      .bits(1, 1)
                      .bits(5, 4)),
            Result::kApplied);
  EXPECT_EQ(level(1), 4u);
  EXPECT_EQ(level(2), 5u) << "11 + 1 + 3 * 4 + 3 = 27, with the mask of the entry before";
}

TEST_F(SnapshotApplierTest, same_mask_is_said_whenever_it_holds) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3).lamp(12, 2, 3)), Result::kApplied);
  Forger twice(101);
  twice.block(EntryKind::kDelta, 11, 1, 2).changes(4).bits(0, 1).bits(0, 1).changes(5);
  EXPECT_EQ(refusal_of(twice), SnapshotRefusal::kMalformed);
  Forger other(101);
  other.block(EntryKind::kDelta, 11, 1, 2).changes(4).bits(0, 1).bits(0, 1).changes(0);
  EXPECT_EQ(refusal_of(other), SnapshotRefusal::kNone);
}

TEST_F(SnapshotApplierTest, entries_of_a_mixed_block_have_ages_of_their_own) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3).lamp(12, 2, 3)), Result::kApplied);
  ASSERT_EQ(apply(Forger(104).delta(12, 4, 9)), Result::kApplied);
  Forger forged(106);
  forged.block(EntryKind::kDelta, 11, 2, 2, true)
      .bits(1, 1)
      .varint(6)
      .changes(4)
      .bits(0, 1)
      .bits(0, 1)
      .bits(1, 1)
      .bits(8, 4);
  ASSERT_EQ(apply(forged), Result::kApplied);
  EXPECT_EQ(level(1), 4u);
  EXPECT_EQ(level(2), 8u);
}

TEST_F(SnapshotApplierTest, full_entries_may_share_a_head) {
  Forger forged(100);
  forged.block(EntryKind::kFull, 11, 0, 2).head(Types::kLamp, 1, 77, 9).varint(1).changes(4);
  forged.bits(0, 1).bits(1, 1).varint(2).bits(1, 1).bits(6, 4);
  ASSERT_EQ(apply(forged), Result::kApplied);
  const ObjectInfo& info = client.mirror.info(client.mirror.find(2));
  EXPECT_EQ(info.owner, 77u);
  EXPECT_EQ(info.mode, LATTICE_AUTHORITY_SHARED);
  EXPECT_EQ(info.authority.since_tick, 91u);
  EXPECT_EQ(level(2), 6u);
}

TEST_F(SnapshotApplierTest, counts_what_came_of_each_type) {
  const ObjectType& lamp = types.lamp();
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3)), Result::kApplied);
  const SnapshotApplier::TypeTraffic full = client.applier.traffic(lamp);
  EXPECT_EQ(full.entries, 1u);
  ASSERT_EQ(apply(Forger(101).delta(11, 1, 9)), Result::kApplied);
  EXPECT_EQ(client.applier.traffic(lamp).entries, 2u);
  EXPECT_EQ(client.applier.traffic(lamp).bits, full.bits + 2 + 4) << "a mask and a level";
  ASSERT_EQ(apply(Forger(102).removed(11)), Result::kApplied);
  EXPECT_EQ(client.applier.traffic(lamp).entries, 3u);
  EXPECT_EQ(client.applier.traffic(lamp).bits, full.bits + 2 + 4 + 3);
}

TEST_F(SnapshotApplierTest, an_rpc_count_is_not_zero_and_fits_32_bits) {
  const auto removal = [](uint64_t rpc_count) {
    return Forger(100).block(EntryKind::kRemoved, 11).bits(0b001, 3).varint(rpc_count).done();
  };
  EXPECT_EQ(refusal_of(removal(0)), SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(removal(uint64_t{UINT32_MAX} + 1)), SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(removal(UINT32_MAX)), SnapshotRefusal::kNone);
}

// ---- Truncation and noise -------------------------------------------------------------------------------

TEST_F(SnapshotApplierTest, every_truncation_is_refused_and_moves_nothing) {
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 4; ++i) {
    const uint32_t slot = authority.spawn(i % 2 ? types.actor() : types.lamp());
    if (i % 2) std::strcpy(authority.state<Soul>(slot, 1).name, "zoë");
  }
  authority.record();
  auto parts = authority.send(recipient);
  const std::vector<uint8_t> full = copy(parts[0].bytes);
  // A header alone is a part.
  for (size_t n = 0; n < full.size(); ++n) {
    EXPECT_EQ(refusal_of(prefix(full, n)), n == 5 ? SnapshotRefusal::kNone : SnapshotRefusal::kMalformed)
        << n;
  }
  ASSERT_EQ(client.apply(full), Result::kApplied);
  recipient.on_receipt(parts[0].receipt, true);
  authority.tick = 3;
  for (const uint32_t slot : authority.table.ascending()) {
    if (authority.table.info(slot).type == &types.lamp()) {
      authority.state<Lamp>(slot) = Lamp{1, 9};
    } else {
      authority.state<Body>(slot).position[2] = 17;
      authority.state<Soul>(slot, 1).target = 1u << 20;
    }
  }
  authority.record();
  const std::vector<uint8_t> delta = copy(authority.send(recipient)[0].bytes);
  const auto before = client.words(2);
  for (size_t n = 6; n < delta.size(); ++n) {
    EXPECT_EQ(refusal_of(prefix(delta, n)), SnapshotRefusal::kMalformed) << n;
  }
  EXPECT_EQ(client.words(2), before);
  ASSERT_EQ(client.apply(delta), Result::kApplied);
  EXPECT_EQ(client.words(2), authority.words(authority.table.find(2)));
}

// Cuts of parts with all kinds of blocks. A cut between two blocks is a part of its own.
TEST_F(SnapshotApplierTest, every_truncation_of_every_kind_is_refused) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3).lamp(12, 2, 3).lamp(13, 3, 3)), Result::kApplied);
  const auto build = [](int blocks) {
    Forger forged(101, kFlagHasInput);
    forged.varint(300).bits(0, 8);
    if (blocks > 0) forged.removed(11, 1, 300);
    if (blocks > 1) forged.block(EntryKind::kDelta, 12, 1, 1, true).bits(0, 1).changes(4);
    if (blocks > 2)
      forged.block(EntryKind::kFull, 300).head(Types::kLamp, 1, 1000, 200).varint(500).changes(2);
    if (blocks > 3)
      forged.block(EntryKind::kRested, 13, 1, 2, true)
          .bits(0, 1)
          .bits(0xFFF, 12)
          .varint(400)
          .bits(1, 1)
          .varint(900);
    return forged.done();
  };
  const std::vector<uint8_t> whole = build(4);
  std::vector<size_t> ends;
  for (int blocks = 0; blocks < 4; ++blocks) ends.push_back(build(blocks).size());
  for (size_t n = 0; n < whole.size(); ++n) {
    if (std::find(ends.begin(), ends.end(), n) != ends.end()) continue;
    EXPECT_EQ(refusal_of(prefix(whole, n)), SnapshotRefusal::kMalformed) << n;
  }
  EXPECT_EQ(refusal_of(whole), SnapshotRefusal::kNone);
}

TEST_F(SnapshotApplierTest, arbitrary_bytes_never_break_it) {
  EXPECT_TRUE(rc::check("arbitrary parts", [&](const std::vector<std::vector<uint8_t>>& parts) {
    Client victim(types, 4);
    victim.apply(Forger(100).lamp(1, 1, 1).lamp(2, 2, 1).done());
    Tick tick = 101;
    for (const std::vector<uint8_t>& noise : parts) {
      std::vector<uint8_t> part = Forger(tick++).done();
      part.insert(part.end(), noise.begin(), noise.end());
      victim.apply(part);
      RC_ASSERT(victim.mirror.size() <= 4u);
    }
  }));
}

/// Adds an entry about one of few slots and objects, well formed or nearly so.
void add_any_entry(Forger& forged, base::Random& random) {
  const uint64_t slot = 10 + random.next_below(4);
  const uint64_t id = 1 + random.next_below(6);
  switch (random.next_below(4)) {
    case 0:
      forged.lamp(slot, id, random.next_below(16), random.chance(0.05) ? Types::kScroll : Types::kLamp);
      break;
    case 1:
      forged.removed(slot, random.chance(0.5) ? id : 0, random.next_below(3));
      break;
    case 2:
      forged.rested(slot, 1 + random.next_below(5));
      break;
    default:
      forged.delta(slot, 1 + random.next_below(5), random.next_below(16));
  }
}

// Contradictions of all kinds, within a part and between parts, in any order of ticks.
TEST_F(SnapshotApplierTest, contradicting_entries_never_break_it) {
  uint64_t applied = 0;
  for (uint64_t seed = 1; seed <= lattice::test::share_of_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    Client victim(types, 3);
    Tick tick = 100;
    for (int i = 0; i < 200; ++i) {
      tick += static_cast<Tick>(random.next_below(4));
      Forger forged(tick - static_cast<Tick>(random.next_below(6)), random.chance(0.3) ? kFlagKeep : 0);
      for (uint64_t n = 1 + random.next_below(3); n > 0; --n) add_any_entry(forged, random);
      applied += victim.apply(forged.done()) == Result::kApplied ? 1u : 0u;
      if (random.chance(0.05)) victim.log.rpcs_arrived[1 + random.next_below(6)] = 2;
      if (random.chance(0.1)) victim.applier.retry_removals();
      if (random.chance(0.02)) tick += 70;
      ASSERT_LE(victim.mirror.size(), 3u);
    }
  }
  EXPECT_GT(applied, 2000u);
}

TEST_F(SnapshotApplierTest, two_entries_for_one_slot_are_refused) {
  ASSERT_EQ(apply(Forger(100).lamp(11, 1, 3)), Result::kApplied);
  EXPECT_EQ(refusal_of(Forger(101).delta(11, 1, 4).delta(11, 1, 5)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).delta(11, 1, 4).removed(11)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).removed(11).rested(11, 1)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).lamp(11, 1, 4).rested(11, 1)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).removed(11).lamp(11, 2, 4)), SnapshotRefusal::kSlotTwice);
  // Of a slot that the client does not know yet.
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 4).lamp(12, 3, 4)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 4).lamp(13, 2, 4)), SnapshotRefusal::kNetworkId);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 4).delta(12, 1, 5)), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(refusal_of(Forger(101).lamp(12, 2, 4).removed(12, 3)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).removed(13, 4).lamp(13, 4, 1)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).removed(14, 5).removed(14, 6)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal_of(Forger(101).rested(15, 1).rested(15, 2)), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(apply(Forger(101).lamp(12, 2, 4).removed(14, 5).rested(15, 1)), Result::kApplied)
      << "of the refused parts nothing is left";
}

// ---- Order ----------------------------------------------------------------------------------------------

TEST_F(SnapshotApplierTest, late_states_are_kept_as_baselines_and_never_shown) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).delta(11, 10, 5));
  client.log.take();
  apply(Forger(105).delta(11, 5, 3));
  EXPECT_EQ(client.log.take(), Lines{"late 1@105"});
  EXPECT_EQ(level(1), 5u);
  ASSERT_EQ(apply(Forger(112).delta(11, 7, 6)), Result::kApplied);  // against tick 105
  EXPECT_EQ(level(1), 6u);
}

TEST_F(SnapshotApplierTest, parts_more_than_64_ticks_behind_are_not_acked) {
  apply(Forger(200).lamp(11, 1, 1));
  EXPECT_EQ(apply(Forger(136).lamp(12, 2, 1)), Result::kApplied);
  EXPECT_EQ(apply(Forger(135).lamp(13, 3, 1)), Result::kStale);
  EXPECT_EQ(client.mirror.find(3), kNoSlot);
  EXPECT_EQ(client.applier.refusals(SnapshotRefusal::kStale), 1u);
}

TEST_F(SnapshotApplierTest, a_late_part_against_a_forgotten_state_is_not_acked) {
  apply(Forger(100).lamp(11, 1, 1));
  for (Tick tick = 101; tick <= 120; ++tick) apply(Forger(tick).delta(11, 1, tick % 14 + 2));
  EXPECT_EQ(apply(Forger(119).delta(11, 19, 2)), Result::kStale);
  EXPECT_EQ(client.applier.refusal(), SnapshotRefusal::kLateBaseline);
  EXPECT_EQ(refusal_of(Forger(120).delta(11, 20, 2)), SnapshotRefusal::kMissingBaseline)
      << "not older than the newest";
  EXPECT_EQ(apply(Forger(119).delta(11, 15, 1)), Result::kApplied) << "16 ticks behind, and no more";
}

TEST_F(SnapshotApplierTest, states_are_baselines_for_64_more) {
  apply(Forger(100).lamp(11, 1, 15));
  for (Tick t = 101; t <= 163; ++t)
    ASSERT_EQ(apply(Forger(t).delta(11, t - 100, t % 14 + 1)), Result::kApplied) << t;
  ASSERT_EQ(apply(Forger(164).delta(11, 64, 3)), Result::kApplied);
}

TEST_F(SnapshotApplierTest, states_of_parts_with_keep_are_baselines_for_long) {
  apply(Forger(100, kFlagKeep).lamp(11, 1, 15));
  Tick tick = 101;
  for (; tick < 900; ++tick) {
    ASSERT_EQ(apply(Forger(tick, tick % 50 == 0 ? kFlagKeep : 0)
                        .delta(11, tick == 101 ? 1 : tick % 2 + 1, tick % 14 + 1)),
              Result::kApplied);
  }
  const uint64_t word = 150 % 14 + 1;
  ASSERT_EQ(apply(Forger(tick).delta(11, tick - 150, word == 3 ? 4 : 3)), Result::kApplied);
  EXPECT_EQ(refusal_of(Forger(tick + 1).delta(11, tick + 1 - 151, 3)), SnapshotRefusal::kMissingBaseline);
}

TEST_F(SnapshotApplierTest, a_repeated_part_changes_nothing) {
  const auto part = Forger(100).lamp(11, 1, 1).done();
  client.apply(part);
  client.log.take();
  EXPECT_EQ(client.apply(part), Result::kApplied);
  EXPECT_EQ(client.log.take(), Lines{});
}

TEST_F(SnapshotApplierTest, the_owner_follows_the_newest_full_entry) {
  const auto owned = [](Tick tick, uint64_t owner) {
    return Forger(tick)
        .block(EntryKind::kFull, 11)
        .head(Types::kLamp, 1, owner, 3)
        .varint(1)
        .changes(0)
        .done();
  };
  client.apply(owned(100, 7));
  client.apply(owned(104, 8));
  client.apply(owned(102, 9));
  const ObjectInfo& info = client.mirror.info(client.mirror.find(1));
  EXPECT_EQ(info.owner, 8u);
  EXPECT_EQ(info.authority.since_tick, 101u);
  EXPECT_EQ(info.mode, LATTICE_AUTHORITY_SHARED);
  EXPECT_EQ(client.log.take(),
            (Lines{"spawn 1", "full 1@100", "authority 1@104", "full 1@104", "late 1@102"}));
}

// ---- Rest (D-17) ------------------------------------------------------------------------------------------

TEST_F(SnapshotApplierTest, a_rested_entry_about_the_shown_state_is_told) {
  apply(Forger(100).lamp(11, 1, 1));
  client.log.take();
  apply(Forger(104).rested(11, 4));
  EXPECT_EQ(client.log.take(), Lines{"rested 1@104"});
  apply(Forger(106).delta(11, 6, 5));
  client.log.take();
  apply(Forger(105).rested(11, 5));
  EXPECT_EQ(client.log.take(), Lines{}) << "a newer state is shown";
  apply(Forger(108).rested(11, 8));
  EXPECT_EQ(client.log.take(), Lines{"rested 1@108"}) << "that of 106 is the named one, sent again";
}

// What travels once may differ in it: each state was built on another baseline.
TEST_F(SnapshotApplierTest, a_state_that_was_sent_again_rests_whatever_comes_first) {
  apply(Forger(100).lamp(11, 1, 1));
  client.log.take();
  apply(Forger(108).rested(11, 4));
  apply(Forger(106).delta(11, 6, 5));
  EXPECT_EQ(client.log.take(), (Lines{"delta 1@106", "rested 1@108"}));
  apply(Forger(104).delta(11, 4, 7));
  const ReceivedStates& states = client.applier.states(client.mirror.find(1));
  EXPECT_EQ(states.newest_tick(), 106u);
  EXPECT_EQ(states.newest_until(), 108u);
}

TEST_F(SnapshotApplierTest, a_rested_entry_may_overtake_its_state) {
  apply(Forger(100).lamp(11, 1, 1));
  client.log.take();
  apply(Forger(108).rested(11, 4));
  EXPECT_EQ(client.log.take(), Lines{});
  apply(Forger(104).delta(11, 4, 5));
  EXPECT_EQ(client.log.take(), (Lines{"delta 1@104", "rested 1@108"}));
}

TEST_F(SnapshotApplierTest, a_state_is_drawn_until_the_rested_entry_or_one_snapshot_before_the_next) {
  client.applier.set_interval(2);
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(108).rested(11, 4));
  apply(Forger(104).delta(11, 4, 5));
  const ReceivedStates& states = client.applier.states(client.mirror.find(1));
  ASSERT_TRUE(states.draws(1));
  EXPECT_FALSE(states.draws(2));
  EXPECT_EQ(states.held_state(0).until, 108u);
  EXPECT_EQ(states.held_state(1).until, 100u);
  apply(Forger(120).delta(11, 16, 6));
  EXPECT_EQ(states.held_state(0).until, 120u);
  EXPECT_EQ(states.held_state(1).until, 118u);
}

TEST_F(SnapshotApplierTest, states_of_an_earlier_stay_are_not_drawn) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(102).delta(11, 2, 2));
  apply(Forger(110).removed(11));
  apply(Forger(120).lamp(11, 1, 3));
  const ReceivedStates& states = client.applier.states(client.mirror.find(1));
  EXPECT_EQ(states.held(), 3u);
  EXPECT_FALSE(states.draws(1));
}

TEST_F(SnapshotApplierTest, a_rested_entry_that_waits_outlives_older_states) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(108).rested(11, 4));
  apply(Forger(102).delta(11, 2, 3));
  client.log.take();
  apply(Forger(104).delta(11, 4, 5));
  EXPECT_EQ(client.log.take(), (Lines{"delta 1@104", "rested 1@108"}));
}

TEST_F(SnapshotApplierTest, a_rested_entry_that_waits_ends_with_a_newer_state) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(108).rested(11, 4));
  apply(Forger(110).delta(11, 10, 3));
  client.log.take();
  apply(Forger(104).delta(11, 4, 5));
  EXPECT_EQ(client.log.take(), Lines{"late 1@104"});
}

TEST_F(SnapshotApplierTest, a_rested_entry_for_an_unknown_slot_is_ignored) {
  EXPECT_EQ(refusal_of(Forger(100).rested(11, 4)), SnapshotRefusal::kNone);
  EXPECT_EQ(apply(Forger(101).lamp(11, 1, 1)), Result::kApplied);
}

// ---- Removals (D-29, D-35, D-42) --------------------------------------------------------------------------

TEST_F(SnapshotApplierTest, a_tombstone_holds_off_what_was_sent_before_the_removal) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).removed(11));
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@100", "despawn 1"}));
  EXPECT_EQ(apply(Forger(105).delta(11, 5, 3)), Result::kApplied);
  EXPECT_EQ(apply(Forger(106).lamp(11, 1, 3)), Result::kApplied);
  EXPECT_EQ(apply(Forger(108).rested(11, 3)), Result::kApplied);
  EXPECT_EQ(client.log.take(), Lines{});
  EXPECT_TRUE(client.applier.is_gone(1, 110));
  EXPECT_FALSE(client.applier.is_gone(1, 111));
  EXPECT_EQ(refusal_of(Forger(111).delta(11, 11, 3)), SnapshotRefusal::kUnknownObject);
}

TEST_F(SnapshotApplierTest, a_named_removal_before_the_spawn_arrives_wins_over_it) {
  apply(Forger(110).removed(11, 5));
  EXPECT_TRUE(client.applier.is_gone(5, 110));
  EXPECT_EQ(apply(Forger(105).lamp(11, 5, 3)), Result::kApplied);
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(SnapshotApplierTest, a_late_full_entry_of_what_is_gone_needs_no_room) {
  apply(Forger(100).lamp(11, 1, 1).lamp(12, 2, 2).lamp(13, 3, 3).lamp(14, 4, 4));
  apply(Forger(103).removed(20, 10));
  EXPECT_EQ(apply(Forger(102).lamp(20, 10, 5)), Result::kApplied) << "it changes nothing (D-29)";
  EXPECT_EQ(client.mirror.size(), 4u);
}

TEST_F(SnapshotApplierTest, a_removal_of_an_unknown_slot_is_ignored) {
  EXPECT_EQ(refusal_of(Forger(110).removed(11)), SnapshotRefusal::kNone);
  EXPECT_EQ(apply(Forger(112).lamp(11, 5, 3)), Result::kApplied);
  EXPECT_EQ(level(5), 3u);
}

TEST_F(SnapshotApplierTest, a_newer_full_entry_overrides_a_removal_in_either_order) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).removed(11));
  apply(Forger(112).lamp(11, 1, 4));
  EXPECT_EQ(level(1), 4u);
  apply(Forger(111).removed(11));  // repeated, late
  EXPECT_EQ(level(1), 4u);
  EXPECT_EQ(apply(Forger(109).delta(11, 9, 2)), Result::kApplied);  // the earlier stay
  EXPECT_EQ(level(1), 4u);
}

TEST_F(SnapshotApplierTest, another_object_takes_the_slot_of_one_that_was_removed) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).removed(11));
  EXPECT_EQ(refusal_of(Forger(110).lamp(11, 2, 4)), SnapshotRefusal::kSlotTaken)
      << "not later than the removal";
  EXPECT_EQ(apply(Forger(111).lamp(11, 2, 4)), Result::kApplied);
  EXPECT_EQ(level(2), 4u);
  EXPECT_EQ(client.mirror.find(1), kNoSlot);
  EXPECT_EQ(apply(Forger(180)), Result::kApplied);  // the tombstone would end here
  EXPECT_EQ(apply(Forger(181).delta(11, 70, 5)), Result::kApplied);
}

TEST_F(SnapshotApplierTest, nothing_takes_the_slot_of_an_object_that_came_back) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).removed(11));
  apply(Forger(120).lamp(11, 1, 3));
  EXPECT_EQ(refusal_of(Forger(121).lamp(11, 2, 4)), SnapshotRefusal::kSlotTaken);
  EXPECT_EQ(apply(Forger(122).delta(11, 2, 5)), Result::kApplied);
  EXPECT_EQ(level(1), 5u);
  EXPECT_EQ(refusal_of(Forger(120).removed(11, 999)), SnapshotRefusal::kSlotTaken);
}

TEST_F(SnapshotApplierTest, the_oldest_of_too_many_removed_ids_is_forgotten) {
  Client wide(types, 40000);
  uint64_t buried = 0;
  const auto bury = [&](uint64_t count) {
    Forger many(50);
    for (uint64_t i = 0; i < count; ++i, ++buried) many.removed(buried, 1 + buried);
    ASSERT_EQ(wide.apply(many.done()), Result::kApplied);
  };
  while (buried < SnapshotApplier::kMaxTombstones) bury(128);
  EXPECT_TRUE(wide.applier.is_gone(1, 50));
  bury(1);
  EXPECT_FALSE(wide.applier.is_gone(1, 50));
  EXPECT_TRUE(wide.applier.is_gone(buried, 50));
  EXPECT_EQ(wide.apply(Forger(115).done()), Result::kApplied);  // 65 ticks later none is left
  EXPECT_FALSE(wide.applier.is_gone(buried, 50));
}

// More objects than that are destroyed at once, and packets overtake each other.
TEST_F(SnapshotApplierTest, a_part_that_could_be_about_a_forgotten_removal_is_stale) {
  Client wide(types, 40000);
  ASSERT_EQ(wide.apply(Forger(49).lamp(0, 1, 1).done()), Result::kApplied);
  const auto bury = [&](Tick tick, uint64_t first, uint64_t count) {
    Forger many(tick);
    for (uint64_t id = first; id < first + count; ++id) many.removed(id - 1, id);
    ASSERT_EQ(wide.apply(many.done()), Result::kApplied);
  };
  bury(50, 1, 1);
  for (uint64_t id = 2; id <= SnapshotApplier::kMaxTombstones; id += 2) bury(51, id, 2);
  EXPECT_FALSE(wide.applier.is_gone(1, 50));
  EXPECT_EQ(wide.apply(Forger(50).delta(0, 49, 3).done()), Result::kStale)
      << "deltas of the object that was here";
  EXPECT_EQ(wide.apply(Forger(48).lamp(0, 1, 1).done()), Result::kStale) << "and its first state";
  EXPECT_EQ(wide.mirror.size(), 0u);
  EXPECT_EQ(wide.apply(Forger(51).lamp(30'000, 30'001, 1).done()), Result::kApplied)
      << "newer than what is forgotten";
  EXPECT_EQ(wide.apply(Forger(114).done()), Result::kApplied);
  EXPECT_EQ(wide.apply(Forger(50).done()), Result::kStale);
  EXPECT_EQ(wide.apply(Forger(51).done()), Result::kApplied);
}

TEST_F(SnapshotApplierTest, a_part_has_no_more_full_entries_than_there_is_room_for_objects) {
  Client small(types, 4);
  Forger many(50);
  for (uint64_t id = 1; id <= 5; ++id) many.lamp(id, id, 1);
  EXPECT_EQ(small.apply(many.done()), Result::kRefused);
  EXPECT_EQ(small.applier.refusal(), SnapshotRefusal::kTooManyObjects);
}

// Another one makes way for it, whose burial frees the oldest tombstone: its own.
TEST_F(SnapshotApplierTest, an_object_comes_back_to_a_full_mirror_with_as_many_removed_ids_as_there_can_be) {
  Client full(types, 2);
  ASSERT_EQ(full.apply(Forger(50).lamp(0, 1, 1).lamp(1, 2, 2).done()), Result::kApplied);
  ASSERT_EQ(full.apply(Forger(51).removed(0, 0, 1).removed(1).done()), Result::kApplied);
  ASSERT_EQ(full.apply(Forger(52).lamp(2, 3, 3).done()), Result::kApplied);
  for (uint64_t buried = 1; buried < SnapshotApplier::kMaxTombstones;) {
    Forger many(53);
    for (int i = 0; i < 128 && buried < SnapshotApplier::kMaxTombstones; ++i, ++buried) {
      many.removed(100 + buried, 100 + buried);
    }
    ASSERT_EQ(full.apply(many.done()), Result::kApplied);
  }
  ASSERT_EQ(full.mirror.size(), 2u);
  ASSERT_EQ(full.apply(Forger(54).lamp(1, 2, 7).done()), Result::kApplied);
  ASSERT_NE(full.mirror.find(2), kNoSlot);
  EXPECT_EQ(full.mirror.find(1), kNoSlot);
  EXPECT_EQ(full.words(2).at(1), 7u);
  EXPECT_EQ(full.apply(Forger(55).delta(1, 1, 9).done()), Result::kApplied);
  EXPECT_EQ(full.words(2).at(1), 9u);
}

TEST_F(SnapshotApplierTest, a_removal_waits_for_the_rpcs_it_names) {
  apply(Forger(100).lamp(11, 1, 1).lamp(12, 2, 2));
  apply(Forger(110).removed(11, 0, 2).removed(12, 0, 1));
  client.log.rpcs_arrived = {{1, 1}, {2, 1}};
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@100", "spawn 2", "full 2@100"}));
  // Nothing of the time since its removal can be about it.
  EXPECT_EQ(refusal_of(Forger(111).delta(11, 11, 3)), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(apply(Forger(111).rested(11, 11)), Result::kApplied);
  EXPECT_EQ(client.log.take(), Lines{});
  EXPECT_EQ(apply(Forger(105).delta(11, 5, 3)), Result::kApplied);
  EXPECT_FALSE(client.applier.is_gone(1, 109));
  apply(Forger(112).removed(11, 0, 2));  // repeated, as it is until acknowledged
  client.applier.retry_removals();
  EXPECT_EQ(client.log.take(), Lines{"despawn 2"});
  client.log.rpcs_arrived[1] = 2;
  client.applier.retry_removals();
  EXPECT_EQ(client.log.take(), Lines{"despawn 1"});
  EXPECT_TRUE(client.applier.is_gone(1, 112));
  EXPECT_FALSE(client.applier.is_gone(1, 113));
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(SnapshotApplierTest, an_object_that_waits_to_leave_lets_go_of_its_slot) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).removed(11, 0, 1));
  EXPECT_EQ(apply(Forger(175).lamp(11, 2, 4)), Result::kApplied);
  EXPECT_EQ(client.mirror.size(), 2u);
  EXPECT_EQ(apply(Forger(176).delta(11, 1, 7)), Result::kApplied);
  EXPECT_EQ(level(2), 7u);
  EXPECT_EQ(level(1), 1u);
  client.log.rpcs_arrived[1] = 1;
  client.log.take();
  client.applier.retry_removals();
  EXPECT_EQ(client.log.take(), Lines{"despawn 1"});
  EXPECT_EQ(apply(Forger(177).delta(11, 1, 8)), Result::kApplied);
}

TEST_F(SnapshotApplierTest, an_object_that_comes_back_while_its_removal_waits_never_left) {
  apply(Forger(100).lamp(11, 1, 1));
  apply(Forger(110).removed(11, 0, 1));
  client.log.take();
  apply(Forger(112).lamp(11, 1, 4));
  EXPECT_EQ(client.log.take(), (Lines{"stays 1", "full 1@112"}));
  apply(Forger(111).removed(11, 0, 1));  // repeated, late
  client.log.rpcs_arrived[1] = 1;
  client.applier.retry_removals();
  EXPECT_EQ(level(1), 4u);
  EXPECT_EQ(client.log.take(), Lines{});
}

TEST_F(SnapshotApplierTest, objects_that_wait_to_leave_give_way_to_new_ones) {
  apply(Forger(100).lamp(11, 1, 1).lamp(12, 2, 2).lamp(13, 3, 3).lamp(14, 4, 4));
  apply(Forger(110).removed(12, 0, 1));
  apply(Forger(111).removed(11, 0, 1).removed(14, 0, 1));
  client.log.take();
  // Of four places three are leaving. Object 2 comes back and keeps its place: two are left for new ones.
  EXPECT_EQ(refusal_of(Forger(112).lamp(12, 2, 5).lamp(20, 10, 1).lamp(21, 11, 1).lamp(22, 12, 1)),
            SnapshotRefusal::kTooManyObjects);
  EXPECT_EQ(apply(Forger(112).lamp(12, 2, 5).lamp(20, 10, 1).lamp(21, 11, 1)), Result::kApplied);
  EXPECT_EQ(client.log.take(), (Lines{"stays 2", "full 2@112", "despawn 1", "spawn 10", "full 10@112",
                                      "despawn 4", "spawn 11", "full 11@112"}));
}

TEST_F(SnapshotApplierTest, an_object_that_stands_still_outlives_the_wrap_of_ticks) {
  apply(Forger(100).lamp(11, 1, 1).lamp(12, 2, 2));
  apply(Forger(110).removed(12));
  apply(Forger(112).lamp(12, 2, 5));
  Tick tick = 112;
  for (; tick < 0xFFFF0000u - kMaxTickJump; tick += kMaxTickJump) {
    ASSERT_EQ(apply(Forger(tick)), Result::kApplied) << tick;
  }
  client.log.take();
  EXPECT_EQ(refusal_of(Forger(tick + 1)), SnapshotRefusal::kTick);  // one past the largest jump
  ASSERT_EQ(apply(Forger(tick - 7).lamp(11, 1, 9).lamp(12, 2, 6)), Result::kApplied);
  EXPECT_EQ(client.log.take(),
            (Lines{"full 1@" + std::to_string(tick - 7), "full 2@" + std::to_string(tick - 7)}));
}

}  // namespace
}  // namespace lattice::replication::test
