// A named impairment for both directions of one world.
#pragma once

#include <string>

#include "lattice/lattice.h"

namespace app {

/// Returns "" when `name` is empty or a known preset. Otherwise returns one sentence of cause and one of
/// action.
std::string check_preset(const std::string& name);

/// Applies a preset to both directions. An empty name leaves the link perfect.
lattice_result apply_preset(lattice_world* world, const std::string& name);

}  // namespace app
