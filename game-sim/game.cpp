#include "game.h"

#include <algorithm>

#include "arena.h"
#include "rpc.h"
#include "waypoints.h"

namespace depot {
namespace {

template <class State>
const Actor<State>* find_actor(const std::vector<Actor<State>>& actors, lattice_netid id) {
  const auto at =
      std::lower_bound(actors.begin(), actors.end(), id,
                       [](const Actor<State>& actor, lattice_netid wanted) { return actor.id < wanted; });
  return at != actors.end() && at->id == id ? &*at : nullptr;
}

}  // namespace

Game::Game(lattice_world* world, uint32_t max_actors, GameListener& listener)
    : world_(world), listener_(listener), ids_(max_actors), simulated_(max_actors) {
  pawns_.reserve(max_actors);
  projectiles_.reserve(max_actors);
  doors_.reserve(kDoorCount);
  pickups_.reserve(arena_pickups().size());
  disturbed_.reserve(max_actors);
}

lattice_result Game::attach() {
  const lattice_result registered = register_schema(world_);
  return registered == LATTICE_OK ? install_callbacks() : registered;
}

lattice_result Game::install_callbacks() {
  const auto self = [](void* ctx) -> Game& { return *static_cast<Game*>(ctx); };
  static constexpr auto kSelf = self;
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = [](void* ctx, lattice_conn* conn) {
    kSelf(ctx).peer_connected(conn);
    kSelf(ctx).listener_.connected(conn);
  };
  callbacks.on_admit = [](void* ctx, lattice_world*, const lattice_conn_info* info) {
    return kSelf(ctx).listener_.admit(*info);
  };
  callbacks.on_disconnected = [](void* ctx, lattice_conn* conn, int reason) {
    kSelf(ctx).peer_disconnected(conn);
    kSelf(ctx).listener_.disconnected(conn, reason);
  };
  callbacks.on_spawn = [](void* ctx, lattice_netid id, uint32_t type_id) {
    kSelf(ctx).on_spawn(id, type_id);
  };
  callbacks.on_despawn = [](void* ctx, lattice_netid id) { kSelf(ctx).on_despawn(id); };
  callbacks.on_rpc = [](void* ctx, lattice_netid id, uint16_t rpc_id, const void* arguments, size_t bytes) {
    kSelf(ctx).on_rpc({id, rpc_id, arguments, bytes});
  };
  callbacks.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context* tick) {
    kSelf(ctx).on_tick(*tick);
  };
  callbacks.on_sample_input = [](void* ctx, lattice_world*, uint32_t tick, void* input, size_t bytes) {
    if (bytes == sizeof(PawnInput)) kSelf(ctx).listener_.sample_input(tick, *static_cast<PawnInput*>(input));
  };
  callbacks.on_message = [](void* ctx, lattice_conn* conn, lattice_channel, const void* data, size_t bytes) {
    kSelf(ctx).listener_.message(conn, {static_cast<const std::byte*>(data), bytes});
  };
  return lattice_set_callbacks(world_, &callbacks, this);
}

template <class State>
void Game::gather_type(uint32_t type_id, std::vector<Actor<State>>& out) {
  out.clear();
  const size_t count = std::min(lattice_objects(world_, type_id, ids_.data(), ids_.size()), ids_.size());
  for (size_t i = 0; i < count; ++i) {
    if (out.size() == out.capacity()) return;
    if (State* const state = world_.state<State>(ids_[i])) out.push_back({ids_[i], state});
  }
}

void Game::gather() {
  // The address of an object's structure does not change while the object lives, so a gathered scene stays
  // valid.
  if (gathered_) return;
  gathered_ = true;
  gather_type(kPawnType, pawns_);
  gather_type(kProjectileType, projectiles_);
  gather_type(kDoorType, doors_);
  gather_type(kPickupType, pickups_);
}

Scene Game::scene() {
  gather();
  return {pawns_, doors_};
}

const PawnState* Game::pawn(lattice_netid id) const {
  return id == 0 ? nullptr : world_.read<PawnState>(id);
}

