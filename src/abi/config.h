// Converts lattice_world_config to world::WorldConfig.
#pragma once

#include "lattice/lattice.h"
#include "world/world_config.h"

namespace lattice::abi {

/// Validates `in` and `role`; fills `out` and `out_role` with the effective values and `world` with their
/// internal form. On failure returns the error, and lattice_last_error() names field, value and bound.
lattice_result read_config(const lattice_world_config* in, const lattice_role_context* role,
                           lattice_world_config* out, lattice_role_context* out_role,
                           world::WorldConfig* world);

/// The snapshots per second that each client gets: snapshot_rate_hz, or its default.
uint32_t snapshot_rate_hz(const lattice_world_config& config);

}  // namespace lattice::abi
