// A sleeping object: the authority does not step it, clients have it, and a write wakes it.
#include "interest_pair.h"

namespace lattice::test::sleep_test {
namespace {

size_t stepped(lattice_world* world) {
  return lattice_simulated_objects(world, kThingType, nullptr, 0);
}

TEST(Sleep, a_sleeping_object_is_not_stepped_until_it_is_written) {
  InterestPair pair;
  const lattice_netid object = pair.spawn_at(5);
  pair.spawn_at(6);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  ASSERT_EQ(lattice_object_sleep(pair.server(), object), LATTICE_OK) << lattice_last_error();
  EXPECT_EQ(stepped(pair.server()), 1u);
  EXPECT_EQ(lattice_objects(pair.server(), kThingType, nullptr, 0), 2u);
  pair.run(300);
  EXPECT_EQ(pair.heard.size(), 2u) << "a client that joins gets it";
  EXPECT_NE(lattice_object_read(pair.server(), object, 0), nullptr);
  EXPECT_EQ(stepped(pair.server()), 1u) << "a read wakes nothing";

  pair.write(object, 7, 77);
  EXPECT_EQ(stepped(pair.server()), 2u);
  pair.run(300);
  const auto* thing = static_cast<const Thing*>(lattice_object_read(pair.client(), object, 0));
  ASSERT_NE(thing, nullptr);
  EXPECT_EQ(thing->tick, 77u);

  ASSERT_EQ(lattice_object_sleep(pair.server(), object), LATTICE_OK);
  ASSERT_EQ(lattice_object_wake(pair.server(), object), LATTICE_OK);
  EXPECT_EQ(stepped(pair.server()), 2u);
}

// Through a pointer that the game keeps: the tick in which the object falls asleep is the last that looks.
TEST(Sleep, what_is_written_in_the_tick_of_the_call_is_sent_and_nothing_later) {
  InterestPair pair;
  const lattice_netid object = pair.spawn_at(5);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  pair.run(300);
  auto* kept = static_cast<Thing*>(lattice_object_state(pair.server(), object, 0));
  ASSERT_NE(kept, nullptr);
  pair.run(300);
  const auto seen = [&pair, object] {
    const auto* thing = static_cast<const Thing*>(lattice_object_read(pair.client(), object, 0));
    return thing == nullptr ? 0 : thing->tick;
  };
  ASSERT_EQ(lattice_object_sleep(pair.server(), object), LATTICE_OK);
  kept->tick = 8;
  pair.run(300);
  EXPECT_EQ(seen(), 8u);
  kept->tick = 9;
  pair.run(300);
  EXPECT_EQ(seen(), 8u);
  ASSERT_EQ(lattice_object_wake(pair.server(), object), LATTICE_OK);
  pair.run(300);
  EXPECT_EQ(seen(), 9u);
  for (uint32_t i = 10; i < 12; ++i) {  // the second time it sleeps already
    ASSERT_EQ(lattice_object_sleep(pair.server(), object), LATTICE_OK);
    kept->tick = i;
    pair.run(300);
    EXPECT_EQ(seen(), i);
  }
}

TEST(Sleep, misuse_is_refused) {
  InterestPair pair;
  EXPECT_EQ(lattice_object_sleep(pair.server(), 99), LATTICE_ERROR_NOT_FOUND);
  EXPECT_EQ(lattice_object_sleep(pair.client(), 99), LATTICE_ERROR_NOT_ALLOWED);
}

}  // namespace
}  // namespace lattice::test::sleep_test
