// Lists, maps and unions of every kind of element, within each other too, and the types that came with them.
#pragma once

#include "unit/serialization/everything.h"

namespace lattice::test {

// clang-format off
struct Slot {
  LATTICE_NETSTRUCT(Slot, (id, uint16), (amount, uint8, BITS(4)), (worn, bool))
};
struct Ammo {
  LATTICE_NETSTRUCT_DELTA(Ammo, (kind, Mood), (rounds, uint16, BITS(10)), (hot, bool), (marks, uint8, LIST(3)))
};
struct Deal {
  LATTICE_NETSTRUCT(Deal, (price, int32), (slots, Slot, LIST(2)))
};
struct Choice {
  LATTICE_NETUNION(Choice,
    (slot, Slot), (heat, float, HALF), (lit, bool), (numbers, uint8, LIST(4)), (name, string, STRING(5)), (ammo, Ammo))
};
LATTICE_NETWORKED(Bag,
  (slots, Slot, LIST(5)), (bits, bool, LIST(70)), (points, vec3, LIST(3), BOUNDS(-10, 10, 0.01f)),
  (yaws, float, LIST(2), ANGLE), (names, string, STRING(6), LIST(2)), (ammo, Ammo, MAP(3)), (deals, Deal, MAP(9)),
  (choice, Choice), (choices, Choice, ARRAY(2)), (more, Choice, LIST(3)), (heat, vec2, HALF), (since, nettick),
  (at, nettick, FIXED), (place, dvec3, BOUNDS(-1e6, 1e6, 1e-4)), (far, dvec2), (score, int32, LIST(2), NOT_PREDICTED))
// clang-format on

inline void change_some(base::Random& random, Slot* slot) {
  slot->id = static_cast<uint16_t>(random.next_u64() >> random.next_below(64));
  slot->amount = static_cast<uint8_t>(random.next_below(17));  // 16 does not fit
  slot->worn = random.chance(0.5);
}

/// Changes the length and some elements.
template <typename T, size_t N, typename Change>
void change_list(base::Random& random, List<T, N>* list, const Change& change) {
  if (random.chance(0.2)) list->count = static_cast<uint16_t>(random.next_below(N + 1));
  for (T& element : *list) {
    if (random.chance(0.3)) change(&element);
  }
}

inline void change_some(base::Random& random, Ammo* ammo) {
  ammo->rounds = static_cast<uint16_t>(random.next_below(1024));
  if (random.chance(0.3)) ammo->hot = !ammo->hot;
  change_list(random, &ammo->marks, [&](uint8_t* v) { *v = static_cast<uint8_t>(random.next_u64()); });
}

inline void change_some(base::Random& random, Choice* choice) {
  if (random.chance(0.4)) {
    switch (random.next_below(7)) {
      case 0:
        return choice->set_none();
      case 1:
        return change_some(random, &choice->set_slot());
      case 2:
        choice->set_heat() = uniform(random, -1e5f, 1e5f);  // some do not fit
        return;
      case 3:
        choice->set_lit() = random.chance(0.5);
        return;
      case 4:
        choice->set_numbers().push_back(3);
        return;
      case 5:
        choice->set_name() = std::string_view("größe");
        return;
      default:
        return change_some(random, &choice->set_ammo());
    }
  }
  if (choice->which == Choice::Which::slot) change_some(random, &choice->slot);
  if (choice->which == Choice::Which::lit) choice->lit = !choice->lit;
  if (choice->which == Choice::Which::numbers)
    choice->numbers.push_back(static_cast<uint8_t>(random.next_u64()));
  if (choice->which == Choice::Which::ammo) change_some(random, &choice->ammo);
}

/// Changes some elements of some members.
inline void change_some(base::Random& random, Bag* bag) {
  const auto u64 = [&] { return random.next_u64() >> random.next_below(64); };
  const auto sometimes = [&] { return random.chance(0.3); };
  change_list(random, &bag->slots, [&](Slot* slot) { change_some(random, slot); });
  change_list(random, &bag->bits, [&](bool* bit) { *bit = random.chance(0.5); });
  change_list(random, &bag->points, [&](Vector3* v) { *v = {uniform(random, -11, 11), 0, 1}; });
  change_list(random, &bag->yaws, [&](float* yaw) { *yaw = uniform(random, -8, 8); });
  change_list(random, &bag->names, [&](String<6>* name) { *name = sometimes() ? "größe" : "a"; });
  for (int i = 0; i < 2 && sometimes(); ++i) {
    Ammo ammo;
    ammo.kind = EnumTraits<Mood>::value(random.next_below(3));
    change_some(random, &ammo);
    if (random.chance(0.4)) {
      bag->ammo.erase(ammo.kind);
    } else {
      bag->ammo.insert(ammo);
    }
  }
  for (int i = 0; i < 4 && sometimes(); ++i) {
    Deal deal;
    deal.price = static_cast<int32_t>(random.next_below(12)) - 6;
    change_list(random, &deal.slots, [&](Slot* slot) { change_some(random, slot); });
    if (random.chance(0.3)) {
      bag->deals.erase(deal.price);
    } else {
      bag->deals.insert(deal);
    }
  }
  if (sometimes()) change_some(random, &bag->choice);
  for (Choice& choice : bag->choices) {
    if (sometimes()) change_some(random, &choice);
  }
  change_list(random, &bag->more, [&](Choice* choice) { change_some(random, choice); });
  if (sometimes()) bag->heat.y = uniform(random, -1, 1);
  if (sometimes()) bag->since.value += static_cast<uint32_t>(u64());
  if (sometimes()) bag->at.value = static_cast<uint32_t>(u64());
  if (sometimes()) bag->place.z = (random.next_unit() - 0.5) * 2.2e6;
  if (sometimes()) bag->far.x = random.next_unit() * 1e300;
  change_list(random, &bag->score, [&](int32_t* v) { *v = static_cast<int32_t>(u64()); });
}

}  // namespace lattice::test
