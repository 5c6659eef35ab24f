// What changed since some place of the change log, as masks of groups of 32 slots. Clients of one send mostly
// ask for the same place, so they share the answer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "replication/block_cache.h"
#include "replication/change_log.h"

namespace lattice::replication {

class ChangedGroups {
 public:
  struct Group {
    uint32_t group = 0;
    uint32_t mask = 0;  // bit i: slot 32 * group + i
  };

  struct Changes {
    uint64_t begin = 0;  // places in the change log
    uint64_t end = 0;
    std::vector<Group> groups;    // in no order
    std::vector<uint32_t> masks;  // by group
    std::vector<uint32_t> woken;  // slots that changed after a rest, in no order; some repeat
    size_t objects = 0;           // how many changed

    /// What changed of a group. Any number may be asked about.
    uint32_t mask_of(uint32_t group) const { return group < masks.size() ? masks[group] : 0; }
    /// True when an object changed. Any number may be asked about.
    bool holds(uint32_t slot) const { return (mask_of(slot >> kGroupBits) >> slot % kGroupSlots & 1) != 0; }
  };

  explicit ChangedGroups(const ChangeLog& changes) : changes_(changes) {}

  /// The changes from `place`, which the log must reach, to its end. Valid until the next call.
  const Changes& since(uint64_t place);

 private:
  static constexpr size_t kKept = 4;  // answers; clients of a turn ask for few places
  const ChangeLog& changes_;
  std::array<Changes, kKept> answers_;
  size_t next_ = 0;  // the answer that makes way
};

}  // namespace lattice::replication
