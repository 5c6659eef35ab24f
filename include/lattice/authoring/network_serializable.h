/// @file
/// Hand-written serializers: for fields that travel only sometimes, compression of your own, types of third
/// parties.
///
/// There are two ways. A class derives from INetworkSerializable: messages, whole states, anything that the
/// game holds itself. Or a trivially copyable type becomes a member of a declared structure: it has the same
/// two functions, not virtual, and `static constexpr const char* kSerializerName`, which is part of the
/// schema, so change the name with the format. Declare such a member with CUSTOM(capacity).
///
/// Serialize() must write the same bits for the same value. Deserialize() must refuse values that make no
/// sense, with BitReader::fail().
///
/// A member type may have two static functions more. `double Distance(const T& a, const T& b)` says how far
/// apart two values are, and 0 where a prediction needs no correction. `T Interpolate(const T& a, const T& b,
/// double t)` is what is drawn between them. lattice_custom_desc has both.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "lattice/schema.h"

namespace lattice {

/// A class that packs and unpacks itself. serialize_to() and deserialize_from() use it.
class INetworkSerializable {
 public:
  /// Virtual, so that objects may be destroyed through this class.
  virtual ~INetworkSerializable() = default;
  /// Writes the value. The same value must give the same bits.
  virtual void Serialize(BitWriter& w) const = 0;
  /// Reads a value. It comes from a peer: call r.fail() for one that makes no sense.
  virtual void Deserialize(BitReader& r) = 0;

 protected:
  /// For derived classes.
  INetworkSerializable() = default;
  /// For derived classes.
  INetworkSerializable(const INetworkSerializable&) = default;
  /// For derived classes.
  INetworkSerializable& operator=(const INetworkSerializable&) = default;
};

/// A type with Serialize(BitWriter&) and Deserialize(BitReader&), both returning void.
template <typename T>
concept NetworkSerializable = requires(const T& value, T& target, BitWriter& w, BitReader& r) {
  { value.Serialize(w) } -> std::same_as<void>;
  { target.Deserialize(r) } -> std::same_as<void>;
};

/// Packs `value` into `out`. Returns the bytes used, or 0 when the value does not fit. A value that writes
/// nothing gives 0 too.
template <NetworkSerializable T>
size_t serialize_to(const T& value, std::span<uint8_t> out) {
  BitWriter w(out);
  value.Serialize(w);
  return w.ok() ? w.finish().size() : 0;
}

/// Unpacks all of `bytes` into `value`. Returns false and leaves `value` alone when the bytes are malformed
/// or when some are left over.
template <NetworkSerializable T>
bool deserialize_from(std::span<const uint8_t> bytes, T& value) {
  T read = value;
  BitReader r(bytes);
  read.Deserialize(r);
  if (!r.at_end()) return false;
  value = read;
  return true;
}

/// @cond internal
namespace authoring {

/// A copy of a host value of a type.
template <typename T>
T custom_value(const void* host) {
  T value;
  std::memcpy(static_cast<void*>(&value), host, sizeof value);
  return value;
}

/// lattice_custom_desc.serialize of a type.
template <typename T>
size_t custom_serialize(const void* host, uint8_t* out, size_t cap) {
  const T value = custom_value<T>(host);
  BitWriter w({out, cap});
  value.Serialize(w);
  w.finish();
  return w.ok() ? w.bit_count() : SIZE_MAX;
}

/// lattice_custom_desc.deserialize of a type.
template <typename T>
size_t custom_deserialize(const uint8_t* in, size_t bit_count, void* host) {
  T value{};
  BitReader r({in, (bit_count + 7) / 8}, bit_count);
  value.Deserialize(r);
  if (!r.ok()) return SIZE_MAX;
  if (host) std::memcpy(host, &value, sizeof value);
  return r.position_bits();
}

/// lattice_custom_desc.distance of a type; null when it has none.
template <typename T>
constexpr auto custom_distance() -> double (*)(const void*, const void*) {
  if constexpr (requires(const T& v) {
                  { T::Distance(v, v) } -> std::convertible_to<double>;
                }) {
    return [](const void* a, const void* b) -> double {
      return T::Distance(custom_value<T>(a), custom_value<T>(b));
    };
  } else {
    static_assert(
        !requires { &T::Distance; }, "Distance is static double Distance(const T&, const T&)");
    return nullptr;
  }
}

/// lattice_custom_desc.interpolate of a type; null when it has none.
template <typename T>
constexpr auto custom_interpolate() -> void (*)(const void*, const void*, double, void*) {
  if constexpr (requires(const T& v) {
                  { T::Interpolate(v, v, 0.5) } -> std::convertible_to<T>;
                }) {
    return [](const void* a, const void* b, double t, void* out) {
      const T value = T::Interpolate(custom_value<T>(a), custom_value<T>(b), t);
      std::memcpy(out, &value, sizeof value);
    };
  } else {
    static_assert(
        !requires { &T::Interpolate; }, "Interpolate is static T Interpolate(const T&, const T&, double)");
    return nullptr;
  }
}

/// The description of a hand-written member type.
template <typename T>
inline constexpr lattice_custom_desc kCustomDesc = {sizeof(lattice_custom_desc), sizeof(T),
                                                    T::kSerializerName,          &custom_serialize<T>,
                                                    &custom_deserialize<T>,      custom_distance<T>(),
                                                    custom_interpolate<T>()};

}  // namespace authoring
/// @endcond
}  // namespace lattice
