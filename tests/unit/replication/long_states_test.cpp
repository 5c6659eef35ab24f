// States that are longer than a part: pieces are cut, lost, sent again and put together; a client has the
// whole state or none; hostile pieces are refused by name and change nothing. Spec: D-54 to D-59.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "allocation_counter.h"
#include "base/tick.h"
#include "lattice/authoring/bit_writer.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication {
namespace {

using test::Authority;
using test::Client;
using test::Lamp;
using test::Lines;
using test::Tome;
using test::Types;
using Bytes = std::vector<uint8_t>;

/// Text that does not repeat, so that a piece in a wrong place is noticed.
void write_text(Tome& tome, size_t length, uint64_t seed) {
  base::Random random(seed);
  for (size_t i = 0; i < length; ++i) tome.text[i] = static_cast<char>('a' + random.next_below(26));
  std::memset(tome.text + length, 0, sizeof tome.text - length);
}

/// One client of one authority. Parts and verdicts wait until a test lets them through.
struct Pair {
  /// Both sides place `placed` tomes: slot i, network_id i + 1.
  explicit Pair(SnapshotBuilder::Config config = {}, uint32_t placed = 0)
      : authority(types, config), recipient({.peer_id = 3, .placed_count = placed}), client(types) {
    for (uint32_t slot = 0; slot < placed; ++slot) {
      authority.table.spawn(types.tome(), 0, LATTICE_AUTHORITY_SERVER, 0, 0);
      authority.store.place(slot, types.tome(), placed_words.data());
      ObjectInfo info;
      info.network_id = slot + 1;
      info.type = &types.tome();
      client.applier.place(info, slot, placed_words.data(), authority.tick - 1);
    }
    if (placed != 0) authority.table.keep_slots();
    authority.recipients.push_back(&recipient);
  }
  struct Sent {
    Bytes bytes;
    uint32_t receipt = 0;
  };
  std::vector<Sent> send(uint32_t budget_bytes = 0) {
    authority.record();
    return send_recorded(budget_bytes);
  }
  std::vector<Sent> send_recorded(uint32_t budget_bytes) {
    std::vector<Sent> sent;
    for (const SnapshotPart& part : authority.send(recipient, budget_bytes)) {
      sent.push_back({test::copy(part.bytes), part.receipt});
    }
    authority.tick = base::next_tick(authority.tick);
    return sent;
  }
  void deliver(const Sent& part) {
    const auto result = client.apply(part.bytes);
    EXPECT_NE(result, SnapshotApplier::Result::kRefused) << snapshot_refusal_name(client.applier.refusal());
    recipient.on_receipt(part.receipt, result == SnapshotApplier::Result::kApplied);
  }
  void lose(const Sent& part) { recipient.on_receipt(part.receipt, false); }
  /// Sends snapshots that arrive at once. Returns how many it took until nothing was under way.
  uint32_t settle(uint32_t budget_bytes = 0, uint32_t most = 1000) {
    for (uint32_t snapshots = 1; snapshots <= most; ++snapshots) {
      for (const Sent& part : send(budget_bytes)) deliver(part);
      if (recipient.longs().size() == 0) return snapshots;
    }
    return most + 1;
  }
  bool same(uint32_t slot) {
    if (authority.store.version(slot) == 0) return false;
    return client.words(authority.table.network_id(slot)) == authority.words(slot);
  }

  Types types;
  std::vector<Word> placed_words = std::vector<Word>(types.tome().word_count);
  Authority authority;
  ReplicaList recipient;
  Client client;
};

TEST(LongStates, a_state_of_any_length_arrives_whole) {
  for (const size_t length : {1100u, 1200u, 1301u, 4096u, 20000u, 59999u, 60000u}) {
    Pair pair;
    const uint32_t slot = pair.authority.spawn(pair.types.tome());
    write_text(pair.authority.state<Tome>(slot), length, length);
    pair.settle();
    EXPECT_TRUE(pair.same(slot)) << length;
    EXPECT_EQ(pair.client.log.take(), (Lines{"spawn 1", "full 1@1"})) << length;
    EXPECT_TRUE(pair.recipient.find(slot, pair.authority.store)->acked_version == 1) << length;
    EXPECT_EQ(pair.authority.builder.stats().full_entries, 1u) << length;
  }
}

TEST(LongStates, parts_keep_to_their_capacity_and_snapshots_to_their_budget) {
  for (const uint32_t budget : {200u, 300u, 700u, 2000u, 5000u}) {
    Pair pair;
    const uint32_t slot = pair.authority.spawn(pair.types.tome());
    write_text(pair.authority.state<Tome>(slot), 9000, 1);
    for (uint32_t snapshot = 0;
         snapshot < 500 && !pair.recipient.find(slot, pair.authority.store)->acked_version; ++snapshot) {
      size_t bytes = 0;
      for (const Pair::Sent& part : pair.send(budget)) {
        EXPECT_LE(part.bytes.size(), 1100u);
        bytes += part.bytes.size();
        pair.deliver(part);
      }
      EXPECT_LE(bytes, budget);
    }
    EXPECT_TRUE(pair.same(slot)) << budget;
  }
}

TEST(LongStates, nothing_is_shown_before_the_last_piece) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 5000, 2);
  const std::vector<Pair::Sent> parts = pair.send();
  ASSERT_GT(parts.size(), 4u);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    pair.deliver(parts[parts.size() - 1 - i]);  // in any order
    EXPECT_EQ(pair.client.mirror.size(), 0u);
  }
  pair.deliver(parts[0]);
  EXPECT_TRUE(pair.same(slot));
}

