// See interest_tree.h.
#include "replication/interest/interest_tree.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lattice::replication {

InterestTree::InterestTree(double cell) : cell_(cell), roots_(16, base::HashIndex::Growth::kDoubling) {
  LATTICE_ASSERT(std::isfinite(cell) && cell > 0);
}

uint32_t InterestTree::make_group(uint32_t parent, uint16_t room) {
  uint32_t first;
  if (free_groups_.empty()) {
    first = static_cast<uint32_t>(nodes_.size());
    nodes_.resize(nodes_.size() + 8);
    free_groups_.reserve(nodes_.capacity() / 8);
  } else {
    first = free_groups_.back();
    free_groups_.pop_back();
  }
  for (uint32_t i = 0; i < 8; ++i) {
    nodes_[first + i] = Node{};
    nodes_[first + i].parent = parent;
    nodes_[first + i].room = room;
  }
  return first;
}

// A root has a group of its own, whose other seven nodes stay unused.
uint32_t InterestTree::root_of(uint16_t room) {
  const uint32_t known = roots_.find(room);
  if (known != base::HashIndex::kNone) return known;
  const uint32_t root = make_group(kNone, room);
  nodes_[root].half = cell_ * (kCellsPerAxis / 2);
  roots_.insert(room, root);
  return root;
}

uint32_t InterestTree::octant(uint32_t node, const Place& place) const {
  const Place& centre = nodes_[node].centre;
  return (place.x >= centre.x ? 4u : 0u) | (place.y >= centre.y ? 2u : 0u) | (place.z >= centre.z ? 1u : 0u);
}

bool InterestTree::holds(const Node& node, const Place& place, double reach) {
  return std::abs(place.x - node.centre.x) <= reach && std::abs(place.y - node.centre.y) <= reach &&
         std::abs(place.z - node.centre.z) <= reach;
}

Offset InterestTree::offset_in(const Node& node, const Place& place) {
  return {static_cast<float>(place.x - node.centre.x), static_cast<float>(place.y - node.centre.y),
          static_cast<float>(place.z - node.centre.z)};
}

void InterestTree::put(uint32_t leaf, uint32_t slot) {
  Node& node = nodes_[leaf];
  if (node.bucket == kNone) {
    node.bucket = buckets_.make();
    if (node.bucket >= leaf_of_.size()) leaf_of_.resize(size_t{node.bucket} + 1);
    leaf_of_[node.bucket] = leaf;
  }
  buckets_.add(node.bucket, slot, offset_in(node, places_[slot]));
}

void InterestTree::insert(uint32_t slot, uint16_t room, const Place& place) {
  LATTICE_ASSERT(!contains(slot));
  if (slot >= places_.size()) places_.resize(size_t{slot} + 1);
  places_[slot] = place;
  // Outside the root an object would stray forever.
  LATTICE_ASSERT(holds(Node{}, place, cell_ * (kCellsPerAxis / 2)));
  LATTICE_ASSERT(strays_.empty());
  strays_.push_back(slot);
  // A stray that is put again lies inside the cube of its leaf, so it does not stray again: this ends.
  while (!strays_.empty()) {
    const uint32_t next = strays_.back();
    strays_.pop_back();
    descend(root_of(room), next);
  }
}

void InterestTree::descend(uint32_t root, uint32_t slot) {
  uint32_t node = root;
  ++nodes_[node].count;
  while (nodes_[node].children != kNone) {
    node = nodes_[node].children + octant(node, places_[slot]);
    ++nodes_[node].count;
  }
  put(node, slot);
  // All objects of a leaf may lie in one octant, so its child may have to be split as well.
  while (nodes_[node].count > kSplit && nodes_[node].half > cell_ / 2) {
    evict_strays(node);
    if (nodes_[node].count <= kSplit) return;
    split(node);
    node = nodes_[node].children + octant(node, places_[slot]);
  }
}

// Takes out the objects of a leaf that lie outside its cube. The loose bounds of the leaf hold them, those of
// its children would not.
void InterestTree::evict_strays(uint32_t leaf) {
  const Node& node = nodes_[leaf];
  buckets_.for_each(node.bucket, [&](uint32_t slot) {
    if (!holds(node, places_[slot], node.half)) strays_.push_back(slot);
  });
  for (const uint32_t slot : strays_) {
    if (buckets_.bucket_of(slot) != node.bucket) continue;  // an earlier stray, which waits for its place
    buckets_.remove(slot);
    for (uint32_t above = leaf; above != kNone; above = nodes_[above].parent) --nodes_[above].count;
  }
}

