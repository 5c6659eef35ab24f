#include "replication/interest/interest_members.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace lattice::replication {
namespace {

TEST(InterestMembers, FindsEveryMemberAfterRandomChanges) {
  InterestMembers members;
  std::set<uint32_t> model;
  base::Random random(3);
  for (int step = 0; step < 20000; ++step) {
    const auto slot = static_cast<uint32_t>(random.next_below(step < 10000 ? 600 : 40));
    ASSERT_EQ(members.find(slot) != nullptr, model.contains(slot));
    if (model.contains(slot)) {
      ASSERT_EQ(members.find(slot)->generation, slot % InterestMember::kGenerations);
      members.remove(slot);
      model.erase(slot);
    } else {
      members.add(slot, Hold::kDistance).generation = slot % InterestMember::kGenerations;
      model.insert(slot);
    }
  }
  ASSERT_EQ(members.size(), model.size());
  for (const uint32_t slot : model) ASSERT_NE(members.find(slot), nullptr);
  std::set<uint32_t> visited;
  members.for_each(
      [&](const InterestMember& member) { ASSERT_TRUE(visited.insert(member.slot).second) << member.slot; });
  EXPECT_EQ(visited, model);
}

TEST(InterestMembers, RoomFor300Takes5BytesEachAndIsEnough) {
  InterestMembers members;
  members.reserve(300);
  const size_t bytes = members.heap_bytes();
  EXPECT_LE(bytes, 5 * 300u + 8);
  for (uint32_t slot = 0; slot < 300; ++slot) members.add(slot * 7, Hold::kPinned);
  EXPECT_EQ(members.heap_bytes(), bytes);
}

}  // namespace
}  // namespace lattice::replication
