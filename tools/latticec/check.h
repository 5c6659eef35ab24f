// What a schema means: every name found, every attribute applied, every bound checked. The result is the
// descriptions of lattice/schema.h, which the macros make too; from there on both ways are one.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "lattice/schema.h"
#include "tree.h"

namespace latticec {

struct CheckedMember {
  const Member* source = nullptr;
  std::string type;         // the name inside a macro: "vec3", "Item"
  std::string annotations;  // of the macro: "BOUNDS(-1, 1, 0.01), POSITION"
};

struct CheckedStructure {
  const Structure* source = nullptr;
  std::string name;
  std::vector<CheckedMember> members;
  std::vector<lattice_member_desc> descs;
  lattice_struct_desc desc{};
  bool is_union() const { return source->kind == Structure::Kind::kUnion; }
  bool is_delta() const { return (desc.flags & LATTICE_STRUCT_DELTA) != 0; }
};

struct CheckedRpc {
  const Rpc* source = nullptr;
  const CheckedStructure* arguments = nullptr;  // null: none
  lattice_rpc_desc desc{};
};

struct CheckedObject {
  struct State {
    const CheckedStructure* structure = nullptr;
    std::string name;
  };
  const Object* source = nullptr;
  std::vector<State> states;
  std::vector<CheckedRpc> rpcs;
  std::vector<lattice_behaviour_desc> behaviour_descs;
  std::vector<lattice_rpc_desc> rpc_descs;
  lattice_type_desc desc{};
  /// The number of the type on the wire, whether the schema states it or not (D-33).
  uint32_t type_id() const;
};

struct Checked {
  const Schema* schema = nullptr;
  // Addresses stay: descriptions refer to each other.
  std::deque<CheckedStructure> structures;  // arguments of rpcs too, in the order of use
  std::deque<CheckedObject> objects;
  std::deque<std::vector<int64_t>> enum_values;
  const CheckedStructure* input = nullptr;
  std::string canonical;   // the types and the input as the schema hash sees them (docs/spec/data.md, D-30)
  uint64_t schema_id = 0;  // of a world with the default channels
};

/// False with errors in `report`; then `out` is of no use. `schema` must outlive `out`.
bool check(const Schema& schema, Checked& out, Report& report);

}  // namespace latticec
