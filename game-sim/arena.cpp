#include "arena.h"

#include <iterator>

#include "state.h"

namespace depot {
namespace {

constexpr Box kWalls[] = {
    // The outer wall.
    {0, 0, 64, 1},
    {0, 39, 64, 40},
    {0, 1, 1, 39},
    {63, 1, 64, 39},
    // Left to middle, with gaps for doors 0 and 1.
    {20, 1, 21, 9},
    {20, 12, 21, 28},
    {20, 31, 21, 39},
    // Middle to right, with gaps for doors 2 and 3.
    {43, 1, 44, 9},
    {43, 12, 44, 28},
    {43, 31, 44, 39},
    // A wall across the middle hall, open between x 30 and 34.
    {21, 19.5f, 30, 20.5f},
    {34, 19.5f, 43, 20.5f},
    // Racks, left and right.
    {5, 6, 7, 16},
    {11, 6, 13, 16},
    {5, 24, 7, 34},
    {11, 24, 13, 34},
    {57, 6, 59, 16},
    {51, 6, 53, 16},
    {57, 24, 59, 34},
    {51, 24, 53, 34},
    // Pillars of the middle hall.
    {26, 8, 28, 12},
    {36, 8, 38, 12},
    {26, 28, 28, 32},
    {36, 28, 38, 32},
};

constexpr Belt kBelts[] = {
    {{2, 18, 18, 22}, {2, 0}},
    {{46, 18, 62, 22}, {-2, 0}},
    {{31, 3, 33, 17}, {0, 2}},
    {{31, 23, 33, 37}, {0, -2}},
};

constexpr Box kDoors[] = {
    {20, 9, 21, 12},
    {20, 28, 21, 31},
    {43, 9, 44, 12},
    {43, 28, 44, 31},
};

static_assert(std::size(kDoors) == kDoorCount);

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

std::span<const Box> arena_walls() {
  return kWalls;
}
std::span<const Belt> arena_belts() {
  return kBelts;
}
std::span<const Box> arena_doors() {
  return kDoors;
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
  for (const Belt& belt : kBelts) {
    if (contains(belt.area, point)) return belt.velocity;
  }
  return {0, 0};
}

}  // namespace depot
