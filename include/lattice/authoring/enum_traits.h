// How enums travel: by their position in the declared list, never by their numeric value.
//
//   enum class Weapon : uint8_t { kNone = 0, kGun = 10, kRocket = 20 };
//   LATTICE_ENUM(Weapon, kNone, kGun, kRocket)
//
// stands at the namespace scope the enum is declared in. A value that is not listed travels as the first one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lattice/authoring/for_each.h"

#define LATTICE_ENUM_VALUE(Type, name) Type::name,
#define LATTICE_ENUM(Type, ...)                                                            \
  [[maybe_unused]] constexpr auto lattice_enum_values(Type*) {                             \
    return std::to_array<Type>({LATTICE_FOR_EACH(LATTICE_ENUM_VALUE, Type, __VA_ARGS__)}); \
  }

namespace lattice {

template <typename E>
struct EnumTraits {
  static_assert(std::is_enum_v<E>);
  // Not found? Declare the enum with LATTICE_ENUM(Type, A, B, ...) at its namespace scope.
  static constexpr auto kValues = lattice_enum_values(static_cast<E*>(nullptr));
  static constexpr size_t kCount = kValues.size();
  static_assert(kCount >= 1 && kCount <= 65536);

  /// Position in the declared list, or -1.
  static constexpr int64_t ordinal(E value) {
    for (size_t i = 0; i < kCount; ++i) {
      if (kValues[i] == value) return static_cast<int64_t>(i);
    }
    return -1;
  }
  static constexpr E value(size_t ordinal) { return kValues[ordinal]; }

  /// The values as the schema holds them: the host bits as a signed integer.
  static constexpr std::array<int64_t, kCount> host_values() {
    std::array<int64_t, kCount> out{};
    using Signed = std::make_signed_t<std::underlying_type_t<E>>;
    for (size_t i = 0; i < kCount; ++i) out[i] = static_cast<int64_t>(static_cast<Signed>(kValues[i]));
    return out;
  }
  static constexpr std::array<int64_t, kCount> kHostValues = host_values();
};

}  // namespace lattice
