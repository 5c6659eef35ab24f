// An object that leaves a client's set and comes back, and the calls on it (D-35): what a call before has to
// do with the next stay.
#include "interest_pair.h"

namespace lattice::test::return_test {
namespace {

void set_room(InterestPair& pair, lattice_netid object, uint16_t room) {
  lattice_object_interest interest;
  lattice_object_interest_init(&interest);
  interest.room = room;
  ASSERT_EQ(lattice_object_set_interest(pair.server(), object, &interest), LATTICE_OK)
      << lattice_last_error();
}

// Shown again before the client said that it is gone, the object begins a new stay at the client, and at the
// server it had never left.
TEST(Return, what_was_called_before_does_not_hold_it_when_it_leaves_again) {
  constexpr uint32_t kStepMs = 15;
  for (uint32_t hidden = 1; hidden <= 8; ++hidden) {
    for (uint32_t shown = 1; shown <= 8; ++shown) {
      InterestPair pair;
      const lattice_netid object = pair.spawn_at(5);
      ASSERT_TRUE(pair.connect()) << lattice_last_error();
      pair.run(300);
      ASSERT_EQ(pair.poke(object), LATTICE_OK) << lattice_last_error();
      pair.run(300);
      ASSERT_EQ(pair.heard, (Lines{spawned(object), poked(object)}));
      set_room(pair, object, 1);
      pair.run(hidden * kStepMs);
      set_room(pair, object, 0);
      pair.run(shown * kStepMs);
      const bool destroys = (hidden + shown) % 2 != 0;
      if (destroys) {
        EXPECT_EQ(lattice_despawn(pair.server(), object), LATTICE_OK);
      } else {
        set_room(pair, object, 1);
      }
      pair.run(400);
      EXPECT_FALSE(pair.client_has(object)) << "hidden for " << hidden << ", shown for " << shown;
    }
  }
}

// The call arrives before the removal or after it.
TEST(Return, a_call_that_was_dropped_does_not_stand_for_a_later_one) {
  for (uint32_t dark_ms = 0; dark_ms <= 100; dark_ms += 10) {
    InterestPair pair;
    const lattice_netid object = pair.spawn_at(5);
    set_room(pair, object, 1);
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    pair.run(300);
    pair.cut(true);  // called in the set, and hidden before a state arrives
    set_room(pair, object, 0);
    pair.run(50);
    ASSERT_EQ(pair.poke(object), LATTICE_OK) << lattice_last_error();
    pair.run(20);
    set_room(pair, object, 1);
    pair.run(dark_ms);
    pair.cut(false);
    pair.run(3000);
    ASSERT_EQ(pair.heard, Lines()) << "the call was dropped";
    set_room(pair, object, 0);
    pair.run(500);
    ASSERT_EQ(pair.heard, Lines{spawned(object)});
    ASSERT_EQ(pair.poke(object), LATTICE_OK) << lattice_last_error();
    pair.cut(true);
    pair.run(20);  // its packet is lost, and the removal is not
    pair.cut(false);
    EXPECT_EQ(lattice_despawn(pair.server(), object), LATTICE_OK);
    pair.run(1000);
    EXPECT_EQ(pair.heard, (Lines{spawned(object), poked(object), "destroyed " + std::to_string(object)}))
        << "dark for " << dark_ms << " ms more";
  }
}

}  // namespace
}  // namespace lattice::test::return_test
