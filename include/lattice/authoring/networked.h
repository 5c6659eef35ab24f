/// @file
/// Declares networked structures. One list makes the structure, its packer and its part of the schema.
/// docs/guide/types.md explains the choices.
///
///     LATTICE_NETWORKED(PlayerState,
///       (position, vec3, BOUNDS(-4096, 4096, LATTICE_MM(1)), POSITION),
///       (rotation, quat, SMALLEST_THREE(10), ROTATION),
///       (health, uint16, BITS(10)),
///       (slots, uint16, ARRAY(4), BITS(10)),
///       (name, string, STRING(16)))
///
/// **The result** is a plain aggregate, trivially copyable, compared with ==. Its enum class Member names the
/// members by index, for prop_id(). Serialize() and Deserialize() give exactly the bits that a hand-written
/// serializer of the same members gives. Nothing of the library needs to be linked for that.
///
/// **Types:** bool, int8, uint8, byte, int16, uint16, int32, uint32, int64, uint64, float, double, vec2,
/// vec3, vec4, dvec2, dvec3, dvec4, quat, string, fixed_string, blob, fixed64, netid, nettick; an enum
/// declared with LATTICE_ENUM; a declared structure or union; a hand-written type
/// (lattice/authoring/network_serializable.h); a type alias of a std::array of one of these.
///
/// **Annotations,** up to ten for a member:
///
/// - BOUNDS(min, max, precision): float, double, vectors. In the unit of the member, once for all components
///   or once for each.
/// - RANGED(min, max), FIXED: integers. BITS(n): unsigned integers. VARINT: integers of 32 and 64 bits.
/// - FIXED, VARINT: fixed64, netid, nettick. SMALLEST_THREE(n): quat. FULL: float, double, vectors, quat.
///   HALF: float, vec2, vec3, vec4.
/// - STRING(capacity), BYTES(capacity), CUSTOM(capacity): most bytes.
/// - ARRAY(n): the member is a std::array of n elements, and the other annotations are about one element.
///   LIST(n): likewise a lattice::List of up to n elements. MAP(n): a lattice::Map of up to n entries; the
///   declared type is the structure of an entry, and the entry's first member is its key.
/// - POSITION, VELOCITY, ACCELERATION, ROTATION, ANGULAR_VELOCITY, TELEPORT, SNAP, EXTRAPOLATE, ANGLE,
///   NOT_PREDICTED, OWNER_ONLY, SKIP_OWNER, PREDICTED_ONLY, INITIAL_ONLY: the flags of lattice_member_flags.
///   (yaw, float, ANGLE) is an angle of -pi..pi in 65,536 steps, and (heading, float, BOUNDS(0, 360, 0.1),
///   ANGLE) is one in degrees.
/// - PRIORITY(times): lattice_member_desc.priority.
///
/// An encoding that does not fit its type does not compile, and the name of the function in the message says
/// what is wrong. A flag that does not fit is refused by registration with LATTICE_ERROR_SCHEMA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "lattice/authoring/for_each.h"
#include "lattice/authoring/member_codec.h"
#include "lattice/authoring/member_traits.h"
#include "lattice/authoring/straight_codec.h"
#include "lattice/schema.h"

/// Millimetres as metres, for BOUNDS.
#define LATTICE_MM(millimetres) ((millimetres)*0.001)

/// @cond internal
// A macro about a member comes in three steps: NAME takes the parentheses off, NAME_X expands the result, and
// NAME_I does the work.

/// Takes the parentheses off a member.
#define LATTICE_UNPACK(...) __VA_ARGS__
/// The declaration of a member.
#define LATTICE_MEMBER_FIELD(Type, tuple) LATTICE_MEMBER_FIELD_X(LATTICE_UNPACK tuple)
#define LATTICE_MEMBER_FIELD_X(...) LATTICE_MEMBER_FIELD_I(__VA_ARGS__)
#define LATTICE_MEMBER_FIELD_I(name, declared, ...)            \
  typename decltype(::lattice::authoring::host_type<declared>( \
      0 LATTICE_ANNOTATIONS(__VA_ARGS__)))::type name{};

