/// @file
/// One member of a declared structure to bits and back: the same bits that the library writes for its
/// description. Source: docs/spec/data.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "lattice/authoring/member_traits.h"

/// @cond internal
namespace lattice::authoring {

/// Writes an integer with the encoding of its description.
template <typename T>
void write_integer(BitWriter& w, T v, const lattice_member_desc& d) {
  using Unsigned = std::make_unsigned_t<T>;
  const uint64_t raw = static_cast<uint64_t>(static_cast<Unsigned>(v));
  const bool varint =
      d.encoding == LATTICE_ENCODING_VARINT || (d.encoding == LATTICE_ENCODING_DEFAULT && sizeof(T) >= 4);
  if (d.encoding == LATTICE_ENCODING_RANGED) {
    const bool above = std::is_unsigned_v<T> && raw > uint64_t{INT64_MAX};
    w.WriteRangedLong(above ? INT64_MAX : static_cast<int64_t>(v), d.min_value, d.max_value);
  } else if (d.encoding == LATTICE_ENCODING_BITS) {
    w.WriteRangedBits(raw, d.bits);
  } else if (varint) {
    if constexpr (std::is_signed_v<T>)
      w.WriteLong(static_cast<int64_t>(v));
    else
      w.WriteVarint(raw);
  } else if constexpr (sizeof(T) == 1)
    w.WriteByte(static_cast<uint8_t>(raw));
  else if constexpr (sizeof(T) == 2)
    w.WriteU16(static_cast<uint16_t>(raw));
  else if constexpr (sizeof(T) == 4)
    w.WriteU32(static_cast<uint32_t>(raw));
  else
    w.WriteU64(raw);
}

/// Reads an integer with the encoding of its description.
template <typename T>
void read_integer(BitReader& r, T& v, const lattice_member_desc& d) {
  const bool varint =
      d.encoding == LATTICE_ENCODING_VARINT || (d.encoding == LATTICE_ENCODING_DEFAULT && sizeof(T) >= 4);
  if (d.encoding == LATTICE_ENCODING_RANGED)
    v = static_cast<T>(r.ReadRangedLong(d.min_value, d.max_value));
  else if (d.encoding == LATTICE_ENCODING_BITS)
    v = static_cast<T>(r.ReadBits(static_cast<int>(d.bits)));
  else if (varint) {
    if constexpr (std::is_signed_v<T> && sizeof(T) == 4)
      v = static_cast<T>(r.ReadInt());
    else if constexpr (std::is_signed_v<T>)
      v = static_cast<T>(r.ReadLong());
    else if constexpr (sizeof(T) == 4)
      v = static_cast<T>(r.ReadVarint32());
    else
      v = static_cast<T>(r.ReadVarint());
  } else if constexpr (sizeof(T) == 1)
    v = static_cast<T>(r.ReadByte());
  else if constexpr (sizeof(T) == 2)
    v = static_cast<T>(r.ReadU16());
  else if constexpr (sizeof(T) == 4)
    v = static_cast<T>(r.ReadU32());
  else
    v = static_cast<T>(r.ReadU64());
}

/// The key of an entry as it travels, as a number that compares as the keys do.
template <typename Entry>
uint64_t key_order(const Entry& entry) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  using Key = std::remove_cvref_t<decltype(entry.lattice_key())>;
  const Key v = entry.lattice_key();
  constexpr const lattice_member_desc& d = DescHolder<Entry>::kMembers[0];
  if constexpr (std::is_enum_v<Key>) {
    const int64_t ordinal = EnumTraits<Key>::ordinal(v);
    const size_t known = ordinal < 0 ? 0 : static_cast<size_t>(ordinal);
    return static_cast<uint64_t>(EnumTraits<Key>::kHostValues[known]) ^ kSign;
  } else if constexpr (std::is_same_v<Key, NetId>) {
    return v.value;
  } else {
    static_assert(kIsInteger<Key>, "the key of a map is an enum, an integer or a netid");
    const auto raw = static_cast<uint64_t>(v);
    if (d.encoding == LATTICE_ENCODING_RANGED) {
      const bool above = std::is_unsigned_v<Key> && raw > uint64_t{INT64_MAX};
      return ranged_code(above ? INT64_MAX : static_cast<int64_t>(v), d.min_value, d.max_value);
    }
    if (d.encoding == LATTICE_ENCODING_BITS) {
      const uint64_t max = d.bits >= 64 ? UINT64_MAX : (uint64_t{1} << d.bits) - 1;
      return raw < max ? raw : max;
    }
    return std::is_signed_v<Key> ? raw ^ kSign : raw;
  }
}

