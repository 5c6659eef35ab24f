#include "waypoints.h"

#include <algorithm>
#include <array>
#include <vector>

#include "arena.h"
#include "hall.h"
#include "rules.h"

namespace depot {
namespace {

constexpr Vec2 kDockPoints[] = {
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
};
constexpr Vec2 kDockDoorPoints[] = {
    // In front of doors 0..3, left side then right side of each.
    {18.5f, 10.5f}, {22.5f, 10.5f}, {18.5f, 29.5f}, {22.5f, 29.5f},
    {41.5f, 10.5f}, {45.5f, 10.5f}, {41.5f, 29.5f}, {45.5f, 29.5f},
};
constexpr Vec2 kGatePoint = {16.5f, 44.5f};  // in the hall, before the upper gate of the dock
constexpr size_t kGateInside = 8, kRightGateInside = 9;

// All points: the dock, both sides of each door, the crossings of the hall, the gate.
constexpr size_t kFirstDoorPoint = std::size(kDockPoints);
constexpr size_t kFirstCrossing = kFirstDoorPoint + size_t{2} * kDoorCount;
constexpr size_t kCrossingCount = size_t{kHallColumns} * kHallRows - 4;
constexpr size_t kGate = kFirstCrossing + kCrossingCount;
constexpr size_t kCount = kGate + 1;

std::array<Vec2, kCount> make_points() {
  std::array<Vec2, kCount> points{};
  std::ranges::copy(kDockPoints, points.begin());
  std::ranges::copy(kDockDoorPoints, points.begin() + kFirstDoorPoint);
  for (int vault = 0; vault < kVaultCount; ++vault) {
    const auto door = static_cast<size_t>(vault_door(vault));
    const Vec2 middle = centre(arena_doors()[door]);
    points[kFirstDoorPoint + 2 * door] = {middle.x, middle.y - 2.5f};
    points[kFirstDoorPoint + 2 * door + 1] = {middle.x, middle.y + 2.5f};
  }
  std::ranges::copy(hall_crossings(), points.begin() + kFirstCrossing);
  points[kGate] = kGatePoint;
  return points;
}

const std::array<Vec2, kCount>& points() {
  static const std::array<Vec2, kCount> kPoints = make_points();
  return kPoints;
}

struct Leg {
  uint8_t a, b;
};
constexpr Leg kDockLegs[] = {
    {0, 1},   {1, 2},   {3, 4},   {4, 5},   {6, 7},   {7, 8},   {0, 3},   {3, 6},   {1, 4},   {4, 7},
    {2, 5},   {5, 8},   {9, 10},  {10, 11}, {12, 13}, {13, 14}, {15, 16}, {16, 17}, {9, 12},  {12, 15},
    {10, 13}, {13, 16}, {11, 14}, {14, 17}, {18, 19}, {20, 21}, {22, 23}, {18, 20}, {20, 22}, {19, 21},
    {21, 23}, {24, 25}, {26, 27}, {28, 29}, {24, 26}, {26, 28}, {25, 27}, {27, 29}, {21, 30}, {30, 26},
    {6, 31},  {7, 31},  {7, 33},  {8, 33},  {18, 32}, {19, 32}, {24, 34}, {25, 34}, {22, 35}, {23, 35},
    {28, 37}, {29, 37}, {15, 36}, {16, 36}, {16, 38}, {17, 38},
};
static_assert(kCount <= 256);

/// The crossing of a cell, or kCount in the dock and beyond the hall.
size_t crossing(int column, int row) {
  if (column >= kHallColumns || row >= kHallRows || (column < 2 && row < 2)) return kCount;
  const int before = row < 2 ? row * (kHallColumns - 2) : row * kHallColumns - 4;
  return kFirstCrossing + static_cast<size_t>(before + (row < 2 ? column - 2 : column));
}

std::vector<Leg> make_legs() {
  std::vector<Leg> legs(std::begin(kDockLegs), std::end(kDockLegs));
  const auto add = [&](size_t a, size_t b) {
    if (a < kCount && b < kCount) legs.push_back({static_cast<uint8_t>(a), static_cast<uint8_t>(b)});
  };
  for (size_t door = 0; door < kDoorCount; ++door)
    add(kFirstDoorPoint + 2 * door, kFirstDoorPoint + 2 * door + 1);
  for (int row = 0; row < kHallRows; ++row) {
    for (int column = 0; column < kHallColumns; ++column) {
      add(crossing(column, row), crossing(column + 1, row));
      add(crossing(column, row), crossing(column, row + 1));
    }
  }
  for (int vault = 0; vault < kVaultCount; ++vault) {
    const size_t outside = kFirstDoorPoint + 2 * static_cast<size_t>(vault_door(vault));
    const Vec2 place = points()[outside];
    const int column = static_cast<int>(place.x / kCellWidth), row = static_cast<int>(place.y / kCellHeight);
    add(crossing(column, row), outside);
    add(crossing(column + 1, row), outside);
  }
  add(kGateInside, kGate);
  add(kGate, crossing(0, 2));
  add(kGate, crossing(1, 2));
  add(kRightGateInside, crossing(2, 0));
  return legs;
}

/// hops[to][from] is the neighbour of `from` that is one leg closer to `to`.
using HopTable = std::array<std::array<uint8_t, kCount>, kCount>;

HopTable make_hops() {
  const std::vector<Leg> legs = make_legs();
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
      for (const Leg& leg : legs) {
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

constexpr float kFarWalk = 40.0f;  // farther than every point of the floor is from a waypoint in sight

/// True when a pawn can walk from `a` to `b` without touching a wall or the place of a closed door.
bool clear_walk(Vec2 a, Vec2 b) {
  const Vec2 way = b - a;
  const int steps = static_cast<int>(length(way) / 0.2f) + 1;
  for (int i = 0; i <= steps; ++i) {
    const Vec2 point = a + way * (static_cast<float>(i) / static_cast<float>(steps));
    for (const Box& wall : walls_near(point)) {
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
  return points();
}
std::span<const Vec2> dock_waypoints() {
  return waypoints().first(kFirstDoorPoint);
}

size_t next_waypoint(size_t from, size_t to) {
  static const HopTable kHops = make_hops();
  return kHops[to][from];
}

int door_between(size_t from, size_t to) {
  const size_t low = from < to ? from : to;
  const size_t high = from < to ? to : from;
  if (low < kFirstDoorPoint || low >= kFirstCrossing || high != low + 1 || (low - kFirstDoorPoint) % 2 != 0)
    return kNoDoor;
  return static_cast<int>((low - kFirstDoorPoint) / 2);
}

size_t waypoint_near(Vec2 point) {
  size_t best = 0, best_clear = kCount;
  float best_gap = 1e9f, best_clear_gap = 1e9f;
  for (size_t i = 0; i < kCount; ++i) {
    const Vec2 waypoint = points()[i];
    const float gap = length_squared(waypoint - point);
    if (gap < best_gap) best_gap = gap, best = i;
    if (gap < kFarWalk * kFarWalk && gap < best_clear_gap && clear_walk(point, waypoint))
      best_clear_gap = gap, best_clear = i;
  }
  return best_clear < kCount ? best_clear : best;
}

}  // namespace depot
