// Converts lattice_world_config to world::WorldConfig.
#pragma once

#include "lattice/lattice.h"
#include "world/world_config.h"

namespace lattice::abi {

/// Validates `in` and `role`; fills `out` with the effective values and `world` with their internal form. On
/// failure returns the error, and lattice_last_error() names field, value and bound.
lattice_result read_config(const lattice_world_config* in, const lattice_role_context* role,
                           lattice_world_config* out, world::WorldConfig* world);

}  // namespace lattice::abi
