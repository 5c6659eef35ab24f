// Which members had values that did not fit: out of range, NaN, an unknown enum value. Such a value is
// clamped on its way to the clients, and the game should hear of it, because nothing else shows. Spec: Y-05,
// Y-09.
//
// Bound: a member of a type is reported once, so there are never more reports than members.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sequence.h"
#include "replication/object_type.h"

namespace lattice::replication {

/// The first clamped value of one member of a type.
struct ClampReport {
  uint32_t slot = 0;
  uint16_t prop_id = 0;  ///< (behaviour << 8) | member
  base::Tick tick = 0;
};

class ClampLog {
 public:
  /// Makes room for the reports of a type. To be called before count() with that type; again does nothing.
  void add_type(const ObjectType& type);
  /// Counts the members of one object whose values do not fit. `words` is room for one state of the type: the
  /// words of those values are written there, as Layout::quantize() writes them.
  void count(const ObjectType& type, uint32_t slot, base::Tick tick, const void* const* host,
             serialization::Word* words);

  /// How many values were clamped: members are counted, once for each object and tick.
  uint64_t values() const { return values_; }
  /// The reports since clear_reports().
  std::span<const ClampReport> reports() const { return reports_; }
  void clear_reports() { reports_.clear(); }

 private:
  // By ObjectType::index, then by member, behaviour after behaviour: 1 once the member was reported.
  std::vector<std::vector<uint8_t>> reported_;
  std::vector<ClampReport> reports_;
  uint64_t values_ = 0;
};

}  // namespace lattice::replication
