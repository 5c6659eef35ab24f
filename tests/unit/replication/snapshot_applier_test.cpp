#include "replication/snapshot_applier.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "lattice/authoring/bit_writer.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Result = SnapshotApplier::Result;

/// Writes parts by hand, as a hostile or broken peer might.
class Forger {
 public:
  explicit Forger(Tick tick, uint32_t part = 0, uint32_t parts = 1) {
    out.WriteU32(tick);
    out.WriteU32(0);
    out.WriteByte(0);
    out.WriteBits(part, 4);
    out.WriteBits(parts, 4);
  }
  Forger& entry(uint64_t difference, EntryKind kind) {
    out.WriteBool(true);
    out.WriteVarint(difference);
    out.WriteBits(static_cast<uint64_t>(kind), 2);
    return *this;
  }
  Forger& removed(uint64_t difference, uint32_t rpc_count = 0) {
    entry(difference, EntryKind::kRemoved);
    out.WriteBool(rpc_count != 0);
    if (rpc_count != 0) out.WriteVarint(rpc_count);
    return *this;
  }
  Forger& full_lamp(uint64_t difference, uint64_t level, uint32_t type_id = Types::kLamp, uint64_t mode = 0) {
    entry(difference, EntryKind::kFull);
    out.WriteVarint(type_id);
    out.WriteVarint(0);
    out.WriteBits(mode, 2);
    out.WriteU32(0);
    out.WriteBool(level != 0);
    if (level != 0) out.WriteBits(0b01, 2), out.WriteBits(level, 4);
    return *this;
  }
  Forger& delta_lamp(uint64_t difference, uint64_t age, uint64_t level) {
    entry(difference, EntryKind::kDelta);
    out.WriteVarint(age);
    out.WriteBool(true);
    out.WriteBits(0b01, 2), out.WriteBits(level, 4);
    return *this;
  }
  std::vector<uint8_t> done(bool confirms_own = false) {
    out.WriteBool(false);
    out.WriteBool(confirms_own);
    return copy(out.finish());
  }
  std::array<uint8_t, 1600> buffer{};
  BitWriter out{buffer};
};

struct SnapshotApplierTest : testing::Test {
  SnapshotRefusal refusal_of(const std::vector<uint8_t>& bytes) {
    const Lines before_log = client.log.take();
    const uint32_t before = client.mirror.size();
    const Tick newest = client.applier.newest_tick();
    const Result result = client.apply(bytes);
    if (result == Result::kApplied) return SnapshotRefusal::kNone;
    EXPECT_EQ(client.log.take(), Lines{});
    EXPECT_EQ(client.mirror.size(), before);
    EXPECT_EQ(client.applier.newest_tick(), newest);
    return client.applier.refusal();
  }
  uint64_t level(uint64_t id) { return client.words(id)[1]; }

  Types types;
  Client client{types, 4};
};

TEST_F(SnapshotApplierTest, reports_the_header) {
  Forger forged(1000, 2, 5);
  ASSERT_EQ(client.apply(forged.done()), Result::kApplied);
  EXPECT_EQ(client.applier.header().server_tick, 1000u);
  EXPECT_EQ(client.applier.header().part, 2);
  EXPECT_EQ(client.applier.header().parts, 5);
  EXPECT_EQ(client.applier.newest_tick(), 1000u);
}

