#include "arena.h"

namespace depot {
namespace {

constexpr Box kBays[] = {
    {1, 1, 6, 4},
    {58, 36, 63, 39},
};

constexpr Vec2 kPickups[] = {
    {9, 11},  {16.5f, 36}, {3, 30},  {23, 16}, {41, 16}, {32, 10},
    {55, 11}, {47.5f, 4},  {61, 30}, {23, 24}, {41, 24}, {32, 30},
};

constexpr Vec2 kSpawnPoints[] = {
    {9, 36},  {55, 4},     {3, 36}, {61, 4},     {16.5f, 4}, {47.5f, 36}, {23, 4},     {41, 36},
    {23, 36}, {41, 4},     {9, 4},  {55, 36},    {3, 20},    {61, 20},    {16.5f, 20}, {47.5f, 20},
    {32, 20}, {16.5f, 30}, {9, 20}, {47.5f, 10}, {55, 20},   {23, 10},    {41, 30},    {9, 30},
};

}  // namespace

float distance(const Box& box, Vec2 point) {
  const float x = point.x < box.x0 ? box.x0 - point.x : (point.x > box.x1 ? point.x - box.x1 : 0.0f);
  const float y = point.y < box.y0 ? box.y0 - point.y : (point.y > box.y1 ? point.y - box.y1 : 0.0f);
  return length({x, y});
}

std::span<const Box> arena_bays() {
  return kBays;
}
std::span<const Vec2> arena_pickups() {
  return kPickups;
}
std::span<const Vec2> arena_spawn_points() {
  return kSpawnPoints;
}

Vec2 belt_velocity(Vec2 point) {
  for (const Belt& belt : arena_belts()) {
    if (contains(belt.area, point)) return belt.velocity;
  }
  return {0, 0};
}

}  // namespace depot
