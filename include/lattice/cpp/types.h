/// @file
/// Structures of lattice.h that begin filled, and the typed names of object types and RPCs. Part of
/// lattice.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "lattice/authoring/networked.h"
#include "lattice/lattice.h"

namespace lattice {

/// lattice_world_config with its defaults.
///
///     lattice::WorldConfig config;
///     config.tick_rate_hz = 30;
struct WorldConfig : lattice_world_config {
  /// Fills every default: lattice_world_config_init().
  WorldConfig() { lattice_world_config_init(this); }
};
/// lattice_impairment of a perfect link.
struct Impairment : lattice_impairment {
  /// Fills every default: lattice_impairment_init().
  Impairment() { lattice_impairment_init(this); }
};
/// lattice_token_request with its defaults.
struct TokenRequest : lattice_token_request {
  /// Fills every default: lattice_token_request_init().
  TokenRequest() { lattice_token_request_init(this); }
};
/// lattice_object_interest of an object that everybody of room 0 sees from near.
struct ObjectInterest : lattice_object_interest {
  /// Fills every default: lattice_object_interest_init().
  ObjectInterest() { lattice_object_interest_init(this); }
};
/// lattice_viewer of a client that looks from its own object, in room 0, of no team.
struct Viewer : lattice_viewer {
  /// Fills every default: lattice_viewer_init().
  Viewer() { lattice_viewer_init(this); }
};

/// What happened between two frames. The spans are valid until the next begin_frame() of the world.
struct Frame : lattice_frame {
  /// Nothing happened yet.
  Frame() { lattice_frame_init(this); }
  /// Objects that are gone: lattice_frame.left.
  std::span<const lattice_frame_object> gone() const { return {left, left_count}; }
  /// Objects that appeared: lattice_frame.spawned.
  std::span<const lattice_frame_object> appeared() const { return {spawned, spawned_count}; }
  /// Objects whose authoritative state changed: lattice_frame.changed.
  std::span<const lattice_frame_object> updated() const { return {changed, changed_count}; }
  /// Predicted objects that a rollback moved: lattice_frame.corrected.
  std::span<const lattice_frame_object> moved() const { return {corrected, corrected_count}; }
};

/// A structure for the library to fill: all zero, with struct_size.
template <class T>
T sized() {
  T out{};
  out.struct_size = static_cast<uint32_t>(sizeof out);
  return out;
}

/// A role with all that follows from it: lattice_role_context_init().
inline lattice_role_context role_context(lattice_role role) {
  lattice_role_context context;
  lattice_role_context_init(&context, role);
  return context;
}

/// Zero-terminated text in an array of `kCapacity` bytes.
template <size_t kCapacity>
struct Text {
  /// The text and its final zero.
  char data[kCapacity] = {};
  /// The text.
  const char* c_str() const { return data; }
};

/// A connect token; false when there is none.
struct Token {
  /// The bytes of the token.
  uint8_t data[LATTICE_TOKEN_MAX_BYTES];
  /// How many bytes of `data` are the token; 0 when there is none.
  size_t size = 0;
  /// True when there is a token.
  explicit operator bool() const { return size != 0; }
  /// The bytes of the token. Valid as long as this object.
  operator std::span<const uint8_t>() const { return {data, size}; }
};

/// An object type: its id, its name and the structures of its behaviours. World::each() hands out the first
/// one. Make one constant of each type; it serves to register, spawn and visit.
///
///     constexpr lattice::Type<Pawn> kPawn{.id = 1, .name = "Pawn", .flags = LATTICE_TYPE_PREDICTED};
template <authoring::Declared... Behaviours>
struct Type {
  static_assert(sizeof...(Behaviours) != 0, "an object type has at least one behaviour");
  /// lattice_type_desc.type_id; 0 means the hash of the name. type_id() is the id in either case.
  uint32_t id = 0;
  /// lattice_type_desc.name, unique within the schema.
  const char* name = nullptr;
  uint32_t flags = 0;  ///< a sum of lattice_type_flags
  double base_priority =
      1.0;  ///< lattice_type_desc.base_priority: how early objects are sent when not all fit

  /// The id that registers, spawns and visits: `id`, or the 32-bit FNV-1a hash of the name where that is 0.
  constexpr uint32_t type_id() const {
    if (id != 0 || name == nullptr) return id;
    uint32_t hash = 2166136261u;
    for (const char* c = name; *c != '\0'; ++c) hash = (hash ^ static_cast<uint8_t>(*c)) * 16777619u;
    return hash;
  }
};

/// An RPC whose arguments are the members of `Arguments`; void for none. World::add() registers it,
/// World::call() calls it, Call::as() recognises it.
///
///     constexpr lattice::Rpc<Say> kSay{.id = 1, .name = "say", .target = LATTICE_RPC_TO_SERVER};
template <class Arguments = void>
struct Rpc {
  static_assert(
      std::is_void_v<Arguments> || authoring::Declared<Arguments>,
      "the arguments of an RPC are a structure declared with LATTICE_NETWORKED or LATTICE_NETSTRUCT");
  /// lattice_rpc_desc.rpc_id, unique within the type. Another type may have an RPC with the same id.
  uint16_t id = 0;
  /// lattice_rpc_desc.name, unique within the type.
  const char* name = nullptr;
  /// Who calls whom.
  lattice_rpc_target target = LATTICE_RPC_TO_SERVER;
  /// Its order and loss.
  lattice_channel channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
  /// True: a client that does not own the object is refused.
  bool owner_only = false;
  /// When on_rpc runs.
  lattice_rpc_delivery delivery = LATTICE_RPC_IMMEDIATE;

  /// The description for the C interface.
  constexpr lattice_rpc_desc desc() const {
    return rpc_desc<Arguments>(id, name, target, channel, owner_only, delivery);
  }
};

/// An RPC that arrived. Valid inside on_rpc only.
struct Call {
  /// The object it was called on.
  lattice_netid object = 0;
  /// Its id, unique within the type of the object.
  uint16_t rpc_id = 0;
  /// The host structure of its arguments; null without arguments.
  const void* data = nullptr;
  /// The size of that structure; 0 without arguments.
  size_t bytes = 0;

  /// True when this is a call of `rpc`. RPC ids are unique within an object type only: where two types have
  /// RPCs with the same id, ask World::info(object).type_id first.
  template <class Arguments>
  bool is(const Rpc<Arguments>& rpc) const {
    if constexpr (std::is_void_v<Arguments>) {
      return rpc_id == rpc.id && bytes == 0;
    } else {
      return rpc_id == rpc.id && bytes == sizeof(Arguments);
    }
  }
  /// The arguments when this is a call of `rpc`, else null. As is(), it knows the id and the size only: where
  /// two types share an id, ask for the type of the object first.
  ///
  ///     if (const Say* say = call.as(kSay)) show(say->text.view());
  template <class Arguments>
  requires(!std::is_void_v<Arguments>) const Arguments* as(const Rpc<Arguments>& rpc) const {
    return is(rpc) ? static_cast<const Arguments*>(data) : nullptr;
  }
};

}  // namespace lattice
