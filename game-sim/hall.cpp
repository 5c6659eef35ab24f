#include "hall.h"

#include <array>
#include <iterator>

namespace depot {
namespace {

struct Cell {
  int column, row;
};

constexpr bool is_dock(Cell cell) {
  return cell.column < 2 && cell.row < 2;
}
constexpr Vec2 corner(Cell cell) {
  return {static_cast<float>(cell.column) * kCellWidth, static_cast<float>(cell.row) * kCellHeight};
}
constexpr Box at(Cell cell, Box box) {
  const Vec2 origin = corner(cell);
  return {origin.x + box.x0, origin.y + box.y0, origin.x + box.x1, origin.y + box.y1};
}

// The first two are beside the gates of the dock, so that a player meets a shut vault at once.
constexpr Cell kVaults[] = {{0, 2}, {2, 0}, {4, 3}, {6, 1}, {2, 5}, {5, 6}, {7, 4}, {1, 6}};
static_assert(std::size(kVaults) == kVaultCount);

constexpr int vault_of(Cell cell) {
  for (int i = 0; i < kVaultCount; ++i) {
    if (kVaults[i].column == cell.column && kVaults[i].row == cell.row) return i;
  }
  return kNoVault;
}

// Within a cell.
constexpr Box kRacks[] = {{7, 8, 31, 11}, {7, 14, 31, 17}};
constexpr Box kVaultWalls[] = {
    {7, 7, 17.5f, 8}, {20.5f, 7, 31, 8}, {7, 18, 31, 19}, {7, 8, 8, 18}, {30, 8, 31, 18}};
constexpr Box kVaultDoor = {17.5f, 7, 20.5f, 8};
constexpr Box kVaultFloor = {7, 7, 31, 19};

// Left and right.
constexpr Box kDockRacks[] = {
    {5, 6, 7, 16},   {11, 6, 13, 16}, {5, 24, 7, 34},   {11, 24, 13, 34},
    {57, 6, 59, 16}, {51, 6, 53, 16}, {57, 24, 59, 34}, {51, 24, 53, 34},
};
constexpr Box kDockWalls[] = {
    // The outer wall, with gates to the hall at the top and on the right.
    {0, 0, 64, 1},
    {0, 39, 15, 40},
    {18, 39, 64, 40},
    {0, 1, 1, 39},
    {63, 1, 64, 2.5f},
    {63, 5.5f, 64, 39},
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
    // Pillars of the middle hall.
    {26, 8, 28, 12},
    {36, 8, 38, 12},
    {26, 28, 28, 32},
    {36, 28, 38, 32},
};
constexpr Box kOuterWalls[] = {{64, 0, 256, 1}, {0, 40, 1, 159}, {0, 159, 256, 160}, {255, 1, 256, 159}};

constexpr size_t kCellCount = static_cast<size_t>(kHallColumns) * kHallRows;
constexpr size_t kHallCells = kCellCount - 4;
constexpr size_t kRackCells = kHallCells - kVaultCount;
constexpr size_t kWallCount = std::size(kDockWalls) + std::size(kDockRacks) + std::size(kOuterWalls) +
                              kRackCells * std::size(kRacks) + kVaultCount * std::size(kVaultWalls);

constexpr Cell cell_of(size_t index) {
  return {static_cast<int>(index) % kHallColumns, static_cast<int>(index) / kHallColumns};
}

constexpr auto kWalls = [] {
  std::array<Box, kWallCount> walls{};
  size_t count = 0;
  for (const Box& wall : kDockWalls) walls[count++] = wall;
  for (const Box& rack : kDockRacks) walls[count++] = rack;
  for (const Box& wall : kOuterWalls) walls[count++] = wall;
  for (size_t i = 0; i < kCellCount; ++i) {
    const Cell cell = cell_of(i);
    if (is_dock(cell)) continue;
    if (vault_of(cell) == kNoVault) {
      for (const Box& rack : kRacks) walls[count++] = at(cell, rack);
    } else {
      for (const Box& wall : kVaultWalls) walls[count++] = at(cell, wall);
    }
  }
  return walls;
}();

/// The walls that a pawn in one cell can touch.
struct CellWalls {
  std::array<Box, 24> walls{};
  size_t count = 0;
};
constexpr float kTouch = 1.0f;  // more than the radius of anything that moves

constexpr auto kWallsByCell = [] {
  std::array<CellWalls, kCellCount> cells{};
  for (size_t i = 0; i < kCellCount; ++i) {
    const Box cell = at(cell_of(i), {-kTouch, -kTouch, kCellWidth + kTouch, kCellHeight + kTouch});
    for (const Box& wall : kWalls) {
      if (wall.x1 < cell.x0 || wall.x0 > cell.x1 || wall.y1 < cell.y0 || wall.y0 > cell.y1) continue;
      cells[i].walls[cells[i].count++] = wall;
    }
  }
  return cells;
}();

constexpr auto kDoors = [] {
  std::array<Box, kDoorCount> doors = {Box{20, 9, 21, 12}, Box{20, 28, 21, 31}, Box{43, 9, 44, 12},
                                       Box{43, 28, 44, 31}};
  for (int i = 0; i < kVaultCount; ++i)
    doors[static_cast<size_t>(vault_door(i))] = at(kVaults[i], kVaultDoor);
  return doors;
}();

// ---- Belts ----------------------------------------------------------------------------------------------

constexpr size_t kDockBelts = 4;
constexpr float kBeltSpeed = 1.5f;

/// Belts of neighbouring rows run in opposite directions.
constexpr Belt hall_belt(int row) {
  const float bottom = static_cast<float>(row) * kCellHeight + 1;
  return {{row < 2 ? 66.0f : 2.0f, bottom, 254, bottom + 2}, {row % 2 == 0 ? kBeltSpeed : -kBeltSpeed, 0}};
}

constexpr auto kBelts = [] {
  std::array<Belt, kDockBelts + kHallRows> belts = {
      Belt{{2, 18, 18, 22}, {2, 0}}, Belt{{46, 18, 62, 22}, {-2, 0}}, Belt{{31, 3, 33, 17}, {0, 2}},
      Belt{{31, 23, 33, 37}, {0, -2}}};
  for (int row = 0; row < kHallRows; ++row) belts[kDockBelts + static_cast<size_t>(row)] = hall_belt(row);
  return belts;
}();

constexpr uint32_t riders_of(size_t belt) {
  if (belt < kDockBelts) return 3;
  return belt - kDockBelts < 2 ? 98 : 132;
}
constexpr uint32_t all_riders() {
  uint32_t count = 0;
  for (size_t i = 0; i < kBelts.size(); ++i) count += riders_of(i);
  return count;
}
static_assert(all_riders() == kRidingParcels);

// ---- Places ---------------------------------------------------------------------------------------------

/// `columns` x `rows` places, spread over a box.
struct Shelf {
  uint32_t columns, rows;
  constexpr uint32_t places() const { return columns * rows; }
  constexpr Vec2 place(const Box& box, uint32_t index) const {
    const float across = (static_cast<float>(index % columns) + 0.5f) / static_cast<float>(columns);
    const float up = (static_cast<float>(index / columns) + 0.5f) / static_cast<float>(rows);
    return {box.x0 + (box.x1 - box.x0) * across, box.y0 + (box.y1 - box.y0) * up};
  }
};
constexpr Shelf kDockShelf = {3, 25}, kRackShelf = {35, 2}, kVaultShelf = {20, 7};
constexpr Box kVaultShelfBox = {9, 12, 29, 17};  // on the floor, clear of the walls
constexpr uint32_t kDockParcels = kDockShelf.places() * std::size(kDockRacks);
constexpr uint32_t kParcelsPerCell = kVaultShelf.places();
static_assert(kRackShelf.places() * std::size(kRacks) == kParcelsPerCell);
static_assert(kDockParcels + kParcelsPerCell * kHallCells == kRestingParcels);

constexpr auto kHallCellList = [] {
  std::array<Cell, kHallCells> cells{};
  size_t count = 0;
  for (size_t i = 0; i < kCellCount; ++i) {
    if (!is_dock(cell_of(i))) cells[count++] = cell_of(i);
  }
  return cells;
}();

constexpr auto kCrossings = [] {
  std::array<Vec2, kHallCells> points{};
  for (size_t i = 0; i < kHallCells; ++i) {
    const Vec2 origin = corner(kHallCellList[i]);
    points[i] = {origin.x + 3, origin.y + 4.5f};
  }
  return points;
}();

size_t cell_index(Vec2 point) {
  const int column = static_cast<int>(point.x / kCellWidth), row = static_cast<int>(point.y / kCellHeight);
  const int x = column < 0 ? 0 : (column >= kHallColumns ? kHallColumns - 1 : column);
  const int y = row < 0 ? 0 : (row >= kHallRows ? kHallRows - 1 : row);
  return static_cast<size_t>(y * kHallColumns + x);
}

}  // namespace

std::span<const Box> arena_walls() {
  return kWalls;
}
std::span<const Box> walls_near(Vec2 point) {
  const CellWalls& cell = kWallsByCell[cell_index(point)];
  return {cell.walls.data(), cell.count};
}
std::span<const Belt> arena_belts() {
  return kBelts;
}
std::span<const Box> arena_doors() {
  return kDoors;
}
std::span<const Vec2> hall_crossings() {
  return kCrossings;
}

int vault_at(Vec2 point) {
  const Cell cell = cell_of(cell_index(point));
  const int vault = vault_of(cell);
  return vault != kNoVault && contains(at(cell, kVaultFloor), point) ? vault : kNoVault;
}

Vec2 resting_place(uint32_t index) {
  if (index < kDockParcels) {
    return kDockShelf.place(kDockRacks[index / kDockShelf.places()], index % kDockShelf.places());
  }
  index -= kDockParcels;
  const Cell cell = kHallCellList[index / kParcelsPerCell];
  index %= kParcelsPerCell;
  if (vault_of(cell) != kNoVault) return kVaultShelf.place(at(cell, kVaultShelfBox), index);
  return kRackShelf.place(at(cell, kRacks[index / kRackShelf.places()]), index % kRackShelf.places());
}

ParcelKind parcel_kind(uint32_t index) {
  return static_cast<ParcelKind>(1 + (index * 7 + index / 5) % 3);
}

Ride ride_at(uint32_t index, uint32_t tick) {
  size_t belt = 0;
  while (index >= riders_of(belt)) index -= riders_of(belt++);
  const auto& [area, velocity] = kBelts[belt];
  const bool across = velocity.y == 0;
  const bool forward = across ? velocity.x > 0 : velocity.y > 0;
  // Whole numbers, so that the place is exact after any number of ticks: in steps of 1/120 m, which both
  // speeds cross in whole numbers per tick.
  constexpr uint64_t kStepsPerMetre = 120;
  const auto length = static_cast<uint64_t>(across ? area.x1 - area.x0 : area.y1 - area.y0) * kStepsPerMetre;
  const float speed = forward ? velocity.x + velocity.y : -(velocity.x + velocity.y);
  const auto steps_per_tick = static_cast<uint64_t>(speed * static_cast<float>(kStepsPerMetre) / 60.0f);
  const uint64_t way = index * length / riders_of(belt) + steps_per_tick * tick;
  const float along = static_cast<float>(way % length) / static_cast<float>(kStepsPerMetre);
  const float from_start = forward ? along : static_cast<float>(length / kStepsPerMetre) - along;
  const Vec2 middle = centre(area);
  const Vec2 position = across ? Vec2{area.x0 + from_start, middle.y} : Vec2{middle.x, area.y0 + from_start};
  return {position, static_cast<uint32_t>(way / length)};
}

}  // namespace depot
