// Inputs and arguments of calls whose values did not fit: out of range, NaN, an unknown enum value. The other
// side gets the nearest values (Y-05, Y-09), and the game should hear of it, because nothing else shows. The
// states of objects have the ClampLog of their store.
//
// Bound: a member of a structure is told once, so no more is kept than all structures have members.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "serialization/layout.h"
#include "world/observer.h"

namespace lattice::world {

class ClampedArguments {
 public:
  explicit ClampedArguments(Observer& observer) : observer_(observer) {}

  /// Layout::quantize() of `host` with `layout`, which lives as long as this, was false. Counts the members
  /// that do not fit, and tells the first value of each. `rpc_id` is empty for an input.
  void note(const serialization::Layout& layout, const void* host, std::optional<uint16_t> rpc_id);
  /// How many values did not fit.
  uint64_t values() const { return values_; }

 private:
  Observer& observer_;
  std::vector<const serialization::LayoutNode*> told_;
  std::vector<serialization::Word> scratch_;
  uint64_t values_ = 0;
};

}  // namespace lattice::world