TEST(LongStates, each_lost_part_is_sent_again_and_no_other) {
  for (size_t lost = 0;; ++lost) {
    Pair pair;
    const uint32_t slot = pair.authority.spawn(pair.types.tome());
    write_text(pair.authority.state<Tome>(slot), 5000, 3);
    const std::vector<Pair::Sent> parts = pair.send();
    if (lost == parts.size()) break;
    for (size_t i = 0; i < parts.size(); ++i) i == lost ? pair.lose(parts[i]) : pair.deliver(parts[i]);
    EXPECT_EQ(pair.client.mirror.size(), 0u);
    const uint64_t pieces = pair.authority.builder.stats().pieces;
    const std::vector<Pair::Sent> again = pair.send();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_LE(pair.authority.builder.stats().pieces - pieces, 17u);  // what one part holds
    pair.deliver(again[0]);
    EXPECT_TRUE(pair.same(slot));
  }
}

TEST(LongStates, what_is_in_flight_is_not_sent_again) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 5000, 3);
  const size_t parts = pair.send().size();
  EXPECT_GT(parts, 4u);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(pair.send()[0].bytes.size(), 6u);
  while (pair.authority.tick < 2 * 60 + 1) pair.send();
  EXPECT_EQ(pair.send().size(), parts);  // neither acked nor lost in 2 s
}

TEST(LongStates, an_object_that_changes_all_the_time_arrives) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  uint32_t arrived = 0;
  for (uint32_t tick = 0; tick < 150; ++tick) {
    write_text(pair.authority.state<Tome>(slot), 20000, tick);
    for (const Pair::Sent& part : pair.send(2000)) pair.deliver(part);
    for (const std::string& line : pair.client.log.take()) arrived += line.find('@') != std::string::npos;
  }
  EXPECT_GE(arrived, 150u * 2000 / 20000 * 8 / 10);
}

/// Counts the states, and notes nothing.
struct Quiet final : SnapshotListener {
  void on_spawn(uint32_t, Tick) override {}
  void on_despawn(uint32_t, Tick, DespawnReason) override {}
  void on_state(uint32_t, Tick, const serialization::Word*, EntryKind) override { ++states; }
  void on_rested(uint32_t, Tick) override {}
  uint32_t states = 0;
};

TEST(LongStates, states_that_follow_one_another_allocate_nothing) {
  Pair pair;
  ObjectTable mirror(64);
  Quiet listener;
  SnapshotApplier applier(pair.types.table, mirror, listener, slot_bound(64));
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  uint64_t warm = 0;
  for (uint32_t tick = 0; tick < 300; ++tick) {
    if (tick == 200) warm = lattice::test::allocation_count();
    char* text = pair.authority.state<Tome>(slot).text;
    std::memset(text, 'a' + static_cast<int>(tick % 26), 6000);
    pair.authority.record();
    for (const SnapshotPart& part : pair.authority.send(pair.recipient, 2000)) {
      ASSERT_EQ(applier.apply(part.bytes), SnapshotApplier::Result::kApplied);
      pair.recipient.on_receipt(part.receipt, true);
    }
    ++pair.authority.tick;
  }
  EXPECT_GT(listener.states, 300u / 6);
  EXPECT_EQ(lattice::test::allocation_count(), warm);
}

