// Which objects lie in which bucket of a spatial index, and where in the bucket. Offsets of one bucket lie
// next to each other in memory, because a query reads all of them and an index is larger than the cache.
//
// True at all times: a slot is in at most one bucket. Only the first block of a bucket may have free entries.
//
// Memory: 12 bytes for each slot up to the highest, 136 for each block of eight entries. There are at most as
// many blocks as objects. Freed blocks and buckets are used again before new ones are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "replication/interest/spatial_index.h"

namespace lattice::replication {

/// A place relative to the centre of its bucket, so that a float is exact enough.
struct Offset {
  float x = 0;
  float y = 0;
  float z = 0;
};

class Buckets {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// An empty bucket.
  uint32_t make();
  /// Takes back a bucket, which must be empty.
  void release(uint32_t bucket);

  /// Puts `slot`, which is in no bucket, into one.
  void add(uint32_t bucket, uint32_t slot, Offset offset);
  /// Takes `slot` out of its bucket.
  void remove(uint32_t slot);
  /// Moves `slot` inside its bucket.
  void set(uint32_t slot, Offset offset);

  /// The bucket of `slot`, or kNone.
  uint32_t bucket_of(uint32_t slot) const { return slot < locators_.size() ? locators_[slot].bucket : kNone; }
  uint32_t size(uint32_t bucket) const { return buckets_[bucket].size; }
  /// Blocks in memory, used and free. For tests of bounds.
  size_t block_count() const { return blocks_.size(); }

  /// Appends to `found` the objects of the bucket that lie in `shell`, whose centre has the offset `from`.
  void find(uint32_t bucket, const Offset& from, const Shell& shell, std::vector<Found>* found) const;
  /// Calls visit(slot) for each object of the bucket. `visit` must not change the bucket.
  template <class Visit>
  void for_each(uint32_t bucket, Visit visit) const {
    for (uint32_t b = buckets_[bucket].first_block; b != kNone; b = blocks_[b].next) {
      const Block& block = blocks_[b];
      for (uint32_t i = 0; i < block.count; ++i) visit(block.slot[i]);
    }
  }

 private:
  static constexpr uint32_t kBlockEntries = 8;

  struct Block {
    std::array<float, kBlockEntries> x;
    std::array<float, kBlockEntries> y;
    std::array<float, kBlockEntries> z;
    std::array<uint32_t, kBlockEntries> slot;
    uint32_t next = kNone;
    uint32_t count = 0;
  };
  struct Bucket {
    uint32_t first_block = kNone;
    uint32_t size = 0;
  };
  struct Locator {
    uint32_t bucket = kNone;
    uint32_t block = 0;
    uint32_t entry = 0;
  };

  uint32_t take_block();
  void validate(uint32_t bucket) const;

  std::vector<Bucket> buckets_;
  std::vector<uint32_t> free_buckets_;
  std::vector<Block> blocks_;
  uint32_t free_block_ = kNone;    // a chain through Block::next
  std::vector<Locator> locators_;  // by slot
};

}  // namespace lattice::replication
