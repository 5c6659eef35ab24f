#include "replication/changed_groups.h"

#include <gtest/gtest.h>

namespace lattice::replication {
namespace {

TEST(ChangedGroups, mark_what_changed_since_a_place) {
  ChangeLog log;
  log.reserve(64);
  ChangedGroups changed(log);
  for (const uint32_t slot : {3u, 40u, 3u, 1000u}) log.add(slot);
  const ChangedGroups::Changes& all = changed.since(0);
  ASSERT_EQ(all.groups.size(), 3u);
  EXPECT_EQ(all.groups[0].mask, 1u << 3);
  for (const uint32_t slot : {3u, 40u, 1000u}) EXPECT_TRUE(all.holds(slot));
  for (const uint32_t slot : {2u, 41u, 999u, 1001u, UINT32_MAX}) EXPECT_FALSE(all.holds(slot));
  const ChangedGroups::Changes& later = changed.since(3);
  EXPECT_FALSE(later.holds(3));
  EXPECT_TRUE(later.holds(1000));
}

TEST(ChangedGroups, name_what_changed_after_a_rest) {
  ChangeLog log;
  log.reserve(64);
  ChangedGroups changed(log);
  for (const uint32_t slot : {7u, 9u, 7u, 30u}) log.add(slot, slot != 9);
  EXPECT_EQ(changed.since(0).woken, (std::vector<uint32_t>{7, 7, 30}));
  EXPECT_EQ(changed.since(3).woken, (std::vector<uint32_t>{30}));
  EXPECT_EQ(log.at(0), 7u);
}

TEST(ChangedGroups, an_answer_that_makes_way_leaves_no_marks) {
  ChangeLog log;
  log.reserve(64);
  ChangedGroups changed(log);
  for (uint32_t slot = 0; slot < 40; ++slot) {
    log.add(slot);
    const ChangedGroups::Changes& one = changed.since(slot);
    for (uint32_t other = 0; other < 40; ++other) EXPECT_EQ(one.holds(other), other == slot);
  }
}

}  // namespace
}  // namespace lattice::replication