// Clients at different states of many long objects: each waiting object is encoded for a version and a
// baseline once, not with each snapshot.
TEST(LongStates, those_that_wait_are_not_encoded_again_and_again) {
  constexpr uint32_t kObjects = 40;
  constexpr uint32_t kClients = 6;
  constexpr uint32_t kRounds = 8;
  const Types types;
  Authority authority(types);
  std::vector<std::unique_ptr<ReplicaList>> recipients;
  for (uint32_t i = 0; i < kClients; ++i) {
    recipients.push_back(std::make_unique<ReplicaList>(ReplicaList::Config{.peer_id = 3 + i}));
    authority.recipients.push_back(recipients.back().get());
  }
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < kObjects; ++i) slots.push_back(authority.spawn(types.tome()));
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (const uint32_t slot : slots) write_text(authority.state<Tome>(slot), 3000, round * 100 + slot);
    for (uint32_t snapshot = 0; snapshot < 45; ++snapshot) {
      authority.record();
      authority.builder.begin_send(authority.tick);
      for (uint32_t i = 0; i < kClients; ++i) {
        const uint32_t budget = 300 + 200 * i;
        for (const SnapshotPart& part : authority.builder.build(*recipients[i], SnapshotHeader{}, budget)) {
          recipients[i]->on_receipt(part.receipt, true);
        }
      }
      ++authority.tick;
    }
  }
  // Of each version from each client's baseline or none.
  EXPECT_LE(authority.builder.cache().encoded(), kRounds * kObjects * (kClients + 1));
}

// A state leaves the history of the authority while it is under way. It is a baseline all the same.
TEST(LongStates, a_state_that_took_long_is_a_baseline) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 20000, 1);
  for (uint32_t tick = 0; tick < 250; ++tick) {
    ++pair.authority.state<Tome>(slot).reads;
    for (const Pair::Sent& part : pair.send(200)) pair.deliver(part);
    if (pair.client.mirror.size() == 1) break;
  }
  ASSERT_EQ(pair.client.mirror.size(), 1u);
  ASSERT_GT(pair.authority.tick, static_cast<Tick>(kHistoryTicks) + 20);
  ++pair.authority.state<Tome>(slot).reads;
  pair.settle(200, 1);
  EXPECT_TRUE(pair.same(slot));
  EXPECT_EQ(pair.authority.builder.stats().full_entries, 1u);
  EXPECT_EQ(pair.authority.builder.stats().delta_entries, 1u);
}

TEST(LongStates, a_long_delta_builds_on_the_acked_state) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  ++pair.authority.state<Tome>(slot).reads;
  pair.settle();
  pair.client.log.take();
  write_text(pair.authority.state<Tome>(slot), 8000, 1);
  pair.settle();
  EXPECT_EQ(pair.client.log.take(), (Lines{"delta 1@2"}));
  EXPECT_TRUE(pair.same(slot));
  EXPECT_EQ(pair.authority.builder.stats().full_entries, 1u);
}

TEST(LongStates, others_get_three_quarters_of_the_budget_and_it_gets_the_rest) {
  constexpr uint32_t kBudget = 400;
  constexpr uint32_t kLamps = 300;
  Pair pair;
  std::vector<uint32_t> lamps;
  for (uint32_t i = 0; i < kLamps; ++i) lamps.push_back(pair.authority.spawn(pair.types.lamp()));
  while (pair.recipient.find(lamps.back(), pair.authority.store)->acked_version == 0) pair.settle(kBudget, 1);
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 10000, 5);
  Tick longest_wait = 0;
  uint32_t snapshots = 0;
  for (; snapshots < 300 && !pair.same(slot); ++snapshots) {
    for (const uint32_t lamp : lamps)
      pair.authority.state<Lamp>(lamp).level ^= static_cast<uint8_t>(1 + lamp % 15);
    for (const Pair::Sent& part : pair.send(kBudget)) pair.deliver(part);
    for (const uint32_t lamp : lamps) {
      const Tick sent = pair.recipient.find(lamp, pair.authority.store)->sent_tick;
      longest_wait = std::max(longest_wait, pair.authority.tick - sent);
    }
  }
  EXPECT_LE(snapshots, 10000u / (kBudget / 4 - 40) + 5);
  EXPECT_LE(longest_wait, 6u);
}

TEST(LongStates, leaving_drops_the_pieces_on_both_sides) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 5000, 2);
  const std::vector<Pair::Sent> parts = pair.send();
  for (size_t i = 0; i + 1 < parts.size(); ++i) pair.deliver(parts[i]);
  pair.recipient.leave(slot, 1);
  EXPECT_EQ(pair.recipient.longs().size(), 0u);
  pair.settle(0, 1);
  pair.deliver(parts.back());  // too late: the object is gone
  EXPECT_EQ(pair.client.mirror.size(), 0u);
  pair.recipient.enter(slot, 1);
  pair.settle();
  EXPECT_TRUE(pair.same(slot));
}

