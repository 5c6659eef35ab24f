// A client's own objects go first, and leave room to the others: whatever they take, every entry that waits
// is sent within a bounded number of snapshots (C-04, C-05).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support/seed_share.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

constexpr uint64_t kPeer = 9;
constexpr uint32_t kTextBytes = 1300;

/// A client with own actors, of which each changes in each tick.
struct OwnFirst {
  OwnFirst() { authority.recipients.push_back(&recipient); }
  void own(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) owned.push_back(authority.spawn(types.actor(), kPeer));
  }
  uint32_t scroll(size_t length) {
    const uint32_t slot = authority.spawn(types.scroll());
    write(slot, length);
    return slot;
  }
  void write(uint32_t slot, size_t length) {
    Scroll& scroll = authority.state<Scroll>(slot);
    std::memset(scroll.text, 0, sizeof scroll.text);
    for (size_t i = 0; i < length; ++i) scroll.text[i] = static_cast<char>('a' + random.next_below(26));
  }
  /// Each own actor changes about so many of its coordinates.
  void move(uint32_t coordinates) {
    for (const uint32_t slot : owned) {
      Body& body = authority.state<Body>(slot);
      for (uint32_t i = 0; i < coordinates; ++i) {
        (i < 3 ? body.position[i] : body.velocity[i - 3]) = static_cast<float>(random.next_unit() * 45);
      }
    }
  }
  void send(uint32_t budget) {
    authority.record();
    size_t bytes = 0;
    for (const SnapshotPart& part : authority.send(recipient, budget)) {
      bytes += part.bytes.size();
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied)
          << snapshot_refusal_name(client.applier.refusal());
      confirmed += client.applier.header().confirms_own ? 1u : 0u;
      recipient.on_receipt(part.receipt, true);
    }
    EXPECT_LE(bytes, budget);
    authority.tick += 2;
  }
  bool has(uint32_t slot) const { return client.mirror.find(authority.table.network_id(slot)) != kNoSlot; }
  /// How old the client's state of an object is, in snapshots.
  Tick age(uint32_t slot) const {
    Tick tick = 0;
    client.applier.confirmed(client.mirror.find(authority.table.network_id(slot)), &tick);
    return (authority.tick - tick) / 2;
  }

  Types types;
  base::Random random{1};
  Authority authority{types};
  ReplicaList recipient{ReplicaList::Config{.peer_id = kPeer}};
  Client client{types};
  std::vector<uint32_t> owned;
  uint32_t confirmed = 0;  // parts that said that all own objects are as told
};

// Alone, it fits the budget; beside the own actor it does not.
TEST(OwnFirst, an_entry_that_fits_alone_is_not_shut_out) {
  for (size_t length = 100; length <= 150; ++length) {
    SCOPED_TRACE(length);
    OwnFirst world;
    world.own(1);
    world.move(6);
    world.send(160);
    const uint32_t waits = world.scroll(length);
    for (uint32_t i = 0; i < 12 && !world.has(waits); ++i) {
      world.move(6);
      world.send(160);
    }
    EXPECT_TRUE(world.has(waits));
  }
}

// They are more than what select() passes over before it gives up.
TEST(OwnFirst, entries_that_do_not_fit_do_not_shut_out_those_behind_them) {
  constexpr size_t kLength = 124;
  OwnFirst world;
  world.own(1);
  world.move(6);
  world.send(160);
  std::vector<uint32_t> waiting;
  for (uint32_t i = 0; i < 2 * 9; ++i) waiting.push_back(world.scroll(kLength));
  for (uint32_t i = 0; i < 30; ++i) {
    world.move(6);
    world.send(160);
  }
  std::vector<uint32_t> lamps;
  for (uint32_t i = 0; i < 20; ++i) lamps.push_back(world.authority.spawn(world.types.lamp()));
  for (uint32_t i = 0; i < 20; ++i) {
    for (const uint32_t slot : waiting) world.write(slot, kLength);
    world.move(6);
    world.send(160);
  }
  for (const uint32_t slot : lamps) EXPECT_TRUE(world.has(slot)) << slot;
  for (uint32_t i = 0; i < 60; ++i) {
    world.move(6);
    world.send(160);
  }
  for (const uint32_t slot : waiting) EXPECT_TRUE(world.has(slot)) << slot;
}

