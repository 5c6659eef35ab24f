#include "schema.h"

#include "rpc.h"

namespace depot {
namespace {

constexpr lattice_behaviour_desc kPawnBehaviours[] = {lattice::behaviour_desc<PawnState>()};
constexpr lattice_behaviour_desc kProjectileBehaviours[] = {lattice::behaviour_desc<ProjectileState>()};
constexpr lattice_behaviour_desc kDoorBehaviours[] = {lattice::behaviour_desc<DoorState>()};
constexpr lattice_behaviour_desc kPickupBehaviours[] = {lattice::behaviour_desc<PickupState>()};

constexpr lattice_rpc_desc kPawnRpcs[] = {
    lattice::rpc_desc<PawnEffect>(kPawnEffect, "effect", LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_UNRELIABLE),
    lattice::rpc_desc<PawnPickedUp>(kPawnPickedUp, "picked_up", LATTICE_RPC_TO_OWNER),
};
constexpr lattice_rpc_desc kDoorRpcs[] = {
    lattice::rpc_desc<DoorUse>(kDoorUse, "use", LATTICE_RPC_TO_SERVER),
};

lattice_result register_type(lattice_world* world, lattice_type_desc type, uint32_t type_id) {
  type.type_id = type_id;
  return lattice_register_type(world, &type);
}

}  // namespace

lattice_result register_schema(lattice_world* world) {
  const auto pawn = lattice::type_desc("Pawn", kPawnBehaviours, kPawnRpcs, LATTICE_TYPE_PREDICTED);
  const auto projectile = lattice::type_desc("Projectile", kProjectileBehaviours);
  const auto door = lattice::type_desc("Door", kDoorBehaviours, kDoorRpcs, LATTICE_TYPE_ALWAYS_RELEVANT);
  const auto pickup = lattice::type_desc("Pickup", kPickupBehaviours);
  const lattice_input_desc input = lattice::input_desc<PawnInput>();
  const lattice_result results[] = {
      register_type(world, pawn, kPawnType), register_type(world, projectile, kProjectileType),
      register_type(world, door, kDoorType), register_type(world, pickup, kPickupType),
      lattice_register_input(world, &input),
  };
  for (const lattice_result result : results) {
    if (result != LATTICE_OK) return result;
  }
  return LATTICE_OK;
}

}  // namespace depot