TEST(LongStates, pieces_of_an_earlier_stay_do_not_mix_with_those_of_a_new_one) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 5000, 2);
  const std::vector<Pair::Sent> first = pair.send();
  for (size_t i = 0; i + 1 < first.size(); ++i) pair.deliver(first[i]);
  pair.recipient.leave(slot, 1);
  pair.recipient.enter(slot, 1);  // before the client heard of it
  write_text(pair.authority.state<Tome>(slot), 5000, 9);
  const std::vector<Pair::Sent> second = pair.send();
  pair.deliver(second[0]);
  pair.deliver(first.back());
  EXPECT_EQ(pair.client.mirror.size(), 0u);
  for (size_t i = 1; i < second.size(); ++i) pair.deliver(second[i]);
  EXPECT_TRUE(pair.same(slot));
}

TEST(LongStates, a_short_state_of_a_new_stay_ends_the_pieces_of_the_old_one) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 5000, 2);
  const std::vector<Pair::Sent> first = pair.send();
  pair.deliver(first[0]);
  pair.recipient.leave(slot, 1);
  pair.recipient.enter(slot, 1);
  write_text(pair.authority.state<Tome>(slot), 10, 9);
  pair.settle();
  EXPECT_TRUE(pair.same(slot));
  for (size_t i = 1; i < first.size(); ++i) pair.deliver(first[i]);
  EXPECT_TRUE(pair.same(slot));
  EXPECT_EQ(pair.client.mirror.size(), 1u);
}

// It has no other removal (D-52). Eight of them would shut out every other state in pieces for good.
TEST(LongStates, a_placed_object_that_left_with_a_state_under_way_takes_no_place) {
  Pair pair({}, kMaxLongStates + 1);
  for (uint32_t slot = 0; slot < kMaxLongStates; ++slot) {
    write_text(pair.authority.state<Tome>(slot), 5000, slot);
    pair.authority.record();
    pair.recipient.enter(slot, slot + 1);
    const std::vector<Pair::Sent> parts = pair.send_recorded(400);
    ASSERT_NE(pair.recipient.longs().size(), 0u);
    for (const Pair::Sent& part : parts) pair.deliver(part);
    pair.recipient.leave(slot, slot + 1);
  }
  const uint32_t other = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(other), 5000, 99);
  EXPECT_LT(pair.settle(), 10u);
  EXPECT_TRUE(pair.same(other));
  EXPECT_EQ(pair.recipient.pending_removals(), 0u);
  EXPECT_EQ(pair.client.mirror.size(), kMaxLongStates + 2) << "the others stayed as they were";
  for (uint32_t slot = 0; slot < kMaxLongStates; ++slot) pair.recipient.enter(slot, slot + 1);
  pair.settle();
  for (uint32_t slot = 0; slot < kMaxLongStates; ++slot) EXPECT_TRUE(pair.same(slot)) << slot;
}

// Its pieces come late, or the removal does, or it is back before the client heard of it.
TEST(LongStates, a_placed_object_that_comes_and_goes_with_states_under_way_arrives) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    constexpr uint32_t kCount = kMaxLongStates + 4;
    Pair pair({}, kCount);
    std::deque<Pair::Sent> flying;
    const auto step = [&](uint32_t budget, double loss) {
      for (const Pair::Sent& part : pair.send_recorded(budget)) flying.push_back(part);
      while (flying.size() > 6) {
        const size_t which = random.next_below(4);
        const Pair::Sent part = flying[which];
        flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
        if (random.chance(loss)) {
          pair.lose(part);
        } else {
          pair.deliver(part);
        }
      }
    };
    for (int i = 0; i < 400; ++i) {
      const auto slot = static_cast<uint32_t>(random.next_below(kCount));
      if (random.chance(0.1))
        write_text(pair.authority.state<Tome>(slot), random.next_below(9000),
                   seed + static_cast<uint64_t>(i));
      pair.authority.record();
      if (!pair.recipient.in_set(slot) && pair.authority.store.version(slot) > 1) {
        pair.recipient.enter(slot, slot + 1);
      } else if (pair.recipient.in_set(slot) && random.chance(0.3)) {
        pair.recipient.leave(slot, slot + 1);
      }
      step(600, 0.1);
      ASSERT_FALSE(HasFailure());
    }
    for (uint32_t slot = 0; slot < kCount; ++slot) {
      if (pair.authority.store.version(slot) > 1) pair.recipient.enter(slot, slot + 1);
    }
    for (int i = 0; i < 600; ++i) {
      pair.authority.record();
      step(600, 0.0);
    }
    for (uint32_t slot = 0; slot < kCount; ++slot) EXPECT_TRUE(pair.same(slot)) << slot;
    EXPECT_EQ(pair.recipient.longs().size(), 0u);
  }
}

