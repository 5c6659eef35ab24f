// Code that docs/guide/types.md shows. Compiled, not run.
#include <algorithm>
#include <cmath>

#include <lattice/lattice.hpp>

namespace {

// clang-format off
//! [flag]
LATTICE_NETWORKED(Flag,
  (position, vec2, BOUNDS(-512, 512, 0.01), POSITION),
  (holder, netid))
//! [flag]

//! [fighter]
LATTICE_NETWORKED(Fighter,
  (position, vec3, BOUNDS(-512, 512, 0.01), POSITION),
  (velocity, vec3, BOUNDS(-32, 32, 0.05), VELOCITY),
  (yaw, float, ANGLE),
  (health, uint8),
  (slots, uint16, ARRAY(8), BITS(10)),
  (name, string, STRING(16)),
  (teleports, uint8, TELEPORT),
  (score, int32, SNAP, NOT_PREDICTED))
//! [fighter]

//! [containers]
struct Item {
  LATTICE_NETSTRUCT(Item, (kind, uint16), (worn, bool))
};
struct Ammunition {
  LATTICE_NETSTRUCT(Ammunition, (weapon, uint8), (rounds, uint16, BITS(10)))
};
struct Wait {
  LATTICE_NETSTRUCT(Wait, (until, nettick))
};
struct Order {
  LATTICE_NETUNION(Order, (wait, Wait), (follow, netid), (walk_to, vec2, BOUNDS(-512, 512, 0.01)))
};
LATTICE_NETWORKED(Soldier,
  (items, Item, LIST(12)),
  (ammunition, Ammunition, MAP(8)),
  (order, Order))
//! [containers]

//! [conditions]
LATTICE_NETWORKED(Player,
  (position, vec2, POSITION, BOUNDS(0, 256, 0.01)),
  (skin, uint16, INITIAL_ONLY),
  (cards, uint8, LIST(5), OWNER_ONLY),
  (gesture, uint8, SKIP_OWNER))
//! [conditions]

//! [priority]
LATTICE_NETWORKED(Tank,
  (position, vec2, BOUNDS(-512, 512, 0.01), POSITION),
  (armour, uint16, PRIORITY(50)),
  (antenna, float, ANGLE, EXTRAPOLATE, PRIORITY(0.1)))
//! [priority]

//! [variant]
LATTICE_VARIANT(FarFighter, Fighter,
  (position, BOUNDS(-512, 512, 0.5), POSITION),
  (velocity, BOUNDS(-32, 32, 0.5), VELOCITY),
  (name, OMIT))
//! [variant]

//! [custom]
struct Colour {
  static constexpr const char* kSerializerName = "colour.v1";  // part of the schema: change it with the format
  float hue = 0;                                               // 0 to 1, all round

  void Serialize(lattice::BitWriter& w) const { w.WriteCompressedFloat(hue, 0, 1, 0.01f); }
  void Deserialize(lattice::BitReader& r) { hue = r.ReadCompressedFloat(0, 1, 0.01f); }
  // The next two may be left out.
  static double Distance(const Colour& a, const Colour& b) {
    const double way = std::abs(a.hue - b.hue);
    return std::min(way, 1 - way) > 0.02 ? std::min(way, 1 - way) : 0;  // so small a difference costs no rollback
  }
  static Colour Interpolate(const Colour& a, const Colour& b, double t) {
    const double way = std::remainder(b.hue - a.hue, 1.0);  // the short way round
    const double hue = a.hue + way * t;
    return {static_cast<float>(hue - std::floor(hue))};
  }
};
LATTICE_NETWORKED(Balloon,
  (position, vec3, BOUNDS(-512, 512, 0.01), POSITION),
  (colour, Colour, CUSTOM(2)))
//! [custom]
// clang-format on

//! [types]
constexpr lattice::Type<Fighter> kNear{.id = 7, .name = "NearFighter"};
constexpr lattice::Type<FarFighter> kFar{
    .id = 8, .name = "FarFighter", .flags = LATTICE_TYPE_EXACT_SIMULATION};  // round what is sent, not what moves
//! [types]

//! [type]
constexpr lattice::Type<Fighter> kFighter{.id = 3, .name = "Fighter", .flags = LATTICE_TYPE_PREDICTED};
//! [type]

}  // namespace

void follow_object(lattice_netid object);
void follow_object(lattice_netid) {}

bool add_fighter(lattice::World& world);
bool add_fighter(lattice::World& world) {
  //! [add]
  return world.add(kFighter) == LATTICE_OK;
  //! [add]
}

void turn(Fighter& fighter);
void turn(Fighter& fighter) {
  fighter.yaw += 0.1f;
}

bool variants(lattice::World& world);
bool variants(lattice::World& world) {
  if (world.add(kNear) != LATTICE_OK || world.add(kFar) != LATTICE_OK) return false;
  //! [spawn]
  const lattice_netid hero = world.spawn(kNear), extra = world.spawn(kFar);
  for (const lattice_netid id : {hero, extra}) {
    if (Fighter* fighter = world.state<Fighter>(id)) turn(*fighter);  // one code for both
  }
  //! [spawn]
  return true;
}

[[maybe_unused]] void command(Soldier& soldier, lattice_netid leader) {
  //! [use]
  soldier.items.push_back({.kind = 7, .worn = true});  // false when it is full
  if (Ammunition* bow = soldier.ammunition.find(3)) --bow->rounds;
  soldier.ammunition.insert({.weapon = 4, .rounds = 60});
  soldier.order.set_follow() = {leader};
  if (soldier.order.which == Order::Which::follow) follow_object(soldier.order.follow);
  //! [use]
}

void take(lattice::World& world, lattice_netid flag, lattice_netid fighter);
void take(lattice::World& world, lattice_netid flag, lattice_netid fighter) {
  //! [take]
  if (Flag* state = world.state<Flag>(flag)) state->holder = {fighter};
  //! [take]
}

void follow(lattice::World& world, lattice_netid flag);
void follow(lattice::World& world, lattice_netid flag) {
  Flag* state = world.state<Flag>(flag);
  if (state == nullptr) return;
  //! [follow]
  const Fighter* holder = world.state<Fighter>(state->holder);
  if (holder != nullptr) state->position = {holder->position.x, holder->position.y};
  //! [follow]
}
