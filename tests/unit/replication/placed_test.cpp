// Objects that both sides placed before the session: what is sent about them, and what not (D-51, D-52).
#include <gtest/gtest.h>

#include "lattice/authoring/bit_writer.h"
#include "unit/replication/forger.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

constexpr Tick kJoined = 40;  // the tick that the client's placed objects begin with

/// An authority and clients with `count` lamps that both placed: slot i, network_id i + 1, level i modulo 16.
class PlacedTest : public testing::Test {
 protected:
  explicit PlacedTest(uint32_t count = 64) {
    for (uint32_t i = 0; i < count; ++i) {
      Lamp lamp;
      lamp.level = static_cast<uint8_t>(i % 16);
      const void* host[] = {&lamp};
      EXPECT_TRUE(types.lamp().layout->quantize(host, words[i % 16].data()));
      const uint32_t slot = authority.table.spawn(types.lamp(), 0, LATTICE_AUTHORITY_SERVER, 0, 0);
      EXPECT_EQ(slot, i);
      types.lamp().layout->dequantize(words[i % 16].data(), authority.table.host(slot));
      authority.store.place(slot, types.lamp(), words[i % 16].data());
    }
    authority.table.keep_slots();
    config.placed_count = count;
    authority.tick = kJoined;
    authority.record();
  }
  struct Peer {
    Peer(PlacedTest& test) : recipient(test.config), client(test.types) {
      for (uint32_t i = 0; i < test.config.placed_count; ++i) {
        ObjectInfo info;
        info.network_id = i + 1;
        info.type = &test.types.lamp();
        client.applier.place(info, i, test.words[i % 16].data(), kJoined - 1);
      }
      recipient.join(test.authority.table, test.authority.store);
    }
    ReplicaList recipient;
    Client client;
  };
  void next_tick(Tick ticks = 1) {
    authority.tick += ticks;
    authority.record();
  }
  /// Sends a snapshot, which arrives and is acked. Returns the bytes of its entries.
  size_t exchange(Peer& peer) {
    size_t bytes = 0;
    for (const SnapshotPart& part : authority.send(peer.recipient)) {
      EXPECT_EQ(peer.client.apply(part.bytes), SnapshotApplier::Result::kApplied)
          << snapshot_refusal_name(peer.client.applier.refusal());
      peer.recipient.on_receipt(part.receipt, true);
      bytes += part.bytes.size() - 5;
    }
    return bytes;
  }
  void lose(Peer& peer) {
    for (const SnapshotPart& part : authority.send(peer.recipient)) {
      peer.recipient.on_receipt(part.receipt, false);
    }
  }
  void set(uint32_t slot, uint8_t level) {
    authority.state<Lamp>(slot).level = level;
    next_tick();
    if (authority.store.version(slot) == 2) {
      for (Peer* peer : peers) peer->recipient.enter(slot, slot + 1);
    }
  }
  void expect_equal(Peer& peer) {
    for (const uint32_t slot : authority.table.ascending()) {
      EXPECT_EQ(peer.client.words(slot + 1), authority.words(slot)) << "slot " << slot;
    }
    EXPECT_EQ(peer.client.mirror.size(), authority.table.size());
  }

  Types types;
  Authority authority{types};
  ReplicaList::Config config;
  std::array<std::array<serialization::Word, 8>, 16> words{};
  std::vector<Peer*> peers;
};

TEST_F(PlacedTest, what_never_changed_takes_no_entry_and_no_replica) {
  Peer peer(*this);
  EXPECT_EQ(peer.recipient.size(), 0u);
  EXPECT_TRUE(peer.recipient.loaded());
  for (int i = 0; i < 5; ++i, next_tick()) {
    for (const SnapshotPart& part : authority.send(peer.recipient)) {
      EXPECT_EQ(part.bytes.size(), 6u) << "a header that says: unchanged";
      peer.recipient.on_receipt(part.receipt, true);
    }
  }
  EXPECT_EQ(peer.client.mirror.size(), 64u);
  expect_equal(peer);
  EXPECT_TRUE(peer.client.log.take().empty());
  EXPECT_EQ(authority.store.compared(), 0u);
}

