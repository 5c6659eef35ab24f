// The objects whose relevance changed, in order. Every client reads on from where it stopped, so a change
// costs each client one look and the rest of the world nothing. The log keeps the last kCapacity changes: a
// client that has fallen behind considers everything anew.
#pragma once

#include <array>
#include <cstdint>

#include "base/assert.h"

namespace lattice::replication {

class RuleChanges {
 public:
  static constexpr uint64_t kCapacity = 4096;

  void add(uint32_t slot) { slots_[end_++ % kCapacity] = slot; }
  /// The number of the change that comes next.
  uint64_t end() const { return end_; }
  /// True when every change from number `from` on is still here.
  bool holds(uint64_t from) const { return end_ - from <= kCapacity; }
  /// The change with a number that the log holds, below end().
  uint32_t at(uint64_t number) const {
    LATTICE_ASSERT(number < end_ && holds(number));
    return slots_[number % kCapacity];
  }

 private:
  std::array<uint32_t, kCapacity> slots_{};
  uint64_t end_ = 0;
};

}  // namespace lattice::replication