TEST(LongStates, many_objects_take_turns_in_the_places) {
  Pair pair;
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < 30; ++i) {
    slots.push_back(pair.authority.spawn(pair.types.tome()));
    write_text(pair.authority.state<Tome>(slots.back()), 3000, i);
  }
  std::vector<std::vector<Pair::Sent>> late;
  for (uint32_t snapshot = 0; snapshot < 60; ++snapshot) {
    late.push_back(pair.send());
    EXPECT_LE(pair.recipient.longs().size(), kMaxLongStates);
    if (snapshot < 4) continue;
    for (const Pair::Sent& part : late[snapshot - 4]) pair.deliver(part);
  }
  for (const uint32_t slot : slots) EXPECT_TRUE(pair.same(slot));
}

// Objects that leave while they are under way take their places until their removal is acked, and no part is
// refused whatever is lost.
TEST(LongStates, places_are_kept_for_what_the_client_may_hold) {
  Pair pair;
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < 24; ++i) {
    slots.push_back(pair.authority.spawn(pair.types.tome()));
    write_text(pair.authority.state<Tome>(slots.back()), 3000, i);
  }
  base::Random random(7);
  std::deque<Pair::Sent> flying;
  for (uint32_t tick = 0; tick < 600; ++tick) {
    const uint32_t slot = slots[random.next_below(24)];
    const bool inside = pair.recipient.in_set(slot);
    if (tick < 450 && inside && random.chance(0.3)) pair.recipient.leave(slot, slot + 1);
    if (!inside && (tick >= 450 || random.chance(0.6))) pair.recipient.enter(slot, slot + 1);
    for (Pair::Sent& part : pair.send(2500)) flying.push_back(std::move(part));
    while (flying.size() > 6) {
      const size_t which = random.next_below(3);
      random.chance(tick < 450 ? 0.2 : 0.0) ? pair.lose(flying[which]) : pair.deliver(flying[which]);
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (const uint32_t slot : slots) {
    if (!pair.recipient.in_set(slot)) pair.recipient.enter(slot, slot + 1);
  }
  while (!flying.empty()) {
    pair.deliver(flying.front());
    flying.pop_front();
  }
  for (int i = 0; i < 100; ++i) pair.settle(2500, 1);
  for (const uint32_t slot : slots) EXPECT_TRUE(pair.same(slot)) << slot;
}

TEST(LongStates, an_own_object_in_pieces_does_not_hold_confirmations_up) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome(), 3);
  write_text(pair.authority.state<Tome>(slot), 20000, 2);
  for (uint32_t snapshot = 0; snapshot < 5; ++snapshot) {
    for (const Pair::Sent& part : pair.send(1000)) {
      pair.deliver(part);
      EXPECT_EQ(pair.client.applier.header().confirms_own, snapshot != 0);
    }
  }
}

// Own states are sent until they are acked. A smaller budget begins none in pieces that is on its way.
TEST(LongStates, a_state_in_flight_does_not_begin_again_in_pieces) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.scroll(), 3);
  std::memset(pair.authority.state<test::Scroll>(slot).text, 'x', 500);
  const std::vector<Pair::Sent> whole = pair.send(1000);
  for (uint32_t i = 0; i < 3; ++i) {
    for (const Pair::Sent& part : pair.send(300)) pair.deliver(part);
    EXPECT_EQ(pair.recipient.longs().size(), 0u);
  }
  for (const Pair::Sent& part : whole) pair.lose(part);
  EXPECT_LE(pair.settle(300), 5u);
  EXPECT_TRUE(pair.same(slot));
}

// The state was sent twice. One was lost, so it begins in pieces, and then the other is acked: until the
// pieces are told, nothing else about the object is (D-55, D-56).
TEST(LongStates, a_late_ack_puts_no_entry_beside_the_pieces) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.scroll(), 3);
  std::memset(pair.authority.state<test::Scroll>(slot).text, 'x', 1000);
  const std::vector<Pair::Sent> first = pair.send(2000);
  const std::vector<Pair::Sent> second = pair.send(2000);
  ASSERT_EQ(pair.recipient.find(slot, pair.authority.store)->sends, 2u);
  for (const Pair::Sent& part : second) pair.lose(part);
  for (const Pair::Sent& part : pair.send(300)) pair.deliver(part);
  ASSERT_EQ(pair.recipient.longs().size(), 1u);
  for (const Pair::Sent& part : first) pair.deliver(part);
  for (uint32_t i = 0; i < 20; ++i) {
    for (const Pair::Sent& part : pair.send(300)) pair.deliver(part);
  }
  EXPECT_EQ(pair.recipient.longs().size(), 0u);
  EXPECT_TRUE(pair.same(slot));
}

