// Arrays of every kind of element, angles, and a member that is not predicted.
#pragma once

#include "unit/serialization/everything.h"

namespace lattice::test {

struct Item {
  LATTICE_NETSTRUCT(Item, (mood, Mood), (count, uint16, BITS(10)), (held, bool), (pair, uint8, ARRAY(2)))
};
struct Stack {
  LATTICE_NETSTRUCT_DELTA(Stack, (amount, uint32), (open, bool), (inner, Inner), (sizes, uint8, ARRAY(3)))
};

// clang-format off
LATTICE_NETWORKED(Lists,
  (bits, bool, ARRAY(70)), (numbers, uint16, ARRAY(4), BITS(10)), (one, uint8, ARRAY(1)),
  (wide, int64, ARRAY(2)), (names, string, STRING(6), ARRAY(3)), (points, vec3, ARRAY(2), BOUNDS(-10, 10, 0.01f)),
  (items, Item, ARRAY(3)), (stacks, Stack, ARRAY(2)), (moods, Mood, ARRAY(3)), (turns, quat, ARRAY(2)),
  (ids, netid, ARRAY(2)), (drift, fixed64, ARRAY(2), VARINT), (runs, Runs, CUSTOM(8), ARRAY(2)),
  (blobs, blob, BYTES(3), ARRAY(2)), (yaws, float, ANGLE, ARRAY(2)), (heading, double, BOUNDS(0, 360, 0.01), ANGLE),
  (score, int32, NOT_PREDICTED))
// clang-format on

/// Changes some elements of some members.
inline void change_some(base::Random& random, Lists* lists) {
  const auto u64 = [&] { return random.next_u64() >> random.next_below(64); };
  const auto sometimes = [&] { return random.chance(0.3); };
  for (bool& bit : lists->bits) bit = bit != random.chance(0.05);
  for (uint16_t& number : lists->numbers) number = sometimes() ? static_cast<uint16_t>(u64()) : number;
  if (sometimes()) lists->one[0] = static_cast<uint8_t>(u64());
  for (int64_t& wide : lists->wide) wide = sometimes() ? static_cast<int64_t>(u64()) : wide;
  static constexpr const char* kNames[] = {"", "a", "größe"};
  for (auto& name : lists->names) {
    if (sometimes()) name = std::string_view(kNames[random.next_below(3)]);
  }
  for (Vector3& point : lists->points) {
    if (sometimes()) point = {uniform(random, -11, 11), 0.0f, uniform(random, -10, 10)};
  }
  for (Item& item : lists->items) {
    if (sometimes()) item.held = !item.held, item.pair[1] = static_cast<uint8_t>(u64());
    if (sometimes()) item.mood = EnumTraits<Mood>::value(random.next_below(3));
  }
  for (Stack& stack : lists->stacks) {
    if (sometimes()) stack.open = !stack.open;
    if (sometimes()) stack.amount = static_cast<uint32_t>(u64()), stack.inner.on = !stack.inner.on;
    if (sometimes()) stack.sizes[random.next_below(3)] = static_cast<uint8_t>(u64());
  }
  for (Mood& mood : lists->moods) mood = sometimes() ? EnumTraits<Mood>::value(random.next_below(3)) : mood;
  for (Quaternion& turn : lists->turns) turn = sometimes() ? random_rotation(random) : turn;
  for (NetId& id : lists->ids) id.value = sometimes() ? u64() : id.value;
  for (Fixed64& drift : lists->drift) drift.raw += sometimes() ? static_cast<int64_t>(u64()) >> 1 : 0;
  for (Runs& runs : lists->runs) {
    if (sometimes()) runs.count = static_cast<uint8_t>(random.next_below(8));
  }
  for (auto& blob : lists->blobs) {
    if (sometimes()) blob.size = static_cast<uint16_t>(random.next_below(4));
  }
  for (float& yaw : lists->yaws) yaw = sometimes() ? uniform(random, -8, 8) : yaw;
  if (sometimes()) lists->heading = (random.next_unit() - 0.5) * 2000;
  if (sometimes()) lists->score = static_cast<int32_t>(u64());
}

}  // namespace lattice::test