/// Writes one member whole.
template <typename T>
void write_member(BitWriter& w, const T& v, const lattice_member_desc& d);

/// Writes the length, then the elements.
template <typename T, size_t N>
void write_list(BitWriter& w, const List<T, N>& list, const lattice_member_desc& d) {
  w.WriteRangedLong(list.count, 0, static_cast<int64_t>(N));
  for (const T& element : list) write_member(w, element, d);
}

/// Writes the number of entries, then the entries in the order of their keys. Of two with one key the first
/// travels.
template <typename Entry, size_t N>
void write_map(BitWriter& w, const Map<Entry, N>& map, const lattice_member_desc& d) {
  uint16_t order[N];
  size_t kept = 0;
  for (size_t i = 0; i < map.size(); ++i) {
    const uint64_t key = key_order(map.items[i]);
    size_t at = kept;
    while (at > 0 && key_order(map.items[order[at - 1]]) > key) --at;
    if (at > 0 && key_order(map.items[order[at - 1]]) == key) continue;
    for (size_t k = kept; k > at; --k) order[k] = order[k - 1];
    order[at] = static_cast<uint16_t>(i);
    ++kept;
  }
  w.WriteBits(kept, static_cast<int>(bits_for_span(N)));
  for (size_t i = 0; i < kept; ++i) write_member(w, map.items[order[i]], d);
}

template <typename T>
void write_member(BitWriter& w, const T& v, const lattice_member_desc& d) {
  if constexpr (ArrayTraits<T>::kContainer == LATTICE_CONTAINER_LIST)
    write_list(w, v, d);
  else if constexpr (ArrayTraits<T>::kContainer == LATTICE_CONTAINER_MAP)
    write_map(w, v, d);
  else if constexpr (ArrayTraits<T>::kCount != 0) {
    for (const auto& element : v) write_member(w, element, d);
  } else if constexpr (std::is_same_v<T, bool>)
    w.WriteBool(v);
  else if constexpr (std::is_enum_v<T>)
    w.WriteEnum(v);
  else if constexpr (std::is_same_v<T, Fixed64>) {
    if (d.encoding == LATTICE_ENCODING_VARINT)
      w.WriteLong(v.raw);
    else
      w.WriteU64(static_cast<uint64_t>(v.raw));
  } else if constexpr (std::is_same_v<T, NetId>) {
    if (d.encoding == LATTICE_ENCODING_FIXED)
      w.WriteU64(v.value);
    else
      w.WriteVarint(v.value);
  } else if constexpr (std::is_same_v<T, NetTick>) {
    if (d.encoding == LATTICE_ENCODING_FIXED)
      w.WriteU32(v.value);
    else
      w.WriteInt(static_cast<int32_t>(v.value));
  } else if constexpr (kIsInteger<T>)
    write_integer(w, v, d);
  else if constexpr (kFloatCount<T> != 0) {
    std::conditional_t<kIsDouble<T>, double, float> c[kFloatCount<T>];
    std::memcpy(c, &v, sizeof c);
    for (unsigned i = 0; i < kFloatCount<T>; ++i) {
      if ((d.flags & LATTICE_MEMBER_ANGLE) != 0) {
        w.WriteAngle(static_cast<double>(c[i]), d.quant[0].min, d.quant[0].max, d.quant[0].precision);
      } else if (d.encoding == LATTICE_ENCODING_COMPRESSED) {
        w.WriteCompressed(static_cast<double>(c[i]),
                          CompressedFloat(d.quant[i].min, d.quant[i].max, d.quant[i].precision));
      } else if constexpr (kIsDouble<T>)
        w.WriteDouble(c[i]);
      else if (d.encoding == LATTICE_ENCODING_HALF)
        w.WriteHalf(c[i]);
      else
        w.WriteFloat(c[i]);
    }
  } else if constexpr (std::is_same_v<T, Quaternion>) {
    if (d.encoding == LATTICE_ENCODING_FULL)
      w.WriteFloat(v.x), w.WriteFloat(v.y), w.WriteFloat(v.z), w.WriteFloat(v.w);
    else
      w.WriteQuaternion(v, d.bits != 0 ? static_cast<int>(d.bits) : 10);
  } else if constexpr (TextKind<T>::kType == LATTICE_WIRE_STRING)
    w.WriteString(v.view());
  else if constexpr (TextKind<T>::kType == LATTICE_WIRE_FIXED_STRING) {
    const std::string_view text = v.view();
    w.WriteBytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  } else if constexpr (TextKind<T>::kType == LATTICE_WIRE_BYTES)
    w.WriteBytes(v.data, v.view().size());
  else
    v.Serialize(w);
}