TEST(LongStates, clients_that_go_give_the_pinned_states_back) {
  Pair pair;
  const uint32_t slot = pair.authority.spawn(pair.types.tome());
  write_text(pair.authority.state<Tome>(slot), 5000, 2);
  std::weak_ptr<const PinnedVersion> pinned;
  {
    ReplicaList other{ReplicaList::Config{}};
    other.enter(slot, 1);
    pair.authority.record();
    pair.authority.send(other, 300);
    pinned = other.longs().sends()[0].pinned;
    EXPECT_EQ(pinned.use_count(), 2);
  }
  EXPECT_EQ(pinned.use_count(), 1);  // the store's own
  EXPECT_EQ(pair.authority.store.pin(slot), pinned.lock());
}

// A client that acks nothing but pieces does not have everything pinned.
TEST(LongStates, the_oldest_baselines_go_where_there_are_many) {
  constexpr uint32_t kMore = 6, kStates = LongSends::kMostBaselines + kMore;
  LongSends sends;
  std::vector<std::weak_ptr<const PinnedVersion>> pinned;
  for (uint32_t index = 0; index < kStates; ++index) {
    LongSend& send = sends.begin();
    send.index = index;
    send.pinned = std::make_shared<PinnedVersion>();
    pinned.push_back(send.pinned);
    sends.complete(index);
  }
  for (uint32_t index = 0; index < kStates; ++index)
    EXPECT_EQ(pinned[index].expired(), index < kMore) << index;
}

// ---- Any sizes, budgets and losses ------------------------------------------------------------------

// Objects that change, that rest, that are in pieces, that come and that go, while ticks wrap (T-04).
TEST(LongStates, go_on_where_ticks_wrap) {
  Pair pair;
  pair.authority.tick = UINT32_MAX - 150;
  const uint32_t tome = pair.authority.spawn(pair.types.tome());
  std::vector<uint32_t> lamps;
  for (uint32_t i = 0; i < 40; ++i) lamps.push_back(pair.authority.spawn(pair.types.lamp()));
  std::deque<Pair::Sent> flying;
  base::Random random(4);
  for (uint32_t i = 0; i < 300; ++i) {
    if (i % 40 == 0) write_text(pair.authority.state<Tome>(tome), 6000, i);
    for (uint32_t k = 0; k < 30; ++k)
      pair.authority.state<Lamp>(lamps[k]).level ^= static_cast<uint8_t>(i % 16);
    if (i % 10 == 0) {
      pair.authority.despawn(lamps.back());
      lamps.back() = pair.authority.spawn(pair.types.lamp());
    }
    for (Pair::Sent& part : pair.send(600)) flying.push_back(std::move(part));
    while (flying.size() > 8) {
      random.chance(0.1) ? pair.lose(flying.front()) : pair.deliver(flying.front());
      flying.pop_front();
    }
  }
  EXPECT_EQ(pair.authority.tick, 150u);
  for (; !flying.empty(); flying.pop_front()) pair.deliver(flying.front());
  for (uint32_t i = 0; i < 60; ++i) pair.settle(600, 1);
  EXPECT_TRUE(pair.same(tome));
  for (const uint32_t slot : lamps) EXPECT_TRUE(pair.same(slot)) << slot;
  EXPECT_EQ(pair.client.mirror.size(), 41u);
}

class LongStateSoak : public testing::TestWithParam<uint64_t> {};

