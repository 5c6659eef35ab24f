// Objects of a level: placed by both sides before the session, sent only where they differ (lattice_place()).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interest_pair.h"
#include "lattice/lattice.hpp"
#include "play_pair.h"
#include "refusal_count.h"

namespace lattice::test::placed_test {
namespace {

constexpr uint32_t kCrates = 10'000;

Body place_of(uint64_t key) {
  return {static_cast<float>(key % 1000), static_cast<float>(key / 1000)};
}

/// Places crates with the keys from `first` to `last`; the highest first, if `backwards`.
void place_crates(lattice_world* world, uint64_t first, uint64_t last, bool backwards = false) {
  for (uint64_t i = 0; i <= last - first; ++i) {
    const uint64_t key = backwards ? last - i : first + i;
    const Body body = place_of(key);
    const void* states[] = {&body};
    ASSERT_EQ(lattice_place(world, key, kCrateType, states, 1), LATTICE_OK) << lattice_last_error();
  }
}

/// What a world tells of its objects, as lines.
struct Events {
  std::vector<std::string> lines;

  static void listen(lattice_world* world, Events* events) {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_spawn = [](void* ctx, lattice_netid id, uint32_t) {
      static_cast<Events*>(ctx)->lines.push_back("spawn " + std::to_string(id));
    };
    callbacks.on_despawn = [](void* ctx, lattice_netid id) {
      static_cast<Events*>(ctx)->lines.push_back("despawn " + std::to_string(id));
    };
    ASSERT_EQ(lattice_set_callbacks(world, &callbacks, events), LATTICE_OK);
  }
};

class Placed : public testing::Test {
 protected:
  explicit Placed(MessagePairOptions options = {.max_objects = kCrates + 100}) : play(std::move(options)) {}

  lattice_world* server() { return play.pair.server.world; }
  lattice_world* client() { return play.pair.client.world; }
  void place(uint64_t last) {
    place_crates(server(), 1, last);
    place_crates(client(), 1, last, true);
  }
  /// The server runs alone.
  void run_server(double seconds) {
    for (int i = 0; i < static_cast<int>(seconds * 100); ++i) {
      play.pair.now_ns += 10'000'000;
      lattice_netsim_advance(play.pair.net, 10'000'000);
      lattice_world_pump(server());
    }
  }
  void move(uint64_t key, float x) {
    auto* body = PlayPair::body(server(), lattice_placed(server(), key));
    ASSERT_NE(body, nullptr) << lattice_last_error();
    body->x = x;
  }
  float seen(uint64_t key) {
    Body body{};
    const lattice_netid id = lattice_placed(client(), key);
    EXPECT_NE(lattice_object_view(client(), id, 0, &body, sizeof body), 0u) << lattice_last_error();
    return body.x;
  }
  uint64_t entries() {
    lattice_type_stats stats;
    lattice_type_stats_init(&stats);
    EXPECT_EQ(lattice_world_get_type_stats(client(), kCrateType, &stats), LATTICE_OK) << lattice_last_error();
    return stats.entries_received;
  }

