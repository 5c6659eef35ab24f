// The authority's quantized past: per object a ring of versions, made only when the words changed.
// Spec: §14.4, X-01, X-02, X-06; architecture "versions, not ticks".
//
// "State at tick T" is the newest version at or before T. Versions of one object are numbered 1, 2, 3 …
// without gaps (0 is the zero baseline), so equal numbers mean equal words. A client's acked state is
// compared by its version number, and an encoded entry is named by it. A static object costs nothing per
// tick.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replication/object_table.h"
#include "replication/snapshot_format.h"
#include "replication/state_ring.h"

namespace lattice::replication {

/// What every build asks about every object.
struct VersionSummary {
  uint32_t version = 0;       // newest, 0 before the first record()
  uint32_t full_version = 0;  // clients need an acked full entry of at least this version
  bool moving = false;        // a velocity member of the newest version is not zero (S-06)
};

class VersionHistory {
 public:
  /// Keeps the states of the last `history_ticks` ticks: 2 to kHistoryTicks.
  explicit VersionHistory(int32_t history_ticks = kHistoryTicks);

  /// Starts an object's history; its first version appears at the next record().
  void begin(uint32_t slot, const ObjectType& type);
  void end(uint32_t slot);

  /// Quantizes every live object that was marked written (or has no version yet), once, and adds a
  /// version where the words differ from the newest. `tick` must come after the last recorded one.
  /// Host values of types with round_host become what their words stand for (S-03). Returns how many
  /// objects changed.
  uint32_t record(ObjectTable& table, Tick tick);

  /// Makes clients receive the object's owner, mode and authority_tick again: the next record() adds a
  /// version even if the words are the same, and until a full entry of it is acked only full ones are sent.
  void announce(uint32_t slot) { objects_[slot].announced = true; }

  /// Number of the newest version, 0 before the first record().
  uint32_t version(uint32_t slot) const { return summaries_[slot].version; }
  const VersionSummary& summary(uint32_t slot) const { return summaries_[slot]; }
  /// Words of the newest version, or null before the first record().
  const uint64_t* current(uint32_t slot) const;
  /// Words of version `version`; for 0 the zero baseline. Null when no longer (or not yet) kept.
  const uint64_t* words(uint32_t slot, uint32_t version) const;
  /// The state at `tick`; null before the object's first version or beyond history_ticks back.
  const uint64_t* at_tick(uint32_t slot, Tick tick) const;
  /// Number of the version that is the state at `tick`, 0 when there is none.
  uint32_t version_at(uint32_t slot, Tick tick) const;
  /// A state so many ticks old is still kept, and the format can name it: a delta may refer to it.
  int32_t max_baseline_ticks() const { return std::min(history_ticks_, kMaxBaselineTicks); }

 private:
  struct Object {
    StateRing ring;
    const ObjectType* type = nullptr;
    bool announced = false;
  };
  void add_version(uint32_t slot, Tick tick, const uint64_t* words);
  void age(Tick tick);
  void validate(uint32_t slot) const;

  std::vector<Object> objects_;            // by slot
  std::vector<VersionSummary> summaries_;  // by slot: all that a build reads per object
  std::vector<uint64_t> scratch_;
  int32_t history_ticks_;
  Tick last_tick_ = 0;
  Tick aged_tick_ = 0;
};

}  // namespace lattice::replication
