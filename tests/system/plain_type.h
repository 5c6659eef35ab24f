// Registers an object type of one behaviour through the C interface, which takes three descriptions for it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>

#include "lattice/lattice.h"

namespace lattice::test {

struct PlainType {
  uint32_t type_id = 0;
  const char* name = nullptr;  ///< of the type and of its structure
  std::span<const lattice_member_desc> members = {};
  uint32_t flags = 0;
  std::span<const lattice_rpc_desc> rpcs = {};
};

/// `State` is the host structure that the members describe.
template <class State>
void register_plain_type(lattice_world* world, const PlainType& plain) {
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = plain.name;
  structure.host_bytes = sizeof(State);
  structure.host_align = alignof(State);
  structure.members = plain.members.data();
  structure.member_count = static_cast<uint32_t>(plain.members.size());
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = plain.type_id;
  type.name = plain.name;
  type.flags = plain.flags;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  type.rpcs = plain.rpcs.data();
  type.rpc_count = static_cast<uint32_t>(plain.rpcs.size());
  ASSERT_EQ(lattice_register_type(world, &type), LATTICE_OK) << lattice_last_error();
}

/// The input command: 32 keys.
inline void register_keys(lattice_world* world) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "keys";
  member.type = LATTICE_WIRE_UINT32;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Keys";
  structure.host_bytes = sizeof(uint32_t);
  structure.host_align = alignof(uint32_t);
  structure.members = &member;
  structure.member_count = 1;
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &structure;
  ASSERT_EQ(lattice_register_input(world, &input), LATTICE_OK) << lattice_last_error();
}

}  // namespace lattice::test
