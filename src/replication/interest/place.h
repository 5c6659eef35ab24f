// Places in the world of the game, and the limits that a place must keep to be indexed.
//
// A game hands in what its physics made, which may be not a number, or 1e30 after an explosion. Such a place
// must cost no memory and must not poison an index: a place that is not a number is refused, and one outside
// the limits is moved onto them. Both are counted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lattice::replication {

struct Place {
  double x = 0;
  double y = 0;
  double z = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

inline double distance_squared(const Place& a, const Place& b) {
  const double dx = a.x - b.x;
  const double dy = a.y - b.y;
  const double dz = a.z - b.z;
  return dx * dx + dy * dy + dz * dz;
}

/// Cells of an index along one axis, half of them below zero: the world's room for places.
inline constexpr int32_t kCellsPerAxis = 65536;

class PlaceLimits {
 public:
  struct Stats {
    uint64_t refused = 0;  // not a number: the object stays where it was
    uint64_t clamped = 0;  // outside the limits: the object is at the border
  };

  /// Places reach kCellsPerAxis / 2 cells from the origin. `cell` is finite and above 0.
  explicit PlaceLimits(double cell) : reach_(cell * (kCellsPerAxis / 2 - 1)) {}

  double reach() const { return reach_; }

  /// Moves `place` inside the limits. False, without a change, when a coordinate is not a number.
  bool admit(Place* place) {
    if (std::isnan(place->x) || std::isnan(place->y) || std::isnan(place->z)) {
      ++stats_.refused;
      return false;
    }
    const Place inside{std::clamp(place->x, -reach_, reach_), std::clamp(place->y, -reach_, reach_),
                       std::clamp(place->z, -reach_, reach_)};
    if (inside != *place) ++stats_.clamped;
    *place = inside;
    return true;
  }

  const Stats& stats() const { return stats_; }

 private:
  double reach_;
  Stats stats_;
};

}  // namespace lattice::replication
