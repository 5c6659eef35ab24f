// A named array of event counters indexed by an enumeration: how refusals are counted by reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::base {

/// `Reason` is an enum class with contiguous values from 0; `N` is how many there are.
template <class Reason, size_t N>
class Counters {
 public:
  void add(Reason reason, uint64_t count = 1) { values_[static_cast<size_t>(reason)] += count; }
  uint64_t get(Reason reason) const { return values_[static_cast<size_t>(reason)]; }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const uint64_t value : values_) sum += value;
    return sum;
  }
  void clear() { values_ = {}; }
  static constexpr size_t size() { return N; }

  friend bool operator==(const Counters&, const Counters&) = default;

 private:
  std::array<uint64_t, N> values_{};
};

}  // namespace lattice::base
