// What LATTICE_NETWORKED stands on: from a member's C++ type and annotations to its descriptor, checked at
// compile time, and to its bits. Source: docs/spec/data.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "lattice/authoring/enum_traits.h"
#include "lattice/authoring/fixed.h"
#include "lattice/authoring/math.h"
#include "lattice/authoring/network_serializable.h"
#include "lattice/authoring/values.h"
#include "lattice/schema.h"

namespace lattice::annotation {

struct Bounds {
  double min, max, precision;
};
struct Ranged {
  int64_t min, max;
};
struct Bits {
  uint32_t count;
};
struct SmallestThree {
  uint32_t bits;
};
template <size_t N>
struct Capacity {};
struct Flag {
  uint32_t flag;
};
template <size_t N>
struct Array {};
struct Encoding {
  lattice_encoding encoding;
};

}  // namespace lattice::annotation

namespace lattice::authoring {

struct StringTag {};
struct FixedStringTag {};
struct BytesTag {};

template <typename... A>
struct CapacityOf {
  static constexpr size_t value = LATTICE_DEFAULT_STRING_BYTES;
};
template <typename First, typename... Rest>
struct CapacityOf<First, Rest...> : CapacityOf<Rest...> {};
template <size_t N, typename... Rest>
struct CapacityOf<annotation::Capacity<N>, Rest...> {
  static constexpr size_t value = N;
};

/// The C++ type an element of declared type T gets.
template <typename T, typename... A>
struct ElementType {
  using type = T;
};
template <typename... A>
struct ElementType<StringTag, A...> {
  using type = String<CapacityOf<A...>::value>;
};
template <typename... A>
struct ElementType<FixedStringTag, A...> {
  using type = FixedString<CapacityOf<A...>::value>;
};
template <typename... A>
struct ElementType<BytesTag, A...> {
  using type = Bytes<CapacityOf<A...>::value>;
};

/// `Element`, or an array of it when an annotation says so.
template <typename Element, typename... A>
struct ArrayType {
  using type = Element;
};
template <typename Element, typename First, typename... Rest>
struct ArrayType<Element, First, Rest...> : ArrayType<Element, Rest...> {};
template <typename Element, size_t N, typename... Rest>
struct ArrayType<Element, annotation::Array<N>, Rest...> {
  static_assert(N >= 1 && N <= LATTICE_MAX_ARRAY_ELEMENTS, "an array member holds 1 to 256 elements");
  using type = std::array<Element, N>;
};

/// The C++ type a member of declared type T gets.
template <typename T, typename... A>
struct HostType {
  using type = typename ArrayType<typename ElementType<T, A...>::type, A...>::type;
};
template <typename T, typename... A>
HostType<T, A...> host_type(int, const A&...);

/// A structure made with LATTICE_NETWORKED or LATTICE_NETSTRUCT.
template <typename T>
concept Declared = requires {
  T::lattice_members();
};

template <typename T>
struct TextKind {
  static constexpr lattice_wire_type kType = LATTICE_WIRE_CUSTOM;
  static constexpr size_t kCapacity = 0;
};
template <size_t N>
struct TextKind<String<N>> {
  static constexpr lattice_wire_type kType = LATTICE_WIRE_STRING;
  static constexpr size_t kCapacity = N;
};
template <size_t N>
struct TextKind<FixedString<N>> {
  static constexpr lattice_wire_type kType = LATTICE_WIRE_FIXED_STRING;
  static constexpr size_t kCapacity = N;
};
template <size_t N>
struct TextKind<Bytes<N>> {
  static constexpr lattice_wire_type kType = LATTICE_WIRE_BYTES;
  static constexpr size_t kCapacity = N;
};
/// What a member holds one or many of.
template <typename T>
struct ArrayTraits {
  using Element = T;
  static constexpr size_t kCount = 0;  // not an array
};
template <typename T, size_t N>
struct ArrayTraits<std::array<T, N>> {
  static_assert(ArrayTraits<T>::kCount == 0,
                "an array of arrays: put the inner one into a LATTICE_NETSTRUCT");
  static_assert(N >= 1 && N <= LATTICE_MAX_ARRAY_ELEMENTS, "an array member holds 1 to 256 elements");
  using Element = T;
  static constexpr size_t kCount = N;
};

template <typename T>
inline constexpr bool kIsText = TextKind<T>::kCapacity != 0;

template <typename T>
inline constexpr bool kIsInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>;
template <typename T>
inline constexpr unsigned kFloatCount = std::is_same_v<T, float> || std::is_same_v<T, double> ? 1
                                        : std::is_same_v<T, Vector2>                          ? 2
                                        : std::is_same_v<T, Vector3>                          ? 3
                                        : std::is_same_v<T, Vector4>                          ? 4
                                                                                              : 0;

template <typename T>
constexpr lattice_wire_type wire_type() {
  if constexpr (std::is_same_v<T, bool>)
    return LATTICE_WIRE_BOOL;
  else if constexpr (std::is_enum_v<T>)
    return LATTICE_WIRE_ENUM;
  else if constexpr (kIsInteger<T>) {
    constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6;
    return static_cast<lattice_wire_type>(LATTICE_WIRE_INT8 + kWidth + (std::is_unsigned_v<T> ? 1 : 0));
  } else if constexpr (std::is_same_v<T, float>)
    return LATTICE_WIRE_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return LATTICE_WIRE_DOUBLE;
  else if constexpr (std::is_same_v<T, Vector2>)
    return LATTICE_WIRE_VECTOR2;
  else if constexpr (std::is_same_v<T, Vector3>)
    return LATTICE_WIRE_VECTOR3;
  else if constexpr (std::is_same_v<T, Vector4>)
    return LATTICE_WIRE_VECTOR4;
  else if constexpr (std::is_same_v<T, Quaternion>)
    return LATTICE_WIRE_QUATERNION;
  else if constexpr (kIsText<T>)
    return TextKind<T>::kType;
  else if constexpr (std::is_same_v<T, Fixed64>)
    return LATTICE_WIRE_FIXED64;
  else if constexpr (std::is_same_v<T, NetId>)
    return LATTICE_WIRE_NETID;
  else if constexpr (Declared<T>)
    return LATTICE_WIRE_STRUCT;
  else {
    static_assert(NetworkSerializable<T>, "not a networked type, and without Serialize() and Deserialize()");
    static_assert(std::is_trivially_copyable_v<T>, "a hand-written member type must be trivially copyable");
    return LATTICE_WIRE_CUSTOM;
  }
}

// Not constexpr: reaching one of these while compiling a declaration is the error message.
inline void lattice_error_annotation_does_not_fit_this_type() {}
inline void lattice_error_bounds_min_must_be_below_max() {}
inline void lattice_error_precision_must_be_positive_and_within_the_bounds() {}
inline void lattice_error_range_must_fit_the_type() {}
inline void lattice_error_bits_out_of_range() {}
inline void lattice_error_too_many_bounds() {}
inline void lattice_error_custom_member_needs_CUSTOM_capacity() {}

template <typename T>
struct MemberBuilder {
  lattice_member_desc desc = {};
  unsigned bounds_count = 0;

