// Structures of another version: a caller compiled against an older header passes in (or asks for) a
// shorter structure. Members unknown to the caller keep their defaults; members unknown to this library must
// be zero. The size of a structure is a multiple of its alignment, in every version: one that is not would
// cut a pointer.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "abi/last_error.h"

namespace lattice::abi {

inline constexpr uint32_t kMaxStructBytes = 4096;  // beyond this, struct_size was never set

/// The struct_size of a structure of the caller. 0 with the error set if it is null or was never initialised.
/// `name` is the name of the structure.
template <class T>
uint32_t caller_size(const T* structure, const char* name) {
  if (structure == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "The %s is NULL. Give one filled by %s_init().", name, name);
    return 0;
  }
  uint32_t size = 0;
  std::memcpy(&size, structure, sizeof size);
  if (size >= sizeof size && size <= kMaxStructBytes) return size;
  fail(LATTICE_ERROR_INVALID_ARGUMENT,
       "%s.struct_size is %u, so it was not initialised. Call %s_init() first.", name, size, name);
  return 0;
}

/// Copies a versioned input structure over the defaults in `*out`. Fails when `in` is null, was not
/// initialised, or has unknown members that are not zero.
template <class T>
lattice_result read_struct(const T* in, T* out, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  const uint32_t size = caller_size(in, name);
  if (size == 0) return LATTICE_ERROR_INVALID_ARGUMENT;
  if (size % alignof(T) != 0) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT,
                "%s.struct_size is %u, which no version of it has. Call %s_init() first.", name, size, name);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (uint32_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return fail(
        LATTICE_ERROR_INVALID_ARGUMENT,
        "The program uses a member of %s that this library does not have yet (at byte %u of %u). Load "
        "the library that goes with the program's headers, or leave the member 0.",
        name, i, size);
  }
  std::memcpy(out, in, size < sizeof(T) ? size : sizeof(T));
  out->struct_size = sizeof(T);
  return LATTICE_OK;
}

/// Copies `value` to the caller's structure, as much as its struct_size has room for.
template <class T>
lattice_result write_struct(const T& value, T* out, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  const uint32_t size = caller_size(out, name);
  if (size == 0) return LATTICE_ERROR_INVALID_ARGUMENT;
  std::memcpy(out, &value, size < sizeof(T) ? size : sizeof(T));
  out->struct_size = size;
  return LATTICE_OK;
}

/// Fills the first `size` bytes of `*out` with `defaults`, whose struct_size becomes `size`. An initialiser
/// called by an older program may touch only these bytes.
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
