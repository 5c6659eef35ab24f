// How enums travel (Y-10): by their position in the declared list, never by their numeric value.
// LATTICE_ENUM (lattice/authoring/networked.h) specializes EnumTraits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lattice {

/// Specialized with: kCount; static int64_t ordinal(E), -1 if undeclared; static E value(size_t ordinal).
template <typename E>
struct EnumTraits {
  static_assert(sizeof(E) == 0, "declare this enum with LATTICE_ENUM(Type, A, B, ...) at namespace scope");
};

}  // namespace lattice
