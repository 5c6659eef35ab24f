// What happened between two frames, as arrays: a mirror of the world that knows nothing but these arrays is
// equal to the world, in both roles and at any rate of frames.
#include "lattice/frame.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "interest_pair.h"
#include "lattice/lattice.hpp"
#include "play_pair.h"
#include "seed_range.h"

namespace lattice::test::frame_test {
namespace {

constexpr uint64_t kPlaceBit = 1;
constexpr uint64_t kTickBit = 2;

/// Copies of all Things, each member read only when a frame says that it changed.
class Mirror {
 public:
  explicit Mirror(lattice_world* world) : world_(world) {}

  void take_frame() {
    ASSERT_EQ(lattice_frame_begin(world_), LATTICE_OK);
    const Frame frame = WorldRef(world_).frame();
    ASSERT_EQ(frame.number, ++frames_);
    for (const lattice_frame_object& gone : frame.gone()) {
      ASSERT_EQ(things_.erase(gone.object), 1u) << "object " << gone.object << " left, and was not there";
      ASSERT_NE(gone.reason, uint32_t{LATTICE_DESPAWN_NONE});
      reasons.insert(gone.reason);
    }
    for (const lattice_frame_object& added : frame.appeared()) {
      ASSERT_EQ(added.type_id, kThingType);
      ASSERT_TRUE(things_.try_emplace(added.object).second) << "object " << added.object << " appeared twice";
      read(added.object, kPlaceBit | kTickBit);
    }
    for (const lattice_frame_object& changed : frame.updated()) {
      ASSERT_EQ(things_.count(changed.object), 1u)
          << "object " << changed.object << " changed, and is unknown";
      ASSERT_NE(changed.members, 0u);
      ASSERT_EQ(changed.members & ~(kPlaceBit | kTickBit), 0u);
      read(changed.object, changed.members);
      ++changes;
    }
    compare();
  }

  std::set<uint32_t> reasons;
  uint32_t changes = 0;

 private:
  void read(lattice_netid object, uint64_t members) {
    const Thing now = confirmed(object);
    Thing& thing = things_[object];
    if ((members & kPlaceBit) != 0) std::copy_n(now.place, 2, thing.place);
    if ((members & kTickBit) != 0) thing.tick = now.tick;
  }
  /// Zero before the authority's first tick with the object.
  Thing confirmed(lattice_netid object) const {
    Thing thing{};
    lattice_object_confirmed(world_, object, 0, &thing, sizeof thing, nullptr);
    return thing;
  }
  void compare() {
    std::vector<lattice_netid> ids(lattice_objects(world_, kThingType, nullptr, 0));
    lattice_objects(world_, kThingType, ids.data(), ids.size());
    ASSERT_EQ(ids.size(), things_.size());
    for (const lattice_netid id : ids) {
      ASSERT_EQ(things_.count(id), 1u) << "object " << id;
      const Thing now = confirmed(id);
      ASSERT_EQ(things_[id].place[0], now.place[0]) << "object " << id;
      ASSERT_EQ(things_[id].tick, now.tick) << "object " << id;
    }
  }