TEST_F(PlacedTest, a_change_is_sent_against_the_placed_state) {
  Peer peer(*this);
  peers = {&peer};
  set(5, 9);
  // kind 0, no mixed, k 0; one entry, age 0, slot 5; mask 01, level 9
  const auto parts = authority.send(peer.recipient);
  ASSERT_EQ(parts.size(), 1u);
  const std::vector<uint8_t> expected = {41, 0, 0, 0, 0x40, 0x00, 1, 0, 5, 0b01100100};
  EXPECT_EQ(copy(parts[0].bytes), expected);
  ASSERT_EQ(peer.client.apply(parts[0].bytes), SnapshotApplier::Result::kApplied);
  peer.recipient.on_receipt(parts[0].receipt, true);
  EXPECT_EQ(peer.client.log.take(), Lines{"delta 6@41"}) << "no spawn";
  expect_equal(peer);
  set(5, 10);
  EXPECT_EQ(exchange(peer), 5u);
  EXPECT_EQ(authority.builder.outlook(peer.recipient, 5, authority.tick + 1, 0).age, 1u)
      << "of the acked state";
  expect_equal(peer);
}

TEST_F(PlacedTest, who_joins_late_hears_only_of_what_changed) {
  set(5, 9);
  set(60, 1);
  set(61, 2);
  set(61, 13);  // as it was placed, again
  Peer peer(*this);
  EXPECT_FALSE(peer.recipient.loaded());
  EXPECT_EQ(peer.recipient.size(), 3u);
  lose(peer);
  next_tick();
  EXPECT_EQ(exchange(peer), 8u) << "one block with three entries";
  expect_equal(peer);
  EXPECT_TRUE(peer.recipient.loaded());
}

TEST_F(PlacedTest, removals_reach_those_who_join_late_and_the_slot_stays_empty) {
  Peer early(*this);
  peers = {&early};
  authority.recipients = {&early.recipient};
  for (uint32_t slot = 10; slot < 30; ++slot) authority.despawn(slot);
  const uint32_t other = authority.spawn(types.lamp());
  EXPECT_EQ(other, 64u) << "not in the slot of a placed object";
  next_tick();
  EXPECT_GT(exchange(early), 0u);
  expect_equal(early);
  Lines lines = early.client.log.take();
  EXPECT_EQ(lines.size(), 22u);
  EXPECT_EQ(lines[0], "despawn 11");

  Peer late(*this);
  for (uint32_t slot = 10; slot < 30; ++slot) late.recipient.join_without(slot, slot + 1);
  EXPECT_EQ(late.recipient.join_count().objects, 1u + 20);
  // Who ends a loading screen now would show 20 objects that are not there.
  for (const SnapshotPart& part : authority.send(late.recipient)) {
    ASSERT_EQ(late.client.apply(part.bytes), SnapshotApplier::Result::kApplied);
    late.recipient.on_receipt(part.receipt, false);
  }
  EXPECT_FALSE(late.recipient.loaded());
  next_tick();
  EXPECT_EQ(exchange(late), 13u + 8) << "20 removals of 4 bits, and a new object";
  EXPECT_TRUE(late.recipient.loaded());
  expect_equal(late);
  EXPECT_EQ(late.client.mirror.find(11), kNoSlot);
}

