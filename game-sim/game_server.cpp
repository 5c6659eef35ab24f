#include "game_server.h"

#include <algorithm>

#include "arena.h"
#include "rpc.h"

namespace depot {
namespace {

constexpr uint32_t kHallRoom = 0;
constexpr uint32_t kRefusedSteps = 20;  // a third of a second: long enough to see, short enough to go on

/// The first players begin in the dock, and a crowd all over the hall.
Vec2 spawn_point(uint32_t index) {
  const auto dock = arena_spawn_points(), hall = hall_crossings();
  const size_t i = index % (dock.size() + hall.size());
  return i < dock.size() ? dock[i] : hall[i - dock.size()];
}

}  // namespace

GameServer::GameServer(lattice_world* world, uint32_t max_actors, uint32_t max_players,
                       GameListener& listener, const Furnishing& furnishing)
    : Game(world, max_actors, listener), furnishing_(furnishing) {
  players_.reserve(max_players);
}

Player* GameServer::player_of(lattice_peer_id peer) {
  const auto at = std::ranges::find(players_, peer, &Player::peer);
  return at == players_.end() ? nullptr : &*at;
}

// ---- Before each tick: the requests that arrived since the last tick take effect, in order of arrival --

void GameServer::before_tick(uint32_t tick) {
  if (!furnished_) furnish(tick);
  for (Player& player : players_) {
    if (player.pawn == 0) spawn_pawn(player);
    if (player.is_shoved) knock_aside(player, tick);
  }
  take_door_requests(tick);
  parcels_.step(world(), tick);
  if (!furnishing_.has_interest) return;
  see_doors(tick);
  place_in_rooms();
}

void GameServer::take_door_requests(uint32_t tick) {
  for (Player& player : players_) {
    if (player.asked_door == 0) continue;
    DoorState* door = world().state<DoorState>(player.asked_door);
    if (door != nullptr) use_door(*door, player.asked_open, tick);
    player.asked_door = 0;
  }
}

void GameServer::furnish(uint32_t tick) {
  furnished_ = true;
  objects_changed();
  for (size_t i = 0; i < arena_doors().size(); ++i) {
    const lattice_netid id = world().spawn(kDoor);
    if (DoorState* door = world().state<DoorState>(id)) {
      door->index = static_cast<int32_t>(i);
    }
    set_room(id, LATTICE_ROOM_ALL, LATTICE_RELEVANCE_ALWAYS);
  }
  for (size_t i = 0; i < arena_pickups().size(); ++i) {
    const lattice_netid id = world().spawn(kPickup);
    if (PickupState* pickup = world().state<PickupState>(id)) {
      pickup->position = arena_pickups()[i];
      pickup->kind = static_cast<ParcelKind>(1 + i % 3);
    }
  }
  parcels_.spawn(world(), furnishing_.parcels, tick);
  for (int vault = 0; vault < kVaultCount; ++vault) {
    for (const lattice_netid id : parcels_.in_vault(vault)) {
      set_room(id, static_cast<uint32_t>(vault) + 1, LATTICE_RELEVANCE_DISTANCE);
    }
  }
}

// ---- Who sees what ------------------------------------------------------------------------------------

void GameServer::set_room(lattice_netid object, uint32_t room, lattice_relevance relevance) {
  if (!furnishing_.has_interest) return;
  lattice::ObjectInterest interest;
  interest.room = room;
  interest.relevance = relevance;
  world().set_interest(object, interest);
}

uint32_t GameServer::room_at(Vec2 position) const {
  const int vault = vault_at(position);
  return vault == kNoVault || vault_open_[vault] ? kHallRoom : static_cast<uint32_t>(vault) + 1;
}

/// A vault whose door opened or shut joins or leaves the hall, with what lies and flies in it.
void GameServer::see_doors(uint32_t tick) {
  bool any_changed = false;
  for (const Actor<DoorState>& door : scene().doors) {
    const int vault = door.state->index - kDockDoorCount;
    if (vault < 0 || door_is_open(*door.state, tick) == vault_open_[vault]) continue;
    vault_open_[vault] = !vault_open_[vault];
    any_changed = true;
    const uint32_t room = vault_open_[vault] ? kHallRoom : static_cast<uint32_t>(vault) + 1;
    for (const lattice_netid id : parcels_.in_vault(vault)) set_room(id, room, LATTICE_RELEVANCE_DISTANCE);
  }
  if (!any_changed) return;
  for (const Actor<ProjectileState>& projectile : projectiles()) {
    set_room(projectile.id, room_at(projectile.state->position), LATTICE_RELEVANCE_DISTANCE);
  }
}

void GameServer::place_in_rooms() {
  for (Player& player : players_) {
    const PawnState* pawn = this->pawn(player.pawn);
    if (pawn == nullptr) continue;
    const uint32_t room = room_at(pawn->position);
    if (room == player.room) continue;
    player.room = room;
    // The pawn of a person is in all rooms already.
    if (player.is_bot) set_room(player.pawn, room, LATTICE_RELEVANCE_DISTANCE);
    lattice_viewer viewer;
    lattice_viewer_init(&viewer);
    viewer.room = room;
    lattice_conn_set_viewer(lattice_peer_conn(world(), player.peer), &viewer);
  }
}

void GameServer::spawn_pawn(Player& player) {
  const lattice_netid id = world().spawn(kPawn, player.peer);
  PawnState* pawn = world().state<PawnState>(id);
  if (pawn == nullptr) return;
  objects_changed();
  *pawn = PawnState{};
  pawn->position = spawn_point(next_spawn_point_++);
  pawn->facing = {1, 0};
  pawn->is_bot = player.is_bot;
  player.pawn = id;
  // The demo shows how one player sees the other, wherever the two are.
  if (!player.is_bot) set_room(id, LATTICE_ROOM_ALL, LATTICE_RELEVANCE_ALWAYS);
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
  Player* player = player_of(world().rpc_sender());
  const PawnState* pawn = player == nullptr ? nullptr : this->pawn(player->pawn);
  const DoorState* state = world().state<DoorState>(door);
  // At the caller, its predicted pawn is ahead of ours by the way of a one-way delay: allow it a metre.
  const bool near =
      pawn != nullptr && state != nullptr &&
      distance(arena_doors()[static_cast<size_t>(state->index)], pawn->position) <= kUseReach + 1.0f;
  if (!near) {
    ++doors_refused_;
    return;
  }
  player->asked_door = door;
  player->asked_open = open;
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
  if (const uint32_t room = room_at(position); room != kHallRoom)
    set_room(id, room, LATTICE_RELEVANCE_DISTANCE);
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
