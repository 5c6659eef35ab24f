// A tick-aligned call waits for the state of its tick, and no longer: also on an object that does not change
// (D-25).
#include "interest_pair.h"

namespace lattice::test::aligned_call_test {
namespace {

// Each way 20 ms, a snapshot in 34 ms, and what pumping each 5 ms adds. The wait ends after 500 ms.
constexpr uint32_t kSoonMs = 100;
constexpr uint32_t kWaitMs = 500;

/// How long a call of now takes; kWaitMs or more when it waited in vain.
uint32_t time_to_hear(InterestPair& pair, lattice_netid object) {
  EXPECT_EQ(pair.poke_in_time(object), LATTICE_OK) << lattice_last_error();
  const size_t before = pair.heard.size();
  uint32_t ms = 0;
  for (; pair.heard.size() == before && ms < 2 * kWaitMs; ms += 5) pair.run(5);
  EXPECT_EQ(pair.heard.back(), poked_in_time(object));
  return ms;
}

uint32_t seen(InterestPair& pair, lattice_netid object) {
  Thing thing{};
  EXPECT_NE(lattice_object_confirmed(pair.client(), object, 0, &thing, sizeof thing, nullptr), 0u)
      << lattice_last_error();
  return thing.tick;
}

/// Both sides place the object with the key 1.
void place(InterestPair& pair) {
  const Thing state = {{5, 0}, 0};
  const void* states[] = {&state};
  for (lattice_world* world : {pair.server(), pair.client()}) {
    ASSERT_EQ(lattice_place(world, 1, kThingType, states, 1), LATTICE_OK) << lattice_last_error();
  }
}

class AlignedCall : public testing::TestWithParam<lattice_interest_kind> {};

TEST_P(AlignedCall, comes_with_the_next_snapshot_where_nothing_changes) {
  InterestPair pair(GetParam());
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const lattice_netid object = pair.spawn_at(5);
  for (const uint32_t rest_ms : {100u, 300u, 2000u, 20000u}) {
    pair.run(rest_ms);
    EXPECT_LE(time_to_hear(pair, object), kSoonMs) << "after " << rest_ms << " ms of rest";
    EXPECT_LE(time_to_hear(pair, object), kSoonMs) << "right after another";
  }
}

TEST_P(AlignedCall, comes_with_the_next_snapshot_for_an_object_as_it_was_placed) {
  InterestPair pair(GetParam());
  place(pair);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const lattice_netid object = lattice_placed(pair.server(), 1);
  pair.run(2000);
  EXPECT_LE(time_to_hear(pair, object), kSoonMs);
  EXPECT_LE(time_to_hear(pair, object), kSoonMs);
  pair.write(object, 5, 1);
  pair.run(2000);
  EXPECT_LE(time_to_hear(pair, object), kSoonMs);
}

TEST_P(AlignedCall, is_said_again_when_that_is_lost) {
  InterestPair pair(GetParam());
  place(pair);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  pair.run(40);
  const lattice_netid object = lattice_placed(pair.server(), 1);
  ASSERT_EQ(pair.poke_in_time(object), LATTICE_OK) << lattice_last_error();
  pair.cut(true);
  pair.run(60);
  pair.cut(false);
  for (uint32_t ms = 0; pair.heard.empty() && ms < kWaitMs; ms += 5) pair.run(5);
  EXPECT_EQ(pair.heard, Lines{poked_in_time(object)});
  EXPECT_LE(time_to_hear(pair, object), kSoonMs);
}

// No entry names a state of so long ago (D-15): the state goes once more.
TEST(AlignedCallAfterHours, comes_as_soon_as_after_seconds) {
  constexpr uint32_t kRateHz = 128;
  constexpr uint32_t kMs = (1u << 20) / kRateHz * 1000;
  InterestPair pair(LATTICE_INTEREST_NONE, 0, nullptr, {.rate_hz = kRateHz});
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const lattice_netid object = pair.spawn_at(5);
  pair.run(kMs + kMs / 10);
  EXPECT_LE(time_to_hear(pair, object), kSoonMs);
  EXPECT_LE(time_to_hear(pair, object), kSoonMs);
}

// What is said to rest may have changed in the tick of the call, and the change may be lost.
TEST_P(AlignedCall, does_not_overtake_the_state_of_its_tick) {
  InterestPair pair(GetParam());
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const lattice_netid object = pair.spawn_at(5);
  pair.run(500);
  pair.lose(20);
  uint32_t soon = 0;
  constexpr uint32_t kCalls = 100;
  for (uint32_t i = 1; i <= kCalls; ++i) {
    const bool changes = i % 2 == 0;
    if (changes) pair.write(object, 5, i);
    pair.run(20);  // a tick: the call is of one that has the change
    const uint32_t ms = time_to_hear(pair, object);
    EXPECT_TRUE(ms >= kWaitMs || seen(pair, object) >= i - i % 2) << "after " << ms << " ms";
    soon += ms < kWaitMs ? 1u : 0u;
    pair.run(5 * (i % 50));
  }
  EXPECT_GT(soon, kCalls * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(kinds, AlignedCall, testing::Values(LATTICE_INTEREST_NONE, LATTICE_INTEREST_GRID));

}  // namespace
}  // namespace lattice::test::aligned_call_test
