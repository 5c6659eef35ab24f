// The unit in which a state is stored: see layout.h.
#pragma once

#include <cstdint>

namespace lattice::serialization {

/// One word of a quantized state. Its width is not part of the wire format.
using Word = uint64_t;

}  // namespace lattice::serialization
