/// @file
/// What LATTICE_NETWORKED stands on: it makes the description of a member from its C++ type and its
/// annotations, and checks both at compile time. Source: docs/spec/data.md.
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

/// @cond internal
/// The values of annotations. Not for programs: names here may change.
namespace lattice::annotation {

/// BOUNDS(min, max, precision).
struct Bounds {
  /// The three numbers, in the unit of the member.
  double min, max, precision;
};
/// RANGED(min, max).
struct Ranged {
  /// The two bounds; both may occur.
  int64_t min, max;
};
/// BITS(n).
struct Bits {
  /// How many bits.
  uint32_t count;
};
/// SMALLEST_THREE(n).
struct SmallestThree {
  /// How many bits per component.
  uint32_t bits;
};
/// STRING(n), BYTES(n) and CUSTOM(n).
template <size_t N>
struct Capacity {};
/// EVERYONE: a bit of lattice_member_desc.flags that no description keeps.
inline constexpr uint32_t kEveryone = uint32_t{1} << 31;

/// POSITION, SNAP and the other flags.
struct Flag {
  /// A lattice_member_flags.
  uint32_t flag;
};
/// PRIORITY(times).
struct Priority {
  /// The factor.
  double times;
};
/// OMIT.
struct Omit {};
/// ARRAY(n).
template <size_t N>
struct Array {};
/// LIST(n).
template <size_t N>
struct List {};
/// MAP(n).
template <size_t N>
struct Map {};
/// FIXED, VARINT, HALF and FULL.
struct Encoding {
  /// The encoding.
  lattice_encoding encoding;
};

}  // namespace lattice::annotation
/// @endcond

