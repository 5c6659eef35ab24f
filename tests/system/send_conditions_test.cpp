// Send conditions as a game meets them: a predicted object whose members are for its owner, for the others,
// or travel once. What travels to whom is tested where snapshots are built.
#include "message_pair.h"
#include "plain_type.h"

namespace lattice::test::send_conditions_test {
namespace {

constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint32_t kPawnType = 9;
constexpr lattice_peer_id kClientPeer = 2;  // the first to connect

struct Pawn {
  int32_t x;
  int32_t ammo;     // for the owner
  int32_t gesture;  // for the others: the owner's own game knows it first
  int32_t aim;      // for who predicts
  int32_t seed;     // travels once
};

void register_pawn(lattice_world* world) {
  static constexpr struct {
    const char* name;
    size_t offset;
    uint32_t flags;
  } kMembers[] = {{"x", offsetof(Pawn, x), 0},
                  {"ammo", offsetof(Pawn, ammo), LATTICE_MEMBER_OWNER_ONLY},
                  {"gesture", offsetof(Pawn, gesture), LATTICE_MEMBER_SKIP_OWNER},
                  {"aim", offsetof(Pawn, aim), LATTICE_MEMBER_PREDICTED_ONLY},
                  {"seed", offsetof(Pawn, seed), LATTICE_MEMBER_INITIAL_ONLY}};
  lattice_member_desc members[5];
  for (size_t i = 0; i < 5; ++i) {
    lattice_member_desc_init(&members[i]);
    members[i].name = kMembers[i].name;
    members[i].type = LATTICE_WIRE_INT32;
    members[i].offset = static_cast<uint32_t>(kMembers[i].offset);
    members[i].flags = kMembers[i].flags;
  }
  register_plain_type<Pawn>(
      world, {.type_id = kPawnType, .name = "Pawn", .members = members, .flags = LATTICE_TYPE_PREDICTED});
}

class SendConditions : public ::testing::Test {
 protected:
  void SetUp() override {
    for (lattice_world* world : {server(), client()}) register_pawn(world);
    pair_.impair(30, 0);
    ASSERT_TRUE(pair_.connect());
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context* tick) {
      static_cast<SendConditions*>(ctx)->step(world, tick->tick);
    };
    for (lattice_world* world : {server(), client()}) {
      ASSERT_EQ(lattice_set_callbacks(world, &callbacks, this), LATTICE_OK);
    }
  }
  lattice_world* server() { return pair_.server.world; }
  lattice_world* client() { return pair_.client.world; }

  void step(lattice_world* world, uint32_t tick) {
    lattice_netid ids[4];
    const size_t count = lattice_simulated_objects(world, kPawnType, ids, 4);
    for (size_t i = 0; i < count; ++i) {
      auto* pawn = static_cast<Pawn*>(lattice_object_state(world, ids[i], 0));
      ++pawn->x;
      pawn->aim = 2 * pawn->x;
      if (tick % 30 == 0) ++pawn->ammo;
      pawn->gesture = world == server() ? -1 : pawn->x + 100;
      if (world == server()) pawn->x += push_, push_ = 0;
      if (world == server() && changes_seed_) ++pawn->seed;
      if (world == client()) pawn->seed = 4711;  // nobody predicts it, so this has no effect
    }
  }

  void spawn(lattice_peer_id owner) {
    pawn_ = lattice_spawn_for(server(), kPawnType, LATTICE_AUTHORITY_SERVER, owner);
    static_cast<Pawn*>(lattice_object_state(server(), pawn_, 0))->seed = 99;
  }
  void run(int ticks) {
    for (int i = 0; i < 4 * ticks; ++i) {
      pair_.now_ns += kTickNs / 4;
      lattice_netsim_advance(pair_.net, kTickNs / 4);
      lattice_world_pump(server());
      lattice_world_pump(client());
    }
  }
  const Pawn& at(lattice_world* world) {
    static const Pawn kNone{};
    const auto* pawn = static_cast<const Pawn*>(lattice_object_read(world, pawn_, 0));
    EXPECT_NE(pawn, nullptr);
    return pawn == nullptr ? kNone : *pawn;
  }
  uint64_t rollbacks() {
    lattice_world_stats stats;
    lattice_world_stats_init(&stats);
    EXPECT_EQ(lattice_world_get_stats(client(), &stats), LATTICE_OK);
    return stats.rollbacks;
  }

