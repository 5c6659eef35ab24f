// The map by which the bots find their way: points, and which of them are joined by a straight walk.
// Constants, and tables that are computed at first use; no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vec2.h"

namespace depot {

inline constexpr int kNoDoor = -1;

/// Points of the floor. A pawn reaches a point from each of its neighbours in a straight line.
std::span<const Vec2> waypoints();
/// The first of them: those on the floor of the dock, apart from its doors.
std::span<const Vec2> dock_waypoints();

/// The neighbour of `from` on a shortest way to `to`, by number of legs. `from` itself when the two are
/// equal.
size_t next_waypoint(size_t from, size_t to);

/// The door on the leg between two neighbours, or kNoDoor.
int door_between(size_t from, size_t to);

/// The nearest of the waypoints that a pawn at `point` can walk to in a straight line. When there is none,
/// the nearest waypoint.
size_t waypoint_near(Vec2 point);

}  // namespace depot