/// The declaration of an alternative of a union.
#define LATTICE_ALTERNATIVE_FIELD(Type, tuple) LATTICE_ALTERNATIVE_FIELD_X(LATTICE_UNPACK tuple)
#define LATTICE_ALTERNATIVE_FIELD_X(...) LATTICE_ALTERNATIVE_FIELD_I(__VA_ARGS__)
#define LATTICE_ALTERNATIVE_FIELD_I(name, declared, ...) \
  typename decltype(::lattice::authoring::host_type<declared>(0 LATTICE_ANNOTATIONS(__VA_ARGS__)))::type name;

/// Makes an alternative the active one.
#define LATTICE_ALTERNATIVE_SET(Type, tuple) LATTICE_ALTERNATIVE_SET_X(Type, LATTICE_UNPACK tuple)
#define LATTICE_ALTERNATIVE_SET_X(...) LATTICE_ALTERNATIVE_SET_I(__VA_ARGS__)
#define LATTICE_ALTERNATIVE_SET_I(Type, name, ...)                    \
  auto& set_##name() {                                                \
    which = Which::name;                                              \
    return *::new (static_cast<void*>(&name)) decltype(Type::name)(); \
  }

/// Writes, reads and compares the active alternative.
#define LATTICE_ALTERNATIVE_WRITE(Type, tuple) LATTICE_ALTERNATIVE_WRITE_X(Type, LATTICE_UNPACK tuple)
#define LATTICE_ALTERNATIVE_WRITE_X(...) LATTICE_ALTERNATIVE_WRITE_I(__VA_ARGS__)
#define LATTICE_ALTERNATIVE_WRITE_I(Type, name, ...)                                                    \
  case Which::name:                                                                                     \
    ::lattice::authoring::write_member(                                                                 \
        lattice_w, name,                                                                                \
        ::lattice::authoring::DescHolder<Type>::kMembers[static_cast<::std::size_t>(Which::name) - 1]); \
    break;
#define LATTICE_ALTERNATIVE_READ(Type, tuple) LATTICE_ALTERNATIVE_READ_X(Type, LATTICE_UNPACK tuple)
#define LATTICE_ALTERNATIVE_READ_X(...) LATTICE_ALTERNATIVE_READ_I(__VA_ARGS__)
#define LATTICE_ALTERNATIVE_READ_I(Type, name, ...)                                                     \
  case Which::name:                                                                                     \
    set_##name();                                                                                       \
    ::lattice::authoring::read_member(                                                                  \
        lattice_r, name,                                                                                \
        ::lattice::authoring::DescHolder<Type>::kMembers[static_cast<::std::size_t>(Which::name) - 1]); \
    break;
#define LATTICE_ALTERNATIVE_EQUAL(Type, tuple) LATTICE_ALTERNATIVE_EQUAL_X(LATTICE_UNPACK tuple)
#define LATTICE_ALTERNATIVE_EQUAL_X(...) LATTICE_ALTERNATIVE_EQUAL_I(__VA_ARGS__)
#define LATTICE_ALTERNATIVE_EQUAL_I(name, ...) \
  case Which::name:                            \
    return ::lattice::authoring::equal_member(lattice_a.name, lattice_b.name);

/// The first member, which is the key of an entry.
#define LATTICE_KEY(first, ...) LATTICE_KEY_X(LATTICE_UNPACK first)
#define LATTICE_KEY_X(...) LATTICE_KEY_I(__VA_ARGS__)
#define LATTICE_KEY_I(name, ...) name

/// The name of a member, for enum class Member.
#define LATTICE_MEMBER_INDEX(Type, tuple) LATTICE_MEMBER_INDEX_X(LATTICE_UNPACK tuple)
#define LATTICE_MEMBER_INDEX_X(...) LATTICE_MEMBER_INDEX_I(__VA_ARGS__)
#define LATTICE_MEMBER_INDEX_I(name, ...) name,