TEST_F(PlacedTest, a_client_has_joined_when_it_knows_of_one_that_was_destroyed_meanwhile) {
  set(5, 9);
  Peer peer(*this);
  peers = {&peer};
  authority.recipients = {&peer.recipient};
  lose(peer);
  authority.despawn(5);
  next_tick();
  EXPECT_FALSE(peer.recipient.loaded());
  EXPECT_EQ(peer.recipient.join_count().missing, 1u);
  lose(peer);
  EXPECT_FALSE(peer.recipient.loaded());
  next_tick();
  exchange(peer);
  EXPECT_TRUE(peer.recipient.loaded());
  EXPECT_EQ(peer.client.mirror.find(6), kNoSlot);
}

TEST_F(PlacedTest, outside_of_the_set_an_object_stays_as_it_is_and_catches_up) {
  Peer peer(*this);
  peers = {&peer};
  set(5, 9);
  exchange(peer);
  peer.recipient.leave(5, 6);
  authority.state<Lamp>(5).level = 12;
  next_tick();
  EXPECT_EQ(exchange(peer), 1u) << "neither a removal nor the state";
  EXPECT_EQ(peer.recipient.pending_removals(), 0u);
  EXPECT_NE(peer.client.mirror.find(6), kNoSlot);
  authority.state<Lamp>(5).level = 5;  // as it was placed: the client still shows 9
  next_tick();
  peer.recipient.enter(5, 6);
  EXPECT_EQ(exchange(peer), 5u);
  expect_equal(peer);
}

TEST_F(PlacedTest, one_that_is_destroyed_outside_of_the_set_is_removed) {
  Peer peer(*this);
  peers = {&peer};
  authority.recipients = {&peer.recipient};
  set(5, 9);
  exchange(peer);
  for (int i = 0; i < 3; ++i) peer.recipient.count_reliable_rpc(5);
  peer.recipient.leave(5, 6);
  authority.despawn(5);
  authority.despawn(7);
  next_tick();
  exchange(peer);
  EXPECT_EQ(peer.client.mirror.find(8), kNoSlot);
  EXPECT_NE(peer.client.mirror.find(6), kNoSlot)
      << "three calls that were sent before are not here yet (D-35)";
  peer.client.log.rpcs_arrived[6] = 3;
  peer.client.applier.retry_removals();
  expect_equal(peer);
}

TEST_F(PlacedTest, old_baselines_give_way_to_the_placed_state_and_not_to_a_whole_one) {
  Peer peer(*this);
  peers = {&peer};
  set(5, 9);
  exchange(peer);
  next_tick(1 << 20);
  next_tick(1 << 19);
  set(5, 10);
  authority.builder.begin_send(authority.tick);
  EXPECT_FALSE(authority.builder.outlook(peer.recipient, 5, authority.tick, 0).full);
  EXPECT_EQ(authority.builder.outlook(peer.recipient, 5, authority.tick, 0).age, 0u);
}

TEST_F(PlacedTest, rest_is_told_once_it_has_changed) {
  Peer peer(*this);
  peers = {&peer};
  set(5, 9);
  exchange(peer);
  for (int i = 0; i < 4; ++i) {
    next_tick();
    exchange(peer);
  }
  EXPECT_EQ(peer.client.log.take(), (Lines{"delta 6@41", "rested 6@45"}));
}

// A client that the rules let see half of the objects, over a link that loses a third of the parts.
TEST_F(PlacedTest, random_changes_removals_and_sets_end_in_the_same_states) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    base::Random random(seed);
    Peer peer(*this);
    const auto enter = [&](uint32_t slot) {
      if (!authority.store.is_untouched(slot)) peer.recipient.enter(slot, slot + 1);
    };
    authority.recipients = {&peer.recipient};
    for (uint32_t slot = 0; slot < 64; ++slot) {
      if (!authority.table.live(slot)) peer.recipient.join_without(slot, slot + 1);
    }
    for (int i = 0; i < 60; ++i) {
      const auto slot = static_cast<uint32_t>(random.next_below(64));
      if (!authority.table.live(slot)) continue;
      authority.state<Lamp>(slot).level = static_cast<uint8_t>(random.next_below(16));
      next_tick();
      enter(slot);
      const auto other = static_cast<uint32_t>(random.next_below(64));
      if (random.chance(0.3)) peer.recipient.leave(other, other + 1);
      if (random.chance(0.05) && authority.table.live(other)) authority.despawn(other);
      for (const SnapshotPart& part : authority.send(peer.recipient)) {
        const bool arrives = random.chance(0.66);
        if (arrives) {
          ASSERT_EQ(peer.client.apply(part.bytes), SnapshotApplier::Result::kApplied);
        }
        peer.recipient.on_receipt(part.receipt, arrives && random.chance(0.9));
      }
    }
    for (const uint32_t slot : authority.table.ascending()) enter(slot);
    for (int i = 0; i < 3; ++i) {
      next_tick();
      exchange(peer);
    }
    expect_equal(peer);
    authority.recipients.clear();
  }
}

