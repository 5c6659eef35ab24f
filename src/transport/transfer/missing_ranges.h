// The bytes of a transfer that have not arrived: ranges in ascending order, none empty, no two touching.
//
//   missing   ├────────┤     ├──┤        ├───────────────────┤
//   a chunk         ├───────────────┤                            fills the end of one, all of another
//
// Must stay true: at most kMaxMissingRanges of them, so that a peer's chunks, however scattered, cost 32 KB
// and one short move of memory each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/transfer/byte_range.h"

namespace lattice::transfer {

class MissingRanges {
 public:
  /// All of a transfer of `size_bytes`, at least 1. Takes all the memory it will ever need.
  explicit MissingRanges(uint64_t size_bytes);

  bool empty() const { return ranges_.empty(); }
  size_t count() const { return ranges_.size(); }
  /// The first missing bytes within `range`; an empty range when all of it is there.
  ByteRange first_within(const ByteRange& range) const;
  /// Whether fill(range) would keep the bound.
  bool can_fill(const ByteRange& range) const;
  /// All of `range` is there now; can_fill(range) holds. Returns how many bytes of it were missing.
  uint64_t fill(const ByteRange& range);

 private:
  /// Index of the first that ends behind `offset`.
  size_t first_behind(uint64_t offset) const;

  std::vector<ByteRange> ranges_;
};

}  // namespace lattice::transfer
