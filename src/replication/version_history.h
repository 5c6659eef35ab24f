// The authority's quantized past: per object a ring of versions, made only when the words changed.
// Spec: §14.4, X-01, X-02, X-06; architecture "versions, not ticks".
//
// "State at tick T" is the newest version at or before T. Versions of one object are numbered 1, 2, 3 …
// without gaps (0 is the zero baseline), so equal numbers mean equal words: that is what a client's
// acked state is compared by, and what names an encoded entry. A static object costs nothing per tick.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/object_table.h"
#include "replication/state_ring.h"

namespace lattice::replication {

inline constexpr int32_t kHistoryTicks = 64;      // retained
inline constexpr int32_t kMaxBaselineTicks = 60;  // oldest baseline that may be referenced
static_assert(kMaxBaselineTicks < kHistoryTicks);

class VersionHistory {
 public:
  explicit VersionHistory(uint32_t max_objects);

  /// Starts an object's history; its first version appears at the next record().
  void begin(uint32_t slot, const ObjectType& type);
  void end(uint32_t slot);

  /// Quantizes every live object that was marked written (or has no version yet), once, and adds a
  /// version where the words differ from the newest. `tick` must come after the last recorded one.
  /// Host values of types with round_host become what their words stand for (S-03). Returns how many
  /// objects changed.
  uint32_t record(ObjectTable& table, Tick tick);

  /// Makes clients receive the object's owner, mode and authority_tick again: a new version with the
  /// same words, before which no client's knowledge counts as complete. `tick` as in record(); calling
  /// it between two records is legal.
  void announce(uint32_t slot, Tick tick);

  /// Number of the newest version, 0 before the first record().
  uint32_t version(uint32_t slot) const { return objects_[slot].version; }
  /// A client must have acked a full entry of at least this version before deltas make sense.
  uint32_t full_version(uint32_t slot) const { return objects_[slot].full_version; }
  /// True while a velocity member of the newest version is not zero (S-06).
  bool moving(uint32_t slot) const { return objects_[slot].moving; }
  /// Words of the newest version, or null before the first record().
  const uint64_t* current(uint32_t slot) const;
  /// Words of version `version`; for 0 the zero baseline. Null when no longer (or not yet) kept.
  const uint64_t* words(uint32_t slot, uint32_t version) const;
  /// The state at `tick`; null before the object's first version or beyond 64 ticks back.
  const uint64_t* at_tick(uint32_t slot, Tick tick) const;
  /// Number of the version that is the state at `tick`, 0 when there is none.
  uint32_t version_at(uint32_t slot, Tick tick) const;

 private:
  struct Object {
    StateRing ring;
    const ObjectType* type = nullptr;
    uint32_t version = 0;
    uint32_t full_version = 0;
    bool moving = false;
  };
  void add_version(Object& object, Tick tick, const uint64_t* words);
  void validate(const Object& object) const;

  std::vector<Object> objects_;  // by slot
  std::vector<uint64_t> scratch_;
  Tick last_tick_ = 0;
};

}  // namespace lattice::replication
