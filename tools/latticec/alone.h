// A structure as the library packs it, alone.
#pragma once

#include <span>
#include <string>

#include "check.h"
#include "serialization/layout.h"

namespace latticec {

/// Compiles a structure, or a union as the only member of one. False with the reason in `error` when the
/// library refuses it.
bool compile_alone(const CheckedStructure& structure, lattice::serialization::Layout* out,
                   std::string* error);
/// The nodes of the members of a structure that compile_alone() compiled.
std::span<const lattice::serialization::LayoutNode> members_of(const CheckedStructure& structure,
                                                               const lattice::serialization::Layout& layout);

}  // namespace latticec
