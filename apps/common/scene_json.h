// The objects of a Depot world as the page's JSON: [{"id","kind","x","y","vx","vy","owner","bot","state"}].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "game.h"
#include "json_writer.h"

namespace app {

/// Writes the array of the objects of the world, parcels apart, as they are to be drawn now
/// (lattice_object_view()). The client's own pawn has "own":true and "ghost":{x,y}, its newest authoritative
/// position. Of more than `max_pawns` pawns, the oldest are written.
void write_objects(JsonWriter& json, const depot::Game& game, uint32_t tick, size_t max_pawns = SIZE_MAX);

/// Writes the places of many objects of one type, after write_objects() and at the same moment:
/// [id, x, y, id, x, y, …] with x and y in centimetres.
void write_parcels(JsonWriter& json, const depot::Game& game, std::span<const lattice_netid> parcels);
void write_pawn_places(JsonWriter& json, const depot::Game& game, std::span<const lattice_netid> pawns);
/// The ids of all objects of a type.
std::vector<lattice_netid> ids_of(const depot::Game& game, uint32_t type_id);

/// Writes the member "ghost":{x,y} when there is an own pawn.
void write_ghost(JsonWriter& json, const depot::Game& game);

/// Writes the "arena" object of the hello message.
void write_arena(JsonWriter& json);

/// Writes the "presets" array of the hello message: every named impairment.
void write_presets(JsonWriter& json);

}  // namespace app
