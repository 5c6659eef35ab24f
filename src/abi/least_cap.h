// The least caps that a world accepts: what it must send in any case, in acknowledgements and in what a
// client predicts. Below them corrections would come late, or not at all.
#pragma once

#include "lattice/config.h"
#include "lattice/types.h"

namespace lattice::abi {

inline constexpr uint32_t kMostSnapshotBytes = 1u << 20;

/// Checks snapshot_budget_bytes and max_send_bytes_per_s. LATTICE_ERROR_CONFIG with the least value, and what
/// it is made of. Their
/// upper ends have been checked, but for that of max_send_bytes_per_s, and so have the other members.
lattice_result check_caps(const lattice_world_config& config, lattice_role role);

}  // namespace lattice::abi
