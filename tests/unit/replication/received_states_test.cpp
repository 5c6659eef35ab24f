#include "replication/received_states.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "allocation_counter.h"
#include "base/random.h"
#include "replication/keep_ticks.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {
namespace {

uint32_t drawn_count(const ReceivedStates& states) {
  uint32_t count = 0;
  while (states.draws(count)) ++count;
  return count;
}

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

uint64_t allocations_of(auto&& run) {
  const uint64_t before = lattice::test::allocation_count();
  run();
  return lattice::test::allocation_count() - before;
}

// 30 snapshots a second, a round trip of 200 ms, a part with keep every third of a second.
void receive_like_a_client(ReceivedStates& states, Tick from, Tick to) {
  for (Tick tick = from; tick <= to; tick += 2) {
    states.draft();
    ASSERT_NE(states.insert(tick, tick % 20 == 0, 2), nullptr);
    states.forget_before(tick - 12, tick);
  }
}

TEST(ReceivedStates, an_object_that_moves_takes_its_memory_with_its_first_states) {
  ReceivedStates states;
  states.reset(8);
  EXPECT_EQ(allocations_of([&] { receive_like_a_client(states, 100, 108); }), 1u);
  EXPECT_EQ(allocations_of([&] { receive_like_a_client(states, 110, 6000); }), 0u);
}

TEST(ReceivedStates, grows_once_more_for_a_client_that_is_not_heard) {
  ReceivedStates states;
  states.reset(8);
  receive_like_a_client(states, 100, 1000);
  const auto unheard = [&](Tick from) {
    for (Tick tick = from; tick < from + 200; ++tick) states.insert(tick, tick % 20 == 0);
  };
  EXPECT_EQ(allocations_of([&] { unheard(1001); }), 1u);
  EXPECT_EQ(allocations_of([&] { unheard(1201); }), 0u);
}

TEST(ReceivedStates, memory_serves_the_next_object) {
  ReceivedStates states;
  states.reset(8);
  receive_like_a_client(states, 100, 1000);
  for (const uint32_t words : {8u, 3u, 8u}) {
    EXPECT_EQ(allocations_of([&] { states.reset(words); }), 0u) << words;
    EXPECT_EQ(allocations_of([&] { receive_like_a_client(states, 100, 1000); }), 0u) << words;
  }
  EXPECT_EQ(allocations_of([&] { states.reset(100); }), 0u) << "few long states";
  EXPECT_EQ(allocations_of([&] { states.reset(200); }), 1u) << "longer ones";
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
    EXPECT_EQ(*words, tick - late) << "the draft may have moved";
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

Tick held_until(const ReceivedStates& states, uint32_t newer = 0) {
  return states.held_state(newer).until;
}

TEST(ReceivedStates, a_state_holds_at_its_own_tick_or_until_it_is_said) {
  ReceivedStates states;
  states.reset(1);
  states.rest(5);  // of no state
  states.insert(10, false, 2);
  EXPECT_EQ(held_until(states), 10u);
  states.rest(14);
  states.rest(13);
  EXPECT_EQ(held_until(states), 14u);
  states.insert(42, false,
                2);  // the rest was said once, and is true until one snapshot before the next state
  EXPECT_EQ(held_until(states), 42u);
  EXPECT_EQ(held_until(states, 1), 40u);
  states.insert(44, false, 2);
  EXPECT_EQ(held_until(states, 1), 42u) << "nobody said that it rested";
}

TEST(ReceivedStates, a_contradicted_rest_is_forgotten) {
  for (const bool keep : {false, true}) {
    ReceivedStates states;
    states.reset(1);
    states.insert(10, false, 2);
    states.rest(40);
    states.insert(20, keep, 2);
    EXPECT_EQ(held_until(states, 1), 10u);
  }
}

// What is attached to something that moves is sent again with it, and the network may turn round what
// follows.
TEST(ReceivedStates, a_state_that_was_sent_again_before_its_rest_was_said_rests_too) {
  for (const bool differs : {false, true}) {  // in what travels once
    ReceivedStates states;
    states.reset(1);
    *states.insert(100, false) = 7;
    states.rest(110);
    *states.draft() = differs ? 8 : 7;
    states.insert(104, false);
    EXPECT_EQ(states.newest_tick(), 104u);
    EXPECT_EQ(states.newest_until(), 110u);
    states.draft();
    states.insert(102, false);
    EXPECT_EQ(states.newest_until(), 110u) << "a later state in between says nothing";
    states.draft();
    states.insert(120, false, 2);
    EXPECT_EQ(states.held_state(1).until, 118u) << "until one snapshot before it moved";
  }
}

// The older states lie apart, and end all the same where a state begins that comes late into the ring.
// Validation builds see it: every insert() looks for states that overlap.
TEST(ReceivedStates, a_late_state_ends_the_rest_of_an_older_one) {
  ReceivedStates states;
  states.reset(1);
  *states.insert(100, true) = 1;
  states.rest(110);
  for (Tick tick = 121; tick < 160; ++tick) {
    states.draft();
    states.insert(tick, false);
    states.forget_before(tick - 1, tick + 100);
  }
  ASSERT_LT(states.held(), 33u) << "the ring has made room, and 100 is among the older ones";
  Word* late = states.insert(105, false);
  ASSERT_NE(late, nullptr) << "between the older ones and the ring";
  states.insert(160, true);
  ASSERT_NE(states.find(100), nullptr);
  EXPECT_EQ(*states.find(100), 1u);
}

TEST(ReceivedStates, a_late_state_is_drawn_in_its_place) {
  ReceivedStates states;
  states.reset(1);
  for (const Tick tick : {10u, 14u, 12u}) *states.insert(tick, false, 2) = tick;
  ASSERT_EQ(drawn_count(states), 3u);
  for (uint32_t newer = 0; newer < 3; ++newer) {
    EXPECT_EQ(states.held_state(newer).tick, 14 - 2 * newer);
    EXPECT_EQ(*states.held_state(newer).words, 14 - 2 * newer);
  }
}

TEST(ReceivedStates, the_newest_sixteen_can_be_drawn_whatever_was_let_go) {
  ReceivedStates states;
  states.reset(1);
  for (Tick tick = 100; tick <= 1000; tick += 2) {
    *states.insert(tick, false, 2) = tick;
    states.forget_before(tick, tick + 1000);
    const uint32_t drawn = std::min<uint32_t>((tick - 100) / 2 + 1, kDrawnStates);
    ASSERT_GE(drawn_count(states), drawn);
    for (uint32_t newer = 0; newer < drawn; ++newer) {
      ASSERT_EQ(states.held_state(newer).tick, tick - 2 * newer);
      ASSERT_EQ(*states.held_state(newer).words, tick - 2 * newer);
    }
    ASSERT_LE(states.held(), 54u);
  }
}

TEST(ReceivedStates, what_is_drawn_begins_with_the_stay) {
  ReceivedStates states;
  states.reset(1);
  states.insert(10, false);
  states.insert(20, false);
  states.begin_stay(25);
  states.insert(40, false);
  EXPECT_EQ(drawn_count(states), 1u);
  states.insert(30, false);
  EXPECT_EQ(drawn_count(states), 2u);
  states.insert(15, false);
  EXPECT_EQ(drawn_count(states), 2u);
  EXPECT_NE(states.find(20), nullptr) << "still a baseline";
}

TEST(ReceivedStates, ticks_of_any_size_can_be_drawn) {
  ReceivedStates states;
  states.reset(1);
  states.insert(0x90000000u, false);
  EXPECT_EQ(drawn_count(states), 1u);
}

TEST(ReceivedStates, ageing_keeps_what_is_drawn) {
  ReceivedStates states;
  states.reset(1);
  states.insert(10, false);
  states.rest(12);
  for (Tick oldest = 1u << 30; oldest != 0; oldest += 1u << 30) states.age(oldest);  // once round
  ASSERT_EQ(drawn_count(states), 1u);
  EXPECT_EQ(held_until(states), states.newest_tick());
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
              // No || in RC_ASSERT: it evaluates both sides.
              const bool is_refused = states.find(tick) == nullptr || states.insert(tick, keep) == nullptr;
              RC_ASSERT(is_refused);
              continue;
            }
            model[tick] = keep;
            if (Word* words = states.insert(tick, keep)) *words = tick;
            uint32_t newest = 0;
            uint32_t kept = 0;
            for (const auto& [t, k] : model) {
              const bool must = newest++ < kBaselineSends || (k && kept < kKeptStates);
              kept += k ? 1 : 0;
              const Word* found = states.find(t);
              const bool is_there = found != nullptr && *found == t;
              if (must) RC_ASSERT(is_there);
            }
            RC_ASSERT(states.held() <= kBaselineSends + kKeptStates);
          }
          base += ascend ? 3 : 0;
        }
      }));
}

// A record of an object that is gone serves the next one, which may be of another type.
TEST(ReceivedStates, memory_is_that_of_the_type_whichever_type_was_there_before) {
  constexpr uint32_t kLarge = 10'000, kSmall = 2;
  const auto move = [](ReceivedStates& states, uint32_t count) {
    for (Tick tick = 100; tick < 100 + count; ++tick) {
      states.draft();
      states.insert(tick, false);
    }
  };
  ReceivedStates fresh, used;
  fresh.reset(kSmall);
  used.reset(kLarge);
  used.reset(kSmall);
  EXPECT_EQ(used.memory_bytes(), fresh.memory_bytes());
  move(used, 60);
  const size_t moved_bytes = used.memory_bytes();
  used.reset(kSmall + 1);
  EXPECT_GE(used.memory_bytes(), moved_bytes) << "a small one gets as many cells";
  fresh.reset(kLarge);
  used.reset(kLarge);
  EXPECT_EQ(used.memory_bytes(), fresh.memory_bytes()) << "four states, not as many as the small one had";
}

}  // namespace
}  // namespace lattice::replication
