// Structures of lattice.h that begin filled, and the typed names of object types and RPCs. Part of
// lattice.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "lattice/authoring/networked.h"
#include "lattice/lattice.h"

namespace lattice {

/// A structure of the C interface with its defaults: WorldConfig config; config.tick_rate_hz = 30;
struct WorldConfig : lattice_world_config {
  WorldConfig() { lattice_world_config_init(this); }
};
struct Impairment : lattice_impairment {
  Impairment() { lattice_impairment_init(this); }
};
struct TokenRequest : lattice_token_request {
  TokenRequest() { lattice_token_request_init(this); }
};

/// A structure that the library fills, all zero but for its struct_size.
template <class T>
T sized() {
  T out{};
  out.struct_size = static_cast<uint32_t>(sizeof out);
  return out;
}

/// What a role means.
inline lattice_role_context role_context(lattice_role role) {
  lattice_role_context context;
  lattice_role_context_init(&context, role);
  return context;
}

/// Zero-terminated text of fixed room.
template <size_t kCapacity>
struct Text {
  char data[kCapacity] = "";
  const char* c_str() const { return data; }
};

/// A connect token; false when there is none.
struct Token {
  uint8_t data[LATTICE_TOKEN_MAX_BYTES];
  size_t size = 0;
  explicit operator bool() const { return size != 0; }
  operator std::span<const uint8_t>() const { return {data, size}; }
};

/// An object type: its id, its name and the structures of its behaviours, the first as the one that
/// World::each() hands out. One constant of the program, used to register, spawn and visit.
template <authoring::Declared... Behaviours>
struct Type {
  static_assert(sizeof...(Behaviours) != 0, "an object type has at least one behaviour");
  uint32_t id = 0;
  const char* name = nullptr;
  uint32_t flags = 0;  ///< LATTICE_TYPE_... of schema.h
  double base_priority = 1.0;
};

/// An RPC whose arguments are the members of `Arguments`; void for none. Registered with World::add(), called
/// with World::call(), recognised with Call::as().
template <class Arguments = void>
struct Rpc {
  static_assert(
      std::is_void_v<Arguments> || authoring::Declared<Arguments>,
      "the arguments of an RPC are a structure declared with LATTICE_NETWORKED or LATTICE_NETSTRUCT");
  uint16_t id = 0;
  const char* name = nullptr;
  lattice_rpc_target target = LATTICE_RPC_TO_SERVER;
  lattice_channel channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
  bool owner_only = false;
  lattice_rpc_delivery delivery = LATTICE_RPC_IMMEDIATE;

  constexpr lattice_rpc_desc desc() const {
    return rpc_desc<Arguments>(id, name, target, channel, owner_only, delivery);
  }
};

/// An RPC that arrived. Valid during on_rpc.
struct Call {
  lattice_netid object = 0;
  uint16_t rpc_id = 0;
  const void* data = nullptr;
  size_t bytes = 0;

  /// True when it is `rpc`. RPC ids are unique within an object type only: where two types have RPCs with the
  /// same id, ask World::info(object).type_id first.
  template <class Arguments>
  bool is(const Rpc<Arguments>& rpc) const {
    if constexpr (std::is_void_v<Arguments>) {
      return rpc_id == rpc.id && bytes == 0;
    } else {
      return rpc_id == rpc.id && bytes == sizeof(Arguments);
    }
  }
  /// The arguments when it is `rpc`, else null: if (const Say* say = call.as(kSay)) ...
  template <class Arguments>
  requires(!std::is_void_v<Arguments>) const Arguments* as(const Rpc<Arguments>& rpc) const {
    return is(rpc) ? static_cast<const Arguments*>(data) : nullptr;
  }
};

}  // namespace lattice
