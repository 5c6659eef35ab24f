// How far a client has come with the objects that were there when it joined: the authority knows, and tells
// the client.
#include "interest_pair.h"
#include "support/seed_share.h"

namespace lattice::test::joining_test {
namespace {

lattice_conn_info info_of(lattice_conn* conn) {
  lattice_conn_info info;
  lattice_conn_info_init(&info);
  EXPECT_EQ(lattice_conn_get_info(conn, &info), LATTICE_OK) << lattice_last_error();
  return info;
}

TEST(Joining, both_sides_know_the_progress) {
  constexpr uint32_t kObjects = 60;
  InterestPair pair(LATTICE_INTEREST_NONE, 256);  // one object in a snapshot
  for (uint32_t i = 0; i < kObjects; ++i) pair.spawn_bulk(40);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  EXPECT_EQ(info_of(pair.client_conn()).join_objects, 0u) << "nobody has told it yet";
  EXPECT_EQ(info_of(pair.client_conn()).is_loaded, 0u);
  pair.run(200);
  EXPECT_TRUE(pair.loaded.empty());
  pair.spawn_bulk(40);  // too late to count

  uint32_t received = 0;
  uint32_t steps = 0;
  while (info_of(pair.client_conn()).is_loaded == 0 && steps < 100) {
    pair.run(100);
    ++steps;
    const lattice_conn_info client = info_of(pair.client_conn());
    EXPECT_EQ(client.join_objects, kObjects);
    EXPECT_GE(client.join_objects_received, received);
    // The client hears of what it has a round trip later.
    EXPECT_LE(client.join_objects_received, pair.heard.size());
    EXPECT_LE(client.join_objects_received, info_of(pair.conn()).join_objects_received);
    received = client.join_objects_received;
  }
  EXPECT_GT(steps, 10u) << "the progress was seen";
  EXPECT_LT(steps, 100u);
  EXPECT_EQ(received, kObjects);
  EXPECT_EQ(info_of(pair.conn()).is_loaded, 1u);
  pair.run(1000);
  EXPECT_EQ(pair.loaded, (std::vector{pair.conn(), pair.client_conn()})) << "each once, the authority first";
}

// The client makes room for all that comes, at once.
TEST(Joining, how_much_comes_is_said_before_it_comes) {
  constexpr uint32_t kObjects = 3000;
  InterestPair pair(LATTICE_INTEREST_NONE, 0,
                    [](lattice_world_config* config) { config->max_send_bytes_per_s = 100'000; });
  for (uint32_t i = 0; i < kObjects; ++i) pair.spawn_bulk(4);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  ASSERT_TRUE(pair.run_until([&] { return !pair.heard.empty(); }));
  EXPECT_LT(pair.heard.size(), kObjects / 4) << "the first datagrams of the first snapshot";
  EXPECT_EQ(info_of(pair.client_conn()).join_objects, kObjects);
}

// Whoever joins a world without objects, or one whose objects all were placed, has nothing to wait for.
TEST(Joining, nothing_to_wait_for_is_told_as_well) {
  InterestPair pair(LATTICE_INTEREST_NONE);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  EXPECT_TRUE(pair.run_until([&] { return pair.loaded.size() == 2; }));
  pair.run(500);
  EXPECT_EQ(pair.loaded.size(), 2u);
}

TEST(Joining, what_goes_meanwhile_is_not_waited_for) {
  InterestPair pair(LATTICE_INTEREST_NONE, 256);
  std::vector<lattice_netid> objects;
  for (uint32_t i = 0; i < 40; ++i) objects.push_back(pair.spawn_bulk(40));
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  pair.run(150);
  ASSERT_EQ(info_of(pair.client_conn()).is_loaded, 0u);
  for (const lattice_netid object : objects) lattice_despawn(pair.server(), object);
  pair.run(200);
  EXPECT_EQ(info_of(pair.client_conn()).is_loaded, 1u);
  EXPECT_EQ(info_of(pair.client_conn()).join_objects_received, 40u);
  EXPECT_EQ(pair.loaded, (std::vector{pair.conn(), pair.client_conn()}));
}

// The part that says so is lost. It is sent again, though nothing else is to be said.
TEST(Joining, the_end_is_told_over_a_bad_network) {
  InterestPair pair(LATTICE_INTEREST_NONE);
  pair.spawn_bulk(1);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  ASSERT_TRUE(pair.run_until([&] { return info_of(pair.conn()).is_loaded != 0; }));
  pair.cut(true);
  pair.run(1000);
  ASSERT_EQ(info_of(pair.client_conn()).is_loaded, 0u);
  EXPECT_EQ(pair.loaded, (std::vector{pair.conn()})) << "the authority knows it";
  pair.cut(false);
  EXPECT_TRUE(pair.run_until([&] { return info_of(pair.client_conn()).is_loaded != 0; }));
}

// The handshake repeats its messages every 250 ms, so on a long path none of them has a round trip of its
// own.
TEST(Joining, the_clock_starts_in_the_right_place_over_a_long_path) {
  for (const double delay_ms : {20.0, 120.0, 150.0, 240.0, 300.0}) {
    InterestPair pair(LATTICE_INTEREST_NONE);
    pair.set_link(delay_ms, 0);
    pair.spawn_bulk(1);
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    pair.run(3000);
    lattice_world_stats stats;
    lattice_world_stats_init(&stats);
    ASSERT_EQ(lattice_world_get_stats(pair.client(), &stats), LATTICE_OK) << lattice_last_error();
    EXPECT_EQ(stats.clock_resyncs, 0u) << delay_ms;
    EXPECT_GT(stats.tick, 60u);
  }
}

TEST(Joining, only_what_the_client_may_see_counts) {
  InterestPair pair;
  pair.spawn_at(5);
  pair.spawn_at(10);
  pair.spawn_at(500);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  ASSERT_TRUE(pair.run_until([&] { return info_of(pair.client_conn()).is_loaded != 0; }));
  EXPECT_EQ(info_of(pair.client_conn()).join_objects, 2u);
}

// Snapshots per second for a client of a world of many objects, which acknowledges a part of what comes.
uint64_t snapshots_per_s(double lost_percent, bool owns, uint32_t after_ms = 1000) {
  constexpr uint32_t kObjects = 30'000;
  InterestPair pair(LATTICE_INTEREST_NONE, 0, [](lattice_world_config* config) {
    config->congestion_mode = LATTICE_CONGESTION_NONE;
    config->max_send_bytes_per_s = 100'000;
  });
  for (uint32_t i = 0; i < kObjects; ++i) pair.spawn_bulk(1);
  EXPECT_TRUE(pair.connect()) << lattice_last_error();
  if (owns) pair.spawn_at(0, pair.peer());
  lattice_impairment up;
  lattice_impairment_init(&up);
  up.loss_percent = lost_percent;
  EXPECT_EQ(lattice_set_impairment(pair.client(), LATTICE_DIRECTION_SEND, &up), LATTICE_OK);
  const auto sent = [&] {
    lattice_world_stats stats;
    lattice_world_stats_init(&stats);
    EXPECT_EQ(lattice_world_get_stats(pair.server(), &stats), LATTICE_OK) << lattice_last_error();
    return stats.snapshots_sent;
  };
  constexpr uint32_t kSeconds = 2;
  pair.run(after_ms);
  const uint64_t before = sent();
  pair.run(1000 * kSeconds);
  EXPECT_EQ(info_of(pair.client_conn()).is_loaded, 0u);
  return (sent() - before) / kSeconds;
}

// A snapshot looks at all that the client lacks. So that takes no more time than is bounded for each client,
// whose acknowledgements earn more.
TEST(Joining, a_client_that_lacks_much_and_acks_little_gets_few_snapshots) {
  EXPECT_LE(snapshots_per_s(90, false, 4000), 10u);
  const uint64_t owner = snapshots_per_s(90, true, 4000);
  EXPECT_GE(owner, 4u);
  EXPECT_LE(owner, 20u);
  EXPECT_GE(snapshots_per_s(0, false), 27u);
}

// What is lost for a moment is no reason.
TEST(Joining, a_client_that_was_cut_off_for_a_moment_gets_its_snapshots_again) {
  constexpr uint32_t kObjects = 20'000;
  InterestPair pair(LATTICE_INTEREST_NONE);
  std::vector<lattice_netid> objects;
  for (uint32_t i = 0; i < kObjects; ++i) objects.push_back(pair.spawn_bulk(1));
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  ASSERT_TRUE(pair.run_until([&] { return info_of(pair.client_conn()).is_loaded != 0; }));
  const auto sent = [&] {
    lattice_world_stats stats;
    lattice_world_stats_init(&stats);
    EXPECT_EQ(lattice_world_get_stats(pair.server(), &stats), LATTICE_OK) << lattice_last_error();
    return stats.snapshots_sent;
  };
  uint32_t number = 0;
  const auto run = [&](uint32_t milliseconds) {
    for (uint32_t ms = 0; ms < milliseconds; ms += 15) {
      ++number;
      for (uint32_t i = 0; i < kObjects / 20; ++i) {
        auto* bulk = lattice_object_state(pair.server(), objects[i * 20], 0);
        static_cast<Bulk*>(bulk)->numbers[0] = number;
      }
      pair.run(15);
    }
  };
  for (uint64_t i = 0; i < share_of_seeds(4); ++i) {
    pair.cut(true);
    run(1000);
    pair.cut(false);
    run(1000);
    const uint64_t before = sent();
    run(2000);
    EXPECT_GE(sent() - before, 54u) << i;
  }
}

}  // namespace
}  // namespace lattice::test::joining_test
