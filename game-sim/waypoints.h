// Where one can walk in a straight line: the map the bots find their way by. Constants and one table
// computed at first use; no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vec2.h"

namespace depot {

inline constexpr int kNoDoor = -1;

/// Points of the floor; each can be reached from its neighbours in a straight line.
std::span<const Vec2> waypoints();

/// The neighbour of `from` on a shortest way (by number of legs) to `to`; `from` itself when equal.
size_t next_waypoint(size_t from, size_t to);

/// The door on the leg between two neighbours, or kNoDoor.
int door_between(size_t from, size_t to);

/// The waypoint nearest to `point` that can be walked to from there in a straight line, or, when there is
/// none, the nearest.
size_t waypoint_near(Vec2 point);

}  // namespace depot
