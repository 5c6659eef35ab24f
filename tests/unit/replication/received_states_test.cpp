#include "replication/received_states.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "replication/keep_ticks.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {
namespace {

TEST(ReceivedStates, keeps_states_of_any_order_and_their_words) {
  ReceivedStates states;
  states.reset(2);
  EXPECT_TRUE(states.empty());
  for (const Tick tick : {10u, 14u, 12u, 11u}) {
    Word* words = states.insert(tick, false);
    ASSERT_NE(words, nullptr);
    words[0] = tick, words[1] = tick * 2;
  }
  EXPECT_EQ(states.insert(12, false), nullptr) << "the tick is already there";
  EXPECT_EQ(states.held(), 4u);
  EXPECT_EQ(states.newest_tick(), 14u);
  EXPECT_EQ(states.newest()[1], 28u);
  EXPECT_EQ(states.find(12)[1], 24u);
  EXPECT_EQ(states.find(13), nullptr);
  EXPECT_EQ(states.find(9), nullptr);
  EXPECT_EQ(states.find(15), nullptr);
}

TEST(ReceivedStates, is_bounded_and_drops_the_oldest) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 1; tick <= 1000; ++tick) *states.insert(tick, false) = tick;
  EXPECT_LE(states.held(), kBaselineSends + kKeptStates);
  for (Tick tick = 1000; tick > 1000 - kBaselineSends; --tick) EXPECT_EQ(*states.find(tick), tick);
  EXPECT_EQ(states.find(1000 - kBaselineSends - kKeptStates), nullptr);
  EXPECT_EQ(states.insert(2, false), nullptr);
}

TEST(ReceivedStates, states_of_parts_with_keep_outlive_the_others) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 1; tick <= 1010; ++tick) *states.insert(tick, tick % 50 == 0) = tick;
  for (Tick tick = 1000; tick > 1000 - 50 * kKeptStates; tick -= 50) {
    ASSERT_NE(states.find(tick), nullptr) << tick;
    EXPECT_EQ(*states.find(tick), tick);
  }
  EXPECT_EQ(states.find(1000 - 50 * kKeptStates), nullptr);
}

TEST(ReceivedStates, a_late_state_does_not_push_out_a_newer_one_with_keep) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 2; tick < 2 + kKeptStates; ++tick) *states.insert(tick, true) = tick;
  Word* late = states.insert(1, true);  // the 17th newest
  if (late != nullptr) *late = 1;
  for (Tick tick = 100; tick < 300; ++tick) *states.insert(tick, false) = tick;
  for (Tick tick = 2; tick < 2 + kKeptStates; ++tick) EXPECT_NE(states.find(tick), nullptr) << tick;
}

TEST(ReceivedStates, a_late_state_with_keep_does_not_push_out_one_of_the_newest) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 1; tick <= kKeptStates; ++tick) *states.insert(tick * 2, true) = tick;
  for (Tick tick = 101; tick <= 100 + kBaselineSends; ++tick) *states.insert(tick, false) = tick;
  states.insert(99, true);
  EXPECT_NE(states.find(101), nullptr);
}

TEST(ReceivedStates, forgets_what_a_named_baseline_made_useless) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 100; tick <= 140; ++tick) *states.insert(tick, tick == 104) = tick;
  states.forget_before(120, 130);
  EXPECT_EQ(states.find(113), nullptr);
  EXPECT_NE(states.find(114), nullptr) << "16 ticks behind, and no more";
  EXPECT_NE(states.find(104), nullptr) << "of a part with keep";
  states.forget_before(120, 500);
  EXPECT_EQ(states.find(119), nullptr);
  EXPECT_NE(states.find(120), nullptr);
  states.forget_before(1000, 5000);
  EXPECT_EQ(states.find(139), nullptr);
  EXPECT_EQ(*states.find(140), 140u) << "the newest stays";
  EXPECT_EQ(*states.find(104), 104u);
}

TEST(ReceivedStates, memory_stays_small_while_baselines_move_on) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 100; tick <= 5000; ++tick) {
    *states.insert(tick, tick % 19 == 0) = tick;
    states.forget_before(tick - 6, tick);
    ASSERT_LE(states.held(), 54u);
    for (Tick late = tick; late > 100 && late + kLateBaselineTicks >= tick; --late) {
      ASSERT_EQ(*states.find(late), late);
    }
  }
}

