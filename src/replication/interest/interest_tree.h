// A loose octree for each room (§15.1): for worlds whose crowded places are far apart and of very different
// density.
//
// A node is a cube. A leaf with more than kSplit objects becomes eight half as wide, down to the width of one
// cell; a node with no more than kMerge objects below it becomes a leaf again. The bounds of a node are
// loose: twice as wide as its cube. An object stays in its leaf until it leaves the loose bounds, so one that
// moves to and fro over an edge changes nothing but its offset.
//
// The root spans the limits of PlaceLimits, so the tree is at most kMaxDepth deep. Memory: at most one node
// group (8 nodes) for each kMerge objects and level.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash_index.h"
#include "replication/interest/buckets.h"
#include "replication/interest/spatial_index.h"

namespace lattice::replication {

class InterestTree final : public SpatialIndex {
 public:
  static constexpr uint32_t kSplit = 16;
  static constexpr uint32_t kMerge = 8;
  static constexpr uint32_t kMaxDepth = 16;
  static_assert(kCellsPerAxis >> kMaxDepth == 1, "the deepest cube is one cell wide");

  /// `cell` is the edge of the smallest cube in the unit of the game, finite and above 0.
  explicit InterestTree(double cell);

  void insert(uint32_t slot, uint16_t room, const Place& place) override;
  void move(uint32_t slot, const Place& place) override;
  void remove(uint32_t slot) override;
  bool contains(uint32_t slot) const override { return buckets_.bucket_of(slot) != Buckets::kNone; }
  void query(uint16_t room, const Shell& shell, std::vector<Found>* found, IndexWork* work) const override;

  /// Nodes in memory, used and free. For tests of bounds.
  size_t node_count() const { return nodes_.size(); }

 private:
  static constexpr uint32_t kNone = Buckets::kNone;

  struct Node {
    Place centre;
    double half = 0;            // half the edge of the cube; the loose bounds reach twice as far
    uint32_t parent = kNone;    // of a root: kNone
    uint32_t children = kNone;  // the first of eight neighbours in nodes_; kNone: a leaf
    uint32_t bucket = kNone;    // of a leaf that has objects
    uint32_t count = 0;         // objects in this node and below
    uint16_t room = 0;
  };

  uint32_t root_of(uint16_t room);
  uint32_t make_group(uint32_t parent, uint16_t room);
  uint32_t octant(uint32_t node, const Place& place) const;
  static bool holds(const Node& node, const Place& place, double reach);
  static Offset offset_in(const Node& node, const Place& place);
  void put(uint32_t leaf, uint32_t slot);
  void descend(uint32_t root, uint32_t slot);
  void evict_strays(uint32_t leaf);
  void split(uint32_t leaf);
  void merge(uint32_t node);
  void gather(uint32_t node);
  void empty_bucket(uint32_t leaf);
  template <class Visit>
  void for_each_leaf(uint16_t room, const Shell& shell, IndexWork* work, Visit visit) const;

  double cell_;
  Buckets buckets_;
  base::HashIndex roots_;  // room -> node; rooms are numbered by the authority, so no secret seed
  std::vector<Node> nodes_;
  std::vector<uint32_t> free_groups_;
  std::vector<uint32_t> leaf_of_;  // by bucket
  std::vector<Place> places_;      // by slot: where objects go when nodes split and merge
  std::vector<uint32_t> moving_;   // slots on the way to another node
  std::vector<uint32_t> strays_;   // slots that insert() has to put
};

}  // namespace lattice::replication
