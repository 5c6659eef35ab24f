#include "transfer/missing_ranges.h"

#include <algorithm>

#include "base/assert.h"
#include "transfer/transfer_limits.h"

namespace lattice::transfer {

MissingRanges::MissingRanges(uint64_t size_bytes) {
  LATTICE_ASSERT(size_bytes != 0);
  // Each chunk adds at most one range, and only the last chunk may be shorter than kMinChunkBytes.
  const uint64_t chunks = size_bytes / wire::kMinChunkBytes + 1;
  ranges_.reserve(static_cast<size_t>(std::min<uint64_t>(kMaxMissingRanges, chunks)));
  ranges_.push_back({0, size_bytes});
}

size_t MissingRanges::first_behind(uint64_t offset) const {
  const auto found = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [offset](const ByteRange& range) { return range.end <= offset; });
  return static_cast<size_t>(found - ranges_.begin());
}

ByteRange MissingRanges::first_within(const ByteRange& range) const {
  const size_t at = first_behind(range.begin);
  if (at == ranges_.size() || ranges_[at].begin >= range.end) return {range.end, range.end};
  return {std::max(ranges_[at].begin, range.begin), std::min(ranges_[at].end, range.end)};
}

bool MissingRanges::can_fill(const ByteRange& range) const {
  if (ranges_.size() < kMaxMissingRanges) return true;
  const size_t at = first_behind(range.begin);
  const bool splits = at != ranges_.size() && ranges_[at].begin < range.begin && ranges_[at].end > range.end;
  return !splits;
}

uint64_t MissingRanges::fill(const ByteRange& range) {
  LATTICE_ASSERT(!range.empty() && can_fill(range));
  size_t at = first_behind(range.begin);
  if (at == ranges_.size() || ranges_[at].begin >= range.end) return 0;
  uint64_t filled_bytes = 0;
  if (ranges_[at].begin < range.begin) {
    const ByteRange whole = ranges_[at];
    ranges_[at].end = range.begin;
    ++at;
    if (whole.end > range.end) {
      ranges_.insert(ranges_.begin() + static_cast<ptrdiff_t>(at), {range.end, whole.end});
      return range.bytes();
    }
    filled_bytes = whole.end - range.begin;
  }
  size_t covered = at;
  while (covered != ranges_.size() && ranges_[covered].end <= range.end) {
    filled_bytes += ranges_[covered].bytes();
    ++covered;
  }
  if (covered != ranges_.size() && ranges_[covered].begin < range.end) {
    filled_bytes += range.end - ranges_[covered].begin;
    ranges_[covered].begin = range.end;
  }
  ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(at),
                ranges_.begin() + static_cast<ptrdiff_t>(covered));
  return filled_bytes;
}

}  // namespace lattice::transfer