  MessagePair pair_;
  lattice_netid pawn_ = 0;
  int32_t push_ = 0;
  bool changes_seed_ = false;
};

TEST_F(SendConditions, AnOwnerPredictsWhatIsForIt) {
  spawn(kClientPeer);
  run(180);
  const uint64_t before = rollbacks();
  run(300);
  EXPECT_EQ(rollbacks(), before);
  const Pawn& own = at(client());
  EXPECT_GE(own.x, at(server()).x);
  EXPECT_EQ(own.aim, 2 * own.x);
  EXPECT_GE(own.ammo, at(server()).ammo);
  EXPECT_EQ(own.gesture, own.x + 100) << "its own game's";
  EXPECT_EQ(own.seed, 99);
}

TEST_F(SendConditions, ACorrectionKeepsWhatTheOwnerIsNotTold) {
  spawn(kClientPeer);
  run(180);
  const uint64_t before = rollbacks();
  push_ = 1000;
  run(60);
  EXPECT_EQ(rollbacks(), before + 1);
  const Pawn& own = at(client());
  EXPECT_GT(own.x, 1000);
  EXPECT_EQ(own.gesture, own.x + 100);
  EXPECT_EQ(own.seed, 99);
}

TEST_F(SendConditions, WhatTravelsOnceStaysAsItCame) {
  spawn(kClientPeer);
  run(180);
  const int32_t came = at(client()).seed;
  changes_seed_ = true;
  const uint64_t before = rollbacks();
  run(120);
  EXPECT_EQ(at(client()).seed, came);
  EXPECT_GT(at(server()).seed, came);
  EXPECT_EQ(rollbacks(), before);
}

TEST_F(SendConditions, OthersGetTheRest) {
  spawn(0);
  run(120);
  EXPECT_GT(at(server()).ammo, 0);
  EXPECT_GT(at(client()).x, 0);
  EXPECT_EQ(at(client()).ammo, 0);
  EXPECT_EQ(at(client()).aim, 0);
  EXPECT_EQ(at(client()).gesture, -1);
  EXPECT_EQ(at(client()).seed, 99);
}

TEST(SendConditionsOfPlaced, WhatTravelsOnceComesToWhoJoinsLate) {
  struct Door {
    int32_t x;
    int32_t seed;
  };
  MessagePair pair;
  const Door placed{1, 10};
  const void* states[] = {&placed};
  lattice_member_desc members[2];
  for (uint32_t i = 0; i < 2; ++i) {
    lattice_member_desc_init(&members[i]);
    members[i].name = i == 0 ? "x" : "seed";
    members[i].type = LATTICE_WIRE_INT32;
    members[i].offset = 4 * i;
  }
  members[1].flags = LATTICE_MEMBER_INITIAL_ONLY;
  for (lattice_world* world : {pair.server.world, pair.client.world}) {
    register_plain_type<Door>(world, {.type_id = 9, .name = "Door", .members = members});
    ASSERT_EQ(lattice_place(world, 5, 9, states, 1), LATTICE_OK) << lattice_last_error();
  }
  const lattice_netid door = lattice_placed(pair.server.world, 5);
  *static_cast<Door*>(lattice_object_state(pair.server.world, door, 0)) = {2, 99};
  const auto run = [&](int ticks, bool both) {
    for (int i = 0; i < ticks; ++i) {
      pair.now_ns += kTickNs;
      lattice_netsim_advance(pair.net, kTickNs);
      lattice_world_pump(pair.server.world);
      if (both) lattice_world_pump(pair.client.world);
    }
  };
  run(100, false);
  ASSERT_TRUE(pair.connect());
  run(100, true);
  const auto* seen = static_cast<const Door*>(lattice_object_read(pair.client.world, door, 0));
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->x, 2);
  EXPECT_EQ(seen->seed, 99);
}

}  // namespace
}  // namespace lattice::test::send_conditions_test
