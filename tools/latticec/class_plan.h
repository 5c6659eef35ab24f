// What classes of another language are made of: each member of a structure with its place in a packed state.
#pragma once

#include <vector>

#include "alone.h"

namespace latticec {

struct PlannedMember {
  const CheckedMember* source = nullptr;
  lattice_wire_type type = LATTICE_WIRE_BOOL;
  const CheckedStructure* structure = nullptr;  // of a struct or a union
  const Enum* enumeration = nullptr;
  // Of one element: a number, or one for each component of a vector. None of a struct or a union.
  std::vector<lattice::serialization::Leaf> leaves;
  std::vector<lattice::serialization::LeafExtra> extras;
  uint32_t place = 0;  // its first word, from the first word of the structure
  uint32_t words = 0;
  bool is_one() const { return source->source->shape == Member::Shape::kOne; }
};

struct PlannedStructure {
  const CheckedStructure* source = nullptr;
  std::vector<PlannedMember> members;
  uint32_t words = 0;
};

/// In the order of checked.structures. A word has 32 bits; the words of a state are these:
///   a number of up to 32 bits one, another one two, a rotation four; bytes and text one for the length, and
///   one for four bytes; a list and a map one for the length, then all elements; a union one for the tag,
///   then all alternatives.
std::vector<PlannedStructure> plan_classes(const Checked& checked);

}  // namespace latticec