TEST(ReceivedStates, a_draft_becomes_the_state_that_is_inserted) {
  ReceivedStates states;
  states.reset(1);
  base::Random random(7);
  for (Tick tick = 100; tick <= 1000; ++tick) {
    const Tick late = random.chance(0.3) ? static_cast<Tick>(random.next_below(20)) : 0;
    Word* draft = states.draft();
    *draft = tick - late;
    if (states.find(tick - late) != nullptr) {
      EXPECT_EQ(states.insert(tick - late, false), nullptr);
      EXPECT_EQ(states.draft(), draft) << "it was not needed";
      continue;
    }
    Word* words = states.insert(tick - late, random.chance(0.1));
    if (words == nullptr) continue;
    EXPECT_EQ(words, draft);
    EXPECT_EQ(*states.find(tick - late), tick - late);
  }
}

TEST(ReceivedStates, orders_across_the_wrap_of_ticks) {
  ReceivedStates states;
  states.reset(1);
  *states.insert(3, false) = 2;
  *states.insert(0xFFFFFFFEu, true) = 1;
  EXPECT_EQ(states.newest_tick(), 3u);
  EXPECT_EQ(*states.find(0xFFFFFFFEu), 1u);
  states.forget_before(3, 0x40);
  EXPECT_NE(states.find(0xFFFFFFFEu), nullptr);
}

TEST(ReceivedStates, ageing_moves_the_newest_state_forward) {
  ReceivedStates states;
  states.reset(1);
  for (const Tick tick : {10u, 20u, 30u}) *states.insert(tick, false) = tick;
  states.age(25);
  EXPECT_EQ(states.held(), 1u);
  EXPECT_EQ(states.newest_tick(), 30u);
  states.age(1000);
  EXPECT_EQ(states.newest_tick(), 1000u);
  EXPECT_EQ(*states.newest(), 30u);
}

TEST(ReceivedStates, serves_another_object_after_a_reset) {
  ReceivedStates states;
  states.reset(3);
  for (Tick tick = 1; tick <= 200; ++tick) states.insert(tick, tick % 7 == 0)[2] = tick;
  for (const uint32_t words : {5u, 1u}) {
    states.reset(words);
    EXPECT_TRUE(states.empty());
    for (Tick tick = 1; tick <= 200; ++tick) states.insert(tick, tick % 9 == 0)[words - 1] = tick;
    for (Tick tick = 200; tick > 200 - kBaselineSends; --tick) EXPECT_EQ(states.find(tick)[words - 1], tick);
  }
}

// D-26, in any order of arrival and with any ticks in parts with keep.
TEST(ReceivedStates, the_newest_64_and_16_with_keep_are_always_here) {
  EXPECT_TRUE(rc::check(
      "received states keep what they must", [](const std::vector<uint16_t>& arrivals, bool ascend) {
        ReceivedStates states;
        states.reset(1);
        std::map<Tick, bool, std::greater<>> model;  // what came, newest first
        Tick base = 1;
        for (const uint16_t arrival : arrivals) {
          for (Tick i = 0; i < 4; ++i) {
            const Tick tick = base + (arrival + i * 37) % 97;
            const bool keep = (arrival + i) % 3 == 0;
            if (model.count(tick) != 0) {
              RC_ASSERT(states.find(tick) == nullptr || states.insert(tick, keep) == nullptr);
              continue;
            }
            model[tick] = keep;
            if (Word* words = states.insert(tick, keep)) *words = tick;
            uint32_t newest = 0;
            uint32_t kept = 0;
            for (const auto& [t, k] : model) {
              const bool must = newest++ < kBaselineSends || (k && kept < kKeptStates);
              kept += k ? 1 : 0;
              if (must) RC_ASSERT(states.find(t) != nullptr && *states.find(t) == t);
            }
            RC_ASSERT(states.held() <= kBaselineSends + kKeptStates);
          }
          base += ascend ? 3 : 0;
        }
      }));
}

}  // namespace
}  // namespace lattice::replication
