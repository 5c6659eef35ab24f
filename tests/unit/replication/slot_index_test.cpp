#include "replication/slot_index.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace lattice::replication {
namespace {

TEST(SlotIndex, finds_every_slot_after_random_changes) {
  SlotIndex index;
  std::map<uint32_t, uint32_t> model;
  base::Random random(5);
  for (int step = 0; step < 30000; ++step) {
    const uint64_t range = step < 15000 ? 900 : 40;  // grows, and then has many free indexes
    const auto slot = static_cast<uint32_t>(random.next_below(range) * 1024);  // low bits say nothing
    const auto known = model.find(slot);
    ASSERT_EQ(index.find(slot), known == model.end() ? SlotIndex::kNone : known->second);
    if (known != model.end()) {
      index.remove(slot);
      model.erase(known);
    } else {
      model[slot] = index.add(slot);
    }
  }
  ASSERT_EQ(index.size(), model.size());
  for (const auto& [slot, place] : model) {
    EXPECT_EQ(index.find(slot), place) << "an index stays";
    EXPECT_EQ(index.slot(place), slot);
  }
  uint32_t live = 0;
  for (const uint32_t slot : index.slots()) live += slot < SlotIndex::kFree ? 1 : 0;
  EXPECT_EQ(live, model.size());
}

TEST(SlotIndex, an_index_that_became_free_is_the_next) {
  SlotIndex index;
  for (uint32_t slot = 0; slot < 5; ++slot) EXPECT_EQ(index.add(10 * slot), slot);
  index.remove(20);
  index.remove(0);
  EXPECT_EQ(index.find(20), SlotIndex::kNone);
  EXPECT_GE(index.slot(2), SlotIndex::kFree);
  EXPECT_EQ(index.add(7), 0u);
  EXPECT_EQ(index.add(8), 2u);
  EXPECT_EQ(index.add(9), 5u);
}

TEST(SlotIndex, a_search_for_what_is_not_there_ends) {
  SlotIndex index;
  for (uint32_t slot = 0; slot < 12; ++slot) index.add(slot);  // three quarters of the first cells
  for (uint32_t slot = 12; slot < 5000; ++slot) ASSERT_EQ(index.find(slot), SlotIndex::kNone);
  EXPECT_EQ(index.find(SlotIndex::kNone), SlotIndex::kNone);
}

TEST(SlotIndex, room_for_300_slots_takes_10_bytes_each_and_is_enough) {
  SlotIndex index;
  index.reserve(300);
  const size_t bytes = index.heap_bytes();
  EXPECT_LE(bytes, 300u * 10);
  for (uint32_t slot = 0; slot < 300; ++slot) index.add(7 * slot);
  EXPECT_EQ(index.heap_bytes(), bytes);
}

}  // namespace
}  // namespace lattice::replication
