// What is far away is told less often: states counted at the client, for a grid and a tree alike.
#include <algorithm>
#include <array>

#include "interest_pair.h"

namespace lattice::test::distance_rate_test {
namespace {

constexpr uint32_t kSeconds = 4;

/// 30 states a second within 10, falling to 3 a second at the border of 30.
void slow_by_distance(lattice_world_config* config) {
  config->interest_near_radius = 10;
  config->interest_far_rate_hz = 3;
}

uint32_t confirmed_tick(lattice_world* world, lattice_netid object) {
  lattice_object_info info;
  lattice_object_info_init(&info);
  EXPECT_EQ(lattice_object_get_info(world, object, &info), LATTICE_OK) << lattice_last_error();
  return info.confirmed_tick;
}

class DistanceRate : public testing::TestWithParam<lattice_interest_kind> {
 protected:
  void set_full_rate(lattice_netid object) {
    lattice_object_interest interest;
    lattice_object_interest_init(&interest);
    interest.is_full_rate = 1;
    ASSERT_EQ(lattice_object_set_interest(pair_.server(), object, &interest), LATTICE_OK);
  }
  lattice_why_info why(lattice_netid object) {
    lattice_why_info info;
    lattice_why_info_init(&info);
    EXPECT_EQ(lattice_conn_why(pair_.conn(), object, &info), LATTICE_OK) << lattice_last_error();
    return info;
  }

  InterestPair pair_{GetParam(), 0, slow_by_distance};
};

TEST_P(DistanceRate, states_come_less_often_from_afar) {
  ASSERT_TRUE(pair_.connect()) << lattice_last_error();
  const std::array<double, 5> places = {5, 20, 29, 29, 29};
  std::array<lattice_netid, 5> objects;
  for (size_t i = 0; i < objects.size(); ++i) objects[i] = pair_.spawn_at(places[i]);
  set_full_rate(objects[3]);
  objects[4] = pair_.spawn_at(29, pair_.peer());
  pair_.run(500);

  std::array<uint32_t, 5> states{};
  std::array<uint32_t, 5> newest{};
  for (size_t i = 0; i < objects.size(); ++i) newest[i] = confirmed_tick(pair_.client(), objects[i]);
  uint32_t waits = 0;
  for (uint32_t ms = 0; ms < 1000 * kSeconds; ms += 5) {
    for (size_t i = 0; i < objects.size(); ++i) pair_.write(objects[i], places[i], ms + 1);
    pair_.run(5);
    for (size_t i = 0; i < objects.size(); ++i) {
      const uint32_t tick = confirmed_tick(pair_.client(), objects[i]);
      states[i] += tick != newest[i] ? 1u : 0u;
      newest[i] = tick;
    }
    waits += why(objects[2]).reason == LATTICE_WHY_FAR ? 1u : 0u;
  }
  EXPECT_NEAR(states[0], 30 * kSeconds, 2) << "near";
  EXPECT_NEAR(states[1], 60.0 / 11 * kSeconds, 2) << "half way";
  EXPECT_NEAR(states[2], 60.0 / 19 * kSeconds, 2) << "at the border";
  EXPECT_NEAR(states[3], 30 * kSeconds, 2) << "with is_full_rate";
  EXPECT_NEAR(states[4], 30 * kSeconds, 2) << "the client's own";
  EXPECT_GT(waits, 1000 * kSeconds / 5 / 2);
  EXPECT_EQ(why(objects[2]).interval_ticks, 19u);
  EXPECT_EQ(why(objects[0]).interval_ticks, 2u);
}

// Whoever boards near the border brings its whole state with it, or a first one, and the others theirs.
TEST_P(DistanceRate, who_boards_and_the_ship_are_told_of_one_tick) {
  ASSERT_TRUE(pair_.connect()) << lattice_last_error();
  uint32_t tick = 0, together = 0;
  for (uint32_t after_ms = 0; after_ms <= 300; after_ms += 15) {
    const lattice_netid known = pair_.spawn_at(20), unknown = pair_.spawn_at(900);
    pair_.run(300);
    const lattice_netid ship = pair_.spawn_at(25);
    uint32_t boarded = 0;
    for (uint32_t ms = 0; ms < 1000; ms += 5) {
      ++tick;
      pair_.write(ship, 25, tick), pair_.write(known, 20, tick), pair_.write(unknown, 900, tick);
      if (ms == after_ms) {
        for (const lattice_netid object : {known, unknown}) {
          ASSERT_EQ(lattice_object_attach(pair_.server(), object, ship), LATTICE_OK);
        }
        lattice_world_stats stats;
        lattice_world_stats_init(&stats);
        ASSERT_EQ(lattice_world_get_stats(pair_.server(), &stats), LATTICE_OK);
        boarded = stats.tick;
      }
      pair_.run(5);
      if (boarded == 0 || !pair_.client_has(ship)) continue;
      const uint32_t of_known = confirmed_tick(pair_.client(), known);
      const uint32_t of_ship = confirmed_tick(pair_.client(), ship);
      if (std::max(of_known, of_ship) <= boarded) continue;
      EXPECT_EQ(of_known, of_ship) << "boarded after " << after_ms << " ms, now " << ms;
      ++together;
    }
    for (const lattice_netid object : {known, unknown, ship}) lattice_despawn(pair_.server(), object);
    pair_.run(200);
  }
  EXPECT_GT(together, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, DistanceRate,
                         testing::Values(LATTICE_INTEREST_RULES, LATTICE_INTEREST_GRID,
                                         LATTICE_INTEREST_TREE));

}  // namespace
}  // namespace lattice::test::distance_rate_test
