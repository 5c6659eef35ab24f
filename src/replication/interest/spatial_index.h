// Where objects are: the question of which of them lie around a place, answered without visiting the others.
// InterestGrid and InterestTree are the two answers (§15).
//
// Rooms divide the index: a query for one room never visits an object of another.
//
// Every place has passed PlaceLimits with the same cell size. A result lists each object once, in an order
// that depends on the history of the calls alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "replication/interest/place.h"

namespace lattice::replication {

/// A sphere without its core. An object exactly at `inner` or `outer` is in it.
struct Shell {
  Place centre;
  double inner = 0;
  double outer = 0;
};

/// True when a cube with edges of 2 * `half` may hold a place of the shell.
inline bool box_meets(const Place& centre, double half, const Shell& shell) {
  const double x = std::abs(centre.x - shell.centre.x);
  const double y = std::abs(centre.y - shell.centre.y);
  const double z = std::abs(centre.z - shell.centre.z);
  const Place nearest{std::max(x - half, 0.0), std::max(y - half, 0.0), std::max(z - half, 0.0)};
  const Place farthest{x + half, y + half, z + half};
  return distance_squared(nearest, {}) <= shell.outer * shell.outer &&
         distance_squared(farthest, {}) >= shell.inner * shell.inner;
}

/// One object of a result, with the square of its distance from the centre of the query.
struct Found {
  uint32_t slot = 0;
  float distance_squared = 0;
};

/// Work done, for tests of cost: what a clock would only suggest.
struct IndexWork {
  uint64_t buckets_probed = 0;
  uint64_t objects_visited = 0;
};

class SpatialIndex {
 public:
  SpatialIndex() = default;
  SpatialIndex(const SpatialIndex&) = delete;
  SpatialIndex& operator=(const SpatialIndex&) = delete;
  virtual ~SpatialIndex() = default;

  /// Adds an object that is not in the index.
  virtual void insert(uint32_t slot, uint16_t room, const Place& place) = 0;
  /// Moves an object within its room. Cheap while the object stays in its bucket.
  virtual void move(uint32_t slot, const Place& place) = 0;
  virtual void remove(uint32_t slot) = 0;
  virtual bool contains(uint32_t slot) const = 0;

  /// Appends to `found` the objects of the room that lie in `shell`.
  virtual void query(uint16_t room, const Shell& shell, std::vector<Found>* found, IndexWork* work) const = 0;
};

}  // namespace lattice::replication
