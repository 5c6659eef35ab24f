// Objects that a client does not hold yet: how many come at once, and what they leave to the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/random.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

// What joins or spawns at once comes in several snapshots, so that no pump of either side is long. The
// client's own does not wait, nor does what was passed over before.
TEST(Newcomers, of_a_snapshot_are_bounded) {
  constexpr uint32_t kMost = SnapshotBuilder::kMostNewObjects, kObjects = 2 * kMost + 100;
  constexpr uint64_t kPeer = 9;
  Types types;
  Authority authority(types, {}, kObjects + 2);
  ReplicaList::Config config;
  config.max_objects = kObjects + 2;
  config.peer_id = kPeer;
  ReplicaList recipient{config};
  authority.recipients.push_back(&recipient);
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < kObjects; ++i) slots.push_back(authority.spawn(types.lamp()));
  const auto held = [&](uint32_t slot) { return recipient.find(slot, authority.store)->held; };
  const auto count_held = [&] {
    return static_cast<uint32_t>(std::count_if(slots.begin(), slots.end(), held));
  };
  const auto send = [&] {
    authority.tick += 2;
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) recipient.on_receipt(part.receipt, true);
  };
  send();
  EXPECT_EQ(count_held(), kMost);
  const uint32_t own = authority.spawn(types.lamp(), kPeer);
  const uint32_t late = authority.spawn(types.lamp());
  send();
  EXPECT_TRUE(held(own));
  EXPECT_FALSE(held(late));
  EXPECT_EQ(count_held() + 1, 2 * kMost);
  send();
  EXPECT_EQ(count_held(), kObjects);
  EXPECT_TRUE(held(late));
}

// A client shows twice as many objects as a world has at most, and ends the connection over one more.
TEST(Newcomers, wait_while_the_client_may_hold_twice_the_most) {
  constexpr uint32_t kMost = 20;
  Types types;
  Authority authority(types, {}, kMost);
  ReplicaList::Config config;
  config.max_objects = kMost;
  ReplicaList recipient{config};
  authority.recipients.push_back(&recipient);
  base::Random random(1);
  std::vector<uint32_t> live;
  std::deque<uint32_t> receipts;  // the client hears of nothing: nothing is acked
  for (int i = 0; i < 200; ++i) {
    while (live.size() > kMost / 2) {
      const size_t at = random.next_below(live.size());
      authority.despawn(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    while (live.size() < kMost) live.push_back(authority.spawn(types.lamp()));
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) receipts.push_back(part.receipt);
    ++authority.tick;
    uint32_t held = recipient.pending_removals();
    for (const uint32_t slot : live) held += recipient.find(slot, authority.store)->held ? 1u : 0u;
    ASSERT_LE(held, 2 * kMost) << i;
    ASSERT_EQ(recipient.room_for_new(), 2 * kMost - held);
  }
  EXPECT_EQ(recipient.room_for_new(), 0u);
  Client client(types);
  for (int i = 0; i < 40; ++i) {
    for (; !receipts.empty(); receipts.pop_front()) recipient.on_receipt(receipts.front(), false);
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) {
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      recipient.on_receipt(part.receipt, true);
    }
    ++authority.tick;
  }
  EXPECT_EQ(recipient.pending_removals(), 0u);
  for (const uint32_t slot : live) EXPECT_NE(recipient.find(slot, authority.store)->acked_version, 0u);
}

// Newcomers have three quarters of the budget between them while what the client has changes too.
TEST(Newcomers, in_a_storm_stop_nobody) {
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{}};
  authority.recipients.push_back(&recipient);
  Client client(types);
  const uint32_t mover = authority.spawn(types.actor());
  uint32_t longest = 0, since = 0, sends = 0;
  const auto send = [&] {
    authority.state<Body>(mover).position[0] = static_cast<float>(++sends % 90);
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient, 100)) {
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      recipient.on_receipt(part.receipt, true);
    }
    since = recipient.find(mover, authority.store)->sent_tick == authority.tick ? 0 : since + 1;
    longest = std::max(longest, since);
    authority.tick += 2;
  };
  for (int i = 0; i < 10; ++i) send();
  longest = 0;
  for (int i = 0; i < 1500; ++i) authority.spawn(types.actor());
  const uint32_t storm = authority.table.size();
  while (client.mirror.size() < storm) {
    ASSERT_LT(sends, 2000u) << "the newcomers come too";
    send();
  }
  EXPECT_GT(sends, 60u) << "it was a storm";
  EXPECT_LE(longest, 2u) << "snapshots without the one that moves";
}

}  // namespace
}  // namespace lattice::replication::test
