// A key that was never filled in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lattice/types.h"

namespace lattice::abi {

/// True for a key of zeros: nobody has it by honest means.
inline bool is_all_zero(const uint8_t* key) {
  return std::all_of(key, key + LATTICE_KEY_BYTES, [](uint8_t byte) { return byte == 0; });
}

/// True when the key or the reset key of a server's identity was never filled in.
inline bool has_zero_half(const uint8_t* identity) {
  return is_all_zero(identity) || is_all_zero(identity + LATTICE_KEY_BYTES);
}

}  // namespace lattice::abi
