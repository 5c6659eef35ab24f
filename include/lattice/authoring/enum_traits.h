/// @file
/// Enums as networked members. An enum travels by the position of its value in a declared list, never by its
/// number.
///
///     enum class Weapon : uint8_t { kNone = 0, kGun = 10, kRocket = 20 };
///     LATTICE_ENUM(Weapon, kNone, kGun, kRocket)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lattice/authoring/for_each.h"

/// @cond internal
/// One value of the list.
#define LATTICE_ENUM_VALUE(Type, name) Type::name,
/// @endcond

/// Declares the values of the enum `Type` that travel, 1 to 365 of them. It stands in the namespace that
/// declares the enum. A value that is not listed travels as the first one.
#define LATTICE_ENUM(Type, ...)                                                            \
  [[maybe_unused]] constexpr auto lattice_enum_values(Type*) {                             \
    return std::to_array<Type>({LATTICE_FOR_EACH(LATTICE_ENUM_VALUE, Type, __VA_ARGS__)}); \
  }

namespace lattice {

/// What LATTICE_ENUM declared of the enum `E`.
template <typename E>
struct EnumTraits {
  static_assert(std::is_enum_v<E>);
  /// The declared list. Not found? Declare the enum with LATTICE_ENUM(Type, A, B, ...) in its namespace.
  static constexpr auto kValues = lattice_enum_values(static_cast<E*>(nullptr));
  /// How many values the list has.
  static constexpr size_t kCount = kValues.size();
  static_assert(kCount >= 1 && kCount <= 65536);

  /// The position of `value` in the list, or -1.
  static constexpr int64_t ordinal(E value) {
    for (size_t i = 0; i < kCount; ++i) {
      if (kValues[i] == value) return static_cast<int64_t>(i);
    }
    return -1;
  }
  /// The value at a position, which must be below kCount.
  static constexpr E value(size_t ordinal) { return kValues[ordinal]; }

  /// The values as the schema holds them: the bits of each as a signed integer.
  static constexpr std::array<int64_t, kCount> host_values() {
    std::array<int64_t, kCount> out{};
    using Signed = std::make_signed_t<std::underlying_type_t<E>>;
    for (size_t i = 0; i < kCount; ++i) out[i] = static_cast<int64_t>(static_cast<Signed>(kValues[i]));
    return out;
  }
  /// host_values(), in memory that lives as long as the program.
  static constexpr std::array<int64_t, kCount> kHostValues = host_values();
};

}  // namespace lattice
