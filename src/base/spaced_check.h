// Validation builds look at a whole structure after each change. Of a large one that would be quadratic, so
// there a look waits until enough changes have paid for it.
#pragma once

#include <cstddef>

namespace lattice::base {

class SpacedCheck {
 public:
  /// Call it with each change. True when a look at all `items` items is due. Up to 128 items, that is always
  /// so.
  bool is_due(size_t items) {
    constexpr size_t kItemsPerChange = 128;
    paid_ += kItemsPerChange;
    if (paid_ < items) return false;
    paid_ = 0;
    return true;
  }

 private:
  size_t paid_ = 0;
};

}  // namespace lattice::base