// Moves the objects of a leaf's bucket to moving_ and gives the bucket back.
void InterestTree::empty_bucket(uint32_t leaf) {
  const uint32_t bucket = nodes_[leaf].bucket;
  if (bucket == kNone) return;
  const size_t first = moving_.size();
  buckets_.for_each(bucket, [this](uint32_t slot) { moving_.push_back(slot); });
  for (size_t i = first; i < moving_.size(); ++i) buckets_.remove(moving_[i]);
  buckets_.release(bucket);
  nodes_[leaf].bucket = kNone;
}

void InterestTree::split(uint32_t leaf) {
  moving_.clear();
  empty_bucket(leaf);
  const uint32_t group = make_group(leaf, nodes_[leaf].room);
  const Node parent = nodes_[leaf];
  const double half = parent.half / 2;
  for (uint32_t i = 0; i < 8; ++i) {
    nodes_[group + i].half = half;
    nodes_[group + i].centre = {parent.centre.x + (i & 4 ? half : -half),
                                parent.centre.y + (i & 2 ? half : -half),
                                parent.centre.z + (i & 1 ? half : -half)};
  }
  nodes_[leaf].children = group;
  for (const uint32_t slot : moving_) {
    const uint32_t child = group + octant(leaf, places_[slot]);
    ++nodes_[child].count;
    put(child, slot);
  }
}

// Moves every object below `node` to moving_ and frees the nodes below. At most kMaxDepth calls deep.
void InterestTree::gather(uint32_t node) {
  const uint32_t group = nodes_[node].children;
  if (group == kNone) {
    empty_bucket(node);
    return;
  }
  for (uint32_t i = 0; i < 8; ++i) gather(group + i);
  nodes_[node].children = kNone;
  free_groups_.push_back(group);
}

void InterestTree::merge(uint32_t node) {
  moving_.clear();
  gather(node);
  LATTICE_ASSERT(moving_.size() == nodes_[node].count);
  for (const uint32_t slot : moving_) put(node, slot);
}

void InterestTree::remove(uint32_t slot) {
  const uint32_t bucket = buckets_.bucket_of(slot);
  LATTICE_ASSERT(bucket != kNone);
  const uint32_t leaf = leaf_of_[bucket];
  buckets_.remove(slot);
  if (buckets_.size(bucket) == 0) {
    buckets_.release(bucket);
    nodes_[leaf].bucket = kNone;
  }
  uint32_t sparse = kNone;  // the highest node that has become sparse
  for (uint32_t node = leaf; node != kNone; node = nodes_[node].parent) {
    LATTICE_ASSERT(nodes_[node].count > 0);
    --nodes_[node].count;
    if (nodes_[node].count <= kMerge && nodes_[node].children != kNone) sparse = node;
  }
  if (sparse != kNone) merge(sparse);
}

void InterestTree::move(uint32_t slot, const Place& place) {
  const uint32_t bucket = buckets_.bucket_of(slot);
  LATTICE_ASSERT(bucket != kNone);
  const Node& leaf = nodes_[leaf_of_[bucket]];
  if (holds(leaf, place, 2 * leaf.half)) {
    places_[slot] = place;
    buckets_.set(slot, offset_in(leaf, place));
    return;
  }
  const uint16_t room = leaf.room;
  remove(slot);
  insert(slot, room, place);
}

template <class Visit>
void InterestTree::for_each_leaf(uint16_t room, const Shell& shell, IndexWork* work, Visit visit) const {
  const uint32_t root = roots_.find(room);
  if (root == base::HashIndex::kNone) return;
  std::array<uint32_t, size_t{7} * kMaxDepth + 8>
      waiting;  // seven brothers on each level, and the last eight
  size_t count = 0;
  waiting[count++] = root;
  while (count > 0) {
    const Node& node = nodes_[waiting[--count]];
    ++work->buckets_probed;
    if (node.count == 0) continue;
    if (!box_meets(node.centre, 2 * node.half, shell)) continue;
    if (node.children == kNone) {
      visit(node);
      continue;
    }
    LATTICE_ASSERT(count + 8 <= waiting.size());
    for (uint32_t i = 0; i < 8; ++i) waiting[count++] = node.children + i;
  }
}

void InterestTree::query(uint16_t room, const Shell& shell, std::vector<Found>* found,
                         IndexWork* work) const {
  for_each_leaf(room, shell, work, [&](const Node& leaf) {
    work->objects_visited += leaf.count;
    buckets_.find(leaf.bucket, offset_in(leaf, shell.centre), shell, found);
  });
}

}  // namespace lattice::replication