/// The description of a member.
#define LATTICE_MEMBER_DESC(Type, tuple) LATTICE_MEMBER_DESC_X(Type, LATTICE_UNPACK tuple)
#define LATTICE_MEMBER_DESC_X(...) LATTICE_MEMBER_DESC_I(__VA_ARGS__)
#define LATTICE_MEMBER_DESC_I(Type, name, declared, ...)   \
  ::lattice::authoring::member_desc<decltype(Type::name)>( \
      #name, offsetof(Type, name) LATTICE_ANNOTATIONS(__VA_ARGS__)),

/// The description of a member in a variant.
#define LATTICE_VARIED_DESC(Base, tuple) LATTICE_VARIED_DESC_X(Base, LATTICE_UNPACK tuple)
#define LATTICE_VARIED_DESC_X(...) LATTICE_VARIED_DESC_I(__VA_ARGS__)
#define LATTICE_VARIED_DESC_I(Base, name, ...)             \
  ::lattice::authoring::varied_desc<decltype(Base::name)>( \
      #name, offsetof(Base, name) LATTICE_ANNOTATIONS(__VA_ARGS__)),

/// Writes a member.
#define LATTICE_MEMBER_WRITE(Type, tuple) LATTICE_MEMBER_WRITE_X(Type, LATTICE_UNPACK tuple)
#define LATTICE_MEMBER_WRITE_X(...) LATTICE_MEMBER_WRITE_I(__VA_ARGS__)
#define LATTICE_MEMBER_WRITE_I(Type, name, declared, ...) \
  ::lattice::authoring::write_member(                     \
      lattice_w, name,                                    \
      ::lattice::authoring::DescHolder<Type>::kMembers[static_cast<::std::size_t>(Member::name)]);

/// Reads a member.
#define LATTICE_MEMBER_READ(Type, tuple) LATTICE_MEMBER_READ_X(Type, LATTICE_UNPACK tuple)
#define LATTICE_MEMBER_READ_X(...) LATTICE_MEMBER_READ_I(__VA_ARGS__)
#define LATTICE_MEMBER_READ_I(Type, name, declared, ...) \
  ::lattice::authoring::read_member(                     \
      lattice_r, name,                                   \
      ::lattice::authoring::DescHolder<Type>::kMembers[static_cast<::std::size_t>(Member::name)]);

/// Compares a member.
#define LATTICE_MEMBER_EQUAL(Type, tuple) LATTICE_MEMBER_EQUAL_X(LATTICE_UNPACK tuple)
#define LATTICE_MEMBER_EQUAL_X(...) LATTICE_MEMBER_EQUAL_I(__VA_ARGS__)
#define LATTICE_MEMBER_EQUAL_I(name, ...) &&::lattice::authoring::equal_member(lattice_a.name, lattice_b.name)

/// The names of types inside a declaration.
#define LATTICE_TYPE_NAMES                                   \
  using vec2 = ::lattice::Vector2;                           \
  using vec3 = ::lattice::Vector3;                           \
  using vec4 = ::lattice::Vector4;                           \
  using quat = ::lattice::Quaternion;                        \
  using int8 = ::std::int8_t;                                \
  using uint8 = ::std::uint8_t;                              \
  using byte = ::std::uint8_t;                               \
  using int16 = ::std::int16_t;                              \
  using uint16 = ::std::uint16_t;                            \
  using int32 = ::std::int32_t;                              \
  using uint32 = ::std::uint32_t;                            \
  using int64 = ::std::int64_t;                              \
  using uint64 = ::std::uint64_t;                            \
  using string = ::lattice::authoring::StringTag;            \
  using fixed_string = ::lattice::authoring::FixedStringTag; \
  using blob = ::lattice::authoring::BytesTag;               \
  using fixed64 = ::lattice::Fixed64;                        \
  using netid = ::lattice::NetId;                            \
  using nettick = ::lattice::NetTick;                        \
  using dvec2 = ::lattice::DVector2;                         \
  using dvec3 = ::lattice::DVector3;                         \
  using dvec4 = ::lattice::DVector4;

/// Everything inside a declared structure.
#define LATTICE_STRUCT_BODY(Type, flags, ...)                                                                \
  LATTICE_TYPE_NAMES                                                                                         \
  LATTICE_FOR_EACH(LATTICE_MEMBER_FIELD, Type, __VA_ARGS__)                                                  \
  /* Member indices, for prop ids: Type::Member::name. */                                                    \
  enum class Member : ::std::uint16_t { LATTICE_FOR_EACH(LATTICE_MEMBER_INDEX, Type, __VA_ARGS__) };         \
  static constexpr const char* kLatticeName = #Type;                                                         \
  static constexpr ::std::uint32_t kLatticeFlags = flags;                                                    \
  static constexpr ::std::uint32_t lattice_tag_offset() {                                                    \
    return 0;                                                                                                \
  }                                                                                                          \
  const auto& lattice_key() const {                                                                          \
    return LATTICE_KEY(__VA_ARGS__);                                                                         \
  }                                                                                                          \
  static constexpr auto lattice_members() {                                                                  \
    return ::std::to_array<lattice_member_desc>({LATTICE_FOR_EACH(LATTICE_MEMBER_DESC, Type, __VA_ARGS__)}); \
  }                                                                                                          \
  /* Templates, so that only a program that calls them compiles their bodies. */                             \
  template <class LatticeWriter>                                                                             \
  void Serialize(LatticeWriter& lattice_w) const {                                                           \
    LATTICE_FOR_EACH(LATTICE_MEMBER_WRITE, Type, __VA_ARGS__)                                                \
  }                                                                                                          \
  template <class LatticeReader>                                                                             \
  void Deserialize(LatticeReader& lattice_r) {                                                               \
    LATTICE_FOR_EACH(LATTICE_MEMBER_READ, Type, __VA_ARGS__)                                                 \
  }                                                                                                          \
  [[maybe_unused]] friend bool operator==(const Type& lattice_a, const Type& lattice_b) {                    \
    return true LATTICE_FOR_EACH(LATTICE_MEMBER_EQUAL, Type, __VA_ARGS__);                                   \
  }                                                                                                          \
  static_assert(true)

/// Everything inside a declared union.
#define LATTICE_UNION_BODY(Type, ...)                                                                        \
  LATTICE_TYPE_NAMES                                                                                         \
  /* Which alternative is active. */                                                                         \
  enum class Which : ::std::uint8_t { none, LATTICE_FOR_EACH(LATTICE_MEMBER_INDEX, Type, __VA_ARGS__) };     \
  union {                                                                                                    \
    char lattice_none;                                                                                       \
    LATTICE_FOR_EACH(LATTICE_ALTERNATIVE_FIELD, Type, __VA_ARGS__)                                           \
  };                                                                                                         \
  Which which = Which::none;                                                                                 \
  constexpr Type() : lattice_none(0) {}                                                                      \
  LATTICE_FOR_EACH(LATTICE_ALTERNATIVE_SET, Type, __VA_ARGS__)                                               \
  void set_none() {                                                                                          \
    which = Which::none;                                                                                     \
  }                                                                                                          \
  static constexpr const char* kLatticeName = #Type;                                                         \
  static constexpr ::std::uint32_t kLatticeFlags = LATTICE_STRUCT_UNION;                                     \
  static constexpr ::std::uint32_t lattice_tag_offset() {                                                    \
    return static_cast<::std::uint32_t>(offsetof(Type, which));                                              \
  }                                                                                                          \
  static constexpr auto lattice_members() {                                                                  \
    return ::std::to_array<lattice_member_desc>({LATTICE_FOR_EACH(LATTICE_MEMBER_DESC, Type, __VA_ARGS__)}); \
  }                                                                                                          \
  void Serialize(::lattice::BitWriter& lattice_w) const {                                                    \
    const auto lattice_tag = static_cast<::std::uint64_t>(which);                                            \
    constexpr auto kAlternatives = lattice_members().size();                                                 \
    lattice_w.WriteBits(lattice_tag <= kAlternatives ? lattice_tag : 0,                                      \
                        static_cast<int>(::lattice::bits_for_span(kAlternatives)));                          \
    switch (which) {                                                                                         \
      LATTICE_FOR_EACH(LATTICE_ALTERNATIVE_WRITE, Type, __VA_ARGS__)                                         \
      case Which::none:                                                                                      \
      default:                                                                                               \
        break;                                                                                               \
    }                                                                                                        \
  }                                                                                                          \
  void Deserialize(::lattice::BitReader& lattice_r) {                                                        \
    constexpr auto kAlternatives = lattice_members().size();                                                 \
    set_none();                                                                                              \
    switch (                                                                                                 \
        static_cast<Which>(lattice_r.ReadCode(::lattice::bits_for_span(kAlternatives), kAlternatives))) {    \
      LATTICE_FOR_EACH(LATTICE_ALTERNATIVE_READ, Type, __VA_ARGS__)                                          \
      case Which::none:                                                                                      \
      default:                                                                                               \
        break;                                                                                               \
    }                                                                                                        \
    if (!lattice_r.ok()) set_none();                                                                         \
  }                                                                                                          \
  [[maybe_unused]] friend bool operator==(const Type& lattice_a, const Type& lattice_b) {                    \
    if (lattice_a.which != lattice_b.which) return false;                                                    \
    switch (lattice_a.which) {                                                                               \
      LATTICE_FOR_EACH(LATTICE_ALTERNATIVE_EQUAL, Type, __VA_ARGS__)                                         \
      case Which::none:                                                                                      \
      default:                                                                                               \
        return true;                                                                                         \
    }                                                                                                        \
  }                                                                                                          \
  static_assert(true)

/// @endcond

/// The content of a structure that is declared by itself, such as a nested one. Nothing else stands in its
/// body. As a member of another structure it travels whole.
///
///     struct Projectile {
///       LATTICE_NETSTRUCT(Projectile,
///         (origin, vec3, BOUNDS(-4096, 4096, 0.01f)),
///         (charge, int32, RANGED(0, 1023)))
///     };
#define LATTICE_NETSTRUCT(Type, ...) LATTICE_STRUCT_BODY(Type, 0, __VA_ARGS__);
/// As LATTICE_NETSTRUCT, with LATTICE_STRUCT_DELTA: as a member of another structure only its changed members
/// travel.
#define LATTICE_NETSTRUCT_DELTA(Type, ...) LATTICE_STRUCT_BODY(Type, LATTICE_STRUCT_DELTA, __VA_ARGS__);
/// The content of a union: at most one of its members counts, and only that travels. Nothing else stands in
/// its body. `which` says the active one, a value of the enum class Which, which has the names of the members
/// and `none`. set_NAME() makes a member the active one, zero, and returns it. Only the active one may be
/// read. A union is a member, or an element, of a declared structure.
///
///     struct Weapon {
///       LATTICE_NETUNION(Weapon,
///         (bow, Bow),
///         (sword, Sword))
///     };
///
///     player.weapon.set_bow().arrows = 12;
///     if (player.weapon.which == Weapon::Which::bow) draw(player.weapon.bow);
#define LATTICE_NETUNION(Type, ...) LATTICE_UNION_BODY(Type, __VA_ARGS__);
/// Declares a structure with these members, 1 to 256 of them, at namespace scope.
#define LATTICE_NETWORKED(Type, ...)     \
  struct Type {                          \
    LATTICE_NETSTRUCT(Type, __VA_ARGS__) \
  };                                     \
  static_assert(::lattice::authoring::DescHolder<Type>::kDesc.member_count != 0);

/// Another way to send a structure that is declared already, at namespace scope, for some types of objects.
/// Named members get these annotations in place of their own, and OMIT leaves a member out; all others stay.
/// Who gets a member stays too, unless a send condition, or EVERYONE, says otherwise. How many elements or
/// bytes a member has room for cannot change. The result derives from the structure and adds nothing to it,
/// so code for the structure serves objects with the variant too. An omitted member is the game's own on each
/// side: it is neither sent nor rolled back, and zero in views. prop_id() of a member takes the variant's
/// name: prop_id<FarPlayer>(0, PlayerState::Member::health). The structure is no union and no variant.
///
///     LATTICE_VARIANT(FarPlayer, PlayerState,
///       (position, BOUNDS(-4096, 4096, 0.5), POSITION),
///       (name, OMIT))
///
///     constexpr lattice::Type<FarPlayer> kFarPlayer{.id = 2, .name = "FarPlayer"};
#define LATTICE_VARIANT(Type, Base, ...)                                                                     \
  struct Type : Base {                                                                                       \
    static_assert(Base::kLatticeFlags != LATTICE_STRUCT_UNION,                                               \
                  "a variant is of a structure, not of a union");                                            \
    static_assert(!::lattice::authoring::IsVariant<Base>, "a variant of a variant: name the structure");     \
    using LatticeBase = Base;                                                                                \
    /* Members have other indices where some are omitted: see prop_id(). */                                  \
    struct Member;                                                                                           \
    static constexpr const char* kLatticeName = #Type;                                                       \
    static constexpr auto lattice_members() {                                                                \
      constexpr auto kVaried = ::lattice::authoring::vary(                                                   \
          Base::lattice_members(),                                                                           \
          ::std::to_array<lattice_member_desc>({LATTICE_FOR_EACH(LATTICE_VARIED_DESC, Base, __VA_ARGS__)})); \
      return ::lattice::authoring::first_members<kVaried.count>(kVaried.members);                            \
    }                                                                                                        \
    void Serialize(::lattice::BitWriter&) const = delete;                                                    \
    void Deserialize(::lattice::BitReader&) = delete;                                                        \
  };                                                                                                         \
  static_assert(::lattice::authoring::DescHolder<Type>::kDesc.member_count != 0);

namespace lattice {

/// The description of a declared structure. It lives as long as the program.
template <authoring::Declared T>
constexpr const lattice_struct_desc& struct_desc() {
  return authoring::DescHolder<T>::kDesc;
}

/// The id of a member for lattice_set_prop() and lattice_get_prop(). `behaviour` counts from 0.
///
///     uint16_t health = 100;
///     lattice_set_prop(world, id, lattice::prop_id(0, PlayerState::Member::health), &health, sizeof health);
template <typename Member>
constexpr uint16_t prop_id(unsigned behaviour, Member member) {
  return static_cast<uint16_t>(behaviour << 8 | static_cast<unsigned>(member));
}

/// The same, with the structure said.
template <typename T, typename Member>
requires(std::is_same_v<Member, typename T::Member>) consteval uint16_t
    prop_id(unsigned behaviour, Member member) {
  return prop_id(behaviour, member);
}

/// The same in objects whose behaviour is a variant of the structure that the member is of. Does not compile
/// where the variant omits the member.
template <typename Variant, typename Member>
requires(std::is_same_v<Member, typename Variant::LatticeBase::Member>) consteval uint16_t
    prop_id(unsigned behaviour, Member member) {
  return static_cast<uint16_t>(behaviour << 8 | authoring::varied_index<Variant>(member));
}

/// Straight code for a declared structure, or null for one that is too large. It lives as long as the
/// program.
template <authoring::Declared T>
constexpr const lattice_codec_desc* codec_desc() {
  if constexpr (straight::Code<authoring::DescHolder<T>>::kFits) {
    return &straight::Code<authoring::DescHolder<T>>::kDesc;
  } else {
    return nullptr;
  }
}

/// The description of one behaviour of a type. `name` null: the name of the structure.
template <authoring::Declared T>
constexpr lattice_behaviour_desc behaviour_desc(const char* name = nullptr) {
  return {sizeof(lattice_behaviour_desc), 0, name, &authoring::DescHolder<T>::kDesc, codec_desc<T>()};
}

/// The description of an RPC whose arguments are the members of `Arguments`; void for none.
template <typename Arguments = void>
constexpr lattice_rpc_desc rpc_desc(uint16_t rpc_id, const char* name, lattice_rpc_target target,
                                    lattice_channel channel = LATTICE_CHANNEL_RELIABLE_ORDERED,
                                    bool owner_only = false,
                                    lattice_rpc_delivery delivery = LATTICE_RPC_IMMEDIATE) {
  const lattice_struct_desc* arguments = nullptr;
  if constexpr (!std::is_void_v<Arguments>) arguments = &authoring::DescHolder<Arguments>::kDesc;
  return {sizeof(lattice_rpc_desc),
          rpc_id,
          static_cast<uint8_t>(owner_only),
          0,
          name,
          channel,
          target,
          delivery,
          0,
          arguments};
}

/// The description of the input command.
template <authoring::Declared T>
constexpr lattice_input_desc input_desc() {
  return {sizeof(lattice_input_desc), 0, nullptr, &authoring::DescHolder<T>::kDesc};
}

/// The description of a type without RPCs. Its type_id follows from the name. `behaviours` is borrowed until
/// the type is registered.
template <size_t BehaviourCount>
constexpr lattice_type_desc type_desc(const char* name,
                                      const lattice_behaviour_desc (&behaviours)[BehaviourCount],
                                      uint32_t flags = 0) {
  return {sizeof(lattice_type_desc),
          0,
          name,
          LATTICE_AUTHORITY_SERVER,
          flags,
          1.0,
          behaviours,
          nullptr,
          static_cast<uint32_t>(BehaviourCount),
          0};
}
/// The description of a type with RPCs. `behaviours` and `rpcs` are borrowed until the type is registered.
template <size_t BehaviourCount, size_t RpcCount>
constexpr lattice_type_desc type_desc(const char* name,
                                      const lattice_behaviour_desc (&behaviours)[BehaviourCount],
                                      const lattice_rpc_desc (&rpcs)[RpcCount], uint32_t flags = 0) {
  lattice_type_desc desc = type_desc(name, behaviours, flags);
  desc.rpcs = rpcs;
  desc.rpc_count = static_cast<uint32_t>(RpcCount);
  return desc;
}

}  // namespace lattice
