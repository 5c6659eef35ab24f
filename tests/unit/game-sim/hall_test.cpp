// The hall and its parcels as functions of an index and a tick.
#include "hall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rehearsal.h"
#include "rules.h"

namespace depot::test {
namespace {

// Of every ride at a few ticks. Equal on every compiler, optimisation level and platform.
constexpr uint64_t kRidesHash = 0xBCB184C2F8FA70F2u;

bool is_on_a_belt(Vec2 point) {
  return std::ranges::any_of(arena_belts(), [&](const Belt& belt) { return contains(belt.area, point); });
}

TEST(Hall, RidesHaveAGoldenHash) {
  StateHash hash;
  for (const uint32_t tick : {0u, 1u, 599u, 1'000'000u, 4'294'967'295u}) {
    for (uint32_t i = 0; i < kRidingParcels; ++i) {
      const Ride ride = ride_at(i, tick);
      hash.add(ride.position);
      hash.add(ride.trip);
    }
  }
  EXPECT_EQ(hash.value(), kRidesHash) << std::hex << hash.value();
}

TEST(Hall, RidesMoveWithTheirBeltAndEnterAtItsStart) {
  for (uint32_t i = 0; i < kRidingParcels; i += 13) {
    Ride last = ride_at(i, 0);
    uint32_t trips = 0;
    for (uint32_t tick = 1; tick < 12'000; ++tick) {
      const Ride now = ride_at(i, tick);
      ASSERT_TRUE(is_on_a_belt(now.position)) << i << " at tick " << tick;
      const Vec2 moved = now.position - last.position, carried = belt_velocity(last.position) * (1.0f / 60);
      if (now.trip == last.trip) {
        ASSERT_NEAR(moved.x, carried.x, 1e-4f) << i << " at tick " << tick;
        ASSERT_NEAR(moved.y, carried.y, 1e-4f) << i << " at tick " << tick;
      } else {
        ASSERT_EQ(now.trip, last.trip + 1);
        ASSERT_LT(dot(moved, carried), 0.0f) << "a new parcel enters upstream";
        ++trips;
      }
      last = now;
    }
    EXPECT_GT(trips, 0u) << i;
  }
}

TEST(Hall, NoTwoParcelsShareAPlace) {
  std::set<std::pair<float, float>> places;
  for (uint32_t i = 0; i < kRestingParcels; ++i) places.insert({resting_place(i).x, resting_place(i).y});
  for (uint32_t i = 0; i < kRidingParcels; ++i) {
    places.insert({ride_at(i, 0).position.x, ride_at(i, 0).position.y});
  }
  EXPECT_EQ(places.size(), kHallParcels);
}

TEST(Hall, AVaultHoldsItsParcelsBehindItsDoor) {
  int in_vaults[kVaultCount] = {};
  for (uint32_t i = 0; i < kRestingParcels; ++i) {
    if (const int vault = vault_at(resting_place(i)); vault != kNoVault) ++in_vaults[vault];
  }
  for (int vault = 0; vault < kVaultCount; ++vault) {
    EXPECT_EQ(in_vaults[vault], 140);
    const Vec2 door = centre(arena_doors()[static_cast<size_t>(vault_door(vault))]);
    EXPECT_EQ(vault_at({door.x, door.y + 1.5f}), vault);
    EXPECT_EQ(vault_at({door.x, door.y - 1.5f}), kNoVault);
  }
}

TEST(Hall, NearWallsAreAllThatAPawnCanTouch) {
  for (float x = 0.5f; x < kArenaWidth; x += 0.7f) {
    for (float y = 0.5f; y < kArenaHeight; y += 0.7f) {
      const auto near = walls_near({x, y});
      size_t touched = 0, found = 0;
      for (const Box& wall : arena_walls()) touched += distance(wall, {x, y}) < kPawnRadius;
      for (const Box& wall : near) found += distance(wall, {x, y}) < kPawnRadius;
      ASSERT_EQ(found, touched) << x << "," << y;
    }
  }
}

}  // namespace
}  // namespace depot::test
