#include "scene_json.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arena.h"
#include "hall.h"

namespace app {
namespace {

using namespace depot;

constexpr const char* kParcelNames[] = {"none", "box", "crate", "barrel"};

const char* parcel_name(ParcelKind kind) {
  return kParcelNames[static_cast<size_t>(kind) % 4];
}

struct Head {
  lattice_netid id;
  const char* kind;
  Vec2 position;
  Vec2 velocity;
  lattice_peer_id owner;
};

void begin(JsonWriter& json, const Head& head, bool is_bot) {
  json.begin_object();
  json.member("id", head.id);
  json.member("kind", head.kind);
  json.member("x", static_cast<double>(head.position.x), 4);
  json.member("y", static_cast<double>(head.position.y), 4);
  json.member("vx", static_cast<double>(head.velocity.x), 3);
  json.member("vy", static_cast<double>(head.velocity.y), 3);
  json.member("owner", head.owner);
  json.member("bot", is_bot);
}

bool confirmed_pawn(const Game& game, PawnState& out) {
  uint32_t tick = 0;
  return game.own_pawn() != 0 &&
         lattice_object_confirmed(game.world(), game.own_pawn(), 0, &out, sizeof out, &tick) > 0;
}

void write_point(JsonWriter& json, Vec2 point) {
  json.begin_object();
  json.member("x", static_cast<double>(point.x), 4);
  json.member("y", static_cast<double>(point.y), 4);
  json.end_object();
}

void write_pawn(JsonWriter& json, const Game& game, Head head, const PawnState& pawn, uint32_t tick) {
  head.position = pawn.position;
  head.velocity = pawn.velocity;
  begin(json, head, pawn.is_bot);
  if (head.id == game.own_pawn()) {
    json.member("own", true);
    if (PawnState confirmed; confirmed_pawn(game, confirmed)) {
      json.key("ghost");
      write_point(json, confirmed.position);
    }
  }
  json.key("state").begin_object();
  json.key("facing");
  write_point(json, pawn.facing);
  json.member("score", pawn.score);
  json.member("carried", parcel_name(pawn.carried));
  json.member("dashing", pawn_is_dashing(pawn, tick));
  json.member("stunned", pawn_is_stunned(pawn, tick));
  json.end_object();
  json.end_object();
}

void write_door(JsonWriter& json, Head head, const DoorState& door, uint32_t tick) {
  const Box& box = arena_doors()[static_cast<size_t>(door.index) % arena_doors().size()];
  head.position = centre(box);
  begin(json, head, false);
  json.member("index", door.index);
  json.key("state").begin_object();
  json.member("open", door_is_open(door, tick));
  json.end_object();
  json.end_object();
}

template <class State>
bool view_of(lattice_world* world, lattice_netid id, State& out) {
  return lattice_object_view(world, id, 0, &out, sizeof out) > 0;
}

void write_object(JsonWriter& json, const Game& game, lattice_netid id, uint32_t tick) {
  lattice_object_info info{};
  info.struct_size = sizeof info;
  if (lattice_object_get_info(game.world(), id, &info) != LATTICE_OK) return;
  Head head = {id, "", {}, {}, info.owner};
  if (info.type_id == kPawnType) {
    head.kind = "pawn";
    if (PawnState pawn; view_of(game.world(), id, pawn)) write_pawn(json, game, head, pawn, tick);
  } else if (info.type_id == kProjectileType) {
    head.kind = "projectile";
    ProjectileState projectile;
    if (!view_of(game.world(), id, projectile)) return;
    head.position = projectile.position;
    head.velocity = projectile.velocity;
    begin(json, head, false);
    json.key("state").begin_object();
    json.member("shooter", projectile.shooter.value);
    json.end_object();
    json.end_object();
  } else if (info.type_id == kDoorType) {
    head.kind = "door";
    if (DoorState door; view_of(game.world(), id, door)) write_door(json, head, door, tick);
  } else if (info.type_id == kPickupType) {
    head.kind = "pickup";
    PickupState pickup;
    if (!view_of(game.world(), id, pickup)) return;
    head.position = pickup.position;
    begin(json, head, false);
    json.key("state").begin_object();
    json.member("parcel", parcel_name(pickup.kind));
    json.member("taken", pickup.taken);
    json.end_object();
    json.end_object();
  }
}

template <class State>
void write_places(JsonWriter& json, const Game& game, std::span<const lattice_netid> ids) {
  json.begin_array();
  for (const lattice_netid id : ids) {
    State state;
    if (!view_of(game.world(), id, state)) continue;
    json.value(id);
    json.value(std::lround(state.position.x * 100.0f));
    json.value(std::lround(state.position.y * 100.0f));
  }
  json.end_array();
}

void write_box(JsonWriter& json, const Box& box) {
  json.begin_array();
  for (const float edge : {box.x0, box.y0, box.x1, box.y1}) json.value(static_cast<double>(edge));
  json.end_array();
}

void write_boxes(JsonWriter& json, const char* key, std::span<const Box> boxes) {
  json.key(key).begin_array();
  for (const Box& box : boxes) write_box(json, box);
  json.end_array();
}

}  // namespace

std::vector<lattice_netid> ids_of(const Game& game, uint32_t type_id) {
  std::vector<lattice_netid> ids(lattice_objects(game.world(), type_id, nullptr, 0));
  ids.resize(std::min(lattice_objects(game.world(), type_id, ids.data(), ids.size()), ids.size()));
  return ids;
}

void write_objects(JsonWriter& json, const Game& game, uint32_t tick, size_t max_pawns) {
  lattice_frame_begin(game.world());  // All objects of a picture are shown at one moment.
  json.begin_array();
  for (const uint32_t type_id : {kDoorType, kPickupType, kPawnType, kProjectileType}) {
    size_t left = type_id == kPawnType ? max_pawns : SIZE_MAX;
    for (const lattice_netid id : ids_of(game, type_id)) {
      if (left-- == 0) break;
      write_object(json, game, id, tick);
    }
  }
  json.end_array();
}

void write_parcels(JsonWriter& json, const Game& game, std::span<const lattice_netid> parcels) {
  write_places<ParcelState>(json, game, parcels);
}
void write_pawn_places(JsonWriter& json, const Game& game, std::span<const lattice_netid> pawns) {
  write_places<PawnState>(json, game, pawns);
}

void write_ghost(JsonWriter& json, const Game& game) {
  if (PawnState confirmed; confirmed_pawn(game, confirmed)) {
    json.key("ghost");
    write_point(json, confirmed.position);
  }
}

void write_arena(JsonWriter& json) {
  json.begin_object();
  json.member("w", static_cast<double>(kArenaWidth));
  json.member("h", static_cast<double>(kArenaHeight));
  json.key("dock");
  write_box(json, kDock);
  json.key("sight").begin_object();
  json.member("radius", static_cast<double>(kSightRadius));
  json.member("leave", static_cast<double>(kSightLeaveRadius));
  json.end_object();
  write_boxes(json, "walls", arena_walls());
  json.key("belts").begin_array();
  for (const Belt& belt : arena_belts()) {
    json.begin_object();
    json.member("x0", static_cast<double>(belt.area.x0));
    json.member("y0", static_cast<double>(belt.area.y0));
    json.member("x1", static_cast<double>(belt.area.x1));
    json.member("y1", static_cast<double>(belt.area.y1));
    json.member("dx", static_cast<double>(belt.velocity.x));
    json.member("dy", static_cast<double>(belt.velocity.y));
    json.end_object();
  }
  json.end_array();
  write_boxes(json, "doors", arena_doors());
  write_boxes(json, "bays", arena_bays());
  json.end_object();
}

void write_presets(JsonWriter& json) {
  json.begin_array();
  for (uint32_t i = 0; lattice_impairment_preset_name(i) != nullptr; ++i) {
    const char* name = lattice_impairment_preset_name(i);
    json.begin_object();
    json.member("name", name);
    for (const lattice_direction direction : {LATTICE_DIRECTION_SEND, LATTICE_DIRECTION_RECEIVE}) {
      lattice_impairment preset;
      lattice_impairment_init(&preset);
      lattice_impairment_preset(name, direction, &preset);
      json.key(direction == LATTICE_DIRECTION_SEND ? "up" : "down").begin_object();
      json.member("delay_ms", preset.delay_ms);
      json.member("jitter_ms", preset.jitter_ms);
      json.member("loss_pct", preset.loss_percent);
      json.member("duplicate_pct", preset.duplicate_percent);
      json.member("reorder_pct", preset.reorder_percent);
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace app
