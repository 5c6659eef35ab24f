// The table of object types, the input command, and the schema hash, which must be equal on both ends (§20.2,
// §21.6).
//
// The canonical text (Y-15) is lines of UTF-8 with types in ascending type_id, so it does not depend on the
// order of registration, the compiler or the platform. The hash is the first eight bytes of its SHA-256,
// little-endian. Source: §20.2, §21.6, Y-15, Y-18, X-05.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lattice/schema.h"
#include "serialization/layout.h"

namespace lattice::serialization {

/// The schema id of a canonical text: the first 8 bytes of its SHA-256 (D-30).
uint64_t schema_hash_of(std::string_view text);

struct RpcInfo {
  uint16_t rpc_id = 0;
  bool owner_only = false;
  lattice_channel channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
  lattice_rpc_target target = LATTICE_RPC_TO_SERVER;
  lattice_rpc_delivery delivery = LATTICE_RPC_IMMEDIATE;
  std::string name;
  bool has_arguments = false;
  size_t argument_bytes = 0;  ///< the exact size of the host structure; 0 without arguments
  Layout arguments;           ///< word_count() 0 without arguments
};

struct TypeInfo {
  uint32_t type_id = 0;
  uint32_t flags = 0;  ///< lattice_type_flags
  lattice_authority_mode authority = LATTICE_AUTHORITY_SERVER;
  double base_priority = 1.0;
  std::string name;
  Layout layout;
  std::vector<RpcInfo> rpcs;  ///< ascending rpc_id

  bool predicted() const { return (flags & LATTICE_TYPE_PREDICTED) != 0; }
  const RpcInfo* find_rpc(uint16_t rpc_id) const;
};

/// FNV-1a over the bytes of a name. It is the type id when the descriptor states none.
uint32_t type_id_of_name(std::string_view name);

class TypeRegistry {
 public:
  /// Compiles and adds a type. When the type is refused, returns false and says why in `error`. Pointers that
  /// find() returned stay valid while the registry lives.
  bool add_type(const lattice_type_desc& desc, std::string* error, uint32_t* type_id = nullptr);
  /// Sets the input command. There can be only one.
  bool set_input(const lattice_input_desc& desc, std::string* error);

  /// Null if unknown.
  const TypeInfo* find(uint32_t type_id) const;
  /// Types in ascending type_id.
  size_t type_count() const { return types_.size(); }
  const TypeInfo& type_at(size_t index) const { return *types_[index]; }
  /// Null until set_input().
  const Layout* input() const { return has_input_ ? &input_ : nullptr; }
  size_t input_host_bytes() const { return has_input_ ? input_.host_bytes(0) : 0; }

  /// The canonical text of Y-15. `channel_table` is the caller's text for the channels, one line per channel.
  std::string canonical_text(std::string_view channel_table) const;
  uint64_t schema_hash(std::string_view channel_table) const;

 private:
  std::vector<std::unique_ptr<TypeInfo>> types_;
  Layout input_;
  std::string input_name_;
  bool has_input_ = false;
};

}  // namespace lattice::serialization