  lattice_world* world_;
  uint32_t frames_ = 0;
  std::map<lattice_netid, Thing> things_;
};

void churn(uint64_t seed) {
  std::minstd_rand random(static_cast<uint32_t>(seed) + 1);
  const auto below = [&random](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  InterestPair pair;
  std::vector<lattice_netid> live;
  for (uint32_t i = 0; i < 8; ++i) live.push_back(pair.spawn_at(i));
  ASSERT_TRUE(pair.connect());
  pair.run(100);  // the first frame finds objects that are there already
  Mirror on_server(pair.server());
  Mirror on_client(pair.client());
  const uint32_t pause = 1 + below(40);  // pumps between two frames, on average
  for (uint32_t step = 0; step < 600; ++step) {
    if (below(8) == 0 && live.size() < 40) live.push_back(pair.spawn_at(below(60)));
    if (below(8) == 0 && !live.empty()) {
      const size_t victim = below(static_cast<uint32_t>(live.size()));
      ASSERT_EQ(lattice_despawn(pair.server(), live[victim]), LATTICE_OK);
      live.erase(live.begin() + static_cast<ptrdiff_t>(victim));
    }
    if (!live.empty()) {
      const lattice_netid id = live[below(static_cast<uint32_t>(live.size()))];
      auto* thing = static_cast<Thing*>(lattice_object_state(pair.server(), id, 0));
      if (below(2) == 0) thing->tick = step;
      if (below(2) == 0) thing->place[0] = static_cast<float>(below(80));  // in and out of the client's sight
    }
    pair.run(5);
    if (testing::Test::HasFailure()) return;
    if (below(pause) == 0) on_server.take_frame();
    if (below(pause) == 0) on_client.take_frame();
  }
  pair.run(500);
  on_server.take_frame();
  on_client.take_frame();
  EXPECT_GT(on_server.changes, 0u);
  EXPECT_GT(on_client.changes, 0u);
  EXPECT_EQ(on_server.reasons, std::set<uint32_t>{LATTICE_DESPAWN_DESTROYED});
  EXPECT_EQ(on_client.reasons.count(LATTICE_DESPAWN_LEFT), 1u) << "seed " << seed;
}

TEST(Frame, AMirrorThatReadsOnlyTheArraysEqualsTheWorld) {
  for (const uint64_t seed : seeds_to_run(12, 300)) {
    churn(seed);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Frame, AnObjectThatComesAndGoesBetweenTwoFramesIsInNoArray) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  const WorldRef server(pair.server());
  server.begin_frame();
  const lattice_netid brief = pair.spawn_at(1);
  pair.run(50);
  server.despawn(brief);
  server.begin_frame();
  EXPECT_TRUE(server.frame().gone().empty() && server.frame().appeared().empty());
  EXPECT_TRUE(server.frame().updated().empty());
}

TEST(Frame, AnObjectThatLeavesAndComesBackBetweenTwoFramesIsInBoth) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  const lattice_netid id = pair.spawn_at(1);
  pair.run(200);
  const WorldRef client(pair.client());
  client.begin_frame();
  ASSERT_EQ(client.frame().appeared().size(), 1u);
  pair.write(id, 200);
  pair.run(500);
  pair.write(id, 2);
  pair.run(500);
  ASSERT_EQ(pair.heard.size(), 3u) << "the object did not leave and come back";
  client.begin_frame();
  const Frame frame = client.frame();
  ASSERT_EQ(frame.gone().size(), 1u);
  EXPECT_EQ(frame.gone()[0].reason, uint32_t{LATTICE_DESPAWN_LEFT});
  ASSERT_EQ(frame.appeared().size(), 1u);
  EXPECT_EQ(frame.appeared()[0].object, id);
}

TEST(Frame, TheEndOfTheSessionTakesAllObjects) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  for (int i = 0; i < 5; ++i) pair.spawn_at(i);
  pair.run(200);
  const WorldRef client(pair.client());
  client.begin_frame();
  ASSERT_EQ(client.frame().appeared().size(), 5u);
  ASSERT_EQ(lattice_disconnect(pair.conn()), LATTICE_OK);
  pair.run(300);
  client.begin_frame();
  ASSERT_EQ(client.frame().gone().size(), 5u);
  for (const lattice_frame_object& gone : client.frame().gone()) {
    EXPECT_EQ(gone.reason, uint32_t{LATTICE_DESPAWN_SESSION_ENDED});
  }
}

TEST(Frame, ARollbackNamesTheObjectsAndMembersThatItMoved) {
  PlayPair play;
  lattice_netid pawn = 0;
  float jump = 0;
  const auto step = [](lattice_world* world, lattice_netid id) {
    if (Body* body = PlayPair::body(world, id)) body->x += 0.125f;
  };
  ASSERT_TRUE(play.connect(
      [&](lattice_world* world, uint32_t) {
        if (pawn == 0) return;
        step(world, pawn);
        PlayPair::body(world, pawn)->y += std::exchange(jump, 0.0f);
      },
      [&](lattice_world* world, uint32_t) {
        lattice_netid id = 0;
        if (lattice_simulated_objects(world, kPawnType, &id, 1) == 1) step(world, id);
      }));
  const lattice_peer_id peer = lattice_local_peer(play.pair.client.world);
  pawn = play.spawn(kPawnType, peer);
  const lattice_netid crate = play.spawn(kCrateType);
  ASSERT_TRUE(pawn != 0 && crate != 0);
  play.run(2);
  const WorldRef client(play.pair.client.world);
  client.begin_frame();
  play.run(1);
  client.begin_frame();
  EXPECT_TRUE(client.frame().moved().empty());
  ASSERT_EQ(client.frame().updated().size(), 1u) << "the crate rests";
  EXPECT_EQ(client.frame().updated()[0].members, 1u) << "only x moves";
  jump = 3;
  play.run(1);
  client.begin_frame();
  ASSERT_EQ(client.frame().moved().size(), 1u);
  EXPECT_EQ(client.frame().moved()[0].object, pawn);
  EXPECT_EQ(client.frame().moved()[0].members, 2u) << "the rollback moved y";
}

TEST(Frame, ThereIsNoneBeforeTheFirst) {
  InterestPair pair;
  lattice_frame frame;
  lattice_frame_init(&frame);
  EXPECT_EQ(lattice_frame_get(pair.server(), &frame), LATTICE_ERROR_OUT_OF_ORDER);
  ASSERT_EQ(lattice_frame_begin(pair.server()), LATTICE_OK);
  EXPECT_EQ(lattice_frame_get(pair.server(), &frame), LATTICE_OK);
  EXPECT_EQ(frame.number, 1u);
}

}  // namespace
}  // namespace lattice::test::frame_test
