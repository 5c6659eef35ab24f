// Which objects changed, in order of time: one list for all recipients. Each recipient remembers how far it
// has read. Bounded: a recipient that falls too far behind looks at all of its objects instead.
//
// A change says whether the object had rested before. Most of what a recipient has rests, and only such a
// change concerns it.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace lattice::replication {

class ChangeLog {
 public:
  /// Makes room to remember `changes` changes at least. What was logged before is forgotten when it grows.
  void reserve(uint32_t changes) {
    if (changes <= slots_.size()) return;
    slots_.assign(std::bit_ceil(changes), 0);
    begin_ = end_;
  }
  /// Slots are below 2^31. `after_rest`: the object had not changed for a while.
  void add(uint32_t slot, bool after_rest = false) {
    LATTICE_ASSERT(!slots_.empty() && slot < kAfterRest);
    slots_[end_ & (slots_.size() - 1)] = slot | (after_rest ? kAfterRest : 0);
    ++end_;
    if (end_ - begin_ > slots_.size()) ++begin_;
  }

  /// The place behind the newest change.
  uint64_t end() const { return end_; }
  /// False when changes since `place` were forgotten.
  bool reaches(uint64_t place) const { return place >= begin_; }
  /// The object of the change at `place`, which must be reached.
  uint32_t at(uint64_t place) const { return slots_[place & (slots_.size() - 1)] & ~kAfterRest; }
  /// Whether that object had rested before the change.
  bool is_after_rest(uint64_t place) const { return (slots_[place & (slots_.size() - 1)] & kAfterRest) != 0; }

 private:
  static constexpr uint32_t kAfterRest = 1u << 31;

  std::vector<uint32_t> slots_;  // a ring of slots, each with or without kAfterRest
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace lattice::replication
