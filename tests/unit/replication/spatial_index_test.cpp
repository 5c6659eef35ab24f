// Both spatial indexes against a list that is searched whole, and their bounds of work and memory.
#include "replication/interest/spatial_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "replication/interest/interest_grid.h"
#include "replication/interest/interest_tree.h"

namespace lattice::replication {
namespace {

constexpr double kCell = 16.0;

struct Listed {
  uint16_t room;
  Place place;
};

class SpatialIndexTest : public testing::TestWithParam<std::string> {
 protected:
  SpatialIndexTest() { remake(); }

  void remake() {
    if (GetParam() == "grid") {
      index_ = std::make_unique<InterestGrid>(kCell);
    } else {
      index_ = std::make_unique<InterestTree>(kCell);
    }
    listed_.clear();
  }

  void insert(uint32_t slot, uint16_t room, Place place) {
    index_->insert(slot, room, place);
    listed_[slot] = {room, place};
  }
  void move(uint32_t slot, Place place) {
    index_->move(slot, place);
    listed_[slot].place = place;
  }
  void remove(uint32_t slot) {
    index_->remove(slot);
    listed_.erase(slot);
  }

  std::vector<uint32_t> found(uint16_t room, Place centre, double radius) {
    results_.clear();
    index_->query(room, {centre, 0, radius}, &results_, &work_);
    std::vector<uint32_t> slots;
    for (const Found& one : results_) slots.push_back(one.slot);
    std::sort(slots.begin(), slots.end());
    EXPECT_EQ(std::adjacent_find(slots.begin(), slots.end()), slots.end()) << "an object is listed twice";
    return slots;
  }

  /// An object within a millimetre of the sphere may be in or out: an index computes with floats.
  void expect_query_agrees(uint16_t room, Place centre, double radius) {
    const std::vector<uint32_t> slots = found(room, centre, radius);
    for (const auto& [slot, at] : listed_) {
      const bool is_found = std::binary_search(slots.begin(), slots.end(), slot);
      const double distance = std::sqrt(distance_squared(at.place, centre));
      if (at.room != room || distance > radius + 1e-3) {
        ASSERT_FALSE(is_found) << slot;
      } else if (distance < radius - 1e-3) {
        ASSERT_TRUE(is_found) << slot << " at " << distance;
      }
    }
    for (const uint32_t slot : slots) ASSERT_TRUE(listed_.contains(slot));
  }

  Place random_place(double reach) {
    const auto axis = [&] { return (random_.next_unit() * 2 - 1) * reach; };
    return {axis(), axis() / 8, axis()};
  }

