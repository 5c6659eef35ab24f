// The bytes of a transfer that have not arrived: ranges in ascending order, none empty, no two touching.
//
//   missing   ├────────┤     ├──┤        ├───────────────────┤
//   a chunk         ├───────────────┤                            fills the end of one, all of another
//
// Must stay true: at most kMaxMissingRanges ranges. So a peer's chunks, however scattered, cost at most 32
// KB, and each chunk costs one short move of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transfer/byte_range.h"

namespace lattice::transfer {

class MissingRanges {
 public:
  /// All of a transfer of `size_bytes`, at least 1, is missing. Takes all the memory that will be needed.
  explicit MissingRanges(uint64_t size_bytes);

  bool empty() const { return ranges_.empty(); }
  size_t count() const { return ranges_.size(); }
  /// The first missing bytes within `range`; an empty range when none is missing.
  ByteRange first_within(const ByteRange& range) const;
  /// Whether fill(range) would keep the bound.
  bool can_fill(const ByteRange& range) const;
  /// Marks `range` as received; can_fill(range) must hold. Returns how many of its bytes were missing.
  uint64_t fill(const ByteRange& range);

 private:
  /// Index of the first missing range that ends behind `offset`.
  size_t first_behind(uint64_t offset) const;

  std::vector<ByteRange> ranges_;
};

}  // namespace lattice::transfer