TEST_F(PlacedTest, a_part_mixes_placed_states_and_others) {
  Peer peer(*this);
  peers = {&peer};
  for (uint32_t slot = 0; slot < 8; ++slot) set(slot, 15);
  exchange(peer);
  for (uint32_t slot = 0; slot < 4; ++slot) authority.state<Lamp>(slot).level = 14;
  set(20, 1);
  lose(peer);
  next_tick();
  EXPECT_GT(exchange(peer), 1u);
  expect_equal(peer);
}

TEST_F(PlacedTest, the_first_part_is_of_a_tick_near_the_start_of_the_session) {
  constexpr Tick kJump = kMaxTickJump;
  for (const Tick good : {kJoined + kJump, kJoined}) {
    Peer peer(*this);
    peer.client.applier.begin(kJoined);
    for (const Tick wrong : {kJoined + kJump + 1, kJoined - 1, kJoined + (1u << 31)}) {
      EXPECT_EQ(peer.client.apply(Forger(wrong).done()), SnapshotApplier::Result::kRefused) << wrong;
      EXPECT_EQ(peer.client.applier.refusal(), SnapshotRefusal::kTick);
    }
    EXPECT_EQ(peer.client.apply(Forger(good).lamp(3, 4, 9).done()), SnapshotApplier::Result::kApplied)
        << good;
  }
}

// Its tombstone is gone, and with it the type that the rest of the program knows it to have.
TEST(PlacedObject, does_not_come_back_once_destroyed) {
  using Result = SnapshotApplier::Result;
  Types types;
  Client level(types);
  ObjectInfo info;
  info.network_id = 1;
  info.type = &types.lamp();
  level.applier.place(info, 0, types.lamp().zero_words.data(), 99);
  ASSERT_EQ(level.apply(Forger(100).removed(0).done()), Result::kApplied);
  EXPECT_EQ(level.apply(Forger(100).lamp(0, 1, 3).done()), Result::kApplied) << "from before";
  EXPECT_EQ(level.apply(Forger(101).lamp(0, 1, 3).done()), Result::kRefused) << "a tombstone";
  ASSERT_EQ(level.apply(Forger(200).done()), Result::kApplied);
  ASSERT_EQ(level.mirror.find(1), kNoSlot);
  const auto expect_refused = [&](std::vector<uint8_t> part) {
    EXPECT_EQ(level.apply(part), Result::kRefused);
    EXPECT_EQ(level.applier.refusal(), SnapshotRefusal::kNetworkId);
  };
  expect_refused(Forger(201).lamp(0, 1, 3).done());
  expect_refused(Forger(201).lamp(5, 1, 3).done());
  expect_refused(Forger(201).lamp(0, 7, 3).done());
  ASSERT_EQ(level.apply(Forger(202).removed(0, 1).done()), Result::kApplied);
  expect_refused(Forger(203).lamp(0, 1, 3).done());
  EXPECT_EQ(level.apply(Forger(204).lamp(5, 7, 3).done()), Result::kApplied);
}

}  // namespace
}  // namespace lattice::replication::test