  PlayPair play;
};

TEST_F(Placed, ten_thousand_at_rest_send_nothing_to_who_joins) {
  place(kCrates);
  ASSERT_TRUE(play.connect({}));
  play.run(1.0);
  EXPECT_EQ(entries(), 0u);
  EXPECT_EQ(lattice_objects(client(), kCrateType, nullptr, 0), kCrates);
  EXPECT_EQ(lattice_world_state_hash(client()), lattice_world_state_hash(server()));
  EXPECT_EQ(seen(4321), place_of(4321).x);
  EXPECT_LT(PlayPair::stats(server()).snapshot_bytes_sent, 100u);
  lattice_conn_info info;
  lattice_conn_info_init(&info);
  ASSERT_EQ(lattice_conn_get_info(play.pair.server.conn, &info), LATTICE_OK);
  EXPECT_EQ(info.is_loaded, 1u);

  move(77, 500);
  play.run(0.5);
  EXPECT_EQ(entries(), 2u) << "its new state, and that it rests";
  EXPECT_EQ(seen(77), 500);
  EXPECT_EQ(lattice_world_state_hash(client()), lattice_world_state_hash(server()));
}

TEST_F(Placed, who_joins_late_and_again_gets_the_differences) {
  place(200);
  const lattice_netid third = lattice_placed(server(), 3);
  run_server(0.1);
  move(7, 500);
  run_server(0.1);
  ASSERT_EQ(lattice_despawn(server(), third), LATTICE_OK);
  run_server(0.1);
  Events events;
  ASSERT_TRUE(play.pair.connect());
  Events::listen(client(), &events);
  play.run(0.5);
  EXPECT_EQ(events.lines, Lines{"despawn " + std::to_string(third)});
  EXPECT_EQ(seen(7), 500);
  EXPECT_EQ(seen(8), place_of(8).x);
  EXPECT_EQ(entries(), 2u + 1u) << "a state, a rest and a removal";
  EXPECT_EQ(lattice_world_state_hash(client()), lattice_world_state_hash(server()));

  // The end of the session is no despawn, and the next one begins with the level as it was placed.
  events.lines.clear();
  lattice_disconnect(play.pair.client.conn);
  play.run(1.0);
  EXPECT_EQ(events.lines, Lines{});
  EXPECT_EQ(lattice_objects(client(), 0, nullptr, 0), 0u);
  EXPECT_EQ(lattice_placed(client(), 7), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_CONNECTED);
  play.pair.client.listen();
  play.pair.client.connected = 0;
  ASSERT_TRUE(play.pair.connect()) << play.ended_text();
  Events::listen(client(), &events);
  play.run(0.5);
  EXPECT_EQ(events.lines, Lines{"despawn " + std::to_string(third)});
  EXPECT_EQ(seen(7), 500);
  EXPECT_EQ(lattice_world_state_hash(client()), lattice_world_state_hash(server()));
}

TEST_F(Placed, changes_and_removals_survive_loss) {
  place(300);
  play.pair.impair(40, 20);
  ASSERT_TRUE(play.connect([this](lattice_world* world, uint32_t tick) {
    if (tick > 300) return;
    const uint64_t key = 1 + tick % 50;
    if (tick % 40 == 0) {
      lattice_despawn(world, lattice_placed(world, 100 + tick / 40));
    } else {
      move(key, static_cast<float>(tick));
    }
  }));
  play.run(8.0);
  EXPECT_EQ(play.ended(), LATTICE_DISCONNECT_NONE) << play.ended_text();
  EXPECT_EQ(lattice_objects(server(), 0, nullptr, 0), 300u - 7);
  EXPECT_EQ(lattice_objects(client(), 0, nullptr, 0), 300u - 7);
  EXPECT_EQ(lattice_world_state_hash(client()), lattice_world_state_hash(server()));
}

TEST_F(Placed, a_level_that_never_stops_changing_does_not_keep_who_joins) {
  place(1000);
  play.pair.impair(50, 10);
  ASSERT_TRUE(play.connect([this](lattice_world* world, uint32_t tick) {
    lattice_despawn(world, lattice_placed(world, 1 + 2 * (tick % 400)));
    move(2 + 2 * (tick % 400), 500);
  }));
  play.run(2.0);
  lattice_conn_info info;
  lattice_conn_info_init(&info);
  ASSERT_EQ(lattice_conn_get_info(play.pair.client.conn, &info), LATTICE_OK);
  EXPECT_EQ(info.is_loaded, 1u);
  play.run(6.0);
  play.pair.impair(50, 0);
  play.run(1.0);
  EXPECT_EQ(lattice_world_state_hash(client()), lattice_world_state_hash(server()));
}

TEST_F(Placed, spawned_objects_and_calls_live_beside_them) {
  place(20);
  ASSERT_TRUE(play.connect({}));
  const lattice_netid crate = play.spawn(kCrateType);
  const lattice_netid placed = lattice_placed(server(), 5);
  EXPECT_GT(crate, 20u);
  play.run(0.3);
  ASSERT_EQ(
      lattice_rpc(server(), placed, kKnock, LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_RELIABLE_ORDERED, nullptr, 0),
      LATTICE_OK)
      << lattice_last_error();
  ASSERT_EQ(lattice_despawn(server(), placed), LATTICE_OK);
  play.run(0.3);
  EXPECT_EQ(play.client_heard(placed), 1u) << "the removal waits for the call";
  EXPECT_EQ(lattice_objects(client(), 0, nullptr, 0), 20u);
  lattice_object_info info;
  lattice_object_info_init(&info);
  ASSERT_EQ(lattice_object_get_info(client(), lattice_placed(client(), 6), &info), LATTICE_OK);
  EXPECT_EQ(info.placed_key, 6u);
  EXPECT_EQ(info.spawn_tick, 0u);
  ASSERT_EQ(lattice_object_get_info(client(), crate, &info), LATTICE_OK);
  EXPECT_EQ(info.placed_key, 0u);
}

TEST_F(Placed, no_frame_shows_them_as_spawned) {
  place(20);
  ASSERT_TRUE(play.connect({}));
  play.run(0.2);
  lattice_frame frame;
  lattice_frame_init(&frame);
  lattice_frame_begin(client());
  ASSERT_EQ(lattice_frame_get(client(), &frame), LATTICE_OK);
  EXPECT_EQ(frame.spawned_count, 0u);
  move(3, 90);
  ASSERT_EQ(lattice_despawn(server(), lattice_placed(server(), 4)), LATTICE_OK);
  play.run(0.3);
  lattice_frame_begin(client());
  ASSERT_EQ(lattice_frame_get(client(), &frame), LATTICE_OK);
  EXPECT_EQ(frame.spawned_count, 0u);
  ASSERT_EQ(frame.changed_count, 1u);
  EXPECT_EQ(frame.changed[0].object, 3u);
  EXPECT_EQ(frame.changed[0].members, 1u);
  ASSERT_EQ(frame.left_count, 1u);
  EXPECT_EQ(frame.left[0].object, 4u);
}

/// What the next frame of a world says, as lines.
Lines next_frame(lattice_world* world) {
  lattice_frame frame;
  lattice_frame_init(&frame);
  lattice_frame_begin(world);
  EXPECT_EQ(lattice_frame_get(world, &frame), LATTICE_OK) << lattice_last_error();
  Lines lines;
  const auto add = [&lines](const char* what, const lattice_frame_object* objects, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      lines.push_back(what + std::to_string(objects[i].object) + ":" + std::to_string(objects[i].members) +
                      ":" + std::to_string(objects[i].reason));
    }
  };
  add("left ", frame.left, frame.left_count);
  add("spawned ", frame.spawned, frame.spawned_count);
  add("changed ", frame.changed, frame.changed_count);
  return lines;
}

TEST_F(Placed, the_first_frame_has_what_is_no_longer_as_it_was_placed) {
  place(20);
  run_server(0.1);
  move(3, 90);
  ASSERT_EQ(lattice_despawn(server(), lattice_placed(server(), 4)), LATTICE_OK);
  const lattice_netid crate = play.spawn(kCrateType);
  run_server(0.1);
  ASSERT_TRUE(play.connect({}));
  play.run(0.5);
  const Lines differences = {"left 4:0:" + std::to_string(LATTICE_DESPAWN_DESTROYED),
                             "spawned " + std::to_string(crate) + ":0:0", "changed 3:1:0"};
  EXPECT_EQ(next_frame(server()), differences);
  EXPECT_EQ(next_frame(client()), differences);
  EXPECT_EQ(next_frame(client()), Lines{}) << "and the second has none of it";
}

/// With a view of a second ago.
class PlacedLongAgo : public Placed {
 protected:
  PlacedLongAgo()
      : Placed({.max_objects = 100,
                .adjust = [](lattice_world_config* config) { config->interpolation_delay_ms = 1000; }}) {}
};

// What changed before a client joined is where it is, and does not go there now.
TEST_F(PlacedLongAgo, who_joins_sees_nothing_move_that_moved_before) {
  place(20);
  run_server(0.1);
  move(7, 500);
  run_server(1.0);
  ASSERT_TRUE(play.connect({}));
  const auto is_loaded = [this] {
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    EXPECT_EQ(lattice_conn_get_info(play.pair.client.conn, &info), LATTICE_OK);
    return info.is_loaded != 0;
  };
  for (int i = 0; i < 200 && !is_loaded(); ++i) play.run(0.005);
  ASSERT_TRUE(is_loaded());
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(seen(7), 500) << i;
    EXPECT_EQ(seen(8), place_of(8).x);
    play.run(0.005);
  }
  move(8, 300);  // it is seen to move where it moves now, and a second later
  play.run(0.5);
  EXPECT_EQ(seen(8), place_of(8).x);
  play.run(1.0);
  EXPECT_EQ(seen(8), 300);
}

