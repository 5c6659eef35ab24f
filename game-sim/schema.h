// How Depot's structures are described to Lattice: type ids, RPC ids, and the one registration.
#pragma once

#include <cstdint>

#include "lattice/lattice.h"
#include "state.h"

namespace depot {

inline constexpr uint32_t kPawnType = 1;
inline constexpr uint32_t kProjectileType = 2;
inline constexpr uint32_t kDoorType = 3;
inline constexpr uint32_t kPickupType = 4;

// RPCs; ids are unique within their type.
inline constexpr uint16_t kDoorUse = 1;       // client -> authority, reliable ordered
inline constexpr uint16_t kPawnEffect = 1;    // authority -> all, unreliable: a hit flash
inline constexpr uint16_t kPawnPickedUp = 2;  // authority -> owner, reliable ordered

/// Registers every type and the input command. The result of the first call that failed, or LATTICE_OK.
lattice_result register_schema(lattice_world* world);

}  // namespace depot
