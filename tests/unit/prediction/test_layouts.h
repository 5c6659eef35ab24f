// Two object types for the tests of this layer: a pawn that moves in space, and a counter whose simulation is
// exact in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lattice/schema.h"
#include "serialization/layout.h"

namespace lattice::prediction::test {

struct Vec3 {
  float x, y, z;
};
struct Quat {
  float x, y, z, w;
};

struct Pawn {
  Vec3 position;
  Vec3 velocity;
  Quat rotation;
  double height;  // a second, scalar position
  uint8_t teleports;
  int32_t health;
};

struct Counter {
  int32_t x;
  int32_t v;
};

inline lattice_member_desc member(const char* name, lattice_wire_type type, size_t offset, uint32_t flags = 0,
                                  double bound = 0, double precision = 0) {
  lattice_member_desc m;
  lattice_member_desc_init(&m);
  m.name = name;
  m.type = type;
  m.offset = static_cast<uint32_t>(offset);
  m.flags = flags;
  m.quant[0] = lattice_quant{-bound, bound, precision};
  return m;
}

inline serialization::Layout compile(const char* name, size_t host_bytes, size_t host_align,
                                     const std::vector<lattice_member_desc>& members) {
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = name;
  structure.host_bytes = static_cast<uint32_t>(host_bytes);
  structure.host_align = static_cast<uint32_t>(host_align);
  structure.members = members.data();
  structure.member_count = static_cast<uint32_t>(members.size());
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = name;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  serialization::Layout layout;
  std::string error;
  if (!serialization::Layout::compile_object(type, &layout, &error)) {
    std::fprintf(stderr, "test layout %s refused: %s\n", name, error.c_str());
    std::abort();
  }
  return layout;
}

inline serialization::Layout pawn_layout() {
  return compile(
      "Pawn", sizeof(Pawn), alignof(Pawn),
      {member("position", LATTICE_WIRE_VECTOR3, offsetof(Pawn, position), LATTICE_MEMBER_POSITION, 1000,
              1.0 / 128),
       member("velocity", LATTICE_WIRE_VECTOR3, offsetof(Pawn, velocity), LATTICE_MEMBER_VELOCITY, 64,
              1.0 / 128),
       member("rotation", LATTICE_WIRE_QUATERNION, offsetof(Pawn, rotation), LATTICE_MEMBER_ROTATION),
       member("height", LATTICE_WIRE_DOUBLE, offsetof(Pawn, height), LATTICE_MEMBER_POSITION),
       member("teleports", LATTICE_WIRE_UINT8, offsetof(Pawn, teleports), LATTICE_MEMBER_TELEPORT),
       member("health", LATTICE_WIRE_INT32, offsetof(Pawn, health))});
}

inline serialization::Layout counter_layout() {
  return compile("Counter", sizeof(Counter), alignof(Counter),
                 {member("x", LATTICE_WIRE_INT32, offsetof(Counter, x)),
                  member("v", LATTICE_WIRE_INT32, offsetof(Counter, v))});
}

inline Pawn pawn_at(float x) {
  Pawn pawn{};
  pawn.position.x = x;
  pawn.rotation.w = 1.0f;
  return pawn;
}

template <typename Host>
std::vector<serialization::Word> words_of(const serialization::Layout& layout, const Host& host) {
  std::vector<serialization::Word> words(layout.word_count());
  const void* hosts[1] = {&host};
  layout.quantize(hosts, words.data());
  return words;
}

/// A pawn that the authority keeps the score of.
struct Scored {
  int32_t x;
  int32_t score;
};

inline serialization::Layout scored_layout() {
  return compile(
      "Scored", sizeof(Scored), alignof(Scored),
      {member("x", LATTICE_WIRE_INT32, offsetof(Scored, x)),
       member("score", LATTICE_WIRE_INT32, offsetof(Scored, score), LATTICE_MEMBER_NOT_PREDICTED)});
}

/// Something that only turns.
struct Turret {
  float yaw;
};

inline serialization::Layout turret_layout() {
  return compile("Turret", sizeof(Turret), alignof(Turret),
                 {member("yaw", LATTICE_WIRE_FLOAT, offsetof(Turret, yaw), LATTICE_MEMBER_ANGLE)});
}

}  // namespace lattice::prediction::test
