// Reading descriptors that callers wrote: the struct_size rule, names, and error texts that give field, value
// and bound.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lattice/schema.h"

namespace lattice::serialization {

/// Copies a descriptor of any version into `out`; fields it does not have stay zero. False if struct_size is
/// below the first version's or absurd, if it sets fields this library does not know, or if `in` is null.
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

/// Element `index` of an array walked by the struct_size of its own elements.
template <typename T>
const T* desc_at(const T* array, uint32_t stride, size_t index) {
  return reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(array) + size_t{stride} * index);
}

/// [A-Za-z_][A-Za-z0-9_.:]*, 1..LATTICE_MAX_NAME_BYTES bytes: nothing that could be confused in canonical
/// text.
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

/// Shortest decimal that reads back as the same double; the same text on every platform (Y-15).
std::string shortest_decimal(double v);

/// A name for error texts: the name itself when usable, else "?".
inline std::string printable_name(const char* name) {
  return valid_name(name) ? name : "?";
}

}  // namespace lattice::serialization