  std::unique_ptr<SpatialIndex> index_;
  std::map<uint32_t, Listed> listed_;
  std::vector<Found> results_;
  IndexWork work_;
  base::Random random_{7};
};

TEST_P(SpatialIndexTest, AgreesWithASearchOfEverything) {
  for (uint32_t step = 0; step < 4000; ++step) {
    const auto slot = static_cast<uint32_t>(random_.next_below(600));
    const bool present = listed_.contains(slot);
    const double reach = step % 7 == 0 ? 2000.0 : 150.0;
    if (!present) {
      insert(slot, static_cast<uint16_t>(slot % 3), random_place(reach));
    } else if (random_.next_below(4) == 0) {
      remove(slot);
    } else if (random_.next_below(2) == 0) {
      move(slot, random_place(reach));
    } else {
      Place near = listed_[slot].place;
      near.x += 0.7;
      move(slot, near);
    }
    if (step % 20 == 0) {
      expect_query_agrees(static_cast<uint16_t>(step % 3), random_place(200.0), 5.0 + step % 300);
    }
  }
  while (!listed_.empty()) remove(listed_.begin()->first);
  EXPECT_TRUE(found(0, {}, 1e5).empty());
}

TEST_P(SpatialIndexTest, AShellLeavesOutItsCore) {
  for (uint32_t slot = 0; slot < 400; ++slot) insert(slot, 0, {slot * 1.0, 0, 0});
  results_.clear();
  work_ = {};
  index_->query(0, {{}, 200.5, 210.5}, &results_, &work_);
  EXPECT_EQ(results_.size(), 10u);
  for (const Found& one : results_) EXPECT_TRUE(one.slot > 200 && one.slot <= 210) << one.slot;
  EXPECT_LT(work_.objects_visited, 100u);
}

TEST_P(SpatialIndexTest, ARoomNeverVisitsAnother) {
  for (uint32_t slot = 0; slot < 2000; ++slot) {
    insert(slot, static_cast<uint16_t>(slot % 100), random_place(50.0));
  }
  work_ = {};
  EXPECT_EQ(found(17, {}, 1000.0).size(), 20u);
  EXPECT_EQ(work_.objects_visited, 20u);
  EXPECT_TRUE(found(100, {}, 1000.0).empty());
}

TEST_P(SpatialIndexTest, CostDoesNotFollowTheWorld) {
  IndexWork of_small;
  for (const uint32_t count : {64u, 4096u, 16384u}) {
    remake();
    for (uint32_t slot = 0; slot < 64; ++slot) {
      insert(slot, 0, {static_cast<double>(slot % 8) * 5, 0, static_cast<double>(slot / 8) * 5});
    }
    for (uint32_t slot = 64; slot < count; ++slot) {
      insert(slot, 0, {1000.0 + slot % 128 * 5.0, 0, 1000.0 + slot / 128 * 5.0});
    }
    work_ = {};
    EXPECT_EQ(found(0, {17, 0, 17}, 60.0).size(), 64u);
    if (count == 64) of_small = work_;
    EXPECT_EQ(work_.objects_visited, of_small.objects_visited);
    EXPECT_LE(work_.buckets_probed, of_small.buckets_probed + 8 * InterestTree::kMaxDepth);
  }
}

TEST_P(SpatialIndexTest, PlacesOutsideTheLimitsCostNoMemory) {
  PlaceLimits limits(kCell);
  for (uint32_t slot = 0; slot < 5000; ++slot) {
    Place wild{slot % 2 == 0 ? 1e12 : -1e300, static_cast<double>(slot) * 1e9,
               slot % 3 == 0 ? std::numeric_limits<double>::infinity() : 0.0};
    ASSERT_TRUE(limits.admit(&wild));
    insert(slot, 0, wild);
  }
  EXPECT_EQ(limits.stats().clamped, 5000u);
  Place corner{1e12, 1e12, 0};
  limits.admit(&corner);
  EXPECT_FALSE(found(0, corner, 1.0).empty());
  expect_query_agrees(0, {0, 0, 0}, 1000.0);
}

TEST_P(SpatialIndexTest, OneCrowdedPlaceIsFoundWhole) {
  for (uint32_t slot = 0; slot < 20000; ++slot) insert(slot, 0, {3, 4, 5});
  EXPECT_EQ(found(0, {3, 4, 5}, 0.5).size(), 20000u);
  EXPECT_TRUE(found(0, {3, 4, 8}, 0.5).empty());
  for (uint32_t slot = 0; slot < 20000; ++slot) remove(slot);
  EXPECT_TRUE(found(0, {3, 4, 5}, 0.5).empty());
}

INSTANTIATE_TEST_SUITE_P(Both, SpatialIndexTest, testing::Values("grid", "tree"),
                         [](const auto& one) { return one.param; });

TEST(PlaceLimits, RefusesWhatIsNotANumber) {
  PlaceLimits limits(1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Place place : {Place{nan, 0, 0}, Place{0, nan, 0}, Place{0, 0, nan}}) {
    EXPECT_FALSE(limits.admit(&place));
  }
  EXPECT_EQ(limits.stats().refused, 3u);
  Place fine{limits.reach(), -limits.reach(), 0};
  EXPECT_TRUE(limits.admit(&fine));
  EXPECT_EQ(limits.stats().clamped, 0u);
}

TEST(InterestGrid, MemoryFollowsObjectsNotTheWorld) {
  InterestGrid grid(1.0);
  for (uint32_t slot = 0; slot < 256; ++slot) grid.insert(slot, 0, {slot * 100.0, 0, slot * -100.0});
  EXPECT_EQ(grid.cell_count(), 256u);
  // Every object walks through a thousand cells that nobody was in before.
  for (uint32_t step = 0; step < 1000; ++step) {
    for (uint32_t slot = 0; slot < 256; ++slot) grid.move(slot, {slot * 100.0, step * 2.0, 0});
  }
  EXPECT_EQ(grid.cell_count(), 256u);
  EXPECT_LE(grid.block_count(), 257u);
}

TEST(InterestGrid, AHugeRadiusCostsNoMoreThanTheCells) {
  InterestGrid grid(1.0);
  for (uint32_t slot = 0; slot < 50; ++slot) grid.insert(slot, 0, {slot * 300.0, slot * 20.0, 0});
  std::vector<Found> found;
  IndexWork work;
  grid.query(0, {{}, 0, 30000.0}, &found, &work);
  EXPECT_EQ(found.size(), 50u);
  EXPECT_EQ(work.buckets_probed, 50u);
}

TEST(InterestTree, AnEmptiedTreeUsesItsNodesAgain) {
  InterestTree tree(1.0);
  size_t nodes = 0;
  for (uint32_t round = 0; round < 5; ++round) {
    for (uint32_t slot = 0; slot < 3000; ++slot)
      tree.insert(slot, 0, {slot % 50 * 2.0, slot / 50 * 2.0, 1.0});
    if (round == 0) nodes = tree.node_count();
    EXPECT_EQ(tree.node_count(), nodes);
    for (uint32_t slot = 0; slot < 3000; ++slot) tree.remove(slot);
  }
}

TEST(InterestTree, ToAndFroOverAnEdgeChangesNoNode) {
  InterestTree tree(1.0);
  for (uint32_t slot = 0; slot < 200; ++slot) tree.insert(slot, 0, {slot % 10 * 8.0, slot / 10 * 8.0, 0});
  const size_t nodes = tree.node_count();
  for (int i = 0; i < 100; ++i) tree.move(5, {40.0 + (i % 2 == 0 ? 0.4 : -0.4), 0, 0});
  EXPECT_EQ(tree.node_count(), nodes);
}

}  // namespace
}  // namespace lattice::replication
