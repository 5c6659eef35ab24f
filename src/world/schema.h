// Everything on which both ends must agree, compiled: object types, the input command, channels, the hash.
// Types are registered until fix(); afterwards the schema is fixed (§20.2, §21.6).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replication/object_type.h"
#include "serialization/type_registry.h"
#include "world/presentation.h"

namespace lattice::world {

class Schema {
 public:
  /// Registers a type. When the description is refused or the schema is fixed, returns false, with a
  /// sentence in `error`.
  bool add_type(const lattice_type_desc& desc, std::string* error);
  bool set_input(const lattice_input_desc& desc, std::string* error);

  /// Declares an application channel (4 to 13) as bulk; 0 for none.
  void set_transfer_channel(uint8_t channel) { transfer_channel_ = channel; }
  /// There is nothing but connections and messages: the hash is that of no game.
  void set_transport_only() { transport_only_ = true; }

  /// Fixes the schema and builds the tables that replication works on. Idempotent. With `quantize_all`,
  /// members of every type are rounded to their wire value after each tick (S-03). Otherwise only those of
  /// types that ask for it are.
  void fix(bool quantize_all);
  bool is_fixed() const { return fixed_; }
  /// The hash of Y-15 over the registrations so far.
  uint64_t id() const;
  /// What id() is the hash of.
  std::string text() const;

  const serialization::TypeInfo* find(uint32_t type_id) const { return registry_.find(type_id); }
  /// The registered type of an object.
  const serialization::TypeInfo& info(const replication::ObjectType& type) const {
    return *registry_.find(type.type_id);
  }
  const replication::TypeTable& types() const { return types_; }
  size_t type_count() const { return registry_.type_count(); }
  const serialization::TypeInfo& type_at(size_t index) const { return registry_.type_at(index); }
  /// Null when the game has no input command.
  const serialization::Layout* input() const { return registry_.input(); }

 private:
  serialization::TypeRegistry registry_;
  replication::TypeTable types_;
  bool fixed_ = false;
  uint8_t transfer_channel_ = 0;
  bool transport_only_ = false;
};

}  // namespace lattice::world
