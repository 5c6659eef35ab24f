// Counts the reliable RPCs that arrived for objects that have not spawned here yet. When such an object
// spawns, these RPCs count towards those that its despawn waits for (D-35).
//
// Bounded: kMaxObjects ids; the oldest count is forgotten first. A forgotten count only makes one despawn
// wait longer than needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::replication {

class EarlyRpcs {
 public:
  static constexpr size_t kMaxObjects = 256;

  void add(uint64_t network_id);
  /// Returns the object's count and forgets it: the object has spawned.
  uint32_t take(uint64_t network_id);
  void clear() { *this = EarlyRpcs(); }

 private:
  struct Count {
    uint64_t network_id = 0;  // 0: free
    uint32_t rpcs = 0;
  };
  Count* find(uint64_t network_id);

  std::array<Count, kMaxObjects> counts_{};
  size_t oldest_ = 0;
  size_t held_ = 0;  // counts that are not free
};

}  // namespace lattice::replication
