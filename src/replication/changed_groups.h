// What changed since some place of the change log, as masks of groups of 32 slots. Clients of one send mostly
// ask for the same place, so they share the answer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

  explicit ChangedGroups(const ChangeLog& changes) : changes_(changes) {}

  /// The groups with changes from `place`, which the log must reach, to its end; in no order. Valid until the
  /// next call.
  std::span<const Group> since(uint64_t place);

 private:
  static constexpr size_t kKept = 4;  // answers; clients of a turn ask for few places
  struct Answer {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::vector<Group> groups;
  };

  const ChangeLog& changes_;
  std::array<Answer, kKept> answers_;
  size_t next_ = 0;              // the answer that makes way
  std::vector<uint32_t> place_;  // by group: in the answer that is being made
};

}  // namespace lattice::replication
