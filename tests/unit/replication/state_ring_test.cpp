#include "replication/state_ring.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace lattice::replication {
namespace {

TEST(StateRing, keeps_ascending_ticks_and_their_words) {
  StateRing ring;
  ring.reset(2, 8);
  for (const Tick tick : {10u, 14u, 12u, 11u}) {
    serialization::Word* words = ring.insert(tick);
    ASSERT_NE(words, nullptr);
    words[0] = tick, words[1] = tick * 2;
  }
  EXPECT_EQ(ring.insert(12), nullptr);
  ASSERT_EQ(ring.size(), 4u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_LT(ring.tick(i), ring.tick(i + 1));
  EXPECT_EQ(ring.find(12)[1], 24u);
  EXPECT_EQ(ring.find(13), nullptr);
  EXPECT_EQ(ring.at_or_before(13), 2);
  EXPECT_EQ(ring.at_or_before(9), -1);
}

TEST(StateRing, drops_the_oldest_at_its_bound_and_refuses_older) {
  StateRing ring;
  ring.reset(1, 4);
  for (Tick tick = 1; tick <= 6; ++tick) *ring.insert(tick) = tick;
  EXPECT_EQ(ring.size(), 4u);
  EXPECT_EQ(ring.tick(0), 3u);
  EXPECT_EQ(ring.insert(2), nullptr);
  EXPECT_EQ(*ring.find(3), 3u);
}

TEST(StateRing, orders_across_the_wrap_of_ticks) {
  StateRing ring;
  ring.reset(1, 4);
  *ring.insert(0xFFFFFFFEu) = 1;
  *ring.insert(3) = 2;
  EXPECT_EQ(*ring.find(0xFFFFFFFEu), 1u);
  EXPECT_EQ(ring.at_or_before(1), 0);
  EXPECT_EQ(ring.at_or_before(4), 1);
}

TEST(StateRing, agrees_with_a_map) {
  EXPECT_TRUE(rc::check("state ring is a bounded map", [](const std::vector<uint8_t>& ticks) {
    StateRing ring;
    ring.reset(1, 16);
    std::map<Tick, serialization::Word> model;
    serialization::Word value = 0;
    for (const uint8_t t : ticks) {
      const Tick tick = t + 1u;
      const bool room = model.size() < 16 || tick > model.begin()->first;
      const bool expected = room && model.count(tick) == 0;
      serialization::Word* words = ring.insert(tick);
      RC_ASSERT((words != nullptr) == expected);
      if (!expected) continue;
      if (model.size() == 16) model.erase(model.begin());
      *words = model[tick] = ++value;
    }
    RC_ASSERT(ring.size() == model.size());
    for (const auto& [tick, expected] : model) RC_ASSERT(*ring.find(tick) == expected);
  }));
}

}  // namespace
}  // namespace lattice::replication
