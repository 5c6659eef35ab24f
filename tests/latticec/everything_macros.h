// everything.lattice with macros.
#pragma once

#include "lattice/lattice.hpp"

namespace with_macros {

// clang-format off
enum class Mood : int8_t { kCalm = 3, kAngry = -7, kSad = 0 };
LATTICE_ENUM(Mood, kCalm, kAngry, kSad)
enum class Wide : uint8_t { low, high = 200 };
LATTICE_ENUM(Wide, low, high)

struct Item { LATTICE_NETSTRUCT(Item, (kind, uint16), (amount, uint16, BITS(10)), (worn, bool)) };
struct Stack { LATTICE_NETSTRUCT_DELTA(Stack, (size, uint32, VARINT), (items, Item, LIST(3))) };
struct Cost { LATTICE_NETSTRUCT(Cost, (mood, Mood), (price, int64, RANGED(-3, 1'000'000'000'000))) };
struct Choice {
  LATTICE_NETUNION(Choice, (item, Item), (heat, float, HALF), (lit, bool), (numbers, uint8, LIST(4)), (name, string, STRING(5)))
};
LATTICE_NETWORKED(Numbers,
  (flag, bool), (mood, Mood), (wide, Wide), (i8, int8), (u8, uint8), (i16, int16), (u16, uint16), (i32, int32),
  (u32, uint32, FIXED), (i64, int64, OWNER_ONLY), (u64, uint64, SKIP_OWNER), (full, float, INITIAL_ONLY), (small, float, BOUNDS(-10, 10, 0.01)),
  (precise, double), (place, dvec3, BOUNDS(-1000, 1000, 0.001)), (far, dvec2),
  (two, vec2, BOUNDS(-1, 1, 0.01), BOUNDS(0, 2, 0.5), EXTRAPOLATE), (three, vec3, HALF), (four, vec4), (turn, quat),
  (fine, quat, SMALLEST_THREE(12)), (whole, quat, FULL), (text, string, STRING(20)), (code, fixed_string, STRING(9)),
  (data, blob, BYTES(11)), (money, fixed64, PREDICTED_ONLY), (drift, fixed64, VARINT), (target, netid), (since, nettick),
  (at, nettick, FIXED), (yaw, float, ANGLE), (heading, double, BOUNDS(0, 360, 0.1), ANGLE))
LATTICE_NETWORKED(Holder,
  (stack, Stack), (choice, Choice), (choices, Choice, ARRAY(2)), (items, Item, LIST(12)), (costs, Cost, MAP(8)),
  (grid, uint8, ARRAY(70)), (position, vec3, POSITION, BOUNDS(-100, 100, 0.01)),
  (velocity, vec3, VELOCITY, BOUNDS(-50, 50, 0.01)), (rotation, quat, ROTATION), (spin, vec3, ANGULAR_VELOCITY),
  (gravity, vec3, ACCELERATION), (jumps, uint8, TELEPORT), (score, int32, SNAP, NOT_PREDICTED, PRIORITY(3)))
LATTICE_VARIANT(FarNumbers, Numbers,
  (small, BOUNDS(-10, 10, 0.1), PRIORITY(0.5), EXTRAPOLATE), (flag), (mood, OWNER_ONLY), (i64, EVERYONE), (u64, FIXED), (text, OMIT), (full, OMIT))
LATTICE_NETWORKED(ThingFireAt, (target, netid), (aim, vec2, BOUNDS(-1, 1, 0.1)))
LATTICE_NETWORKED(Command, (choice, Choice), (move, vec2, BOUNDS(-1, 1, 0.01)), (keys, bool, ARRAY(5)))
// clang-format on

inline lattice_result register_schema(lattice_world* world) {
  static constexpr lattice_behaviour_desc kStates[] = {lattice::behaviour_desc<Numbers>(),
                                                       lattice::behaviour_desc<Holder>("holder")};
  static constexpr lattice_rpc_desc kRpcs[] = {
      lattice::rpc_desc<ThingFireAt>(7, "fire_at", LATTICE_RPC_TO_SERVER,
                                     LATTICE_CHANNEL_UNRELIABLE_SEQUENCED, true),
      lattice::rpc_desc(8, "stop", LATTICE_RPC_TO_PEER, LATTICE_CHANNEL_RELIABLE_ORDERED, false,
                        LATTICE_RPC_TICK_ALIGNED)};
  static constexpr lattice_behaviour_desc kFarStates[] = {lattice::behaviour_desc<FarNumbers>()};
  const lattice_type_desc far = lattice::type_desc("FarThing", kFarStates, LATTICE_TYPE_PREDICTED);
  if (const lattice_result bad = lattice_register_type(world, &far)) return bad;
  lattice_type_desc thing = lattice::type_desc("Thing", kStates, kRpcs,
                                               LATTICE_TYPE_PREDICTED | LATTICE_TYPE_QUANTIZE_SIMULATION);
  thing.type_id = 77;
  thing.base_priority = 2.5;
  if (const lattice_result bad = lattice_register_type(world, &thing)) return bad;
  static constexpr lattice_input_desc kInput = lattice::input_desc<Command>();
  return lattice_register_input(world, &kInput);
}

}  // namespace with_macros