/// What declarations expand to. Programs use Declared only: the other names here may change.
namespace lattice::authoring {

/// @cond internal

/// The declared type string.
struct StringTag {};
/// The declared type fixed_string.
struct FixedStringTag {};
/// The declared type blob.
struct BytesTag {};

/// The capacity among annotations `A`, or the default.
template <typename... A>
struct CapacityOf {
  /// Bytes.
  static constexpr size_t value = LATTICE_DEFAULT_STRING_BYTES;
};
/// Looks at the next annotation.
template <typename First, typename... Rest>
struct CapacityOf<First, Rest...> : CapacityOf<Rest...> {};
/// Found it.
template <size_t N, typename... Rest>
struct CapacityOf<annotation::Capacity<N>, Rest...> {
  /// Bytes.
  static constexpr size_t value = N;
};

/// The C++ type that an element of the declared type `T` gets.
template <typename T, typename... A>
struct ElementType {
  /// The type.
  using type = T;
};
/// Text.
template <typename... A>
struct ElementType<StringTag, A...> {
  /// The type.
  using type = String<CapacityOf<A...>::value>;
};
/// Text without an encoding.
template <typename... A>
struct ElementType<FixedStringTag, A...> {
  /// The type.
  using type = FixedString<CapacityOf<A...>::value>;
};
/// A blob.
template <typename... A>
struct ElementType<BytesTag, A...> {
  /// The type.
  using type = Bytes<CapacityOf<A...>::value>;
};

/// `Element`, or an array, a list or a map of it when an annotation says so.
template <typename Element, typename... A>
struct ArrayType {
  /// The type.
  using type = Element;
};
/// Looks at the next annotation.
template <typename Element, typename First, typename... Rest>
struct ArrayType<Element, First, Rest...> : ArrayType<Element, Rest...> {};
/// Found ARRAY.
template <typename Element, size_t N, typename... Rest>
struct ArrayType<Element, annotation::Array<N>, Rest...> {
  static_assert(N >= 1 && N <= LATTICE_MAX_ARRAY_ELEMENTS, "an array member holds 1 to 256 elements");
  /// The type.
  using type = std::array<Element, N>;
};

/// Found LIST.
template <typename Element, size_t N, typename... Rest>
struct ArrayType<Element, annotation::List<N>, Rest...> {
  static_assert(N >= 1 && N <= LATTICE_MAX_LIST_ELEMENTS, "a list holds up to 1 to 1024 elements");
  /// The type.
  using type = List<Element, N>;
};
/// Found MAP.
template <typename Element, size_t N, typename... Rest>
struct ArrayType<Element, annotation::Map<N>, Rest...> {
  static_assert(N >= 1 && N <= LATTICE_MAX_LIST_ELEMENTS, "a map holds up to 1 to 1024 entries");
  /// The type.
  using type = Map<Element, N>;
};

/// The C++ type that a member of the declared type `T` gets.
template <typename T, typename... A>
struct HostType {
  /// The type.
  using type = typename ArrayType<typename ElementType<T, A...>::type, A...>::type;
};
/// Deduces the annotations. The 0 stands before their commas. Never defined.
template <typename T, typename... A>
HostType<T, A...> host_type(int, const A&...);

/// @endcond

/// A structure made with LATTICE_NETWORKED, LATTICE_NETSTRUCT or LATTICE_NETSTRUCT_DELTA.
template <typename T>
concept Declared = requires {
  T::lattice_members();
};

/// @cond internal

/// Whether `T` is a LATTICE_VARIANT.
template <typename T>
inline constexpr bool IsVariant = requires {
  typename T::LatticeBase;
};

/// Whether `T` is text or a blob, and how large.
template <typename T>
struct TextKind {
  /// What it is; CUSTOM for neither.
  static constexpr lattice_wire_type kType = LATTICE_WIRE_CUSTOM;
  /// Most bytes; 0 for neither.
  static constexpr size_t kCapacity = 0;
};
/// Text.
template <size_t N>
struct TextKind<String<N>> {
  /// What it is.
  static constexpr lattice_wire_type kType = LATTICE_WIRE_STRING;
  /// Most bytes.
  static constexpr size_t kCapacity = N;
};
/// Text without an encoding.
template <size_t N>
struct TextKind<FixedString<N>> {
  /// What it is.
  static constexpr lattice_wire_type kType = LATTICE_WIRE_FIXED_STRING;
  /// Most bytes.
  static constexpr size_t kCapacity = N;
};
/// A blob.
template <size_t N>
struct TextKind<Bytes<N>> {
  /// What it is.
  static constexpr lattice_wire_type kType = LATTICE_WIRE_BYTES;
  /// Most bytes.
  static constexpr size_t kCapacity = N;
};
/// What a member holds one or many of.
template <typename T>
struct ArrayTraits {
  /// The type of an element.
  using Element = T;
  /// How many elements, or how many there is room for; 0: one value.
  static constexpr size_t kCount = 0;
  /// Which kind.
  static constexpr lattice_container kContainer = LATTICE_CONTAINER_ARRAY;
};
/// An array.
template <typename T, size_t N>
struct ArrayTraits<std::array<T, N>> {
  static_assert(ArrayTraits<T>::kCount == 0,
                "an array of arrays: put the inner one into a LATTICE_NETSTRUCT");
  static_assert(N >= 1 && N <= LATTICE_MAX_ARRAY_ELEMENTS, "an array member holds 1 to 256 elements");
  /// The type of an element.
  using Element = T;
  /// How many elements.
  static constexpr size_t kCount = N;
  /// Which kind.
  static constexpr lattice_container kContainer = LATTICE_CONTAINER_ARRAY;
};
/// A list.
template <typename T, size_t N>
struct ArrayTraits<List<T, N>> {
  static_assert(ArrayTraits<T>::kCount == 0, "a list of arrays: put the inner one into a LATTICE_NETSTRUCT");
  /// The type of an element.
  using Element = T;
  /// How many elements there is room for.
  static constexpr size_t kCount = N;
  /// Which kind.
  static constexpr lattice_container kContainer = LATTICE_CONTAINER_LIST;
};
/// A map.
template <typename T, size_t N>
struct ArrayTraits<Map<T, N>> {
  /// The type of an entry.
  using Element = T;
  /// How many entries there is room for.
  static constexpr size_t kCount = N;
  /// Which kind.
  static constexpr lattice_container kContainer = LATTICE_CONTAINER_MAP;
};

/// Whether `T` is text or a blob.
template <typename T>
inline constexpr bool kIsText = TextKind<T>::kCapacity != 0;

/// Whether `T` is an integer that travels as one.
template <typename T>
inline constexpr bool kIsInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>;
/// How many floats or doubles `T` is made of; 0: something else.
template <typename T>
inline constexpr unsigned kFloatCount = std::is_same_v<T, float> || std::is_same_v<T, double>       ? 1
                                        : std::is_same_v<T, Vector2> || std::is_same_v<T, DVector2> ? 2
                                        : std::is_same_v<T, Vector3> || std::is_same_v<T, DVector3> ? 3
                                        : std::is_same_v<T, Vector4> || std::is_same_v<T, DVector4> ? 4
                                                                                                    : 0;
/// Whether the components of `T` are doubles.
template <typename T>
inline constexpr bool kIsDouble = std::is_same_v<T, double> || std::is_same_v<T, DVector2> ||
                                  std::is_same_v<T, DVector3> || std::is_same_v<T, DVector4>;

/// The wire type of a C++ type. Does not compile for one that cannot travel.
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
  else if constexpr (kFloatCount<T> != 0)
    return static_cast<lattice_wire_type>(LATTICE_WIRE_DVECTOR2 + kFloatCount<T> - 2);
  else if constexpr (std::is_same_v<T, Quaternion>)
    return LATTICE_WIRE_QUATERNION;
  else if constexpr (kIsText<T>)
    return TextKind<T>::kType;
  else if constexpr (std::is_same_v<T, Fixed64>)
    return LATTICE_WIRE_FIXED64;
  else if constexpr (std::is_same_v<T, NetId>)
    return LATTICE_WIRE_NETID;
  else if constexpr (std::is_same_v<T, NetTick>)
    return LATTICE_WIRE_TICK;
  else if constexpr (Declared<T>)
    return LATTICE_WIRE_STRUCT;
  else {
    static_assert(NetworkSerializable<T>, "not a networked type, and without Serialize() and Deserialize()");
    static_assert(std::is_trivially_copyable_v<T>, "a hand-written member type must be trivially copyable");
    return LATTICE_WIRE_CUSTOM;
  }
}