// Neither before it runs, nor before it has a session, does a world know of changes.
TEST_F(Placed, a_first_frame_without_objects_is_empty) {
  place(3);
  EXPECT_EQ(next_frame(server()), Lines{});
  EXPECT_EQ(next_frame(client()), Lines{});
  ASSERT_TRUE(play.connect({}));
  move(2, 90);
  play.run(0.3);
  for (lattice_world* world : {server(), client()}) EXPECT_EQ(next_frame(world), Lines{"changed 2:1:0"});
}

TEST_F(Placed, the_end_of_a_session_is_in_no_frame) {
  place(3);
  ASSERT_TRUE(play.connect({}));
  play.run(0.2);
  EXPECT_EQ(next_frame(client()), Lines{});
  move(2, 90);
  ASSERT_EQ(lattice_despawn(server(), lattice_placed(server(), 3)), LATTICE_OK);
  play.run(0.3);
  ASSERT_EQ(lattice_objects(client(), 0, nullptr, 0), 2u);
  lattice_disconnect(play.pair.client.conn);
  play.run(1.0);
  EXPECT_EQ(lattice_objects(client(), 0, nullptr, 0), 0u);
  EXPECT_EQ(next_frame(client()), Lines{});
  // The level is as it was placed again, and the next session tells the differences again.
  play.pair.client.listen();
  play.pair.client.connected = 0;
  ASSERT_TRUE(play.pair.connect()) << play.ended_text();
  play.run(0.5);
  EXPECT_EQ(next_frame(client()),
            (Lines{"left 3:0:" + std::to_string(LATTICE_DESPAWN_DESTROYED), "changed 2:1:0"}));
}