// Only what a client predicts must be corrected at once.
TEST(OwnFirst, what_a_client_predicts_goes_before_what_else_it_owns) {
  OwnFirst world;
  world.own(1);
  std::vector<uint32_t> cargo;
  for (uint32_t i = 0; i < 24; ++i) cargo.push_back(world.authority.spawn(world.types.scroll(), kPeer));
  for (uint32_t i = 0; i < 100; ++i) {
    for (const uint32_t slot : cargo) world.write(slot, 24);
    world.move(3);
    world.send(160);
    EXPECT_LE(world.age(world.owned[0]), 1u) << i;
  }
  for (const uint32_t slot : cargo) EXPECT_LE(world.age(slot), 60u) << slot;
}

// Half of this budget has no room for a piece, and the own objects take more than the other half leaves.
TEST(OwnFirst, a_state_in_pieces_is_not_shut_out) {
  for (const uint32_t budget : {100u, 128u, 160u, 181u}) {
    SCOPED_TRACE(budget);
    OwnFirst world;
    world.own(6);
    const uint32_t waits = world.scroll(400);
    for (uint32_t i = 0; i < 80; ++i) {
      world.move(4);
      world.send(budget);
    }
    EXPECT_TRUE(world.has(waits));
    for (const uint32_t slot : world.owned) EXPECT_LE(world.age(slot), 12u);
  }
}

TEST(OwnFirst, own_objects_are_told_in_three_of_four_snapshots) {
  constexpr size_t kLength = 124;
  OwnFirst world;
  world.own(1);
  std::vector<uint32_t> others;
  for (uint32_t i = 0; i < 6; ++i) others.push_back(world.scroll(kLength));
  uint32_t told = 0;
  for (uint32_t i = 0; i < 400; ++i) {
    for (const uint32_t slot : others) world.write(slot, kLength);
    world.move(6);
    world.send(160);
    told += world.has(world.owned[0]) && world.age(world.owned[0]) == 1 ? 1u : 0u;
  }
  EXPECT_GE(told, 290u);
  for (const uint32_t slot : others) EXPECT_LE(world.age(slot), 40u);
}

class OwnFirstAnySize : public testing::TestWithParam<uint64_t> {};

// Budgets, what own objects take of them, and entries around what that leaves; some change all the time.
TEST_P(OwnFirstAnySize, every_entry_is_sent_soon) {
  for (uint64_t seed = 40 * GetParam(); seed < 40 * GetParam() + lattice::test::share_of_seeds(40); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    OwnFirst world;
    world.random = base::Random(seed);
    const auto draw = [&](uint64_t bound) { return static_cast<uint32_t>(world.random.next_below(bound)); };
    const uint32_t budget = 128 + draw(draw(2) == 0 ? 200 : 1400);
    world.own(1 + draw(1 + budget / 100));
    const uint32_t most_moved = 1 + draw(6);
    std::vector<uint32_t> others;
    std::vector<size_t> lengths;
    const uint32_t count = 1 + draw(20);
    for (uint32_t i = 0; i < count; ++i) {
      // Around the budget, or around what own objects leave.
      lengths.push_back(std::min(budget - draw(draw(2) == 0 ? 60 : budget / 2), kTextBytes));
      others.push_back(world.scroll(lengths.back()));
    }
    std::vector<uint32_t> lamps;
    std::vector<uint32_t> late(others.size());
    for (uint32_t i = 0; i < 400; ++i) {
      if (i == 40) {
        for (uint32_t k = 0; k < 10; ++k) lamps.push_back(world.authority.spawn(world.types.lamp()));
      }
      world.move(1 + draw(most_moved));
      for (size_t k = 0; k < others.size(); k += 2) world.write(others[k], lengths[k]);
      world.send(budget);
    }
    for (const uint32_t slot : lamps) EXPECT_TRUE(world.has(slot)) << slot;
    for (size_t k = 0; k < others.size(); ++k) {
      ASSERT_TRUE(world.has(others[k])) << "length " << lengths[k] << " budget " << budget;
      if (k % 2 == 0) {
        EXPECT_LE(world.age(others[k]), 200u) << "length " << lengths[k] << " budget " << budget;
      }
    }
    EXPECT_GT(world.confirmed, 100u);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OwnFirstAnySize, testing::Range<uint64_t>(0, 5));

}  // namespace
}  // namespace lattice::replication::test
