// A typical input command, described by hand, for codec tests and the fuzz target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "lattice/schema.h"
#include "serialization/layout.h"

namespace lattice::simulation::test {

struct MoveInput {
  uint8_t jump;
  uint8_t weapon;  // 0..7
  float forward;   // -1..1 in steps of 1/64
  float turn;
  uint32_t buttons;
};

inline serialization::Layout move_input_layout() {
  lattice_member_desc members[5];
  for (lattice_member_desc& m : members) lattice_member_desc_init(&m);
  members[0].name = "jump";
  members[0].type = LATTICE_WIRE_BOOL;
  members[0].offset = offsetof(MoveInput, jump);
  members[1].name = "weapon";
  members[1].type = LATTICE_WIRE_UINT8;
  members[1].encoding = LATTICE_ENCODING_BITS;
  members[1].bits = 3;
  members[1].offset = offsetof(MoveInput, weapon);
  members[2].name = "forward";
  members[2].type = LATTICE_WIRE_FLOAT;
  members[2].offset = offsetof(MoveInput, forward);
  members[2].quant[0] = lattice_quant{-1.0, 1.0, 1.0 / 64};
  members[3].name = "turn";
  members[3].type = LATTICE_WIRE_FLOAT;
  members[3].offset = offsetof(MoveInput, turn);
  members[3].quant[0] = lattice_quant{-1.0, 1.0, 1.0 / 64};
  members[4].name = "buttons";
  members[4].type = LATTICE_WIRE_UINT32;
  members[4].offset = offsetof(MoveInput, buttons);

  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = "MoveInput";
  desc.host_bytes = sizeof(MoveInput);
  desc.host_align = alignof(MoveInput);
  desc.members = members;
  desc.member_count = 5;

  serialization::Layout layout;
  std::string error;
  if (!serialization::Layout::compile_structure(desc, false, &layout, &error)) {
    std::fprintf(stderr, "test input layout refused: %s\n", error.c_str());
    std::abort();
  }
  return layout;
}

}  // namespace lattice::simulation::test