  constexpr void encode(lattice_encoding encoding) {
    if (desc.encoding != LATTICE_ENCODING_DEFAULT && desc.encoding != encoding) {
      lattice_error_annotation_does_not_fit_this_type();
    }
    desc.encoding = encoding;
  }
  constexpr void apply(annotation::Bounds b) {
    if (kFloatCount<T> == 0) lattice_error_annotation_does_not_fit_this_type();
    if (bounds_count >= kFloatCount<T>) lattice_error_too_many_bounds();
    if constexpr (!std::is_same_v<T, double>) {  // as the hand-written path takes them: floats
      b.min = static_cast<double>(static_cast<float>(b.min));
      b.max = static_cast<double>(static_cast<float>(b.max));
    }
    if (!(b.min < b.max)) lattice_error_bounds_min_must_be_below_max();
    if (!(b.precision > 0) || !(b.precision <= b.max - b.min)) {
      lattice_error_precision_must_be_positive_and_within_the_bounds();
    }
    encode(LATTICE_ENCODING_COMPRESSED);
    for (unsigned i = bounds_count; i < 4; ++i) desc.quant[i] = {b.min, b.max, b.precision};
    ++bounds_count;
  }
  constexpr void apply(annotation::Ranged r) {
    if constexpr (kIsInteger<T>) {
      constexpr bool kWide = std::is_unsigned_v<T> && sizeof(T) == 8;
      const int64_t low = kWide ? 0 : static_cast<int64_t>(std::numeric_limits<T>::min());
      const int64_t high = kWide ? INT64_MAX : static_cast<int64_t>(std::numeric_limits<T>::max());
      if (r.min > r.max || r.min < low || r.max > high) lattice_error_range_must_fit_the_type();
    } else {
      lattice_error_annotation_does_not_fit_this_type();
    }
    encode(LATTICE_ENCODING_RANGED);
    desc.min_value = r.min;
    desc.max_value = r.max;
  }
  constexpr void apply(annotation::Bits b) {
    if (!kIsInteger<T> || std::is_signed_v<T>) lattice_error_annotation_does_not_fit_this_type();
    if (b.count < 1 || b.count > sizeof(T) * 8) lattice_error_bits_out_of_range();
    encode(LATTICE_ENCODING_BITS);
    desc.bits = b.count;
  }
  constexpr void apply(annotation::SmallestThree s) {
    if (!std::is_same_v<T, Quaternion>) lattice_error_annotation_does_not_fit_this_type();
    if (s.bits < kMinRotationBits || s.bits > kMaxRotationBits) lattice_error_bits_out_of_range();
    encode(LATTICE_ENCODING_SMALLEST_THREE);
    desc.bits = s.bits;
  }
  template <size_t N>
  constexpr void apply(annotation::Capacity<N>) {
    if (desc.type == LATTICE_WIRE_CUSTOM)
      desc.capacity = static_cast<uint32_t>(N);
    else if (!kIsText<T>)
      lattice_error_annotation_does_not_fit_this_type();
  }
  constexpr void apply(annotation::Flag f) { desc.flags |= f.flag; }
  template <size_t N>
  constexpr void apply(annotation::Array<N>) {}  // the member's type says it already
  constexpr void check_angle() {
    if ((desc.flags & LATTICE_MEMBER_ANGLE) == 0) return;
    if (!std::is_same_v<T, float> && !std::is_same_v<T, double>) {
      lattice_error_annotation_does_not_fit_this_type();
    }
    if (desc.encoding == LATTICE_ENCODING_COMPRESSED) {
      if (!(desc.quant[0].precision <= (desc.quant[0].max - desc.quant[0].min) / 2)) {
        lattice_error_precision_must_be_positive_and_within_the_bounds();
      }
      return;
    }
    encode(LATTICE_ENCODING_COMPRESSED);
    constexpr AngleQuant kDefault;
    desc.quant[0] = {kDefault.min, kDefault.max, kDefault.turn() / static_cast<double>(kDefault.steps)};
  }
  constexpr void apply(annotation::Encoding e) {
    const bool integer = kIsInteger<T> || std::is_same_v<T, Fixed64> || std::is_same_v<T, NetId>;
    const bool fits = e.encoding == LATTICE_ENCODING_FULL
                          ? kFloatCount<T> != 0 || std::is_same_v<T, Quaternion>
                      : e.encoding == LATTICE_ENCODING_VARINT ? integer && sizeof(T) >= 4
                                                              : integer;
    if (!fits) lattice_error_annotation_does_not_fit_this_type();
    encode(e.encoding);
  }
};

template <typename T>
struct DescHolder;

/// The descriptor of one member.
template <typename Host, typename... A>
consteval lattice_member_desc member_desc(const char* name, size_t offset, A... annotations) {
  using T = typename ArrayTraits<Host>::Element;
  MemberBuilder<T> builder;
  lattice_member_desc& d = builder.desc;
  d.struct_size = sizeof d;
  d.name = name;
  d.type = wire_type<T>();
  d.offset = static_cast<uint32_t>(offset);
  d.host_bytes = sizeof(T);
  d.array_count = static_cast<uint32_t>(ArrayTraits<Host>::kCount);
  if constexpr (kIsText<T>) d.capacity = static_cast<uint32_t>(TextKind<T>::kCapacity);
  if constexpr (std::is_enum_v<T>) {
    d.enum_values = EnumTraits<T>::kHostValues.data();
    d.enum_count = static_cast<uint32_t>(EnumTraits<T>::kCount);
  }
  (builder.apply(annotations), ...);
  builder.check_angle();
  if constexpr (wire_type<T>() == LATTICE_WIRE_STRUCT) d.structure = &DescHolder<T>::kDesc;
  if constexpr (wire_type<T>() == LATTICE_WIRE_CUSTOM) {
    if (d.capacity < 1 || d.capacity > LATTICE_MAX_CUSTOM_BYTES)
      lattice_error_custom_member_needs_CUSTOM_capacity();
    d.custom = &kCustomDesc<T>;
  }
  return d;
}

/// The descriptor of a declared structure; evaluated, and so checked, when first used.
template <typename T>
struct DescHolder {
  static constexpr auto kMembers = T::lattice_members();
  static_assert(kMembers.size() <= LATTICE_MAX_MEMBERS, "a structure holds at most 32 members");
  static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  static constexpr lattice_struct_desc kDesc = {
      sizeof(lattice_struct_desc),
      T::kLatticeFlags,
      T::kLatticeName,
      sizeof(T),
      alignof(T),
      kMembers.data(),
      static_cast<uint32_t>(kMembers.size()),
      0,
  };
};

/// Equality of members; a hand-written type without == is compared bytewise.
template <typename T>
bool equal_member(const T& a, const T& b) {
  if constexpr (ArrayTraits<T>::kCount != 0) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (!equal_member(a[i], b[i])) return false;
    }
    return true;
  } else if constexpr (requires { a == b; }) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

}  // namespace lattice::authoring