void Game::note_disturbed(lattice_netid pawn) {
  if (!resimulating_ && disturbed_.size() < disturbed_.capacity()) disturbed_.push_back(pawn);
}

void Game::step_pickup_of(const Actor<PickupState>& pickup, TickTime time) {
  const bool was_taken = pickup.state->taken;
  step_pickup({pawns_, doors_}, pickup, time, *this);
  if (pickup.state->taken != was_taken) world_.wake(pickup.id);
}

void Game::step_pawn_of(const Actor<PawnState>& pawn, TickTime time) {
  PawnInput input;
  const int freshness = world_.get_input(world_.info(pawn.id).owner, input);
  if (!resimulating_) input_taken(pawn.id, freshness, input);
  step_pawn({pawns_, doors_}, pawn, input, time, *this);
}

void Game::step_all(TickTime time) {
  for (const Actor<PawnState>& pawn : pawns_) step_pawn_of(pawn, time);
  for (const Actor<ProjectileState>& projectile : projectiles_) {
    step_projectile({pawns_, doors_}, projectile, time, *this);
  }
  for (const Actor<PickupState>& pickup : pickups_) step_pickup_of(pickup, time);
  // The kept pointers were written, so the authority announces it. A pickup did that only if it changed.
  for (const Actor<PawnState>& pawn : pawns_) world_.wake(pawn.id);
  for (const Actor<ProjectileState>& projectile : projectiles_) world_.wake(projectile.id);
}

void Game::step_predicted(TickTime time) {
  // No other type is predicted. The list is empty while prediction is switched off.
  const size_t count = std::min(
      lattice_simulated_objects(world_, kPawnType, simulated_.data(), simulated_.size()), simulated_.size());
  for (size_t i = 0; i < count; ++i) {
    if (const auto* pawn = find_actor(pawns_, simulated_[i])) step_pawn_of(*pawn, time);
  }
}

void Game::on_tick(const lattice_tick_context& tick) {
  tick_ = tick.tick;
  resimulating_ = tick.is_resimulating != 0;
  if (!resimulating_) {
    disturbed_.clear();
    before_tick(tick.tick);
  }
  gather();
  const TickTime time = {tick.tick, static_cast<float>(tick.dt_s)};
  if (is_authority()) {
    step_all(time);
  } else {
    step_predicted(time);
  }
  if (!resimulating_) listener_.ticked(tick.tick);
  resimulating_ = false;
}

void Game::on_spawn(lattice_netid id, uint32_t type_id) {
  listener_.appeared(id, type_id);
  if (type_id != kParcelType) objects_changed();
  if (type_id != kPawnType) return;
  const lattice_peer_id owner = world_.info(id).owner;
  if (owner != 0 && owner == world_.local_peer()) own_pawn_ = id;
}

void Game::on_despawn(lattice_netid id) {
  listener_.disappeared(id, world_.despawn_reason());
  if (world_.info(id).type_id != kParcelType) objects_changed();
  if (own_pawn_ == id) own_pawn_ = 0;
}

void Game::on_rpc(const lattice::Call& call) {
  const uint32_t type_id = world_.info(call.object).type_id;
  if (type_id == kDoorType) {
    if (const DoorUse* use = call.as(kDoorUse)) door_use_requested(call.object, use->open);
  } else if (type_id == kPawnType) {
    if (const PawnEffect* effect = call.as(kPawnEffect)) listener_.effect(call.object, effect->where);
    if (const PawnPickedUp* picked_up = call.as(kPawnPickedUp)) listener_.picked_up(picked_up->kind);
  }
}

void Game::request_door(int door_index, bool open) {
  for (const Actor<DoorState>& door : scene().doors) {
    if (door.state->index != door_index) continue;
    world_.call(door.id, kDoorUse, DoorUse{.open = open});
  }
}

int Game::door_in_reach() {
  const PawnState* own = pawn(own_pawn_);
  if (own == nullptr) return kNoDoor;
  for (size_t i = 0; i < arena_doors().size(); ++i) {
    if (distance(arena_doors()[i], own->position) <= kUseReach) return static_cast<int>(i);
  }
  return kNoDoor;
}

}  // namespace depot
