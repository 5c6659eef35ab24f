#include "game_server.h"

#include <algorithm>

#include "arena.h"
#include "rpc.h"

namespace depot {
namespace {

constexpr uint32_t kRefusedSteps = 20;  // a third of a second: long enough to see, short enough to go on

}  // namespace

GameServer::GameServer(lattice_world* world, uint32_t max_objects, uint32_t max_players,
                       GameListener& listener)
    : Game(world, max_objects, listener) {
  players_.reserve(max_players);
}

Player* GameServer::player_of(lattice_peer_id peer) {
  const auto at = std::ranges::find(players_, peer, &Player::peer);
  return at == players_.end() ? nullptr : &*at;
}

// ---- Before each tick: the requests that arrived since the last tick take effect, in order of arrival --

void GameServer::before_tick(uint32_t tick) {
  if (!furnished_) furnish();
  for (Player& player : players_) {
    if (player.pawn == 0) spawn_pawn(player);
    if (player.is_shoved) knock_aside(player, tick);
  }
  for (size_t i = 0; i < door_request_count_; ++i) {
    DoorState* door = world().state<DoorState>(door_requests_[i].door);
    if (door != nullptr) use_door(*door, door_requests_[i].open, tick);
  }
  door_request_count_ = 0;
}

void GameServer::furnish() {
  furnished_ = true;
  objects_changed();
  for (size_t i = 0; i < arena_doors().size(); ++i) {
    const lattice_netid id = world().spawn(kDoor);
    if (DoorState* door = world().state<DoorState>(id)) {
      door->index = static_cast<int32_t>(i);
    }
  }
  for (size_t i = 0; i < arena_pickups().size(); ++i) {
    const lattice_netid id = world().spawn(kPickup);
    if (PickupState* pickup = world().state<PickupState>(id)) {
      pickup->position = arena_pickups()[i];
      pickup->kind = static_cast<ParcelKind>(1 + i % 3);
    }
  }
}

void GameServer::spawn_pawn(Player& player) {
  const lattice_netid id = world().spawn(kPawn, player.peer);
  PawnState* pawn = world().state<PawnState>(id);
  if (pawn == nullptr) return;
  objects_changed();
  const auto points = arena_spawn_points();
  *pawn = PawnState{};
  pawn->position = points[next_spawn_point_++ % points.size()];
  pawn->facing = {1, 0};
  pawn->is_bot = player.is_bot;
  player.pawn = id;
}

void GameServer::input_taken(lattice_netid pawn, int freshness, PawnInput& input) {
  const auto at = std::ranges::find(players_, pawn, &Player::pawn);
  if (at == players_.end()) return;
  ++(freshness == 1 ? at->inputs_fresh : (freshness == 2 ? at->inputs_repeated : at->inputs_missing));
  if (at->refused_steps == 0 || input.move == Vec2{0, 0}) return;
  --at->refused_steps;
  input.move = {0, 0};
  note_disturbed(pawn);
}

bool GameServer::shove(lattice_peer_id peer) {
  Player* player = player_of(peer);
  if (player == nullptr || player->pawn == 0) return false;
  player->is_shoved = true;
  return true;
}

bool GameServer::refuse_next_steps(lattice_peer_id peer) {
  Player* player = player_of(peer);
  if (player == nullptr || player->pawn == 0) return false;
  player->refused_steps = kRefusedSteps;
  return true;
}

void GameServer::knock_aside(Player& player, uint32_t tick) {
  player.is_shoved = false;
  PawnState* pawn = world().state<PawnState>(player.pawn);
  if (pawn == nullptr) return;
  // Push across the direction the pawn faces: a push along it could look like the client's own walking.
  pawn->velocity = direction_or({-pawn->facing.y, pawn->facing.x}, {0, 1}) * kKnockbackSpeed;
  pawn->hit_tick = tick;
  note_disturbed(player.pawn);
}

// ---- Players join and leave ---------------------------------------------------------------------------

void GameServer::peer_connected(lattice_conn* conn) {
  const lattice_conn_info info = lattice::Connection(conn).info();
  if (info.peer_id == 0 || players_.size() == players_.capacity()) return;
  Player& player = players_.emplace_back();
  player.peer = info.peer_id;
  player.is_bot = info.user_data_bytes > 0 && info.user_data[0] == kBotMark;
}

void GameServer::peer_disconnected(lattice_conn* conn) {
  const Player* player = player_of(lattice::Connection(conn).info().peer_id);
  if (player == nullptr) return;
  if (player->pawn != 0) world().despawn(player->pawn);
  objects_changed();
  players_.erase(players_.begin() + (player - players_.data()));
}

void GameServer::door_use_requested(lattice_netid door, bool open) {
  const Player* player = player_of(world().rpc_sender());
  const PawnState* pawn = player == nullptr ? nullptr : this->pawn(player->pawn);
  const DoorState* state = world().state<DoorState>(door);
  // At the caller, its predicted pawn is ahead of ours by the way of a one-way delay: allow it a metre.
  const bool near =
      pawn != nullptr && state != nullptr &&
      distance(arena_doors()[static_cast<size_t>(state->index)], pawn->position) <= kUseReach + 1.0f;
  if (!near || door_request_count_ == door_requests_.size()) {
    ++doors_refused_;
    return;
  }
  door_requests_[door_request_count_++] = {door, open};
}

// ---- What the rules report ----------------------------------------------------------------------------

void GameServer::fired(lattice_netid pawn, Vec2 position, Vec2 velocity) {
  const lattice_netid id = world().spawn(kProjectile);
  ProjectileState* projectile = world().state<ProjectileState>(id);
  if (projectile == nullptr) return;
  objects_changed();
  *projectile = ProjectileState{};
  projectile->position = position;
  projectile->velocity = velocity;
  projectile->fired_tick = current_tick();
  projectile->shooter = {pawn};
}

void GameServer::projectile_ended(lattice_netid projectile, Vec2) {
  world().despawn(projectile);
  objects_changed();
}

void GameServer::pawn_hit(lattice_netid pawn, lattice_netid shooter, Vec2 position) {
  Game::pawn_hit(pawn, shooter, position);
  world().call(pawn, kPawnEffect, PawnEffect{.where = position});
}

void GameServer::picked_up(lattice_netid pawn, ParcelKind kind) {
  world().call(pawn, kPawnPickedUp, PawnPickedUp{.kind = kind});
}

}  // namespace depot
