// At a client: the reliable RPCs that arrived on objects that are not here, because they have not spawned yet
// or have left. The count of an object goes on when it comes, and what its despawn waits for is counted from
// there (D-35).
//
// Bounded: kMaxObjects ids; the count that was begun first is forgotten first. A forgotten count only makes
// one despawn wait longer than needed (DespawnGate). An object that is here has no count here, so one that
// comes and goes takes no other's place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash_index.h"

namespace lattice::replication {

class RpcCounts {
 public:
  static constexpr size_t kMaxObjects = 4096;

  /// `id_seed`: as of the ObjectTable; the authority chooses the ids.
  explicit RpcCounts(uint64_t id_seed = 0);

  /// An RPC arrived on an object that is not here.
  void add(uint64_t network_id);
  /// An object leaves on which so many arrived. It has no count here yet.
  void keep(uint64_t network_id, uint32_t rpcs);
  /// Returns the object's count, or 0, and forgets it: the object has spawned.
  uint32_t take(uint64_t network_id);
  void clear();

 private:
  static constexpr uint32_t kNone = base::HashIndex::kNone;
  struct Count {
    uint64_t network_id = 0;
    uint32_t rpcs = 0;
    uint32_t before = kNone, after = kNone;  // the counts that were begun before and after it
  };
  void end(uint32_t index);

  std::vector<Count> counts_;  // with free ones between
  uint32_t first_ = kNone;     // begun before all others
  uint32_t last_ = kNone;
  uint32_t free_ = kNone;     // a list by Count::after
  base::HashIndex index_of_;  // network_id -> index in counts_
};

}  // namespace lattice::replication
