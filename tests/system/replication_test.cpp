// What replication promises whatever the budget, the churn and the rates are.
#include <cmath>
#include <set>

#include "play_pair.h"
#include "refusal_count.h"

namespace lattice::test::replication_test {
namespace {

/// Crates that all move, more than the budget lets through in one snapshot.
std::vector<lattice_netid> spawn_crates(PlayPair& play, int count) {
  std::vector<lattice_netid> crates;
  for (int i = 0; i < count; ++i) crates.push_back(play.spawn(kCrateType));
  return crates;
}

void move_all(lattice_world* world, const std::vector<lattice_netid>& ids, uint32_t tick) {
  for (size_t i = 0; i < ids.size(); ++i) {
    const float angle = 0.1f * static_cast<float>(tick) + static_cast<float>(i);
    if (Body* body = PlayPair::body(world, ids[i])) *body = {100 * std::cos(angle), 100 * std::sin(angle)};
  }
}

// Silence says nothing of an object, so a part must say that what the client owns is unchanged (D-40).
TEST(Replication, APredictedPawnThatIsHeldStillIsCorrectedUnderAByteCap) {
  MessagePairOptions options;
  options.snapshot_budget_bytes = 300;
  PlayPair play(options);
  play.pair.impair(50, 0);
  std::vector<lattice_netid> crates;
  lattice_netid pawn = 0;
  bool held = false;
  ASSERT_TRUE(play.connect(
      [&](lattice_world* world, uint32_t tick) {
        move_all(world, crates, tick);
        if (Body* body = PlayPair::body(world, pawn); body != nullptr && !held) body->x += 0.05f;
      },
      [&](lattice_world* world, uint32_t) {
        lattice_netid ids[4];
        const size_t count = lattice_simulated_objects(world, kPawnType, ids, 4);
        for (size_t i = 0; i < count; ++i) PlayPair::body(world, ids[i])->x += 0.05f;
      }));
  crates = spawn_crates(play, 200);
  pawn = play.spawn(kPawnType, kFirstClientPeer);
  play.run(2);
  held = true;
  const float truth = PlayPair::body(play.pair.server.world, pawn)->x;
  play.run(3);
  const Body* seen = PlayPair::body(play.pair.client.world, pawn);
  ASSERT_NE(seen, nullptr);
  // Each snapshot corrects it; since then it ran ahead by a round trip and the snapshot interval.
  EXPECT_NEAR(seen->x, truth, 0.05f * 20);
  EXPECT_EQ(play.ended(), 0) << play.ended_text();
}

// What a client did not acknowledge is needed anew in each snapshot, so one that acknowledges nothing would
// be the dearest of all.
TEST(Replication, AClientThatAcknowledgesNothingGetsFewSnapshots) {
  MessagePairOptions options;  // congestion control would send few of them too
  options.adjust = [](lattice_world_config* config) { config->congestion_mode = LATTICE_CONGESTION_NONE; };
  PlayPair play(options);
  std::vector<lattice_netid> crates;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) { move_all(world, crates, tick); }));
  crates = spawn_crates(play, 200);
  play.run(2);
  const auto sent_during = [&](const std::function<void()>& run) {
    const uint64_t before = PlayPair::stats(play.pair.server.world).snapshots_sent;
    run();
    return PlayPair::stats(play.pair.server.world).snapshots_sent - before;
  };
  EXPECT_GE(sent_during([&] { play.run(1); }), 29u);
  EXPECT_GE(sent_during([&] { play.pause_client(2); }), 40u) << "a short pause changes nothing";
  play.pause_client(1.5);
  EXPECT_LE(sent_during([&] { play.pause_client(2); }), 11u);
  play.pause_client(1);
  EXPECT_LE(sent_during([&] { play.pause_client(2); }), 3u);
  play.run(1.2);  // it hears the next one, and acknowledges it
  EXPECT_GE(sent_during([&] { play.run(1); }), 29u);
  EXPECT_EQ(play.ended(), 0) << play.ended_text();
}

TEST(Replication, AClientKnowsWhatEachTypeCosts) {
  PlayPair play{MessagePairOptions{}};
  std::vector<lattice_netid> crates;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) { move_all(world, crates, tick); },
                           [](lattice_world*, uint32_t) {}));
  crates = spawn_crates(play, 10);
  play.spawn(kPawnType);
  play.run(2);
  const auto stats_of = [](lattice_world* world, uint32_t type_id) {
    lattice_type_stats stats;
    lattice_type_stats_init(&stats);
    EXPECT_EQ(lattice_world_get_type_stats(world, type_id, &stats), LATTICE_OK);
    return stats;
  };
  lattice_world* client = play.pair.client.world;
  const lattice_type_stats moving = stats_of(client, kCrateType), resting = stats_of(client, kPawnType);
  EXPECT_EQ(moving.objects, 10u);
  EXPECT_EQ(resting.objects, 1u);
  EXPECT_GT(moving.entries_received, 10 * 30u);
  EXPECT_GT(moving.bits_received, 20 * moving.entries_received);
  EXPECT_LE(resting.entries_received, 20u);
  lattice_world_stats all;
  lattice_world_stats_init(&all);
  ASSERT_EQ(lattice_world_get_stats(client, &all), LATTICE_OK);
  EXPECT_LT(moving.bits_received + resting.bits_received, 8 * all.bytes_received);

  const lattice_type_stats authority = stats_of(play.pair.server.world, kCrateType);
  EXPECT_EQ(authority.objects, 10u);
  EXPECT_EQ(authority.entries_received, 0u);
  lattice_type_stats unknown;
  lattice_type_stats_init(&unknown);
  EXPECT_EQ(lattice_world_get_type_stats(client, 4711, &unknown), LATTICE_ERROR_NOT_FOUND);
}