TEST_F(Placed, why_says_that_nothing_has_to_be_sent) {
  place(3);
  ASSERT_TRUE(play.connect({}));
  lattice_why_info why;
  lattice_why_info_init(&why);
  ASSERT_EQ(lattice_conn_why(play.pair.server.conn, lattice_placed(server(), 2), &why), LATTICE_OK);
  EXPECT_EQ(why.reason, static_cast<uint32_t>(LATTICE_WHY_UP_TO_DATE));
  EXPECT_EQ(why.is_in_set, 1u);
  EXPECT_EQ(why.may_be_held, 1u);
  EXPECT_EQ(lattice_conn_has_object(play.pair.server.conn, lattice_placed(server(), 2)), 1);
}

TEST_F(Placed, other_objects_end_the_attempt_with_the_difference) {
  place_crates(server(), 1, 8);
  place_crates(client(), 1, 7);
  EXPECT_FALSE(play.pair.connect(2000));
  EXPECT_EQ(play.pair.client.reason, LATTICE_DISCONNECT_PLACED_MISMATCH);
  EXPECT_EQ(refusals(server(), "server_placed_mismatch"), 1u);
  // A level may be placed anew while there is no connection.
  ASSERT_EQ(lattice_clear_placed(client()), LATTICE_OK);
  place_crates(client(), 1, 8, true);
  EXPECT_TRUE(play.pair.connect(5000));
}

TEST_F(Placed, another_state_ends_the_attempt) {
  place(8);
  ASSERT_EQ(lattice_clear_placed(client()), LATTICE_OK);
  place_crates(client(), 1, 7);
  const Body body = {1, 1};
  const void* states[] = {&body};
  ASSERT_EQ(lattice_place(client(), 8, kCrateType, states, 1), LATTICE_OK);
  EXPECT_FALSE(play.pair.connect(2000));
  EXPECT_EQ(play.pair.client.reason, LATTICE_DISCONNECT_PLACED_MISMATCH);
}

