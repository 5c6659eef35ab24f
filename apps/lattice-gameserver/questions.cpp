#include "questions.h"

#include <limits>
#include <optional>

#include "arena.h"
#include "scene_json.h"

namespace app {
namespace {

using namespace depot;

template <class State>
std::optional<Vec2> place_of(lattice::WorldRef world, lattice_netid id) {
  const State* state = world.read<State>(id);
  return state == nullptr ? std::nullopt : std::optional(state->position);
}

std::optional<Vec2> place_of(lattice::WorldRef world, uint32_t type_id, lattice_netid id) {
  switch (type_id) {
    case kPawnType:
      return place_of<PawnState>(world, id);
    case kProjectileType:
      return place_of<ProjectileState>(world, id);
    case kPickupType:
      return place_of<PickupState>(world, id);
    case kParcelType:
      return place_of<ParcelState>(world, id);
    case kDoorType: {
      const DoorState* door = world.read<DoorState>(id);
      if (door == nullptr) return std::nullopt;
      return centre(arena_doors()[static_cast<size_t>(door->index)]);
    }
    default:
      return std::nullopt;
  }
}

const char* kind_of(uint32_t type_id) {
  switch (type_id) {
    case kPawnType:
      return "pawn";
    case kProjectileType:
      return "projectile";
    case kPickupType:
      return "pickup";
    case kParcelType:
      return "parcel";
    case kDoorType:
      return "door";
    default:
      return "";
  }
}

lattice_netid nearest(const Game& game, Vec2 place) {
  lattice_netid best = 0;
  float least = std::numeric_limits<float>::max();
  for (const uint32_t type_id : {kPawnType, kProjectileType, kPickupType, kParcelType, kDoorType}) {
    for (const lattice_netid id : ids_of(game, type_id)) {
      const auto at = place_of(game.world(), type_id, id);
      if (!at || length_squared(*at - place) >= least) continue;
      least = length_squared(*at - place);
      best = id;
    }
  }
  return best;
}

}  // namespace

bool Questions::ask(const GameServer& game, lattice_peer_id peer, lattice_netid object, Vec2 place) {
  lattice_conn* conn = lattice_peer_conn(game.world(), peer);
  if (conn == nullptr || answers_.size() == kMaxAnswers) return false;
  if (object == 0) object = nearest(game, place);
  lattice_why_info why;
  lattice_why_info_init(&why);
  char text[LATTICE_WHY_TEXT_BYTES];
  const bool is_known = lattice_conn_why(conn, object, &why) == LATTICE_OK &&
                        lattice_why_text(&why, text, sizeof text) == LATTICE_OK;
  // A client draws the past: what it shows may have been destroyed meanwhile.
  answers_.push_back({peer, object, is_known ? kind_of(game.world().info(object).type_id) : "",
                      is_known ? text : "the server has no such object any more"});
  return true;
}

void Questions::write(JsonWriter& json) {
  if (answers_.empty()) return;
  json.key("why").begin_array();
  for (const Answer& answer : answers_) {
    json.begin_object();
    json.member("peer", answer.peer);
    json.member("object", answer.object);
    json.member("kind", answer.kind);
    json.member("text", std::string_view(answer.text));
    json.end_object();
  }
  json.end_array();
  answers_.clear();
}

}  // namespace app
