// The unit in which a state is stored: see layout.h.
#pragma once

#include <cstdint>

namespace lattice::serialization {

/// One word of a quantized state. Most leaves have codes of up to 32 bits and own one word. Its width is not
/// part of the wire format.
using Word = uint32_t;
inline constexpr unsigned kWordBits = 32;

}  // namespace lattice::serialization
