// Reads the descriptors that callers wrote: the struct_size rule, names, and the parts of error texts.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lattice/schema.h"

namespace lattice::serialization {

/// Copies a descriptor into `out`. It may be of a newer version, with more fields, if these are zero. False
/// if struct_size is below this version's or above 4096, if a field that this library does not know is set,
/// or if `in` is null.
template <typename T>
bool read_desc(const T* in, T* out) {
  std::memset(out, 0, sizeof *out);
  if (!in || in->struct_size < sizeof(T) || in->struct_size > 4096) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in);
  for (uint32_t i = sizeof(T); i < in->struct_size; ++i) {
    if (bytes[i] != 0) return false;
  }
  std::memcpy(out, in, sizeof *out);
  return true;
}

/// Element `index` of an array whose elements are `stride` bytes apart: the struct_size of the caller's
/// version.
template <typename T>
const T* desc_at(const T* array, uint32_t stride, size_t index) {
  return reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(array) + size_t{stride} * index);
}

/// True for [A-Za-z_][A-Za-z0-9_.:]* of 1..LATTICE_MAX_NAME_BYTES bytes. Such a name is unambiguous in
/// canonical text.
inline bool valid_name(const char* name) {
  if (!name) return false;
  size_t n = 0;
  for (; name[n] != 0 && n <= LATTICE_MAX_NAME_BYTES; ++n) {
    const char c = name[n];
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    const bool later = (c >= '0' && c <= '9') || c == '.' || c == ':';
    if (!letter && !(n > 0 && later)) return false;
  }
  return n >= 1 && n <= LATTICE_MAX_NAME_BYTES;
}

/// The shortest decimal that reads back as the same double. The text is the same on every platform (Y-15).
std::string shortest_decimal(double v);

/// A name for error texts: the name itself when it is valid, else "?".
inline std::string printable_name(const char* name) {
  return valid_name(name) ? name : "?";
}

}  // namespace lattice::serialization
