#include "waypoints.h"

#include <gtest/gtest.h>

#include "arena.h"
#include "rules.h"

namespace depot::test {
namespace {

TEST(Waypoints, EveryWayArrives) {
  const size_t count = waypoints().size();
  for (size_t from = 0; from < count; ++from) {
    for (size_t to = 0; to < count; ++to) {
      size_t at = from, legs = 0;
      while (at != to && legs < count) at = next_waypoint(at, to), ++legs;
      EXPECT_EQ(at, to) << from << " to " << to;
    }
  }
}

TEST(Waypoints, EveryLegIsClearOfWalls) {
  const size_t count = waypoints().size();
  for (size_t from = 0; from < count; ++from) {
    for (size_t to = 0; to < count; ++to) {
      const size_t next = next_waypoint(from, to);
      if (from == to || next != to) continue;
      const Vec2 a = waypoints()[from], b = waypoints()[next];
      for (int i = 0; i <= 100; ++i) {
        const Vec2 point = a + (b - a) * (static_cast<float>(i) / 100.0f);
        for (const Box& wall : arena_walls()) {
          ASSERT_GE(distance(wall, point), kPawnRadius) << "leg " << from << " - " << next;
        }
        for (size_t door = 0; door < arena_doors().size(); ++door) {
          if (door_between(from, next) == static_cast<int>(door)) continue;
          ASSERT_GE(distance(arena_doors()[door], point), kPawnRadius) << "leg " << from << " - " << next;
        }
      }
    }
  }
}

TEST(Waypoints, EveryDoorIsOnALeg) {
  std::array<bool, kDoorCount> seen{};
  for (size_t a = 0; a < waypoints().size(); ++a) {
    for (size_t b = 0; b < waypoints().size(); ++b) {
      if (const int door = door_between(a, b); door != kNoDoor) seen[static_cast<size_t>(door)] = true;
    }
  }
  EXPECT_EQ(arena_doors().size(), seen.size());
  for (const bool door : seen) EXPECT_TRUE(door);
}

TEST(Waypoints, SpawnPointsAndPickupsAreOnTheFloor) {
  for (const Vec2 point : arena_spawn_points()) {
    for (const Box& wall : arena_walls())
      EXPECT_GE(distance(wall, point), kPawnRadius) << point.x << "," << point.y;
  }
  for (const Vec2 point : arena_pickups()) {
    for (const Box& wall : arena_walls())
      EXPECT_GE(distance(wall, point), kPawnRadius) << point.x << "," << point.y;
  }
}

}  // namespace
}  // namespace depot::test
