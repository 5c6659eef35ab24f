// What a client learns about its wrong predictions: which member, by how much, when and of which object.
#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test::prediction_error_test {
namespace {

constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint32_t kPawnType = 9;
constexpr lattice_peer_id kClientPeer = 2;  // the first to connect

struct Pawn {
  int32_t x;
  int32_t shields;
};

class PredictionErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    for (lattice_world* world : {pair_.server.world, pair_.client.world}) register_pawn(world);
    pair_.impair(30, 0);
    ASSERT_TRUE(pair_.connect());
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context* tick) {
      static_cast<PredictionErrors*>(ctx)->step(world, tick->tick);
    };
    for (lattice_world* world : {pair_.server.world, pair_.client.world}) {
      ASSERT_EQ(lattice_set_callbacks(world, &callbacks, this), LATTICE_OK);
    }
    pawn_ = lattice_spawn_for(pair_.server.world, kPawnType, LATTICE_AUTHORITY_SERVER, kClientPeer);
    run(180);  // the first states of an object cannot have been predicted
    while (taken()) continue;
  }

  static void register_pawn(lattice_world* world) {
    lattice_member_desc members[2];
    for (lattice_member_desc& member : members) {
      lattice_member_desc_init(&member);
      member.type = LATTICE_WIRE_INT32;
    }
    members[0].name = "x";
    members[1].name = "shields";
    members[1].offset = offsetof(Pawn, shields);
    register_plain_type<Pawn>(
        world, {.type_id = kPawnType, .name = "Pawn", .members = members, .flags = LATTICE_TYPE_PREDICTED});
  }

  // Every pawn walks; in the tick of the hit the authority alone pushes it.
  void step(lattice_world* world, uint32_t tick) {
    if (world == pair_.server.world) server_tick_ = tick;
    lattice_netid ids[4];
    const size_t count = lattice_simulated_objects(world, kPawnType, ids, 4);
    for (size_t i = 0; i < count; ++i) {
      auto* pawn = static_cast<Pawn*>(lattice_object_state(world, ids[i], 0));
      ++pawn->x;
      if (world != pair_.server.world || tick != hit_tick_) continue;
      pawn->x += push_;
      pawn->shields += shields_;
    }
  }

  void run(int ticks) {
    for (int i = 0; i < 4 * ticks; ++i) {
      pair_.now_ns += kTickNs / 4;
      lattice_netsim_advance(pair_.net, kTickNs / 4);
      lattice_world_pump(pair_.server.world);
      lattice_world_pump(pair_.client.world);
    }
  }

  void hit(int32_t push, int32_t shields) {
    hit_tick_ = server_tick_ + 2;
    push_ = push, shields_ = shields;
    run(60);
  }

  bool taken() {
    lattice_prediction_error_init(&error_);
    return lattice_world_take_prediction_error(pair_.client.world, &error_) == LATTICE_OK;
  }

  MessagePair pair_;
  lattice_netid pawn_ = 0;
  uint32_t server_tick_ = 0, hit_tick_ = 0;
  int32_t push_ = 0, shields_ = 0;
  lattice_prediction_error error_{};
};

TEST_F(PredictionErrors, ThereAreNoneWhilePredictionsAreRight) {
  run(120);
  EXPECT_FALSE(taken());
  EXPECT_STREQ(lattice_last_error(), "There are no more prediction errors.");
  EXPECT_EQ(error_.count, 0u);
}

TEST_F(PredictionErrors, NamesMemberDistanceTickAndObject) {
  hit(40, 0);
  ASSERT_TRUE(taken());
  EXPECT_STREQ(error_.member, "Pawn.x");
  EXPECT_EQ(error_.type_id, kPawnType);
  EXPECT_EQ(error_.prop_id, 0u);
  EXPECT_EQ(error_.worst, 40);
  EXPECT_EQ(error_.worst_object, pawn_);
  EXPECT_GE(error_.worst_tick, hit_tick_);
  EXPECT_LE(error_.worst_tick, hit_tick_ + 4);  // the next snapshot
  EXPECT_EQ(error_.count, 1u);
  EXPECT_FALSE(taken());
}

TEST_F(PredictionErrors, CountsUntilTheyAreTaken) {
  hit(3, 5);
  hit(-7, 0);
  ASSERT_TRUE(taken());
  const lattice_prediction_error x = error_;
  EXPECT_EQ(x.count, 2u);
  EXPECT_EQ(x.worst, 7);
  ASSERT_TRUE(taken());
  EXPECT_STREQ(error_.member, "Pawn.shields");
  EXPECT_EQ(error_.count, 1u);
  EXPECT_EQ(error_.worst, 5);
  EXPECT_FALSE(taken());

  hit(2, 0);
  ASSERT_TRUE(taken());
  EXPECT_EQ(error_.member, x.member);
  EXPECT_EQ(error_.count, 1u);
  EXPECT_EQ(error_.worst, 2);
}

TEST_F(PredictionErrors, AnAuthorityHasNone) {
  hit(40, 1);
  lattice_prediction_error_init(&error_);
  EXPECT_EQ(lattice_world_take_prediction_error(pair_.server.world, &error_), LATTICE_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace lattice::test::prediction_error_test
