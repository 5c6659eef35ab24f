// How many reliable RPCs arrived for objects that are not here yet. When such an object spawns, they count
// towards the RPCs its despawn waits for (D-35).
//
// Bounded: kMaxObjects ids; the oldest is forgotten first. A forgotten count makes one despawn wait longer
// than it had to, nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lattice::replication {

class EarlyRpcs {
 public:
  static constexpr size_t kMaxObjects = 256;

  void add(uint64_t network_id);
  /// The object's count, which is forgotten: the object is here now.
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
};

}  // namespace lattice::replication
