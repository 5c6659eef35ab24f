#include "waypoints.h"

#include <array>

#include "arena.h"
#include "rules.h"

namespace depot {
namespace {

constexpr Vec2 kPoints[] = {
    // 0..8: the aisles of the left hall, by column from the wall, bottom to top.
    {3, 4},
    {3, 20},
    {3, 36},
    {9, 4},
    {9, 20},
    {9, 36},
    {16.5f, 4},
    {16.5f, 20},
    {16.5f, 36},
    // 9..17: the right hall, mirrored.
    {61, 4},
    {61, 20},
    {61, 36},
    {55, 4},
    {55, 20},
    {55, 36},
    {47.5f, 4},
    {47.5f, 20},
    {47.5f, 36},
    // 18..23: the middle hall below its cross wall; 24..29: above; 30: the gap.
    {23, 4},
    {23, 16},
    {32, 4},
    {32, 16},
    {41, 4},
    {41, 16},
    {23, 24},
    {23, 36},
    {32, 24},
    {32, 36},
    {41, 24},
    {41, 36},
    {32, 20},
    // 31..38: in front of doors 0..3, left side then right side of each.
    {18.5f, 10.5f},
    {22.5f, 10.5f},
    {18.5f, 29.5f},
    {22.5f, 29.5f},
    {41.5f, 10.5f},
    {45.5f, 10.5f},
    {41.5f, 29.5f},
    {45.5f, 29.5f},
};
constexpr size_t kCount = std::size(kPoints);
constexpr size_t kFirstDoorPoint = 31;

struct Leg {
  uint8_t a, b;
};
constexpr Leg kLegs[] = {
    {0, 1},   {1, 2},   {3, 4},   {4, 5},   {6, 7},   {7, 8},   {0, 3},   {3, 6},   {1, 4},
    {4, 7},   {2, 5},   {5, 8},   {9, 10},  {10, 11}, {12, 13}, {13, 14}, {15, 16}, {16, 17},
    {9, 12},  {12, 15}, {10, 13}, {13, 16}, {11, 14}, {14, 17}, {18, 19}, {20, 21}, {22, 23},
    {18, 20}, {20, 22}, {19, 21}, {21, 23}, {24, 25}, {26, 27}, {28, 29}, {24, 26}, {26, 28},
    {25, 27}, {27, 29}, {21, 30}, {30, 26}, {31, 32}, {33, 34}, {35, 36}, {37, 38},  // through the doors
    {6, 31},  {7, 31},  {7, 33},  {8, 33},  {18, 32}, {19, 32}, {24, 34}, {25, 34}, {22, 35},
    {23, 35}, {28, 37}, {29, 37}, {15, 36}, {16, 36}, {16, 38}, {17, 38},
};

/// hops[to][from] is the neighbour of `from` that is one leg closer to `to`.
using HopTable = std::array<std::array<uint8_t, kCount>, kCount>;

HopTable make_hops() {
  HopTable hops{};
  for (size_t to = 0; to < kCount; ++to) {
    std::array<bool, kCount> reached{};
    std::array<uint8_t, kCount> queue{};
    size_t head = 0, tail = 0;
    queue[tail++] = static_cast<uint8_t>(to);
    reached[to] = true;
    hops[to][to] = static_cast<uint8_t>(to);
    while (head < tail) {
      const uint8_t at = queue[head++];
      for (const Leg& leg : kLegs) {
        if (leg.a != at && leg.b != at) continue;
        const uint8_t other = leg.a == at ? leg.b : leg.a;
        if (reached[other]) continue;
        reached[other] = true;
        hops[to][other] = at;
        queue[tail++] = other;
      }
    }
  }
  return hops;
}

/// True when a pawn can walk from `a` to `b` without touching a wall or the place of a closed door.
bool clear_walk(Vec2 a, Vec2 b) {
  const Vec2 way = b - a;
  const int steps = static_cast<int>(length(way) / 0.2f) + 1;
  for (int i = 0; i <= steps; ++i) {
    const Vec2 point = a + way * (static_cast<float>(i) / static_cast<float>(steps));
    for (const Box& wall : arena_walls()) {
      if (distance(wall, point) < kPawnRadius * 0.9f) return false;
    }
    for (const Box& door : arena_doors()) {
      if (distance(door, point) < kPawnRadius * 0.9f) return false;
    }
  }
  return true;
}

}  // namespace

std::span<const Vec2> waypoints() {
  return kPoints;
}

size_t next_waypoint(size_t from, size_t to) {
  static const HopTable kHops = make_hops();
  return kHops[to][from];
}

int door_between(size_t from, size_t to) {
  const size_t low = from < to ? from : to;
  const size_t high = from < to ? to : from;
  if (low < kFirstDoorPoint || high != low + 1 || (low - kFirstDoorPoint) % 2 != 0) return kNoDoor;
  return static_cast<int>((low - kFirstDoorPoint) / 2);
}

size_t waypoint_near(Vec2 point) {
  size_t best = 0, best_clear = kCount;
  float best_gap = 1e9f, best_clear_gap = 1e9f;
  for (size_t i = 0; i < kCount; ++i) {
    const float gap = length_squared(kPoints[i] - point);
    if (gap < best_gap) best_gap = gap, best = i;
    if (gap < best_clear_gap && clear_walk(point, kPoints[i])) best_clear_gap = gap, best_clear = i;
  }
  return best_clear < kCount ? best_clear : best;
}

}  // namespace depot
