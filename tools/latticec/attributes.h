// What stands behind @ before a member: how it is packed and what it means.
#pragma once

#include <string>

#include "lattice/schema.h"
#include "source.h"
#include "tree.h"

namespace latticec {

/// Applies the attributes of `member` to `desc`, whose type is known, and writes them as annotations of a
/// macro behind those that `annotations` has. The first mistake is an error in `report`.
void apply_attributes(const Member& member, lattice_member_desc& desc, std::string& annotations,
                      Report& report);

}  // namespace latticec
