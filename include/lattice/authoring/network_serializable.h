// The hand-written path: for conditional fields, own compression, third-party types.
//
// A class either derives from INetworkSerializable (messages, whole states, anything the game holds itself),
// or, to be a member of a declared structure, is a trivially copyable type with the same two functions,
// non-virtual, and `static constexpr const char* kSerializerName`, which belongs to the schema: change it
// with the format. Serialize must write the same bits for the same value; Deserialize must refuse (r.fail())
// what makes no sense.
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

class INetworkSerializable {
 public:
  virtual ~INetworkSerializable() = default;
  virtual void Serialize(BitWriter& w) const = 0;
  virtual void Deserialize(BitReader& r) = 0;

 protected:
  INetworkSerializable() = default;
  INetworkSerializable(const INetworkSerializable&) = default;
  INetworkSerializable& operator=(const INetworkSerializable&) = default;
};

template <typename T>
concept NetworkSerializable = requires(const T& value, T& target, BitWriter& w, BitReader& r) {
  { value.Serialize(w) } -> std::same_as<void>;
  { target.Deserialize(r) } -> std::same_as<void>;
};

/// Packs `value` into `out`; returns the bytes used, or 0 when it does not fit.
template <NetworkSerializable T>
size_t serialize_to(const T& value, std::span<uint8_t> out) {
  BitWriter w(out);
  value.Serialize(w);
  return w.ok() ? w.finish().size() : 0;
}

/// Unpacks all of `bytes`; false when malformed or when anything is left over, and `value` is then as
/// it was.
template <NetworkSerializable T>
bool deserialize_from(std::span<const uint8_t> bytes, T& value) {
  T read = value;
  BitReader r(bytes);
  read.Deserialize(r);
  if (!r.at_end()) return false;
  value = read;
  return true;
}

namespace authoring {

template <typename T>
size_t custom_serialize(const void* host, uint8_t* out, size_t cap) {
  T value;
  std::memcpy(static_cast<void*>(&value), host, sizeof value);
  BitWriter w({out, cap});
  value.Serialize(w);
  w.finish();
  return w.ok() ? w.bit_count() : SIZE_MAX;
}

template <typename T>
size_t custom_deserialize(const uint8_t* in, size_t bit_count, void* host) {
  T value{};
  BitReader r({in, (bit_count + 7) / 8}, bit_count);
  value.Deserialize(r);
  if (!r.ok()) return SIZE_MAX;
  if (host) std::memcpy(host, &value, sizeof value);
  return r.position_bits();
}

/// The descriptor of a hand-written member type.
template <typename T>
inline constexpr lattice_custom_desc kCustomDesc = {
    sizeof(lattice_custom_desc), sizeof(T), T::kSerializerName, &custom_serialize<T>, &custom_deserialize<T>};

}  // namespace authoring
}  // namespace lattice