TEST(Replication, ShortLivedObjectsEndNoHealthyConnection) {
  for (const double delay_ms : {25.0, 50.0, 100.0, 200.0}) {
    SCOPED_TRACE(delay_ms);
    MessagePairOptions options;
    options.max_objects = 256;
    PlayPair play(options);
    play.pair.impair(delay_ms, 0);
    std::vector<lattice_netid> alive;
    ASSERT_TRUE(play.connect([&](lattice_world*, uint32_t) {
      for (int i = 0; i < 25; ++i) {
        if (alive.size() < 150) alive.push_back(play.spawn(kCrateType));
      }
      for (int i = 0; i < 25 && alive.size() > 125; ++i) {
        lattice_despawn(play.pair.server.world, alive.front());
        alive.erase(alive.begin());
      }
    }));
    play.run(10);
    EXPECT_EQ(play.ended(), 0) << play.ended_text();
  }
}

// An object that is despawned twice in a tick is removed once, and what takes its place stays.
TEST(Replication, ASecondDespawnInATickChangesNothing) {
  PlayPair play;
  std::vector<lattice_netid> first, second;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t) {
    for (const lattice_netid id : first) {
      EXPECT_EQ(lattice_despawn(world, id), LATTICE_OK);
      EXPECT_EQ(lattice_despawn(world, id), LATTICE_OK);
    }
    if (!first.empty()) second = spawn_crates(play, 200);
    first.clear();
  }));
  first = spawn_crates(play, 200);
  const std::vector<lattice_netid> gone = first;
  play.run(2);
  ASSERT_EQ(second.size(), 200u);
  for (lattice_world* const world : {play.pair.server.world, play.pair.client.world}) {
    for (const lattice_netid id : gone) EXPECT_EQ(PlayPair::body(world, id), nullptr);
    for (const lattice_netid id : second) EXPECT_NE(PlayPair::body(world, id), nullptr);
  }
  EXPECT_EQ(lattice_despawn(play.pair.server.world, gone[0]), LATTICE_ERROR_NOT_FOUND);
}

// That an object rests is only said when the client has acknowledged it. Until then nothing is missing.
TEST(Replication, AnObjectThatAppearsAtRestIsNoUnderrun) {
  PlayPair play;
  play.pair.impair(200, 0);
  ASSERT_TRUE(play.connect([](lattice_world*, uint32_t) {}));
  play.run(3);
  const std::vector<lattice_netid> crates = spawn_crates(play, 20);
  uint32_t views = 0;
  play.each_step = [&] {
    lattice_frame_begin(play.pair.client.world);
    Body out{};
    for (const lattice_netid id : crates) {
      if (lattice_object_view(play.pair.client.world, id, 0, &out, sizeof out) != 0) ++views;
    }
  };
  play.run(2);
  EXPECT_GT(views, 1000u);
  EXPECT_EQ(PlayPair::stats(play.pair.client.world).interpolation_underruns, 0u);
}

TEST(Replication, RemovalsStarveNoState) {
  MessagePairOptions options;
  options.snapshot_budget_bytes = 1200;
  PlayPair play(options);
  play.pair.impair(100, 0);
  std::vector<lattice_netid> bursts;
  lattice_netid important = 0;
  uint32_t shown_tick = 0;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) {
    if (Body* body = PlayPair::body(world, important)) body->x = static_cast<float>(tick % 1000);
  }));
  important = play.spawn(kPawnType);
  bursts = spawn_crates(play, 3000);
  play.run(8);
  for (const lattice_netid id : bursts) lattice_despawn(play.pair.server.world, id);
  uint32_t worst = 0;
  play.each_step = [&] {
    uint32_t tick = 0;
    Body out{};
    if (lattice_object_confirmed(play.pair.client.world, important, 0, &out, sizeof out, &tick) == 0) return;
    const uint32_t now = PlayPair::stats(play.pair.server.world).tick;
    shown_tick = std::max(shown_tick, tick);
    worst = std::max(worst, now - shown_tick);
  };
  play.run(6);
  EXPECT_LE(worst, 30u) << "ticks without a state of the moving object";
  EXPECT_EQ(play.ended(), 0) << play.ended_text();
}