/// Compile-time errors. They are not constexpr: reaching one while a declaration is compiled is the error
/// message.
/// @{
inline void lattice_error_annotation_does_not_fit_this_type() {}
inline void lattice_error_bounds_min_must_be_below_max() {}
inline void lattice_error_precision_must_be_positive_and_within_the_bounds() {}
inline void lattice_error_range_must_fit_the_type() {}
inline void lattice_error_bits_out_of_range() {}
inline void lattice_error_too_many_bounds() {}
inline void lattice_error_priority_must_be_above_0_and_at_most_1000() {}
inline void lattice_error_a_variant_cannot_change_how_many_there_are() {}
inline void lattice_error_a_variant_names_a_member_twice() {}
inline void lattice_error_this_member_is_omitted() {}
inline void lattice_error_custom_member_needs_CUSTOM_capacity() {}
inline void lattice_error_an_entry_of_a_map_is_a_structure_with_its_key_first() {}
/// @}

/// Fills the description of one member of type `T` from its annotations.
template <typename T>
struct MemberBuilder {
  /// What is known so far.
  lattice_member_desc desc = {};
  /// How many BOUNDS were applied.
  unsigned bounds_count = 0;

  /// Sets the encoding. An error when another annotation set a different one.
  constexpr void encode(lattice_encoding encoding) {
    if (desc.encoding != LATTICE_ENCODING_DEFAULT && desc.encoding != encoding) {
      lattice_error_annotation_does_not_fit_this_type();
    }
    desc.encoding = encoding;
  }
  /// Bounds of the next component, and of those after it.
  constexpr void apply(annotation::Bounds b) {
    if (kFloatCount<T> == 0) lattice_error_annotation_does_not_fit_this_type();
    if (bounds_count >= kFloatCount<T>) lattice_error_too_many_bounds();
    if constexpr (!kIsDouble<T>) {  // as the hand-written path takes them: floats
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
  /// The range of an integer.
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
  /// The bits of an unsigned integer.
  constexpr void apply(annotation::Bits b) {
    if (!kIsInteger<T> || std::is_signed_v<T>) lattice_error_annotation_does_not_fit_this_type();
    if (b.count < 1 || b.count > sizeof(T) * 8) lattice_error_bits_out_of_range();
    encode(LATTICE_ENCODING_BITS);
    desc.bits = b.count;
  }
  /// The bits of a rotation.
  constexpr void apply(annotation::SmallestThree s) {
    if (!std::is_same_v<T, Quaternion>) lattice_error_annotation_does_not_fit_this_type();
    if (s.bits < kMinRotationBits || s.bits > kMaxRotationBits) lattice_error_bits_out_of_range();
    encode(LATTICE_ENCODING_SMALLEST_THREE);
    desc.bits = s.bits;
  }
  /// The capacity of a hand-written type. That of text is in its C++ type.
  template <size_t N>
  constexpr void apply(annotation::Capacity<N>) {
    if (desc.type == LATTICE_WIRE_CUSTOM)
      desc.capacity = static_cast<uint32_t>(N);
    else if (!kIsText<T>)
      lattice_error_annotation_does_not_fit_this_type();
  }
  /// A flag. Registration checks whether it fits the type.
  constexpr void apply(annotation::Flag f) { desc.flags |= f.flag; }
  /// How much a change hurries the object.
  constexpr void apply(annotation::Priority p) {
    desc.priority = static_cast<float>(p.times);
    if (!(desc.priority > 0) || !(p.times <= 1000)) {
      lattice_error_priority_must_be_above_0_and_at_most_1000();
    }
  }
  /// Marks the description as that of no member. For variants.
  constexpr void apply(annotation::Omit) { desc.struct_size = 0; }
  /// Nothing: the C++ type of the member says it already.
  /// @{
  template <size_t N>
  constexpr void apply(annotation::Array<N>) {}
  template <size_t N>
  constexpr void apply(annotation::List<N>) {}
  template <size_t N>
  constexpr void apply(annotation::Map<N>) {}
  /// @}
  /// Completes and checks an angle, after all annotations were applied.
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
  /// An encoding by name.
  constexpr void apply(annotation::Encoding e) {
    const bool integer =
        kIsInteger<T> || std::is_same_v<T, Fixed64> || std::is_same_v<T, NetId> || std::is_same_v<T, NetTick>;
    const bool half = kFloatCount<T> != 0 && !kIsDouble<T>;
    const bool fits = e.encoding == LATTICE_ENCODING_HALF ? half
                      : e.encoding == LATTICE_ENCODING_FULL
                          ? kFloatCount<T> != 0 || std::is_same_v<T, Quaternion>
                      : e.encoding == LATTICE_ENCODING_VARINT ? integer && sizeof(T) >= 4
                                                              : integer;
    if (!fits) lattice_error_annotation_does_not_fit_this_type();
    encode(e.encoding);
  }
};

/// See below.
template <typename T>
struct DescHolder;

/// The description of one member.
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
  d.container = ArrayTraits<Host>::kContainer;
  if constexpr (ArrayTraits<Host>::kContainer != LATTICE_CONTAINER_ARRAY) {
    d.count_offset = static_cast<uint32_t>(offsetof(Host, count));
    d.container_bytes = static_cast<uint32_t>(sizeof(Host));
  }
  if constexpr (ArrayTraits<Host>::kContainer == LATTICE_CONTAINER_MAP) {
    if constexpr (!requires { T::kLatticeName; }) {
      lattice_error_an_entry_of_a_map_is_a_structure_with_its_key_first();
    }
  }
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

/// Whether OMIT or EVERYONE stands outside of a variant.
template <size_t N>
constexpr bool has_words_of_variants(const std::array<lattice_member_desc, N>& members) {
  for (const lattice_member_desc& member : members) {
    if (member.struct_size == 0 || (member.flags & annotation::kEveryone) != 0) return true;
  }
  return false;
}

/// An annotation about a member of `Host` that is there already may say how many there are, but not change
/// it.
template <typename Host, typename A>
consteval void keeps_shape(A) {}
/// An array.
template <typename Host, size_t N>
consteval void keeps_shape(annotation::Array<N>) {
  if (ArrayTraits<Host>::kCount != N) lattice_error_a_variant_cannot_change_how_many_there_are();
}
/// A list.
template <typename Host, size_t N>
consteval void keeps_shape(annotation::List<N>) {
  if (ArrayTraits<Host>::kCount != N) lattice_error_a_variant_cannot_change_how_many_there_are();
}
/// A map.
template <typename Host, size_t N>
consteval void keeps_shape(annotation::Map<N>) {
  if (ArrayTraits<Host>::kCount != N) lattice_error_a_variant_cannot_change_how_many_there_are();
}
/// Text or a blob. A hand-written type may get another number of bytes.
template <typename Host, size_t N>
consteval void keeps_shape(annotation::Capacity<N>) {
  using T = typename ArrayTraits<Host>::Element;
  if (kIsText<T> && TextKind<T>::kCapacity != N) lattice_error_a_variant_cannot_change_how_many_there_are();
}

/// The description of a member of a structure in a variant of it.
template <typename Host, typename... A>
consteval lattice_member_desc varied_desc(const char* name, size_t offset, A... annotations) {
  (keeps_shape<Host>(annotations), ...);
  return member_desc<Host>(name, offset, annotations...);
}

/// The members of a variant, in an array that may be longer.
template <size_t N>
struct VariedMembers {
  /// The first `count` are the members.
  std::array<lattice_member_desc, N> members = {};
  /// How many there are.
  size_t count = 0;
};

/// The members of a structure, where those of a variant take the place of their namesakes.
template <size_t N, size_t M>
consteval VariedMembers<N> vary(const std::array<lattice_member_desc, N>& base,
                                const std::array<lattice_member_desc, M>& varied) {
  VariedMembers<N> out;
  for (const lattice_member_desc& member : base) {
    const lattice_member_desc* found = nullptr;
    for (const lattice_member_desc& other : varied) {
      if (std::string_view(other.name) != member.name) continue;
      if (found != nullptr) lattice_error_a_variant_names_a_member_twice();
      found = &other;
    }
    if (found != nullptr && found->struct_size == 0) continue;
    lattice_member_desc& taken = out.members[out.count++];
    taken = found == nullptr ? member : *found;
    // Who gets a member stays as it was, unless the variant says something of it: secrets are not dropped by
    // the way.
    constexpr uint32_t kConditions = LATTICE_MEMBER_OWNER_ONLY | LATTICE_MEMBER_SKIP_OWNER |
                                     LATTICE_MEMBER_PREDICTED_ONLY | LATTICE_MEMBER_INITIAL_ONLY;
    if ((taken.flags & (kConditions | annotation::kEveryone)) == 0) taken.flags |= member.flags & kConditions;
    taken.flags &= ~annotation::kEveryone;
  }
  return out;
}

/// The first `kCount` of some descriptions.
template <size_t kCount, size_t N>
consteval std::array<lattice_member_desc, kCount> first_members(
    const std::array<lattice_member_desc, N>& from) {
  std::array<lattice_member_desc, kCount> out = {};
  for (size_t i = 0; i < kCount; ++i) out[i] = from[i];
  return out;
}

/// The place of a member of a structure in a variant of it.
template <typename Variant, typename Member>
consteval uint16_t varied_index(Member member) {
  const auto base = Variant::LatticeBase::lattice_members();
  const auto own = Variant::lattice_members();
  for (size_t i = 0; i < own.size(); ++i) {
    if (std::string_view(own[i].name) == base[static_cast<size_t>(member)].name)
      return static_cast<uint16_t>(i);
  }
  lattice_error_this_member_is_omitted();
  return 0;
}

/// The description of a declared structure. It is evaluated, and so checked, when first used.
template <typename T>
struct DescHolder {
  /// The descriptions of its members.
  static constexpr auto kMembers = T::lattice_members();
  static_assert(kMembers.size() <= LATTICE_MAX_MEMBERS, "a structure holds at most 256 members");
  static_assert(kMembers.size() != 0, "every member is omitted");
  static_assert(!has_words_of_variants(kMembers), "OMIT and EVERYONE are for members of a LATTICE_VARIANT");
  static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  /// The description.
  static constexpr lattice_struct_desc kDesc = {
      sizeof(lattice_struct_desc),
      T::kLatticeFlags,
      T::kLatticeName,
      sizeof(T),
      alignof(T),
      kMembers.data(),
      static_cast<uint32_t>(kMembers.size()),
      T::lattice_tag_offset(),
  };
};

/// Whether two members are equal. A hand-written type without == is compared byte by byte.
template <typename T>
bool equal_member(const T& a, const T& b) {
  if constexpr (ArrayTraits<T>::kCount != 0) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!equal_member(a.begin()[i], b.begin()[i])) return false;
    }
    return true;
  } else if constexpr (requires { a == b; }) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

}  // namespace lattice::authoring
/// @endcond
