// Where objects are: the question of which of them lie around a place, answered without visiting the others.
// InterestGrid and InterestTree are the two answers (§15).
//
// Rooms divide the index: a query for one room never visits an object of another.
//
// Every place has passed PlaceLimits with the same cell size. A result lists each object once, in an order
// that depends on the history of the calls alone.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/interest/place.h"

namespace lattice::replication {

/// One object of a result, with the square of its distance from the centre of the query.
struct Found {
  uint32_t slot = 0;
  float distance_squared = 0;
};

/// What a region looked like. While a region has an equal mark, no object has entered, left or moved in it.
struct RegionMark {
  uint64_t newest = 0;   // the highest stamp of its buckets
  uint32_t buckets = 0;  // how many have objects: an emptied bucket leaves no stamp behind

  friend bool operator==(const RegionMark&, const RegionMark&) = default;
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

  /// Replaces `found` by the objects of the room at most `radius` from `centre`.
  virtual void query(uint16_t room, const Place& centre, double radius, std::vector<Found>* found,
                     IndexWork* work) const = 0;
  /// The mark of the buckets that such a query visits.
  virtual RegionMark mark(uint16_t room, const Place& centre, double radius, IndexWork* work) const = 0;
  /// While it stays the same, nothing in the index has changed.
  virtual uint64_t version() const = 0;
};

}  // namespace lattice::replication
