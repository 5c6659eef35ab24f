// Values of described structures in host memory: sound ones, and some that do not fit their members.
#pragma once

#include <cstdint>

#include "lattice/schema.h"
#include "random.h"

namespace languages {

/// `host` has structure.host_bytes bytes, all zero.
void fill(Random& random, const lattice_struct_desc& structure, uint8_t* host);

/// Changes some members, and within members.
void change(Random& random, const lattice_struct_desc& structure, uint8_t* host);

}  // namespace languages
