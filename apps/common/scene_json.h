// The objects of a Depot world as the page's JSON: [{"id","kind","x","y","vx","vy","owner","bot","state"}].
#pragma once

#include "game.h"
#include "json_writer.h"

namespace app {

/// Writes the array of all objects of the world, as they are to be drawn now (lattice_object_view()). The
/// client's own pawn has "own":true and "ghost":{x,y}, its newest authoritative position.
void write_objects(JsonWriter& json, const depot::Game& game, uint32_t tick);

/// Writes the member "ghost":{x,y} when there is an own pawn.
void write_ghost(JsonWriter& json, const depot::Game& game);

/// Writes the "arena" object of the hello message.
void write_arena(JsonWriter& json);

/// Writes the "presets" array of the hello message: every named impairment.
void write_presets(JsonWriter& json);

}  // namespace app
