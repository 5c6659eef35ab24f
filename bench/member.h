// A member of a type that a bench describes by hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lattice/schema.h"

namespace bench {

inline lattice_member_desc member(const char* name, lattice_wire_type type, size_t offset) {
  lattice_member_desc desc;
  lattice_member_desc_init(&desc);
  desc.name = name;
  desc.type = type;
  desc.offset = static_cast<uint32_t>(offset);
  return desc;
}

}  // namespace bench
