// The authority's past states: a ring of quantized versions per object. A version is made only when the words
// changed.
// Spec: §14.4, X-01, X-02, X-06; architecture "versions, not ticks".
//
// The state at tick T is the newest version at or before T. Versions of one object are numbered 1, 2, 3 …
// without gaps (0 is the zero baseline), so equal numbers mean equal words. The version number serves to
// compare a client's acked state, and to name an encoded entry. An object that does not change costs nothing
// per tick.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replication/object_table.h"
#include "replication/snapshot_format.h"
#include "replication/state_ring.h"

namespace lattice::replication {

/// The values of one object that every build reads.
struct VersionSummary {
  uint32_t version = 0;       // the newest version; 0 before the first record()
  uint32_t full_version = 0;  // clients need an acked full entry of at least this version
  bool moving = false;        // a velocity member of the newest version is not zero (S-06)
};

class VersionHistory {
 public:
  /// Keeps the states of the last `history_ticks` ticks: 2 to kHistoryTicks.
  explicit VersionHistory(int32_t history_ticks = kHistoryTicks);

  /// Starts the history of an object. The next record() adds the first version.
  void begin(uint32_t slot, const ObjectType& type);
  void end(uint32_t slot);

  /// Quantizes every live object that was marked as written or has no version yet, and adds a version where
  /// the words differ from the newest version. `tick` must come after the last recorded tick. Host values of
  /// types with round_host are rounded to the values of their words (S-03). Returns how many objects got a
  /// version.
  uint32_t record(ObjectTable& table, Tick tick);

  /// Makes clients receive the object's owner, mode and authority_tick again. The next record() adds a
  /// version even if the words are the same. Until a client has acked a full entry of that version, it gets
  /// full entries only.
  void announce(uint32_t slot) { objects_[slot].announced = true; }

  /// The number of the newest version; 0 before the first record().
  uint32_t version(uint32_t slot) const { return summaries_[slot].version; }
  const VersionSummary& summary(uint32_t slot) const { return summaries_[slot]; }
  /// The words of the newest version; null before the first record().
  const serialization::Word* current(uint32_t slot) const;
  /// The words of version `version`; for 0 the zero baseline. Null when the version is no longer kept or not
  /// made yet.
  const serialization::Word* words(uint32_t slot, uint32_t version) const;
  /// The state at `tick`. Null before the object's first version, and when `tick` is more than history_ticks
  /// ago.
  const serialization::Word* at_tick(uint32_t slot, Tick tick) const;
  /// The number of the version that is the state at `tick`; 0 when there is none.
  uint32_t version_at(uint32_t slot, Tick tick) const;
  /// The oldest age of a state to which a delta may refer: the history keeps such a state, and the format can
  /// name it.
  int32_t max_baseline_ticks() const { return std::min(history_ticks_, kMaxBaselineTicks); }

 private:
  struct Object {
    StateRing ring;
    const ObjectType* type = nullptr;
    bool announced = false;
  };
  void add_version(uint32_t slot, Tick tick, const serialization::Word* words);
  void age(Tick tick);
  void validate(uint32_t slot) const;

  std::vector<Object> objects_;            // by slot
  std::vector<VersionSummary> summaries_;  // by slot: all that a build reads of an object
  std::vector<serialization::Word> scratch_;
  int32_t history_ticks_;
  Tick last_tick_ = 0;
  Tick aged_tick_ = 0;
};

}  // namespace lattice::replication
