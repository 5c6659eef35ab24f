#include "rules.h"

#include <gtest/gtest.h>

#include "arena.h"
#include "rehearsal.h"

namespace depot::test {
namespace {

constexpr uint64_t kSeed = 20240601;
// Of 600 ticks of 10 bots. Equal on every compiler, optimisation level and platform; changes only when
// the rules, the arena or the bots change.
constexpr uint64_t kGoldenHash = 0x35407AA755CC06E4u;

bool inside_a_wall(Vec2 position) {
  for (const Box& wall : arena_walls()) {
    if (distance(wall, position) < kPawnRadius - 0.01f) return true;
  }
  return false;
}

TEST(Rules, ScriptedRunHasGoldenHash) {
  Rehearsal rehearsal(10);
  Crew crew(10, kSeed);
  for (int i = 0; i < 600; ++i) rehearsal.step(crew.decide(rehearsal));
  EXPECT_EQ(hash_of(rehearsal.game), kGoldenHash) << std::hex << hash_of(rehearsal.game);
}

TEST(Rules, RollingBackEveryTickChangesNothing) {
  Rehearsal rehearsal(10);
  Crew crew(10, kSeed);
  GameState before[8];
  std::vector<Command> commands[8];
  for (int i = 0; i < 600; ++i) {
    const size_t slot = static_cast<size_t>(i) % 8;
    before[slot] = rehearsal.game;
    commands[slot] = crew.decide(rehearsal);
    rehearsal.step(commands[slot]);
    if (i < 8) continue;
    // Back by up to eight ticks and forward again.
    const uint64_t expected = hash_of(rehearsal.game);
    const size_t depth = static_cast<size_t>(i) % 8 + 1;
    const size_t first = static_cast<size_t>(i) + 1 - depth;
    rehearsal.game = before[first % 8];
    for (size_t k = first; k <= static_cast<size_t>(i); ++k) rehearsal.step(commands[k % 8]);
    ASSERT_EQ(hash_of(rehearsal.game), expected) << "tick " << rehearsal.game.tick << " depth " << depth;
  }
  EXPECT_EQ(hash_of(rehearsal.game), kGoldenHash);
}

TEST(Rules, NobodyEverStandsInAWall) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Rehearsal rehearsal(24);
    Crew crew(24, seed);
    for (int i = 0; i < 1200; ++i) {
      rehearsal.step(crew.decide(rehearsal));
      for (const auto& [id, pawn] : rehearsal.game.pawns) {
        ASSERT_FALSE(inside_a_wall(pawn.position)) << "seed " << seed << " tick " << i << " pawn " << id
                                                   << " at " << pawn.position.x << "," << pawn.position.y;
      }
    }
  }
}

TEST(Rules, BotsUseTheWholeGame) {
  Rehearsal rehearsal(10);
  Crew crew(10, kSeed);
  uint32_t dashes = 0;
  bool door_opened = false;
  std::array<bool, 3> halls{};
  for (int i = 0; i < 3600; ++i) {
    rehearsal.step(crew.decide(rehearsal));
    for (const auto& [id, pawn] : rehearsal.game.pawns) dashes += pawn.dash_tick == rehearsal.game.tick;
    for (const auto& [id, door] : rehearsal.game.doors)
      door_opened |= door_is_open(door, rehearsal.game.tick);
    const float x = rehearsal.game.pawns[0].state.position.x;
    halls[x < 20 ? 0 : (x < 43 ? 1 : 2)] = true;
  }
  int32_t score = 0;
  for (const auto& [id, pawn] : rehearsal.game.pawns) score += pawn.score;
  EXPECT_GT(dashes, 20u);
  EXPECT_TRUE(door_opened);
  EXPECT_GT(rehearsal.pickups, 10u);
  EXPECT_GT(rehearsal.shots, 10u);
  EXPECT_GT(score, 3);
  EXPECT_GE(halls[0] + halls[1] + halls[2], 2);
}

TEST(Rules, WalksAtWalkingSpeedAndStops) {
  Rehearsal rehearsal(1);
  PawnState& pawn = rehearsal.game.pawns[0].state;
  pawn.position = {32, 18};
  for (int i = 0; i < 30; ++i) rehearsal.step({{{.move = {-1, 0}, .aim = {}}}});
  EXPECT_FLOAT_EQ(pawn.velocity.x, -kWalkSpeed);
  for (int i = 0; i < 30; ++i) rehearsal.step({{}});
  EXPECT_EQ(pawn.velocity, (Vec2{0, 0}));
}

TEST(Rules, DiagonalIsNotFaster) {
  Rehearsal rehearsal(1);
  PawnState& pawn = rehearsal.game.pawns[0].state;
  pawn.position = {23, 22};
  for (int i = 0; i < 30; ++i) rehearsal.step({{{.move = {1, 1}, .aim = {}}}});
  EXPECT_NEAR(length(pawn.velocity), kWalkSpeed, 1e-4f);
}

TEST(Rules, BeltCarriesWhoStandsStill) {
  Rehearsal rehearsal(1);
  PawnState& pawn = rehearsal.game.pawns[0].state;
  pawn.position = {4, 20};
  for (int i = 0; i < 60; ++i) rehearsal.step({{}});
  EXPECT_FLOAT_EQ(pawn.velocity.x, 2.0f);
  EXPECT_NEAR(pawn.position.x, 6.0f, 0.1f);
}

