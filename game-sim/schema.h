// How Depot's structures are described to Lattice: type ids, RPC ids, and the one registration.
#pragma once

#include <cstdint>

#include "lattice/lattice.hpp"
#include "rpc.h"
#include "state.h"

namespace depot {

inline constexpr uint32_t kPawnType = 1;
inline constexpr uint32_t kProjectileType = 2;
inline constexpr uint32_t kDoorType = 3;
inline constexpr uint32_t kPickupType = 4;
inline constexpr uint32_t kParcelType = 5;

inline constexpr lattice::Type<PawnState> kPawn{
    .id = kPawnType, .name = "Pawn", .flags = LATTICE_TYPE_PREDICTED};
inline constexpr lattice::Type<ProjectileState> kProjectile{.id = kProjectileType, .name = "Projectile"};
inline constexpr lattice::Type<DoorState> kDoor{
    .id = kDoorType, .name = "Door", .flags = LATTICE_TYPE_ALWAYS_RELEVANT};
inline constexpr lattice::Type<PickupState> kPickup{.id = kPickupType, .name = "Pickup"};
inline constexpr lattice::Type<ParcelState> kParcel{.id = kParcelType, .name = "Parcel"};

// RPCs; ids are unique within their type.
inline constexpr lattice::Rpc<DoorUse> kDoorUse{.id = 1, .name = "use", .target = LATTICE_RPC_TO_SERVER};
// A hit flash travels unreliably: a late one is worth nothing.
inline constexpr lattice::Rpc<PawnEffect> kPawnEffect{
    .id = 1, .name = "effect", .target = LATTICE_RPC_TO_ALL, .channel = LATTICE_CHANNEL_UNRELIABLE};
inline constexpr lattice::Rpc<PawnPickedUp> kPawnPickedUp{
    .id = 2, .name = "picked_up", .target = LATTICE_RPC_TO_OWNER};

/// Registers every type and the input command. Returns the result of the first call that failed, or
/// LATTICE_OK.
lattice_result register_schema(lattice::WorldRef world);

}  // namespace depot
