// The bytes of a transfer between two offsets.
#pragma once

#include <cstdint>

namespace lattice::transfer {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;  ///< Not included.

  uint64_t bytes() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace lattice::transfer