TEST_F(SnapshotApplierTest, refuses_hostile_parts_by_name) {
  ASSERT_EQ(client.apply(Forger(100).full_lamp(1, 3).done()), Result::kApplied);
  EXPECT_EQ(refusal_of(Forger(0).done()), SnapshotRefusal::kTick);
  EXPECT_EQ(refusal_of(Forger(101, 0, 0).done()), SnapshotRefusal::kPartNumber);
  EXPECT_EQ(refusal_of(Forger(101, 3, 3).done()), SnapshotRefusal::kPartNumber);
  EXPECT_EQ(refusal_of(Forger(101).full_lamp(0, 3).done()), SnapshotRefusal::kIdOrder);
  EXPECT_EQ(refusal_of(Forger(101).full_lamp(2, 3).full_lamp(0, 3).done()), SnapshotRefusal::kIdOrder);
  EXPECT_EQ(refusal_of(Forger(101).full_lamp(2, 3).full_lamp(UINT64_MAX - 1, 3).done()),
            SnapshotRefusal::kIdOrder);
  EXPECT_EQ(refusal_of(Forger(101).full_lamp(2, 3, 8).done()), SnapshotRefusal::kUnknownType);
  EXPECT_EQ(refusal_of(Forger(101).full_lamp(1, 0, Types::kScroll).done()), SnapshotRefusal::kTypeChanged);
  EXPECT_EQ(refusal_of(Forger(101).full_lamp(2, 3, Types::kLamp, 2).done()), SnapshotRefusal::kMode);
  EXPECT_EQ(refusal_of(Forger(101).delta_lamp(1, 0, 3).done()), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal_of(Forger(161).delta_lamp(1, 61, 3).done()), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal_of(Forger(102).delta_lamp(1, 1, 3).done()), SnapshotRefusal::kMissingBaseline);
  EXPECT_EQ(refusal_of(Forger(101).delta_lamp(2, 1, 3).done()), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(refusal_of(Forger(101).entry(2, EntryKind::kUnchanged).done()), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(refusal_of(std::vector<uint8_t>(kMaxPartBytes + 1)), SnapshotRefusal::kTooLarge);
  std::vector<uint8_t> longer = Forger(101).done();
  longer.push_back(0);
  EXPECT_EQ(refusal_of(longer), SnapshotRefusal::kTrailingBits);
  std::vector<uint8_t> dirty = Forger(101).done();
  dirty.back() |= 1;
  EXPECT_EQ(refusal_of(dirty), SnapshotRefusal::kTrailingBits);
  Forger many(101);
  many.full_lamp(2, 1).full_lamp(1, 1).full_lamp(1, 1).full_lamp(1, 1);  // four beside the one, limit 4
  EXPECT_EQ(refusal_of(many.done()), SnapshotRefusal::kTooManyObjects);
  EXPECT_EQ(refusal_of(Forger(160).delta_lamp(1, 60, 4).done()), SnapshotRefusal::kNone);  // the oldest legal
  EXPECT_EQ(client.applier.refusals(SnapshotRefusal::kIdOrder), 3u);
  EXPECT_STREQ(snapshot_refusal_name(SnapshotRefusal::kMissingBaseline), "snapshot_missing_baseline");
}

TEST_F(SnapshotApplierTest, the_oldest_of_too_many_removed_ids_is_forgotten) {
  Forger first(50);
  first.removed(1);
  EXPECT_EQ(refusal_of(first.done()), SnapshotRefusal::kNone);
  EXPECT_TRUE(client.applier.is_gone(1, 50));
  uint32_t buried = 1;
  for (uint64_t id = 2; buried < SnapshotApplier::kMaxTombstones;) {
    Forger many(50);
    many.removed(id);
    ++id, ++buried;
    for (int i = 0; i < 500 && buried < SnapshotApplier::kMaxTombstones; ++i, ++id, ++buried) many.removed(1);
    ASSERT_EQ(refusal_of(many.done()), SnapshotRefusal::kNone);
  }
  EXPECT_TRUE(client.applier.is_gone(1, 50));
  EXPECT_EQ(refusal_of(Forger(50).removed(1'000'000).done()), SnapshotRefusal::kNone);
  EXPECT_FALSE(client.applier.is_gone(1, 50));
  EXPECT_TRUE(client.applier.is_gone(1'000'000, 50));
  EXPECT_EQ(refusal_of(Forger(115).done()), SnapshotRefusal::kNone);  // 65 ticks later none is left
  EXPECT_FALSE(client.applier.is_gone(1'000'000, 50));
}

TEST_F(SnapshotApplierTest, every_truncation_is_refused_and_moves_nothing) {
  Authority authority(types);
  RecipientState recipient{RecipientState::Config{}};
  authority.recipients.push_back(&recipient);
  for (int i = 0; i < 4; ++i) {
    const uint32_t slot = authority.spawn(i % 2 ? types.actor() : types.lamp());
    if (i % 2) std::strcpy(authority.state<Soul>(slot, 1).name, "zoë");
  }
  authority.record();
  auto parts = authority.send(recipient);
  const std::vector<uint8_t> full = copy(parts[0].bytes);
  for (size_t n = 0; n < full.size(); ++n) {
    EXPECT_EQ(refusal_of({full.begin(), full.begin() + static_cast<std::ptrdiff_t>(n)}),
              SnapshotRefusal::kMalformed)
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
  for (size_t n = 0; n < delta.size(); ++n) {
    EXPECT_EQ(refusal_of({delta.begin(), delta.begin() + static_cast<std::ptrdiff_t>(n)}),
              SnapshotRefusal::kMalformed)
        << n;
  }
  EXPECT_EQ(client.words(2), before);
  ASSERT_EQ(client.apply(delta), Result::kApplied);
  EXPECT_NE(client.words(2), before);
}

TEST_F(SnapshotApplierTest, late_states_are_kept_as_baselines_and_never_shown) {
  client.apply(Forger(100).full_lamp(1, 1).done());
  client.apply(Forger(110).delta_lamp(1, 10, 5).done());
  client.log.take();
  client.apply(Forger(105).delta_lamp(1, 5, 3).done());
  EXPECT_EQ(client.log.take(), Lines{"late 1@105"});
  EXPECT_EQ(level(1), 5u);
  ASSERT_EQ(client.apply(Forger(112).delta_lamp(1, 7, 6).done()), Result::kApplied);  // against tick 105
  EXPECT_EQ(level(1), 6u);
}

TEST_F(SnapshotApplierTest, parts_more_than_64_ticks_behind_are_not_acked) {
  client.apply(Forger(200).full_lamp(1, 1).done());
  EXPECT_EQ(client.apply(Forger(136).full_lamp(2, 1).done()), Result::kApplied);
  EXPECT_EQ(client.apply(Forger(135).full_lamp(3, 1).done()), Result::kStale);
  EXPECT_EQ(client.mirror.find(3), kNoSlot);
  EXPECT_EQ(client.applier.refusals(SnapshotRefusal::kStale), 1u);
}

TEST_F(SnapshotApplierTest, a_baseline_is_found_through_60_and_64_ticks) {
  client.apply(Forger(100).full_lamp(1, 15).done());
  for (Tick t = 101; t <= 224; ++t) {
    const uint64_t age = t <= 160 ? t - 100 : 1;
    ASSERT_EQ(client.apply(Forger(t).delta_lamp(1, age, t % 14 + 1).done()), Result::kApplied) << t;
  }
  EXPECT_EQ(client.apply(Forger(160).delta_lamp(1, 60, 2).done()), Result::kApplied);  // 64 late, base 100
}

TEST_F(SnapshotApplierTest, a_tombstone_holds_off_what_was_sent_before_the_removal) {
  client.apply(Forger(100).full_lamp(1, 1).done());
  client.apply(Forger(110).removed(1).done());
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@100", "despawn 1"}));
  EXPECT_EQ(client.apply(Forger(105).delta_lamp(1, 5, 3).done()), Result::kApplied);
  EXPECT_EQ(client.apply(Forger(106).full_lamp(1, 3).done()), Result::kApplied);
  EXPECT_EQ(client.apply(Forger(108).entry(1, EntryKind::kUnchanged).done()), Result::kApplied);
  EXPECT_EQ(client.log.take(), Lines{});
  EXPECT_EQ(refusal_of(Forger(111).delta_lamp(1, 11, 3).done()), SnapshotRefusal::kUnknownObject);
}

TEST_F(SnapshotApplierTest, a_removal_before_the_spawn_arrives_wins_over_it) {
  client.apply(Forger(110).removed(5).done());
  EXPECT_EQ(client.apply(Forger(105).full_lamp(5, 3).done()), Result::kApplied);
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(SnapshotApplierTest, a_newer_full_entry_overrides_a_removal_in_either_order) {
  client.apply(Forger(100).full_lamp(1, 1).done());
  client.apply(Forger(110).removed(1).done());
  client.apply(Forger(112).full_lamp(1, 4).done());
  EXPECT_EQ(level(1), 4u);
  client.apply(Forger(111).removed(1).done());  // repeated, late
  EXPECT_EQ(level(1), 4u);
  EXPECT_EQ(client.apply(Forger(109).delta_lamp(1, 9, 2).done()), Result::kApplied);  // the earlier life
  EXPECT_EQ(level(1), 4u);
}

TEST_F(SnapshotApplierTest, a_removal_waits_for_the_rpcs_it_names) {
  client.apply(Forger(100).full_lamp(1, 1).full_lamp(1, 2).done());
  client.apply(Forger(110).removed(1, 2).removed(1, 1).done());
  client.log.rpcs_arrived = {{1, 1}, {2, 1}};
  EXPECT_EQ(client.log.take(), (Lines{"spawn 1", "full 1@100", "spawn 2", "full 2@100"}));
  // Nothing of the time since its removal can be about it.
  EXPECT_EQ(refusal_of(Forger(111).delta_lamp(1, 11, 3).done()), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(refusal_of(Forger(111).entry(1, EntryKind::kUnchanged).done()), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(client.apply(Forger(105).delta_lamp(1, 5, 3).done()), Result::kApplied);
  EXPECT_FALSE(client.applier.is_gone(1, 109));
  client.apply(Forger(112).removed(1, 2).done());  // repeated, as it is until acknowledged
  client.applier.retry_removals();
  EXPECT_EQ(client.log.take(), Lines{"despawn 2"});
  EXPECT_EQ(client.mirror.size(), 1u);
  client.log.rpcs_arrived[1] = 2;
  client.applier.retry_removals();
  EXPECT_EQ(client.log.take(), Lines{"despawn 1"});
  EXPECT_TRUE(client.applier.is_gone(1, 112));
  EXPECT_FALSE(client.applier.is_gone(1, 113));
  EXPECT_EQ(client.mirror.size(), 0u);
}

TEST_F(SnapshotApplierTest, an_object_that_comes_back_while_its_removal_waits_never_left) {
  client.apply(Forger(100).full_lamp(1, 1).done());
  client.apply(Forger(110).removed(1, 1).done());
  client.log.take();
  client.apply(Forger(112).full_lamp(1, 4).done());
  EXPECT_EQ(client.log.take(), (Lines{"stays 1", "full 1@112"}));
  client.apply(Forger(111).removed(1, 1).done());  // repeated, late
  client.log.rpcs_arrived[1] = 1;
  client.applier.retry_removals();
  EXPECT_EQ(level(1), 4u);
  EXPECT_EQ(client.log.take(), Lines{});
}

TEST_F(SnapshotApplierTest, objects_that_wait_to_leave_give_way_to_new_ones) {
  client.apply(Forger(100).full_lamp(1, 1).full_lamp(1, 2).full_lamp(1, 3).full_lamp(1, 4).done());
  client.apply(Forger(110).removed(2, 1).done());
  client.apply(Forger(111).removed(1, 1).removed(3, 1).done());
  client.log.take();
  // Of four places three are leaving. Object 2 comes back and keeps its place: two are left for new ones.
  EXPECT_EQ(refusal_of(Forger(112).full_lamp(2, 5).full_lamp(8, 1).full_lamp(1, 1).full_lamp(1, 1).done()),
            SnapshotRefusal::kTooManyObjects);
  EXPECT_EQ(client.apply(Forger(112).full_lamp(2, 5).full_lamp(8, 1).full_lamp(1, 1).done()),
            Result::kApplied);
  EXPECT_EQ(client.log.take(), (Lines{"stays 2", "full 2@112", "despawn 1", "spawn 10", "full 10@112",
                                      "despawn 4", "spawn 11", "full 11@112"}));
}

TEST_F(SnapshotApplierTest, an_rpc_count_is_not_zero_and_fits_32_bits) {
  const auto removal = [](uint64_t rpc_count) {
    Forger forged(100);
    forged.entry(1, EntryKind::kRemoved).out.WriteBool(true);
    forged.out.WriteVarint(rpc_count);
    return forged.done();
  };
  EXPECT_EQ(refusal_of(removal(0)), SnapshotRefusal::kMalformed);
  EXPECT_EQ(refusal_of(removal(uint64_t{UINT32_MAX} + 1)), SnapshotRefusal::kMalformed);
  const std::vector<uint8_t> whole = removal(UINT32_MAX);
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(refusal_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}),
              SnapshotRefusal::kNone)
        << n;
  }
  EXPECT_EQ(refusal_of(whole), SnapshotRefusal::kNone);
}

TEST_F(SnapshotApplierTest, the_owner_follows_the_newest_full_entry) {
  const auto owned = [](Tick tick, uint64_t owner) {
    Forger forged(tick);
    forged.entry(1, EntryKind::kFull);
    forged.out.WriteVarint(Types::kLamp), forged.out.WriteVarint(owner);
    forged.out.WriteBits(1, 2), forged.out.WriteU32(tick), forged.out.WriteBool(false);
    return forged.done();
  };
  client.apply(owned(100, 7));
  client.apply(owned(104, 8));
  client.apply(owned(102, 9));
  const ObjectInfo& info = client.mirror.info(client.mirror.find(1));
  EXPECT_EQ(info.owner, 8u);
  EXPECT_EQ(info.authority_tick, 104u);
  EXPECT_EQ(info.mode, LATTICE_AUTHORITY_SHARED);
  EXPECT_EQ(client.log.take(),
            (Lines{"spawn 1", "full 1@100", "authority 1@104", "full 1@104", "late 1@102"}));
}

TEST_F(SnapshotApplierTest, a_repeated_part_changes_nothing) {
  const auto part = Forger(100).full_lamp(1, 1).done();
  client.apply(part);
  client.log.take();
  EXPECT_EQ(client.apply(part), Result::kApplied);
  EXPECT_EQ(client.log.take(), Lines{});
}

TEST_F(SnapshotApplierTest, an_object_that_stands_still_outlives_the_wrap_of_ticks) {
  client.apply(Forger(100).full_lamp(1, 1).full_lamp(1, 2).done());
  client.apply(Forger(110).removed(2).done());
  client.apply(Forger(112).full_lamp(2, 5).done());
  Tick tick = 112;
  for (; tick < 0xFFFF0000u - kMaxTickJump; tick += kMaxTickJump) {
    ASSERT_EQ(client.apply(Forger(tick).done()), Result::kApplied) << tick;
  }
  client.log.take();
  EXPECT_EQ(refusal_of(Forger(tick + 1).done()), SnapshotRefusal::kTick);  // one past the largest jump
  ASSERT_EQ(client.apply(Forger(tick - 7).full_lamp(1, 9).full_lamp(1, 6).done()), Result::kApplied);
  EXPECT_EQ(client.log.take(),
            (Lines{"full 1@" + std::to_string(tick - 7), "full 2@" + std::to_string(tick - 7)}));
}

TEST_F(SnapshotApplierTest, arbitrary_bytes_never_break_it) {
  EXPECT_TRUE(rc::check("arbitrary parts", [&](const std::vector<uint8_t>& noise) {
    Client victim(types, 4);
    victim.apply(Forger(100).full_lamp(1, 1).done());
    std::vector<uint8_t> part = Forger(101).done();
    part.pop_back();
    part.insert(part.end(), noise.begin(), noise.end());
    victim.apply(part);
    RC_ASSERT(victim.mirror.size() <= 4u);
  }));
}

}  // namespace
}  // namespace lattice::replication::test
