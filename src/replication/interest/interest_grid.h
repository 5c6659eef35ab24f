// A uniform grid of cubic cells, of which only those with objects exist (§15.1).
//
// The cells live in a hash by room and coordinates, so neither a wide world nor a far place costs memory. A
// query looks up each cell of a cube around the shell, cut to the range of cells in use: a flat world is one
// layer of cells. Where the cube has more cells than there are cells in use, the query goes through those
// instead. So a query looks at no more cells than the world has objects.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/hash_index.h"
#include "replication/interest/buckets.h"
#include "replication/interest/spatial_index.h"

namespace lattice::replication {

class InterestGrid final : public SpatialIndex {
 public:
  /// `cell` is the edge of a cell in the unit of the game, finite and above 0.
  explicit InterestGrid(double cell);

  void insert(uint32_t slot, uint16_t room, const Place& place) override;
  void move(uint32_t slot, const Place& place) override;
  void remove(uint32_t slot) override;
  bool contains(uint32_t slot) const override { return buckets_.bucket_of(slot) != Buckets::kNone; }
  void query(uint16_t room, const Shell& shell, std::vector<Found>* found, IndexWork* work) const override;

  size_t cell_count() const { return cells_.size(); }
  size_t block_count() const { return buckets_.block_count(); }

 private:
  /// Cell coordinates along x, y, z, shifted to start at 0.
  using Cell = std::array<uint16_t, 3>;

  uint16_t axis_cell(double coordinate) const;
  Cell cell_at(const Place& place) const;
  double cell_centre(uint16_t axis_cell) const;
  Place centre_of(uint64_t key) const;
  static uint64_t key_of(uint16_t room, const Cell& cell);
  Offset offset_in(uint64_t key, const Place& place) const;
  void use(const Cell& cell);
  bool meets(uint64_t key, const Shell& shell) const;
  template <class Visit>
  void for_each_cell(uint16_t room, const Shell& shell, IndexWork* work, Visit visit) const;

  double cell_;
  Buckets buckets_;
  base::HashIndex cells_;       // key -> bucket; objects choose no keys that a peer knows, so no secret seed
  std::vector<uint64_t> keys_;  // by bucket
  // The cells in use lie in this range. It shrinks only when the grid is empty: a far object costs time, not
  // truth.
  Cell lowest_{};
  Cell highest_{};
};

}  // namespace lattice::replication
