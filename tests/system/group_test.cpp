// Objects that are attached to each other reach a client as one, whatever the network loses.
#include <algorithm>

#include "base/random.h"
#include "interest_pair.h"
#include "refusal_count.h"

namespace lattice::test::group_test {
namespace {

constexpr size_t kCars = 6;
constexpr size_t kSeats = 4;

struct Car {
  lattice_netid car = 0;
  std::vector<lattice_netid> all;  // the car and who sits in it
};

/// Newest tick of the object at the client; 0: it is not there.
uint32_t confirmed_tick(lattice_world* world, lattice_netid object) {
  lattice_object_info info;
  lattice_object_info_init(&info);
  return lattice_object_get_info(world, object, &info) == LATTICE_OK ? info.confirmed_tick : 0;
}

class Groups : public testing::Test {
 protected:
  /// Cars with passengers among loose objects, so that a snapshot has several parts.
  void spawn() {
    cars_.resize(kCars);
    for (Car& car : cars_) {
      car.car = pair_.spawn_at(5);
      car.all.push_back(car.car);
    }
    for (size_t seat = 0; seat < kSeats; ++seat) {
      for (uint32_t i = 0; i < 8; ++i) loose_.push_back(pair_.spawn_bulk(40));
      for (Car& car : cars_) {
        car.all.push_back(pair_.spawn_at(900));  // where it is itself does not matter
        ASSERT_EQ(lattice_object_attach(pair_.server(), car.all.back(), car.car), LATTICE_OK);
      }
    }
  }
  void step(double x) {
    for (const lattice_netid object : loose_) {
      auto* bulk = static_cast<Bulk*>(lattice_object_state(pair_.server(), object, 0));
      for (uint32_t i = 0; i < 40; ++i) bulk->numbers[i] += 0x01234567u;
    }
    ++written_;
    for (const Car& car : cars_) {
      for (const lattice_netid object : car.all) pair_.write(object, object == car.car ? x : 900, written_);
    }
    pair_.run(5);
    for (const Car& car : cars_) {
      const uint32_t tick = confirmed_tick(pair_.client(), car.car);
      for (const lattice_netid object : car.all) {
        ASSERT_EQ(confirmed_tick(pair_.client(), object), tick) << "object " << object;
      }
      appeared_ += tick != 0 ? 1u : 0u;
    }
  }

  InterestPair pair_;
  std::vector<Car> cars_;
  std::vector<lattice_netid> loose_;
  uint32_t written_ = 0;
  uint32_t appeared_ = 0;
};

TEST(LongGroups, come_one_by_one_and_are_counted) {
  InterestPair pair;
  const lattice_netid first = pair.spawn_at(5);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const auto attach = [&](uint32_t count) {
    for (; count > 0; --count) {
      ASSERT_EQ(lattice_object_attach(pair.server(), pair.spawn_at(900), first), LATTICE_OK);
    }
    pair.run(200);
  };
  attach(10);
  EXPECT_EQ(refusals(pair.server(), "snapshot_groups_cut"), 0u) << "they fit a datagram";
  attach(150);
  EXPECT_GT(refusals(pair.server(), "snapshot_groups_cut"), 0u);
  EXPECT_EQ(pair.heard.size(), 161u) << "all are there nevertheless";
}

TEST_F(Groups, appear_change_and_leave_as_one_under_loss) {
  spawn();
  ASSERT_TRUE(pair_.connect()) << lattice_last_error();
  pair_.lose(20);
  for (uint32_t round = 0; round < 3; ++round) {
    appeared_ = 0;
    for (uint32_t i = 0; i < 160; ++i) step(5);
    EXPECT_GT(appeared_, 60u * kCars);
    appeared_ = 0;
    for (uint32_t i = 0; i < 160; ++i) step(500);
    EXPECT_LT(appeared_, 120u * kCars) << "they left";
  }
}

// Its objects come one by one, so a state that is on its way is not sent again with others.
TEST(LongGroups, cost_no_more_than_loose_objects) {
  constexpr size_t kObjects = 300;
  uint64_t entries[2] = {};
  for (const bool is_attached : {false, true}) {
    InterestPair pair;
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    std::vector<lattice_netid> all;
    for (size_t i = 0; i < kObjects; ++i) {
      all.push_back(pair.spawn_at(5));
      if (!is_attached || i == 0) continue;
      ASSERT_EQ(lattice_object_attach(pair.server(), all.back(), all.front()), LATTICE_OK);
    }
    pair.run(1000);
    const auto received = [&pair] {
      lattice_type_stats stats;
      lattice_type_stats_init(&stats);
      EXPECT_EQ(lattice_world_get_type_stats(pair.client(), kThingType, &stats), LATTICE_OK);
      return stats.entries_received;
    };
    const uint64_t before = received();
    for (uint32_t i = 1; i <= 200; ++i) {  // half of them in each snapshot or so
      for (size_t k = i % 2; k < kObjects; k += 2) pair.write(all[k], 5, i);
      pair.run(40);
    }
    entries[is_attached ? 1 : 0] = received() - before;
  }
  EXPECT_GT(entries[0], 20'000u);
  EXPECT_LE(entries[1], entries[0] * 11 / 10);
}

// The change that was lost is sent again with the next of any other: nobody sits where the car was.
TEST(GroupsThatChangeInPart, change_as_one_under_loss) {
  for (const bool is_own : {false, true}) {
    InterestPair pair;
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    std::vector<lattice_netid> all = {pair.spawn_at(5, is_own ? pair.peer() : 0)};
    for (uint32_t seat = 0; seat < kSeats; ++seat) {
      all.push_back(pair.spawn_at(5));
      ASSERT_EQ(lattice_object_attach(pair.server(), all.back(), all.front()), LATTICE_OK);
    }
    pair.run(500);
    pair.lose(10);
    base::Random random(7);
    uint32_t moves = 0;
    for (uint32_t i = 0; i < 2000; ++i) {
      const uint64_t choice = random.next_below(10);
      if (choice == 0) {
        ++moves;
        for (const lattice_netid object : all) pair.write(object, 5, moves);
      } else if (choice < 3) {  // one of them, and where it was
        pair.write(all[random.next_below(all.size())], 5 + static_cast<double>(random.next_below(8)) / 8,
                   moves);
      }
      pair.run(5);
      Thing first{};
      ASSERT_NE(lattice_object_confirmed(pair.client(), all.front(), 0, &first, sizeof first, nullptr), 0u);
      for (const lattice_netid object : all) {
        Thing thing{};
        ASSERT_NE(lattice_object_confirmed(pair.client(), object, 0, &thing, sizeof thing, nullptr), 0u);
        ASSERT_EQ(thing.tick, first.tick) << "object " << object << ", own " << is_own << ", step " << i;
      }
    }
    EXPECT_GT(moves, 100u);
  }
}

}  // namespace
}  // namespace lattice::test::group_test