TEST_P(LongStateSoak, both_sides_hold_the_same_in_the_end) {
  base::Random random(GetParam());
  Pair pair;
  const double loss = 0.3 * random.next_unit();
  const auto budget = static_cast<uint32_t>(250 + random.next_below(4000));
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < 4; ++i) slots.push_back(pair.authority.spawn(pair.types.tome()));
  for (uint32_t i = 0; i < 8; ++i) slots.push_back(pair.authority.spawn(pair.types.lamp()));
  std::deque<std::pair<Tick, Pair::Sent>> flying;
  for (uint32_t tick = 0; tick < 400; ++tick) {
    const uint32_t slot = slots[random.next_below(slots.size())];
    if (slot >= slots[4]) {
      pair.authority.state<Lamp>(slot).level ^= 1;
    } else if (random.chance(0.5)) {
      ++pair.authority.state<Tome>(slot).reads;
    } else {
      write_text(pair.authority.state<Tome>(slot), random.next_below(random.chance(0.1) ? 60000 : 4000),
                 tick);
    }
    for (Pair::Sent& part : pair.send(budget)) {
      flying.push_back({tick + 3 + static_cast<Tick>(random.next_below(6)), std::move(part)});
    }
    for (size_t i = 0; i < flying.size();) {
      if (flying[i].first > tick) {
        ++i;
        continue;
      }
      random.chance(loss) ? pair.lose(flying[i].second) : pair.deliver(flying[i].second);
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (; !flying.empty(); flying.pop_front()) pair.deliver(flying.front().second);
  for (uint32_t i = 0;
       i < 2000 && !std::all_of(slots.begin(), slots.end(), [&](uint32_t s) { return pair.same(s); }); ++i) {
    pair.settle(budget, 1);
  }
  for (const uint32_t slot : slots) EXPECT_TRUE(pair.same(slot)) << slot;
}

INSTANTIATE_TEST_SUITE_P(Seeds, LongStateSoak, testing::Range<uint64_t>(1, 7));

// ---- Hostile pieces -----------------------------------------------------------------------------------

struct HostileRun {
  uint32_t slot = 2;
  uint32_t age = 0;
  uint32_t length = 3000;
  uint32_t first = 0;
  uint32_t count = 1;
  uint8_t fill = 0;
  uint8_t kind = 0x80;
  uint32_t entries = 1;
};

Bytes part_with(Tick tick, const std::vector<HostileRun>& runs) {
  Bytes bytes(1500);
  BitWriter out(bytes);
  out.WriteU32(tick);
  out.WriteByte(0);
  for (const HostileRun& run : runs) {
    out.WriteByte(run.kind);
    for (const uint32_t value : {run.entries, run.slot, run.age, run.length, run.first, run.count}) {
      out.WriteVarint(value);
    }
    const uint32_t end = std::min((run.first + run.count) * kPieceBytes, run.length);
    for (uint32_t i = run.first * kPieceBytes; i < end && out.bits_left() >= 8; ++i) out.WriteByte(run.fill);
  }
  const auto written = out.finish();
  return {written.begin(), written.end()};
}

struct HostilePieces : testing::Test {
  SnapshotRefusal refusal(Tick tick, const std::vector<HostileRun>& runs) {
    return client.apply(part_with(tick, runs)) == SnapshotApplier::Result::kRefused ? client.applier.refusal()
                                                                                    : SnapshotRefusal::kNone;
  }
  Types types;
  Client client{types};
};

TEST_F(HostilePieces, each_field_has_its_bounds) {
  EXPECT_EQ(refusal(10, {{.length = 0}}), SnapshotRefusal::kLongLength);
  EXPECT_EQ(refusal(10, {{.length = kMaxLongBytes + 1}}), SnapshotRefusal::kLongLength);
  EXPECT_EQ(refusal(10, {{.count = 0}}), SnapshotRefusal::kPieceRange);
  EXPECT_EQ(refusal(10, {{.length = 640, .first = 10}}), SnapshotRefusal::kPieceRange);
  EXPECT_EQ(refusal(10, {{.length = 640, .first = 9, .count = 2}}), SnapshotRefusal::kPieceRange);
  EXPECT_EQ(refusal(10, {{.first = UINT32_MAX, .count = UINT32_MAX}}), SnapshotRefusal::kPieceRange);
  EXPECT_EQ(refusal(10, {{.age = 10}}), SnapshotRefusal::kBaselineAge);  // tick 0
  EXPECT_EQ(refusal(10, {{.age = kMaxBaselineTicks + 1}}), SnapshotRefusal::kBaselineAge);
  EXPECT_EQ(refusal(10, {{.slot = slot_bound(8192)}}), SnapshotRefusal::kSlot);
  EXPECT_EQ(refusal(10, {{.kind = 0x90}}), SnapshotRefusal::kBlock);
  EXPECT_EQ(refusal(10, {{.kind = 0x81}}), SnapshotRefusal::kBlock);
  EXPECT_EQ(refusal(10, {{.entries = 2}}), SnapshotRefusal::kBlock);
  EXPECT_EQ(refusal(10, {{.kind = 0xA0}}), SnapshotRefusal::kBlock);
  EXPECT_EQ(refusal(10, {{.slot = 3}, {.slot = 3, .first = 1}}), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal(10, {{.length = kMaxLongBytes, .first = kMaxPieces - 1}}), SnapshotRefusal::kNone);
  EXPECT_EQ(refusal(10, {{.slot = 3, .age = 9, .length = 1}}), SnapshotRefusal::kMalformed);  // no state
  EXPECT_EQ(client.applier.refusals(SnapshotRefusal::kLongLength), 2u);
}

TEST_F(HostilePieces, every_truncation_is_refused) {
  const Bytes whole = part_with(10, {{.count = 3}});
  for (size_t length = 6; length < whole.size(); ++length) {
    EXPECT_EQ(client.apply(std::span(whole).first(length)), SnapshotApplier::Result::kRefused) << length;
  }
  EXPECT_EQ(client.apply(whole), SnapshotApplier::Result::kApplied);
}

TEST_F(HostilePieces, pieces_of_one_state_agree) {
  EXPECT_EQ(refusal(10, {{.count = 3}}), SnapshotRefusal::kNone);
  EXPECT_EQ(refusal(11, {{.age = 1, .first = 2, .count = 3}}),
            SnapshotRefusal::kNone);  // overlaps, and agrees
  EXPECT_EQ(refusal(12, {{.age = 2, .first = 4, .count = 2, .fill = 1}}), SnapshotRefusal::kPieceDiffers);
  EXPECT_EQ(refusal(12, {{.age = 2, .length = 3001, .first = 9}}), SnapshotRefusal::kLongLength);
  EXPECT_EQ(refusal(13, {{.age = 4, .length = 9, .fill = 1}}), SnapshotRefusal::kNone);     // late: ignored
  EXPECT_EQ(refusal(13, {{.age = 0, .length = 5000, .fill = 1}}), SnapshotRefusal::kNone);  // newer: replaces
  EXPECT_EQ(refusal(13, {{.age = 3, .length = 3001, .first = 9}}), SnapshotRefusal::kNone);  // late by now
}

TEST_F(HostilePieces, late_pieces_are_an_entry_for_their_slot_too) {
  EXPECT_EQ(refusal(13, {{.age = 0, .length = 5000}}), SnapshotRefusal::kNone);
  EXPECT_EQ(refusal(14, {{.age = 4, .length = 9}, {.age = 5, .length = 9}}), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal(14, {{.age = 4, .length = 9}, {.age = 1, .first = 1}}), SnapshotRefusal::kSlotTwice);
  EXPECT_EQ(refusal(14, {{.age = 4, .length = 9}}), SnapshotRefusal::kNone);
}

TEST_F(HostilePieces, states_that_never_complete_are_bounded) {
  for (uint32_t slot = 0; slot < kMaxLongStates; ++slot) {
    EXPECT_EQ(refusal(10, {{.slot = slot, .length = kMaxLongBytes}}), SnapshotRefusal::kNone);
  }
  EXPECT_EQ(refusal(10, {{.slot = 100}}), SnapshotRefusal::kTooManyLong);
  std::vector<HostileRun> many;
  for (uint32_t slot = 20; slot < 21 + kMaxLongStates; ++slot) many.push_back({.slot = slot, .length = 100});
  Client fresh(types);
  EXPECT_EQ(fresh.apply(part_with(10, many)), SnapshotApplier::Result::kRefused);
  many.pop_back();
  EXPECT_EQ(fresh.apply(part_with(10, many)), SnapshotApplier::Result::kApplied);
}

TEST_F(HostilePieces, the_whole_is_one_state_of_its_slot) {
  // kind, count, slot, and so on, of what the pieces are together
  const auto whole = [&](Bytes block, uint32_t slot) {
    Bytes part = {10, 0, 0, 0, 0, 0x80, 1, static_cast<uint8_t>(slot), 0, static_cast<uint8_t>(block.size()),
                  0,  1};
    part.insert(part.end(), block.begin(), block.end());
    return client.apply(part) == SnapshotApplier::Result::kRefused ? client.applier.refusal()
                                                                   : SnapshotRefusal::kNone;
  };
  const Bytes lamp = {0x20, 1, 2, 7, 0, 0x02, 0x40 | 0x01, 0xC0};
  EXPECT_EQ(whole({0x40, 1, 2, 0}, 2), SnapshotRefusal::kLongState);               // a removal
  EXPECT_EQ(whole({0x80, 1, 2, 0, 1, 0, 1, 0}, 2), SnapshotRefusal::kLongState);   // pieces of pieces
  EXPECT_EQ(whole({0x20, 2, 2, 99, 0, 0, 1, 0}, 2), SnapshotRefusal::kLongState);  // two, and none is read
  EXPECT_EQ(whole({0x00, 1, 5, 2, 0}, 2), SnapshotRefusal::kUnknownObject);
  EXPECT_EQ(whole({0x20, 1, 2, 99, 0, 0, 1, 0}, 2), SnapshotRefusal::kUnknownType);
  EXPECT_EQ(client.mirror.size(), 0u);
  EXPECT_EQ(client.log.take(), Lines{});
}

TEST_F(HostilePieces, a_refused_part_leaves_no_piece) {
  HostileRun bad{.slot = 3, .count = 0};
  EXPECT_EQ(refusal(10, {{.slot = 2}, bad}), SnapshotRefusal::kPieceRange);
  EXPECT_EQ(refusal(10, {{.slot = 2, .length = 100, .fill = 9}}), SnapshotRefusal::kNone);  // another length
}

}  // namespace
}  // namespace lattice::replication
