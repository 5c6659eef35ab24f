// See buckets.h.
#include "replication/interest/buckets.h"

#include "base/compiler.h"

namespace lattice::replication {

uint32_t Buckets::make() {
  if (!free_buckets_.empty()) {
    const uint32_t bucket = free_buckets_.back();
    free_buckets_.pop_back();
    return bucket;
  }
  buckets_.emplace_back();
  free_buckets_.reserve(buckets_.capacity());
  return static_cast<uint32_t>(buckets_.size() - 1);
}

void Buckets::release(uint32_t bucket) {
  LATTICE_ASSERT(buckets_[bucket].size == 0);
  LATTICE_ASSERT(buckets_[bucket].first_block == kNone);
  free_buckets_.push_back(bucket);
}

uint32_t Buckets::take_block() {
  if (free_block_ != kNone) {
    const uint32_t block = free_block_;
    free_block_ = blocks_[block].next;
    return block;
  }
  blocks_.emplace_back();
  return static_cast<uint32_t>(blocks_.size() - 1);
}

void Buckets::add(uint32_t bucket, uint32_t slot, Offset offset) {
  LATTICE_ASSERT(bucket_of(slot) == kNone);
  if (slot >= locators_.size()) locators_.resize(size_t{slot} + 1);
  uint32_t first = buckets_[bucket].first_block;
  if (first == kNone || blocks_[first].count == kBlockEntries) {
    const uint32_t block = take_block();
    blocks_[block].next = first;
    blocks_[block].count = 0;
    buckets_[bucket].first_block = block;
    first = block;
  }
  locators_[slot] = {bucket, first, blocks_[first].count++};
  blocks_[first].slot[locators_[slot].entry] = slot;
  ++buckets_[bucket].size;
  set(slot, offset);
  validate(bucket);
}

// The last entry of the first block fills the gap.
void Buckets::remove(uint32_t slot) {
  LATTICE_ASSERT(bucket_of(slot) != kNone);
  const Locator hole = locators_[slot];
  Bucket& bucket = buckets_[hole.bucket];
  const uint32_t first = bucket.first_block;
  Block& source = blocks_[first];
  const uint32_t last = --source.count;
  const uint32_t mover = source.slot[last];
  if (mover != slot) {
    Block& target = blocks_[hole.block];
    target.x[hole.entry] = source.x[last];
    target.y[hole.entry] = source.y[last];
    target.z[hole.entry] = source.z[last];
    target.slot[hole.entry] = mover;
    locators_[mover] = hole;
  }
  if (source.count == 0) {
    bucket.first_block = source.next;
    source.next = free_block_;
    free_block_ = first;
  }
  locators_[slot] = Locator{};
  --bucket.size;
  validate(hole.bucket);
}

void Buckets::set(uint32_t slot, Offset offset) {
  LATTICE_ASSERT(bucket_of(slot) != kNone);
  const Locator& at = locators_[slot];
  Block& block = blocks_[at.block];
  block.x[at.entry] = offset.x;
  block.y[at.entry] = offset.y;
  block.z[at.entry] = offset.z;
}

// The distances of a whole block come first, also those of its free entries: eight at once cost as much as
// two.
void Buckets::find(uint32_t bucket, const Offset& from, const Shell& shell, std::vector<Found>* found) const {
  const auto inner = static_cast<float>(shell.inner * shell.inner);
  const auto outer = static_cast<float>(shell.outer * shell.outer);
  for (uint32_t b = buckets_[bucket].first_block; b != kNone; b = blocks_[b].next) {
    const Block& block = blocks_[b];
    if (block.next != kNone) base::prefetch(&blocks_[block.next], sizeof(Block));
    std::array<float, kBlockEntries> squared;
    for (uint32_t i = 0; i < kBlockEntries; ++i) {
      const float dx = block.x[i] - from.x;
      const float dy = block.y[i] - from.y;
      const float dz = block.z[i] - from.z;
      squared[i] = dx * dx + dy * dy + dz * dz;
    }
    for (uint32_t i = 0; i < block.count; ++i) {
      if (squared[i] >= inner && squared[i] <= outer) found->push_back({block.slot[i], squared[i]});
    }
  }
}

void Buckets::validate([[maybe_unused]] uint32_t bucket) const {
#if defined(LATTICE_VALIDATION)
  // Crowded buckets are checked at their first block only, or filling one would be quadratic.
  const Bucket& checked = buckets_[bucket];
  LATTICE_ASSERT((checked.size == 0) == (checked.first_block == kNone));
  if (checked.size == 0) return;
  const Block& first = blocks_[checked.first_block];
  LATTICE_ASSERT(first.count >= 1 && first.count <= kBlockEntries);
  LATTICE_ASSERT(checked.size % kBlockEntries == first.count % kBlockEntries);
  for (uint32_t i = 0; i < first.count; ++i) {
    LATTICE_ASSERT(locators_[first.slot[i]].block == checked.first_block);
    LATTICE_ASSERT(locators_[first.slot[i]].entry == i);
  }
#endif
}

}  // namespace lattice::replication
