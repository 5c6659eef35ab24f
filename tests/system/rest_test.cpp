// What is drawn of objects that stop, far away from the server. An object rests where it stopped: a pose of
// it is no underrun, and nothing is extrapolated. D-17.
#include <gtest/gtest.h>

#include <algorithm>

#include "interest_pair.h"

namespace lattice::test::rest_test {
namespace {

constexpr double kOneWayMs = 200;
constexpr uint32_t kFrameMs = 15;

struct Mover {
  float place[2];
  float velocity[2];
  uint16_t colour;  // travels once
};

void register_mover(lattice_world* world) {
  lattice_member_desc members[3];
  for (lattice_member_desc& member : members) {
    lattice_member_desc_init(&member);
    member.type = LATTICE_WIRE_VECTOR2;
  }
  members[0].name = "place";
  members[0].flags = LATTICE_MEMBER_POSITION;
  members[0].offset = offsetof(Mover, place);
  members[1].name = "velocity";
  members[1].flags = LATTICE_MEMBER_VELOCITY;
  members[1].offset = offsetof(Mover, velocity);
  members[2].name = "colour";
  members[2].type = LATTICE_WIRE_UINT16;
  members[2].flags = LATTICE_MEMBER_INITIAL_ONLY;
  members[2].offset = offsetof(Mover, colour);
  register_plain_type<Mover>(world, {.type_id = 9, .name = "Mover", .members = members});
}

class Rest : public ::testing::Test {
 protected:
  explicit Rest(uint32_t budget_bytes = 0) : pair(LATTICE_INTEREST_NONE, budget_bytes) {
    register_mover(pair.server());
    register_mover(pair.client());
  }
  void join() {
    ASSERT_TRUE(pair.connect());
    pair.set_link(kOneWayMs, 0);
    pair.run(3000);
  }
  lattice_netid spawn_mover(float x, float velocity, lattice_peer_id owner = 0) {
    const lattice_netid mover = lattice_spawn_for(pair.server(), 9, LATTICE_AUTHORITY_SERVER, owner);
    move(mover, x, velocity);
    return mover;
  }
  void move(lattice_netid mover, float x, float velocity) {
    auto* state = static_cast<Mover*>(lattice_object_state(pair.server(), mover, 0));
    state->place[0] = x;
    state->velocity[0] = velocity;
  }
  /// Draws `object`, if it is there, for `milliseconds`. Returns how many of the poses were underruns.
  template <class State>
  uint64_t draw(lattice_netid object, uint32_t milliseconds) {
    const uint64_t before = underruns();
    for (uint32_t ms = 0; ms < milliseconds; ms += kFrameMs) {
      pair.run(kFrameMs);
      State shown{};
      if (lattice_object_view(pair.client(), object, 0, &shown, sizeof shown) != sizeof shown) continue;
      farthest = std::max(farthest, shown.place[0]);
      last = shown.place[0];
    }
    return underruns() - before;
  }
  uint64_t underruns() {
    lattice_world_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(lattice_world_get_stats(pair.client(), &stats), LATTICE_OK);
    return stats.interpolation_underruns;
  }

  InterestPair pair;
  float farthest = 0;  // of the drawn places
  float last = 0;
};

TEST_F(Rest, IsSaidBeforeItsStateIsAcknowledged) {
  const lattice_netid door = pair.spawn_at(1);
  join();
  draw<Thing>(door, 500);
  pair.write(door, 2);
  EXPECT_EQ(draw<Thing>(door, 1500), 0u);
  EXPECT_EQ(last, 2);
}

TEST_F(Rest, OfANewObjectIsSaidBeforeItsFirstStateIsAcknowledged) {
  join();
  const lattice_netid door = pair.spawn_at(1);
  draw<Thing>(door, 60);
  pair.write(door, 2);
  EXPECT_EQ(draw<Thing>(door, 1500), 0u);
  EXPECT_EQ(last, 2);
}

// Each of the snapshots that may hold the entry is lost once. Each costs less than the round trip until the
// loss is known, which is some 30 frames.
TEST_F(Rest, IsSaidOnceMoreBeforeItsLossIsKnown) {
  const lattice_netid door = pair.spawn_at(1);
  join();
  draw<Thing>(door, 500);
  for (uint32_t passed_ms = 60; passed_ms <= 120; passed_ms += 10) {
    pair.write(door, 100 + passed_ms);
    pair.run(passed_ms);
    pair.set_link(kOneWayMs, 100);
    pair.run(35);
    pair.set_link(kOneWayMs, 0);
    EXPECT_LE(draw<Thing>(door, 1500), 4u) << passed_ms;
    EXPECT_EQ(last, 100 + passed_ms);
  }
}

TEST_F(Rest, WhatRunsIntoAWallStaysThere) {
  const lattice_netid mover = spawn_mover(0, 6);
  join();
  for (int i = 1; i <= 40; ++i) {
    move(mover, 0.1f * static_cast<float>(i), 6);
    draw<Mover>(mover, kFrameMs);
  }
  EXPECT_EQ(draw<Mover>(mover, 1500), 0u);
  EXPECT_NEAR(farthest, 4, 0.01) << "it is still said to move 6 in a second";
}

TEST_F(Rest, WhatIsNewAtAWallStaysThere) {
  join();
  const lattice_netid mover = spawn_mover(4, 6);
  EXPECT_EQ(draw<Mover>(mover, 1500), 0u);
  EXPECT_NEAR(farthest, 4, 0.01);
}

// Each of its states has the colour of the baseline on which it was built, and the last ones are the same
// state, sent again.
TEST_F(Rest, IsSaidOfWhatDiffersInAMemberThatTravelsOnce) {
  join();
  const lattice_netid mover = spawn_mover(0, 6, lattice_local_peer(pair.client()));
  for (uint16_t i = 1; i <= 60; ++i) {
    move(mover, 0.1f * static_cast<float>(i), 6);
    static_cast<Mover*>(lattice_object_state(pair.server(), mover, 0))->colour = i;
    draw<Mover>(mover, kFrameMs);
  }
  draw<Mover>(mover, 1500);
  EXPECT_EQ(draw<Mover>(mover, 500), 0u);
  EXPECT_NEAR(last, 6, 0.01) << "it is still said to move 6 in a second";
}

class RestUnderACap : public Rest {
 protected:
  RestUnderACap() : Rest(200) {}
};

// Others have news in each snapshot and fill it.
TEST_F(RestUnderACap, IsSaidInItsTurn) {
  std::vector<lattice_netid> others;
  for (int i = 0; i < 60; ++i) others.push_back(pair.spawn_at(i));
  const lattice_netid door = pair.spawn_at(1);
  join();
  uint32_t written = 0;
  const auto draw_in_a_crowd = [&](uint32_t milliseconds) {
    uint64_t underruns = 0;
    for (uint32_t ms = 0; ms < milliseconds; ms += kFrameMs) {
      ++written;
      for (const lattice_netid other : others) pair.write(other, 0.1 * written, written);
      underruns += draw<Thing>(door, kFrameMs);
    }
    return underruns;
  };
  draw_in_a_crowd(1000);
  for (int i = 0; i < 10; ++i) {
    pair.write(door, 2 + i);
    draw_in_a_crowd(kFrameMs);
  }
  draw_in_a_crowd(1000);
  EXPECT_EQ(draw_in_a_crowd(2000), 0u);
  EXPECT_EQ(last, 11);
}

}  // namespace
}  // namespace lattice::test::rest_test
