// Depot without a network: the rules over plain arrays, stepped in ascending id as game.cpp steps them.
// Its whole state is one copyable value, which is what a rollback saves and restores.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "arena.h"
#include "bot.h"
#include "rules.h"

namespace depot::test {

template <class State>
struct Kept {
  lattice_netid id = 0;
  State state;
};

/// Everything that makes up the game at one tick.
struct GameState {
  uint32_t tick = 0;
  lattice_netid next_id = 1;
  std::vector<Kept<DoorState>> doors;
  std::vector<Kept<PickupState>> pickups;
  std::vector<Kept<PawnState>> pawns;
  std::vector<Kept<ProjectileState>> projectiles;
};

/// FNV-1a over every member of every object, floats by their bits.
class StateHash {
 public:
  void add(uint64_t value) {
    for (int i = 0; i < 8; ++i) {
      hash_ = (hash_ ^ (value & 0xFF)) * 0x100000001B3u;
      value >>= 8;
    }
  }
  void add(Vec2 v) {
    add(std::bit_cast<uint32_t>(v.x));
    add(std::bit_cast<uint32_t>(v.y));
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325u;
};

inline uint64_t hash_of(const GameState& game) {
  StateHash hash;
  hash.add(game.tick);
  for (const auto& [id, s] : game.doors)
    hash.add(id), hash.add(s.open_from_tick), hash.add(s.open_until_tick);
  for (const auto& [id, s] : game.pickups) hash.add(id), hash.add(s.taken), hash.add(s.taken_tick);
  for (const auto& [id, s] : game.pawns) {
    hash.add(id), hash.add(s.position), hash.add(s.velocity), hash.add(s.facing);
    hash.add(s.dash_tick), hash.add(s.fire_tick), hash.add(s.hit_tick);
    hash.add(static_cast<uint64_t>(s.score)), hash.add(static_cast<uint64_t>(s.carried));
  }
  for (const auto& [id, s] : game.projectiles) {
    hash.add(id), hash.add(s.position), hash.add(s.velocity), hash.add(s.fired_tick),
        hash.add(static_cast<uint64_t>(s.shooter));
  }
  return hash.value();
}

struct Command {
  PawnInput input;
  int use_door = kNoDoor;
};

class Rehearsal final : public SceneEvents {
 public:
  explicit Rehearsal(size_t pawn_count) {
    for (size_t i = 0; i < arena_doors().size(); ++i) {
      DoorState door;
      door.index = static_cast<int32_t>(i);
      game.doors.push_back({game.next_id++, door});
    }
    for (size_t i = 0; i < arena_pickups().size(); ++i) {
      PickupState pickup;
      pickup.position = arena_pickups()[i];
      pickup.kind = ParcelKind::kBox;
      game.pickups.push_back({game.next_id++, pickup});
    }
    for (size_t i = 0; i < pawn_count; ++i) {
      PawnState pawn;
      pawn.position = arena_spawn_points()[i % arena_spawn_points().size()];
      pawn.facing = {1, 0};
      game.pawns.push_back({game.next_id++, pawn});
    }
  }

  Scene scene() {
    pawn_actors_.clear();
    door_actors_.clear();
    for (auto& [id, state] : game.pawns) pawn_actors_.push_back({id, &state});
    for (auto& [id, state] : game.doors) door_actors_.push_back({id, &state});
    return {pawn_actors_, door_actors_};
  }

  /// One tick; `commands` has one entry per pawn.
  void step(const std::vector<Command>& commands) {
    ++game.tick;
    const TickTime time = {game.tick, 1.0f / 60.0f};
    const Scene view = scene();
    for (size_t i = 0; i < commands.size(); ++i) {
      if (commands[i].use_door == kNoDoor) continue;
      use_door(game.doors[static_cast<size_t>(commands[i].use_door)].state, true, game.tick);
    }
    for (auto& [id, state] : game.pickups) step_pickup(view, {id, &state}, time, *this);
    for (size_t i = 0; i < game.pawns.size(); ++i) {
      step_pawn(view, {game.pawns[i].id, &game.pawns[i].state}, commands[i].input, time, *this);
    }
    for (auto& [id, state] : game.projectiles) step_projectile(view, {id, &state}, time, *this);
    std::erase_if(game.projectiles, [&](const auto& p) { return std::ranges::count(ended_, p.id) != 0; });
    ended_.clear();
    for (ProjectileState& state : fired_) game.projectiles.push_back({game.next_id++, state});
    fired_.clear();
  }

  void fired(lattice_netid pawn, Vec2 position, Vec2 velocity) override {
    fired_.push_back({position, velocity, game.tick, {pawn}});
    ++shots;
  }
  void projectile_ended(lattice_netid projectile, Vec2) override { ended_.push_back(projectile); }
  void pawn_hit(lattice_netid, lattice_netid, Vec2) override { ++hits; }
  void picked_up(lattice_netid, ParcelKind) override { ++pickups; }
  void pushed(lattice_netid) override { ++pushes; }

  GameState game;
  uint32_t shots = 0, hits = 0, pickups = 0, pushes = 0;

 private:
  std::vector<Actor<PawnState>> pawn_actors_;
  std::vector<Actor<DoorState>> door_actors_;
  std::vector<ProjectileState> fired_;
  std::vector<lattice_netid> ended_;
};

/// One bot per pawn.
class Crew {
 public:
  Crew(size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; ++i) bots_.emplace_back(seed + i);
  }
  std::vector<Command> decide(Rehearsal& rehearsal) {
    std::vector<Command> commands;
    const Scene scene = rehearsal.scene();
    for (size_t i = 0; i < bots_.size(); ++i) {
      auto& [id, state] = rehearsal.game.pawns[i];
      const BotDecision decision = bots_[i].decide({rehearsal.game.tick + 1, id, &state, scene});
      commands.push_back({decision.input, decision.use_door});
    }
    return commands;
  }

 private:
  std::vector<Bot> bots_;
};

}  // namespace depot::test