TEST(Rules, DashIsFastOnceAndThenCoolsDown) {
  Rehearsal rehearsal(1);
  PawnState& pawn = rehearsal.game.pawns[0].state;
  pawn.position = {23, 17};
  const Command dash = {{.move = {1, 0}, .aim = {}, .dash = true}};
  rehearsal.step({dash});
  EXPECT_FLOAT_EQ(pawn.velocity.x, kDashSpeed);
  for (uint32_t i = 0; i < kDashTicks; ++i) rehearsal.step({dash});
  EXPECT_LT(pawn.velocity.x, kDashSpeed);
  EXPECT_FALSE(pawn_can_dash(pawn, rehearsal.game.tick));
  while (!pawn_can_dash(pawn, rehearsal.game.tick + 1)) rehearsal.step({{}});
  EXPECT_EQ(rehearsal.game.tick + 1 - pawn.dash_tick, kDashCooldownTicks);
}

TEST(Rules, DoorOpensAfterNoticeAndShutsByItself) {
  DoorState door;
  EXPECT_FALSE(door_is_open(door, 1));
  use_door(door, true, 100);
  EXPECT_FALSE(door_is_open(door, 100 + kDoorNoticeTicks - 1));
  EXPECT_TRUE(door_is_open(door, 100 + kDoorNoticeTicks));
  EXPECT_TRUE(door_is_open(door, 100 + kDoorNoticeTicks + kDoorOpenTicks - 1));
  EXPECT_FALSE(door_is_open(door, 100 + kDoorNoticeTicks + kDoorOpenTicks));
  // Asking again while it is open only extends the opening.
  use_door(door, true, 200);
  EXPECT_TRUE(door_is_open(door, 200));
  EXPECT_TRUE(door_is_open(door, 200 + kDoorNoticeTicks + kDoorOpenTicks - 1));
  use_door(door, false, 210);
  EXPECT_TRUE(door_is_open(door, 210 + kDoorNoticeTicks - 1));
  EXPECT_FALSE(door_is_open(door, 210 + kDoorNoticeTicks));
}

TEST(Rules, ClosedDoorBlocksAndShuttingDoorPushesOut) {
  Rehearsal rehearsal(1);
  PawnState& pawn = rehearsal.game.pawns[0].state;
  pawn.position = {19, 10.5f};
  const Command right = {{.move = {1, 0}, .aim = {}}};
  for (int i = 0; i < 60; ++i) rehearsal.step({right});
  EXPECT_NEAR(pawn.position.x, 20.0f - kPawnRadius, 1e-3f);
  EXPECT_EQ(pawn.velocity.x, 0.0f);

  use_door(rehearsal.game.doors[0].state, true, rehearsal.game.tick);
  while (pawn.position.x < 20.4f) rehearsal.step({right});
  DoorState& door = rehearsal.game.doors[0].state;
  door.open_until_tick = rehearsal.game.tick + 1;
  pawn.velocity = {0, 0};
  rehearsal.step({{}});
  EXPECT_GE(distance(arena_doors()[0], pawn.position), kPawnRadius - 0.01f);
}

TEST(Rules, ProjectileKnocksBackAndDropsTheParcel) {
  Rehearsal rehearsal(2);
  PawnState& shooter = rehearsal.game.pawns[0].state;
  PawnState& target = rehearsal.game.pawns[1].state;
  shooter.position = {23, 17};
  target.position = {26, 17};
  target.carried = ParcelKind::kCrate;
  rehearsal.step({{{.move = {}, .aim = {1, 0}, .dash = false, .fire = true}}, {}});
  EXPECT_EQ(rehearsal.game.projectiles.size(), 1u);
  for (int i = 0; i < 60 && rehearsal.hits == 0; ++i) rehearsal.step({{}, {}});
  EXPECT_EQ(rehearsal.hits, 1u);
  EXPECT_TRUE(rehearsal.game.projectiles.empty());
  EXPECT_EQ(target.carried, ParcelKind::kNone);
  EXPECT_TRUE(pawn_is_stunned(target, rehearsal.game.tick));
  EXPECT_GT(target.velocity.x, 0.0f);
}

TEST(Rules, ParcelIsPickedUpOnceAndDelivered) {
  Rehearsal rehearsal(2);
  const Vec2 parcel = rehearsal.game.pickups[0].state.position;
  PawnState& pawn = rehearsal.game.pawns[0].state;
  pawn.position = parcel;
  rehearsal.step({{}, {}});
  EXPECT_EQ(pawn.carried, ParcelKind::kBox);
  EXPECT_TRUE(rehearsal.game.pickups[0].state.taken);
  pawn.position = centre(arena_bays()[0]);
  rehearsal.step({{}, {}});
  EXPECT_EQ(pawn.carried, ParcelKind::kNone);
  EXPECT_EQ(pawn.score, 1);
  for (uint32_t i = 0; i < kPickupRespawnTicks; ++i) rehearsal.step({{}, {}});
  EXPECT_FALSE(rehearsal.game.pickups[0].state.taken);
}

TEST(Rules, PawnsDoNotOverlapForLong) {
  Rehearsal rehearsal(3);
  for (auto& [id, pawn] : rehearsal.game.pawns) pawn.position = {32, 4};
  for (int i = 0; i < 60; ++i) rehearsal.step({{}, {}, {}});
  for (const auto& a : rehearsal.game.pawns) {
    for (const auto& b : rehearsal.game.pawns) {
      if (a.id < b.id) {
        EXPECT_GT(length(a.state.position - b.state.position), 1.9f * kPawnRadius);
      }
    }
  }
  EXPECT_GT(rehearsal.pushes, 0u);
}

}  // namespace
}  // namespace depot::test
