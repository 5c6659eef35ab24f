// Thousands of objects go at once: what their removals and their states cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

// An authority names many objects of a large type, and removes each at once.
TEST(ManyRemovals, leave_bounded_memory_at_the_client) {
  constexpr uint32_t kObjects = 3500;
  using Result = SnapshotApplier::Result;
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{.peer_id = 9}};
  authority.recipients.push_back(&recipient);
  Client wide(types);
  std::vector<std::vector<uint8_t>> late;  // deltas, on their way when their objects are removed
  const auto send = [&] {
    authority.tick += 2;
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient)) {
      EXPECT_EQ(wide.apply(part.bytes), Result::kApplied);
      recipient.on_receipt(part.receipt, true);
    }
  };
  for (uint32_t round = 0; round < 2; ++round) {
    std::vector<uint32_t> slots;
    for (uint32_t i = 0; i < kObjects; ++i) slots.push_back(authority.spawn(types.scroll(), 9));
    while (wide.mirror.size() != kObjects) send();
    for (const uint32_t slot : slots) authority.state<Scroll>(slot).text[0] = 'x';
    authority.tick += 2;
    authority.record();
    late.clear();
    for (const SnapshotPart& part : authority.send(recipient)) {
      late.push_back(copy(part.bytes));
      recipient.on_receipt(part.receipt, false);
    }
    for (const uint32_t slot : slots) authority.despawn(slot);
    while (wide.mirror.size() != 0) send();
    EXPECT_LE(wide.applier.spare_bytes(), SnapshotApplier::kMostSpareBytes);
    EXPECT_GT(wide.applier.spare_bytes(), SnapshotApplier::kMostSpareBytes / 4);
    uint32_t stale = 0;
    for (const std::vector<uint8_t>& part : late) {
      const Result result = wide.apply(part);
      EXPECT_NE(result, Result::kRefused) << snapshot_refusal_name(wide.applier.refusal());
      stale += result == Result::kStale ? 1u : 0u;
    }
    EXPECT_GT(stale, 0u);
    EXPECT_LT(stale, late.size());
    for (int i = 0; i < 40; ++i) send();  // the slots come free
  }
}

// A pawn takes most of a small budget, and many objects are to be dropped.
TEST(ManyRemovals, do_not_take_the_turns_of_states) {
  Types types;
  Authority authority(types);
  ReplicaList recipient{ReplicaList::Config{.peer_id = 9}};
  authority.recipients.push_back(&recipient);
  std::vector<uint32_t> leave, stay;
  for (int i = 0; i < 600; ++i) leave.push_back(authority.spawn(types.lamp()));
  for (int i = 0; i < 8; ++i) stay.push_back(authority.spawn(types.lamp()));
  const uint32_t own = authority.spawn(types.actor(), 9);
  Client client(types);
  const auto send = [&](uint32_t budget) {
    for (const uint32_t slot : stay)
      authority.state<Lamp>(slot).level = static_cast<uint8_t>(authority.tick / 2 % 16);
    authority.state<Body>(own).position[0] = static_cast<float>(authority.tick % 90);
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient, budget)) {
      EXPECT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      recipient.on_receipt(part.receipt, true);
    }
    authority.tick += 2;
  };
  for (int i = 0; i < 10; ++i) send(0);
  for (const uint32_t slot : leave) authority.despawn(slot);
  Tick oldest = 0;
  uint32_t sends = 0;
  for (; recipient.pending_removals() != 0 && sends < 200; ++sends) {
    send(40);
    for (const uint32_t slot : stay) {
      Tick tick = 0;
      client.applier.confirmed(client.mirror.find(authority.table.network_id(slot)), &tick);
      oldest = std::max(oldest, (authority.tick - tick) / 2);
    }
  }
  EXPECT_GT(sends, 20u);
  EXPECT_LT(sends, 200u);
  EXPECT_LE(oldest, 10u) << "snapshots";
}

}  // namespace
}  // namespace lattice::replication::test
