// Under a budget that is too small for all, a change of a member with a priority is sent before others.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test::member_priority_test {
namespace {

struct Ship {
  uint32_t place;
  uint32_t hull;
};

serialization::Layout ship_layout(float hull_priority) {
  std::vector<lattice_member_desc> members = {member("place", LATTICE_WIRE_UINT32, offsetof(Ship, place)),
                                              member("hull", LATTICE_WIRE_UINT32, offsetof(Ship, hull))};
  members[1].priority = hull_priority;
  return layout_of_members<Ship>("Ship", members);
}

/// 120 ships move with every snapshot, and there is room for some 20. With each snapshot the hull of one more
/// changes. Of every tenth part the client says that it is lost. Returns how many snapshots a hull waits on
/// average, and in `place_waits` how many a place waits at most.
double mean_wait_of_hulls(float hull_priority, uint32_t* place_waits) {
  constexpr uint32_t kShips = 120, kSnapshots = 600, kBudget = 70;
  const serialization::Layout layout = ship_layout(hull_priority);
  TypeTable table;
  const ObjectType& ship = *table.add(50, layout);
  const Types types;
  Authority authority(types);
  ReplicaList recipient(ReplicaList::Config{2});
  authority.recipients.push_back(&recipient);
  base::Random random(7);
  std::vector<uint32_t> slots, sent_at(kShips);
  for (uint32_t i = 0; i < kShips; ++i) slots.push_back(authority.spawn(ship));
  std::map<uint32_t, uint32_t> hull_since;  // by ship: the snapshot of its change, while that was not sent
  uint64_t waits = 0, arrived = 0;
  *place_waits = 0;
  for (uint32_t n = 0; n < kSnapshots; ++n) {
    authority.tick += 2;
    for (const uint32_t slot : slots) ++authority.state<Ship>(slot).place;
    const auto hit = static_cast<uint32_t>(random.next_below(kShips));
    ++authority.state<Ship>(slots[hit]).hull;
    hull_since.try_emplace(hit, n);
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient, kBudget)) {
      recipient.on_receipt(part.receipt, random.next_below(10) != 0);
    }
    for (uint32_t i = 0; i < kShips; ++i) {
      if (recipient.find(slots[i], authority.store)->sent_tick != authority.tick) {
        if (n > 100) *place_waits = std::max(*place_waits, n - sent_at[i]);
        continue;
      }
      sent_at[i] = n;
      const auto since = hull_since.find(i);
      if (since == hull_since.end()) continue;
      if (n > 100) waits += n - since->second, ++arrived;
      hull_since.erase(since);
    }
  }
  EXPECT_GT(arrived, 300u);
  return static_cast<double>(waits) / static_cast<double>(arrived);
}

TEST(MemberPriority, sends_urgent_changes_first_and_starves_nobody) {
  uint32_t longest = 0, longest_hurried = 0;
  const double usual = mean_wait_of_hulls(1, &longest);
  const double hurried = mean_wait_of_hulls(100, &longest_hurried);
  EXPECT_GT(usual, 2.0) << "the budget is no budget";
  EXPECT_LT(hurried, usual / 3);
  EXPECT_LT(longest_hurried, 2 * longest);
}

/// 400 ships move with every snapshot, and there is room for a few, so each waits longer than its history
/// lasts. Ten have a long name beside. Returns how many snapshots one of those waits at most.
uint32_t longest_wait_of_large(float never_changing_priority) {
  constexpr uint32_t kShips = 400, kSnapshots = 800, kBudget = 120;
  const serialization::Layout layout = ship_layout(never_changing_priority);
  const Types types;
  TypeTable table;
  const ObjectType& ship = *table.add(50, layout);
  Authority authority(types, {}, 4096, 8);
  ReplicaList recipient(ReplicaList::Config{2});
  authority.recipients.push_back(&recipient);
  std::vector<uint32_t> large, slots;
  for (uint32_t i = 0; i < kShips; ++i) slots.push_back(authority.spawn(ship));
  for (uint32_t i = 0; i < 10; ++i) large.push_back(authority.spawn(types.actor()));
  std::map<uint32_t, uint32_t> sent_at;
  uint32_t longest = 0;
  for (uint32_t n = 0; n < kSnapshots; ++n) {
    authority.tick += 2;
    for (const uint32_t slot : slots) ++authority.state<Ship>(slot).place;
    for (const uint32_t slot : large) {
      std::snprintf(authority.state<Soul>(slot, 1).name, 13, "%u", n);
    }
    authority.record();
    for (const SnapshotPart& part : authority.send(recipient, kBudget))
      recipient.on_receipt(part.receipt, true);
    for (const uint32_t slot : large) {
      if (recipient.find(slot, authority.store)->sent_tick == authority.tick) sent_at[slot] = n;
      if (n > 100) longest = std::max(longest, n - sent_at[slot]);
    }
  }
  return longest;
}

TEST(MemberPriority, of_a_member_that_never_changes_hurries_nobody_beyond_the_history) {
  const uint32_t usual = longest_wait_of_large(1);
  EXPECT_GT(usual, 8u) << "they wait no longer than the history";
  EXPECT_LT(longest_wait_of_large(1000), 2 * usual);
}

}  // namespace
}  // namespace lattice::replication::test::member_priority_test
