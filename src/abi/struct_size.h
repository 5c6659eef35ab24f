// Structures of another version: a caller compiled against an older header hands in (or asks for) a
// shorter one. Members it does not know keep their defaults, members we do not know must be zero.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "abi/last_error.h"

namespace lattice::abi {

inline constexpr uint32_t kMaxStructBytes = 4096;  // beyond this, struct_size was never set

/// Copies a versioned input structure over the defaults already in `*out`. False when `in` is null, its
/// struct_size is too small to hold struct_size itself, or it carries non-zero members we do not know.
template <class T>
bool read_struct(const T* in, T* out) {
  static_assert(std::is_trivially_copyable_v<T>);
  uint32_t size = 0;
  if (in == nullptr) return false;
  std::memcpy(&size, in, sizeof size);
  if (size < sizeof size || size > kMaxStructBytes) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (uint32_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  std::memcpy(out, in, size < sizeof(T) ? size : sizeof(T));
  out->struct_size = sizeof(T);
  return true;
}

/// Copies an answer out: as much as the caller's struct_size has room for. False when it has none.
template <class T>
bool write_struct(const T& value, T* out) {
  static_assert(std::is_trivially_copyable_v<T>);
  uint32_t size = 0;
  if (out == nullptr) return false;
  std::memcpy(&size, out, sizeof size);
  if (size < sizeof size || size > kMaxStructBytes) return false;
  std::memcpy(out, &value, size < sizeof(T) ? size : sizeof(T));
  out->struct_size = size;
  return true;
}

/// Fills the first `size` bytes of `*out` with `defaults`, whose struct_size becomes `size`: what an
/// initialiser called by an older program may touch.
template <class T>
lattice_result write_defaults(T defaults, T* out, uint32_t size) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (out == nullptr || size < sizeof size || size > kMaxStructBytes) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "The structure to initialise is null, or its size %u is not in 4..%u.", size,
                kMaxStructBytes);
  }
  if (size > sizeof(T)) std::memset(reinterpret_cast<unsigned char*>(out) + sizeof(T), 0, size - sizeof(T));
  defaults.struct_size = size;
  std::memcpy(out, &defaults, size < sizeof(T) ? size : sizeof(T));
  return LATTICE_OK;
}

}  // namespace lattice::abi
