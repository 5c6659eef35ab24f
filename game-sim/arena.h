// The warehouse, 256 x 160 m. Its lower left corner is the dock of 64 x 40 m, where players begin: three
// halls side by side, joined by four doors. hall.h says what is around it. Constants only, in metres; x to
// the right, y up. Everything is an axis-aligned box.
//
//    left hall | middle hall | right hall        the right hall mirrors the left
//              D1           D3   (y 28..31)
//              D0           D2   (y  9..12)
#pragma once

#include <span>

#include "vec2.h"

namespace depot {

inline constexpr float kArenaWidth = 256.0f;
inline constexpr float kArenaHeight = 160.0f;

struct Box {
  float x0, y0, x1, y1;
};

inline constexpr Box kDock = {0, 0, 64, 40};

/// A conveyor: it carries every pawn in `area` along at `velocity`.
struct Belt {
  Box area;
  Vec2 velocity;
};

inline bool contains(const Box& box, Vec2 point) {
  return point.x >= box.x0 && point.x <= box.x1 && point.y >= box.y0 && point.y <= box.y1;
}
constexpr Vec2 centre(const Box& box) {
  return {(box.x0 + box.x1) * 0.5f, (box.y0 + box.y1) * 0.5f};
}
/// Distance from `point` to the nearest point of `box`; 0 inside.
float distance(const Box& box, Vec2 point);

std::span<const Box> arena_walls();
/// Those of arena_walls() that something at `point` can touch, in the same order.
std::span<const Box> walls_near(Vec2 point);
std::span<const Belt> arena_belts();
/// The place of each door when it is closed. A door's index is its place in this list.
std::span<const Box> arena_doors();
/// Delivery bays: carrying a parcel into one scores.
std::span<const Box> arena_bays();
std::span<const Vec2> arena_pickups();
std::span<const Vec2> arena_spawn_points();

/// The velocity of the floor under `point`; zero off the belts.
Vec2 belt_velocity(Vec2 point);

}  // namespace depot
