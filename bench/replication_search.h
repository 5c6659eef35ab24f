// The largest crowd that a server carries, by trying.
#pragma once

#include <cstdint>
#include <functional>

namespace bench {

/// Remembers what it found: the next search begins there, with smaller steps.
class LargestCrowd {
 public:
  LargestCrowd(uint32_t first, uint32_t least, uint32_t most) : guess_(first), least_(least), most_(most) {}

  /// The largest number of clients, within 3 %, for which `carries` says yes; 0 when not even the least is
  /// carried. Goes away from the guess until the answer changes, then halves what is left.
  double largest(const std::function<bool(uint32_t clients)>& carries);

 private:
  double guess_, least_, most_;
  bool found_ = false;
};

}  // namespace bench
