// See interest_grid.h.
#include "replication/interest/interest_grid.h"

#include <algorithm>
#include <cmath>

namespace lattice::replication {

InterestGrid::InterestGrid(double cell) : cell_(cell), cells_(64, base::HashIndex::Growth::kDoubling) {
  LATTICE_ASSERT(std::isfinite(cell) && cell > 0);
}

uint16_t InterestGrid::axis_cell(double coordinate) const {
  LATTICE_ASSERT(!std::isnan(coordinate));
  const double shifted = std::floor(coordinate / cell_) + kCellsPerAxis / 2;
  return static_cast<uint16_t>(std::clamp(shifted, 0.0, double{kCellsPerAxis - 1}));
}

InterestGrid::Cell InterestGrid::cell_at(const Place& place) const {
  return {axis_cell(place.x), axis_cell(place.y), axis_cell(place.z)};
}

uint64_t InterestGrid::key_of(uint16_t room, const Cell& cell) {
  return uint64_t{room} << 48 | uint64_t{cell[0]} << 32 | uint64_t{cell[1]} << 16 | cell[2];
}

double InterestGrid::cell_centre(uint16_t axis_cell) const {
  return (static_cast<double>(axis_cell) - kCellsPerAxis / 2 + 0.5) * cell_;
}

Place InterestGrid::centre_of(uint64_t key) const {
  return {cell_centre(static_cast<uint16_t>(key >> 32)), cell_centre(static_cast<uint16_t>(key >> 16)),
          cell_centre(static_cast<uint16_t>(key))};
}

Offset InterestGrid::offset_in(uint64_t key, const Place& place) const {
  const Place centre = centre_of(key);
  return {static_cast<float>(place.x - centre.x), static_cast<float>(place.y - centre.y),
          static_cast<float>(place.z - centre.z)};
}

void InterestGrid::use(const Cell& cell) {
  const bool first = cells_.size() == 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    lowest_[axis] = first ? cell[axis] : std::min(lowest_[axis], cell[axis]);
    highest_[axis] = first ? cell[axis] : std::max(highest_[axis], cell[axis]);
  }
}

void InterestGrid::insert(uint32_t slot, uint16_t room, const Place& place) {
  LATTICE_ASSERT(!contains(slot));
  const Cell cell = cell_at(place);
  const uint64_t key = key_of(room, cell);
  uint32_t bucket = cells_.find(key);
  if (bucket == base::HashIndex::kNone) {
    use(cell);
    bucket = buckets_.make();
    cells_.insert(key, bucket);
    if (bucket >= keys_.size()) keys_.resize(size_t{bucket} + 1);
    keys_[bucket] = key;
  }
  buckets_.add(bucket, slot, offset_in(key, place));
}

void InterestGrid::move(uint32_t slot, const Place& place) {
  LATTICE_ASSERT(contains(slot));
  const uint64_t key = keys_[buckets_.bucket_of(slot)];
  const auto room = static_cast<uint16_t>(key >> 48);
  if (key_of(room, cell_at(place)) == key) {
    buckets_.set(slot, offset_in(key, place));
    return;
  }
  remove(slot);
  insert(slot, room, place);
}

void InterestGrid::remove(uint32_t slot) {
  const uint32_t bucket = buckets_.bucket_of(slot);
  LATTICE_ASSERT(bucket != Buckets::kNone);
  buckets_.remove(slot);
  if (buckets_.size(bucket) != 0) return;
  cells_.erase(keys_[bucket]);
  buckets_.release(bucket);
}

// A cell at the border may hold objects up to the limits of places, which is inside the cell: PlaceLimits
// ends one cell before the last.
bool InterestGrid::meets(uint64_t key, const Shell& shell) const {
  return box_meets(centre_of(key), cell_ / 2, shell);
}

template <class Visit>
void InterestGrid::for_each_cell(uint16_t room, const Shell& shell, IndexWork* work, Visit visit) const {
  if (cells_.size() == 0) return;
  const Place& centre = shell.centre;
  const double radius = shell.outer;
  Cell low = cell_at({centre.x - radius, centre.y - radius, centre.z - radius});
  Cell high = cell_at({centre.x + radius, centre.y + radius, centre.z + radius});
  uint64_t count = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    low[axis] = std::max(low[axis], lowest_[axis]);
    high[axis] = std::min(high[axis], highest_[axis]);
    if (low[axis] > high[axis]) return;
    count *= uint64_t{high[axis]} - low[axis] + 1;
  }
  if (count > cells_.size()) {
    work->buckets_probed += cells_.size();
    cells_.for_each([&](uint64_t key, uint32_t bucket) {
      if (key >> 48 == room && meets(key, shell)) visit(key, bucket);
    });
    return;
  }
  work->buckets_probed += count;
  for (uint32_t x = low[0]; x <= high[0]; ++x) {
    for (uint32_t y = low[1]; y <= high[1]; ++y) {
      for (uint32_t z = low[2]; z <= high[2]; ++z) {
        const uint64_t key =
            key_of(room, {static_cast<uint16_t>(x), static_cast<uint16_t>(y), static_cast<uint16_t>(z)});
        if (!meets(key, shell)) continue;
        const uint32_t bucket = cells_.find(key);
        if (bucket != base::HashIndex::kNone) visit(key, bucket);
      }
    }
  }
}

void InterestGrid::query(uint16_t room, const Shell& shell, std::vector<Found>* found,
                         IndexWork* work) const {
  for_each_cell(room, shell, work, [&](uint64_t key, uint32_t bucket) {
    work->objects_visited += buckets_.size(bucket);
    buckets_.find(bucket, offset_in(key, shell.centre), shell, found);
  });
}

}  // namespace lattice::replication