TEST_F(Placed, misuse_is_refused_by_name) {
  const Body body = {1, 2};
  const Body far = {5000, 0};
  const void* states[] = {&body};
  const void* no_state[] = {nullptr};
  const void* outside[] = {&far};
  for (lattice_world* world : {server(), client()}) {
    EXPECT_EQ(lattice_place(world, 1, kCrateType, states, 1), LATTICE_OK);
    EXPECT_EQ(lattice_place(world, 1, kCrateType, states, 1), LATTICE_ERROR_INVALID_ARGUMENT)
        << "placed twice";
    EXPECT_EQ(lattice_place(world, 0, kCrateType, states, 1), LATTICE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(lattice_place(world, 2, 99, states, 1), LATTICE_ERROR_NOT_FOUND);
    EXPECT_EQ(lattice_place(world, 2, kCrateType, states, 2), LATTICE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(lattice_place(world, 2, kCrateType, no_state, 1), LATTICE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(lattice_place(world, 2, kCrateType, nullptr, 1), LATTICE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(lattice_place(world, 2, kCrateType, outside, 1), LATTICE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(lattice_place(world, 2, kCrateType, nullptr, 0), LATTICE_OK) << "all zero";
  }
  EXPECT_EQ(lattice_placed(client(), 1), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_CONNECTED);
  ASSERT_TRUE(play.connect({}));
  EXPECT_EQ(lattice_placed(server(), 3), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
  for (lattice_world* world : {server(), client()}) {
    EXPECT_EQ(lattice_place(world, 3, kCrateType, states, 1), LATTICE_ERROR_OUT_OF_ORDER) << "too late";
    EXPECT_EQ(lattice_clear_placed(world), LATTICE_ERROR_OUT_OF_ORDER);
  }
}

TEST(PlacedLimit, no_more_than_max_objects_are_placed) {
  PlayPair play({.max_objects = 3});
  place_crates(play.pair.server.world, 1, 3);
  EXPECT_EQ(lattice_place(play.pair.server.world, 4, kCrateType, nullptr, 0), LATTICE_ERROR_LIMIT);
  EXPECT_EQ(lattice_spawn(play.pair.server.world, kCrateType, LATTICE_AUTHORITY_SERVER), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_LIMIT);
}

// What lies far away does not change at the client, and is not removed there.
TEST(PlacedInterest, far_objects_stay_as_they_are_until_they_come_near) {
  InterestPair pair;
  for (lattice_world* world : {pair.server(), pair.client()}) {
    for (const uint64_t key : {uint64_t{1}, uint64_t{2}}) {
      const Thing thing = {{key == 1 ? 0.0f : 200.0f, 0}, 7};
      const void* states[] = {&thing};
      ASSERT_EQ(lattice_place(world, key, kThingType, states, 1), LATTICE_OK) << lattice_last_error();
    }
  }
  ASSERT_TRUE(pair.connect());
  const auto tick_at_client = [&](uint64_t key) {
    const auto* thing =
        static_cast<const Thing*>(lattice_object_read(pair.client(), lattice_placed(pair.client(), key), 0));
    return thing == nullptr ? 0 : thing->tick;
  };
  const auto write = [&](uint64_t key, uint32_t tick) {
    static_cast<Thing*>(lattice_object_state(pair.server(), lattice_placed(pair.server(), key), 0))->tick =
        tick;
  };
  pair.run(200);
  write(1, 20);
  write(2, 20);
  pair.run(400);
  EXPECT_EQ(tick_at_client(1), 20u);
  EXPECT_EQ(tick_at_client(2), 7u);
  pair.look_from(200);
  pair.run(600);
  EXPECT_EQ(tick_at_client(2), 20u);
  write(1, 30);
  pair.run(400);
  EXPECT_EQ(tick_at_client(1), 20u) << "it left the set, and is still here";
  pair.look_from(0);
  pair.run(600);
  EXPECT_EQ(tick_at_client(1), 30u);
  EXPECT_EQ(pair.heard, Lines{}) << "none came and none left";
  ASSERT_EQ(lattice_despawn(pair.server(), lattice_placed(pair.server(), 2)), LATTICE_OK);
  pair.run(400);
  EXPECT_EQ(lattice_placed(pair.client(), 2), 0u) << "one that is destroyed far away goes all the same";
}

}  // namespace
}  // namespace lattice::test::placed_test