// An entry that fits no snapshot of the budget goes in pieces, beside what changes all the time.
TEST(Replication, ObjectsLongerThanTheBudgetHoldNothingUpAndArrive) {
  MessagePairOptions options;
  options.snapshot_budget_bytes = 128;
  PlayPair play(options);
  play.pair.impair(30, 0);
  std::vector<lattice_netid> crates;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) { move_all(world, crates, tick); }));
  std::vector<lattice_netid> notes;
  for (int i = 0; i < 12; ++i) {
    notes.push_back(play.spawn(kNoteType));
    auto* note = static_cast<Note*>(lattice_object_state(play.pair.server.world, notes.back(), 0));
    std::memset(note->text, 'a', sizeof note->text);
  }
  crates = spawn_crates(play, 5);
  play.run(2);
  for (const lattice_netid id : crates) EXPECT_NE(PlayPair::body(play.pair.client.world, id), nullptr);
  play.run(10);
  for (const lattice_netid id : notes) {
    EXPECT_NE(lattice_object_state(play.pair.client.world, id, 0), nullptr);
  }
  EXPECT_EQ(refusals(play.pair.server.world, "snapshot_over_budget"), 0u);
}

// A client cannot know that an object will never come. So the authority removes even what it never sent.
TEST(Replication, CallsOnObjectsThatNeverCameDelayNoOthers) {
  PlayPair play;
  play.pair.impair(30, 0);
  lattice_netid lasting = 0;
  uint32_t made = 0;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t) {
    if (lasting == 0) return;
    for (int i = 0; i < 5; ++i) {
      const lattice_netid spark = play.spawn(kCrateType);
      lattice_rpc(world, spark, kKnock, LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_RELIABLE_ORDERED, nullptr, 0);
      lattice_despawn(world, spark);
    }
    made += lattice_rpc(world, lasting, kKnockAligned, LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_RELIABLE_UNORDERED,
                        nullptr, 0) == LATTICE_OK;
  }));
  const lattice_netid crate = play.spawn(kCrateType);
  play.run(1);
  lasting = crate;
  play.run(10);
  lasting = 0;
  play.run(3);
  EXPECT_EQ(play.client_heard(crate), made);
  EXPECT_GT(made, 500u);
  EXPECT_EQ(refusals(play.pair.client.world, "rpc_queue_full"), 0u);
}

// Frames of 0.15 to 0.3 s are too long for their ticks and too short for the clock to call them a jump.
TEST(Replication, AHitchOfTheClientCostsNoMoreThanALongPause) {
  for (const double hitch_s : {0.15, 0.2, 0.25, 0.3, 1.0}) {
    PlayPair play;
    play.pair.impair(30, 0);
    lattice_netid pawn = 0;
    const auto walk = [](lattice_world* world, uint32_t) {
      lattice_netid ids[4];
      const size_t count = lattice_simulated_objects(world, kPawnType, ids, 4);
      for (size_t i = 0; i < count; ++i) PlayPair::body(world, ids[i])->x += 0.05f;
    };
    ASSERT_TRUE(play.connect(walk, walk));
    pawn = play.spawn(kPawnType, kFirstClientPeer);
    play.run(2);
    const uint64_t resets = PlayPair::stats(play.pair.client.world).hard_resets;
    play.pause_client(hitch_s);
    play.run(2);
    EXPECT_LE(PlayPair::stats(play.pair.client.world).hard_resets - resets, 12u) << hitch_s << " s";
    EXPECT_GT(PlayPair::body(play.pair.client.world, pawn)->x,
              PlayPair::body(play.pair.server.world, pawn)->x);
  }
}

TEST(Replication, SnapshotsLeaveAtTheConfiguredRate) {
  for (const uint32_t rate : {60u, 45u, 40u, 30u, 25u, 7u}) {
    MessagePairOptions options;
    options.adjust = [rate](lattice_world_config* config) { config->snapshot_rate_hz = rate; };
    PlayPair play(options);
    lattice_netid crate = 0;
    ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) { move_all(world, {crate}, tick); }));
    crate = play.spawn(kCrateType);
    play.run(1);
    const uint64_t before = PlayPair::stats(play.pair.server.world).snapshots_sent;
    play.run(4);
    const uint64_t sent = PlayPair::stats(play.pair.server.world).snapshots_sent - before;
    EXPECT_NEAR(static_cast<double>(sent), 4.0 * rate, 2) << rate << " Hz";
  }
}

TEST(Replication, AStructureIsCurrentFromTheFirstReadOn) {
  PlayPair play;
  lattice_netid crate = 0;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) { move_all(world, {crate}, tick); }));
  crate = play.spawn(kCrateType);
  play.run(1);
  lattice_world* const client = play.pair.client.world;
  const auto confirmed = [&] {
    Body body{};
    uint32_t tick = 0;
    EXPECT_NE(lattice_object_confirmed(client, crate, 0, &body, sizeof body, &tick), 0u);
    return body;
  };
  const auto* kept = static_cast<const Body*>(lattice_object_read(client, crate, 0));
  ASSERT_NE(kept, nullptr);
  const float first = kept->x;
  EXPECT_EQ(kept->x, confirmed().x) << "read for the first time after many states";
  play.run(1);
  EXPECT_NE(kept->x, first);
  EXPECT_EQ(kept->x, confirmed().x) << "through a pointer that was kept";
}

}  // namespace
}  // namespace lattice::test::replication_test