/// Reads one member whole. After a failure it holds the zero value of its type, or the least value of its
/// range; a list, a map or a union is empty.
template <typename T>
void read_member(BitReader& r, T& v, const lattice_member_desc& d);

/// Reads a list or a map.
template <typename T>
void read_elements(BitReader& r, T& v, const lattice_member_desc& d) {
  v = T{};
  const uint64_t count = r.ReadCode(bits_for_span(T::kCapacity), T::kCapacity);
  for (uint64_t i = 0; i < count && r.ok(); ++i) {
    read_member(r, v.items[i], d);
    if constexpr (ArrayTraits<T>::kContainer == LATTICE_CONTAINER_MAP) {
      if (i != 0 && key_order(v.items[i - 1]) >= key_order(v.items[i])) r.fail();
    }
  }
  if (r.ok()) {
    v.count = static_cast<uint16_t>(count);
  } else {
    v = T{};
  }
}

template <typename T>
void read_member(BitReader& r, T& v, const lattice_member_desc& d) {
  if constexpr (ArrayTraits<T>::kContainer != LATTICE_CONTAINER_ARRAY)
    read_elements(r, v, d);
  else if constexpr (ArrayTraits<T>::kCount != 0) {
    for (auto& element : v) read_member(r, element, d);
  } else if constexpr (std::is_same_v<T, bool>)
    v = r.ReadBool();
  else if constexpr (std::is_enum_v<T>)
    v = r.ReadEnum<T>();
  else if constexpr (std::is_same_v<T, Fixed64>) {
    v.raw = d.encoding == LATTICE_ENCODING_VARINT ? r.ReadLong() : static_cast<int64_t>(r.ReadU64());
  } else if constexpr (std::is_same_v<T, NetId>) {
    v.value = d.encoding == LATTICE_ENCODING_FIXED ? r.ReadU64() : r.ReadVarint();
  } else if constexpr (std::is_same_v<T, NetTick>) {
    v.value = d.encoding == LATTICE_ENCODING_FIXED ? r.ReadU32() : static_cast<uint32_t>(r.ReadInt());
  } else if constexpr (kIsInteger<T>)
    read_integer(r, v, d);
  else if constexpr (kFloatCount<T> != 0) {
    using Component = std::conditional_t<kIsDouble<T>, double, float>;
    Component c[kFloatCount<T>];
    for (unsigned i = 0; i < kFloatCount<T>; ++i) {
      if ((d.flags & LATTICE_MEMBER_ANGLE) != 0) {
        c[i] = static_cast<Component>(r.ReadAngle(d.quant[0].min, d.quant[0].max, d.quant[0].precision));
      } else if (d.encoding == LATTICE_ENCODING_COMPRESSED) {
        c[i] = static_cast<Component>(
            r.ReadCompressed(CompressedFloat(d.quant[i].min, d.quant[i].max, d.quant[i].precision)));
      } else if constexpr (kIsDouble<T>)
        c[i] = r.ReadDouble();
      else
        c[i] = d.encoding == LATTICE_ENCODING_HALF ? r.ReadHalf() : r.ReadFloat();
    }
    std::memcpy(&v, c, sizeof c);
  } else if constexpr (std::is_same_v<T, Quaternion>) {
    if (d.encoding == LATTICE_ENCODING_FULL) {
      v.x = r.ReadFloat(), v.y = r.ReadFloat(), v.z = r.ReadFloat(), v.w = r.ReadFloat();
    } else {
      v = r.ReadQuaternion(d.bits != 0 ? static_cast<int>(d.bits) : 10);
    }
  } else if constexpr (kIsText<T>) {
    v = T{};
    uint8_t* out = reinterpret_cast<uint8_t*>(v.data);
    const size_t n = r.ReadBytes(out, T::kCapacity);
    if constexpr (TextKind<T>::kType == LATTICE_WIRE_BYTES)
      v.size = static_cast<uint16_t>(n);
    else if (v.view().size() != n)
      r.fail();
    if constexpr (TextKind<T>::kType == LATTICE_WIRE_STRING) {
      if (utf8_valid_prefix(v.view()) != n) r.fail();
    }
    if (!r.ok()) v = T{};
  } else {
    v.Deserialize(r);
  }
}

}  // namespace lattice::authoring
/// @endcond
