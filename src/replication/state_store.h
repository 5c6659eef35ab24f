// The authority's states: the quantized versions of every object, which objects were written, and which
// changed. Spec: §14.4, X-01, X-06, D-15, D-26.
//
// Who writes an object announces it: mark(). record() looks at the objects that were marked, and at no other.
// It makes a version where the words differ from the newest one. So an object at rest costs nothing per tick.
// Host values become versions only of objects that this side writes (I5).
//
// The state at tick T is the newest version at or before T. Versions of one object are numbered 1, 2, 3 …
// without gaps (0 is the zero baseline), so equal numbers mean equal words.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/compiler.h"
#include "replication/change_log.h"
#include "replication/clamp_log.h"
#include "replication/keep_ticks.h"
#include "replication/object_table.h"
#include "replication/pinned_versions.h"
#include "replication/snapshot_format.h"
#include "replication/version_ring.h"

namespace lattice::replication {

inline constexpr int32_t kHistoryTicks = 64;  // every state of so many ticks is kept

/// An object that did not change for so many ticks rests (ChangeLog::is_after_rest()).
inline constexpr int32_t kRestTicks = 8;

/// The values of one object that every build reads.
struct StateSummary {
  uint32_t version = 0;           // the newest version; 0 before the first record()
  uint32_t full_version = 0;      // clients need an acked full entry of at least this version
  Tick tick = 0;                  // of the newest version
  bool moves_for_owner = false;   // a client that draws the newest version would extrapolate it (S-06)
  bool moves_for_others = false;  // likewise one that does not own the object
};

/// Hears of a write that was not announced: in validation builds record() looks at all objects.
class UnannouncedWrites {
 public:
  virtual ~UnannouncedWrites() = default;
  /// `words` are what the host values are now, and `recorded` what they were when they were recorded last.
  virtual void on_unannounced_write(uint32_t slot, Tick tick, const Word* recorded, const Word* words) = 0;
};

class StateStore {
 public:
  /// Keeps the states of the last `history_ticks` ticks, 2 to kHistoryTicks, and those of `keep`.
  explicit StateStore(int32_t history_ticks = kHistoryTicks, KeepTicks keep = {});

  /// Starts the versions of an object. It counts as written.
  void begin(uint32_t slot, const ObjectType& type);
  /// Starts the versions of an object that both sides placed: `words` are version 1, which every client has
  /// from the start. Their host values are already in the table. Call it for slots 0, 1, 2 …, before any
  /// begin().
  void place(uint32_t slot, const ObjectType& type, const Word* words);
  /// Slots below this number are those of placed objects.
  uint32_t placed_count() const { return static_cast<uint32_t>(placed_first_.size()); }
  bool is_placed(uint32_t slot) const { return slot < placed_count(); }
  /// True for a baseline that a client can only have from this session: not for none, nor for what was
  /// placed.
  bool was_told(uint32_t slot, uint32_t version) const {
    return version != 0 && !(version == 1 && is_placed(slot));
  }
  /// A live placed object that is still as it was placed: no client needs to hear of it.
  bool is_untouched(uint32_t slot) const { return is_placed(slot) && summaries_[slot].version == 1; }
  void end(uint32_t slot);

  /// Announces that the host values of the object may have changed, or will before the next record(). Wakes
  /// it.
  void mark(uint32_t slot);
  /// The object is compared with the next record(), also where it sleeps already. After that it is not, until
  /// mark() wakes it, whatever its type.
  void sleep(uint32_t slot);
  bool asleep(uint32_t slot) const { return objects_[slot].asleep; }
  /// Quantizes every object that was marked, is new, or is awake and of a type that is always compared, and
  /// adds a version where the words differ from the newest one. An object with another writer gets its first
  /// version so, and then keeps its words. `tick` must come after the last recorded tick. Host values of
  /// types with round_host are rounded to the values of their words (S-03). Returns how many objects got a
  /// version.
  uint32_t record(ObjectTable& table, Tick tick);

  /// Makes clients receive the object's owner, mode and authority again. The next record() adds a
  /// version even if the words are the same. Until a client has acked a full entry of that version, it gets
  /// full entries only.
  void announce(uint32_t slot);

  /// The number of the newest version; 0 before the first record().
  uint32_t version(uint32_t slot) const { return summaries_[slot].version; }
  const StateSummary& summary(uint32_t slot) const { return summaries_[slot]; }
  /// The words of the newest version; null before the first record().
  const Word* current(uint32_t slot) const;
  /// The words of version `version`; for 0 the zero baseline. Null when the version is no longer kept or not
  /// made yet. Version 1 of a placed object is always kept.
  const Word* words(uint32_t slot, uint32_t version) const;

  /// Fetch what words() and current() read into the cache, and then the words. Only hints.
  void prefetch(uint32_t slot) const { base::prefetch(&objects_[slot].ring); }
  void prefetch_words(uint32_t slot, uint32_t version) const {
    base::prefetch(current(slot));
    if (version != 0) base::prefetch(objects_[slot].ring.find(version));
  }
  /// After prefetch(): the words of so many ticks ago, if the object changes in each tick, and the newest.
  void prefetch_words_of(uint32_t slot, Tick ticks_ago) const { objects_[slot].ring.prefetch_at(ticks_ago); }

  /// Keeps the newest version for words() until the last holder lets it go. All who pin one version share it.
  std::shared_ptr<const PinnedVersion> pin(uint32_t slot);

  /// The newest version at or before `tick` of an object with a version. See VersionRing::version_at().
  VersionRing::Version version_at(uint32_t slot, Tick tick) const {
    return objects_[slot].ring.version_at(tick);
  }

  const ChangeLog& changes() const { return changes_; }
  /// The newest tick that was recorded; 0: none yet.
  Tick last_tick() const { return last_tick_; }
  /// The objects whose owner, mode or authority has to be sent again.
  const ChangeLog& announced() const { return announced_; }
  const KeepTicks& keep_ticks() const { return keep_; }
  /// The state of every tick so long ago is here.
  uint32_t history_ticks() const { return static_cast<uint32_t>(history_ticks_); }
  /// What record() had to clamp, because it did not fit its member.
  const ClampLog& clamps() const { return clamps_; }
  void clear_clamp_reports() { clamps_.clear_reports(); }
  /// Objects that record() compared, in all.
  uint64_t compared() const { return compared_; }
  /// Bytes that all versions take.
  uint64_t allocated_bytes() const { return pool_.allocated_bytes(); }
  /// Null ends the reports. Only validation builds make any.
  void set_unannounced_writes(UnannouncedWrites* handler) { unannounced_ = handler; }

 private:
  struct Object {
    VersionRing ring;
    bool marked = false;
    bool announced = false;
    bool in_grown = false;
    bool asleep = false;
    uint32_t always_place = 0;  // in always_, if it is there
  };
  void begin_unmarked(uint32_t slot, const ObjectType& type);
  bool record_one(ObjectTable& table, uint32_t slot, Tick tick);
  void take_words(ObjectTable& table, uint32_t slot, Tick tick);
  void add_version(uint32_t slot, Tick tick, const Word* words);
  void compare_always(uint32_t slot);
  void compare_when_marked(uint32_t slot);
  void shrink_resting(Tick tick);
  void age(Tick tick);
  void find_unannounced(ObjectTable& table, Tick tick);

  int32_t history_ticks_;
  KeepTicks keep_;
  StatePool pool_;
  std::vector<Object> objects_;          // by slot
  std::vector<StateSummary> summaries_;  // by slot: all that a build reads of an object
  std::vector<uint32_t> marked_;
  std::vector<uint32_t> always_;  // objects that are awake, of types that are always compared
  std::vector<uint32_t> grown_;   // objects with memory for more than one version
  uint32_t next_grown_ = 0;       // the next that shrink_resting() looks at
  std::vector<Word> scratch_;
  std::vector<Word> placed_words_;      // version 1 of the placed objects
  std::vector<uint32_t> placed_first_;  // by slot: in placed_words_
  PinnedVersions pinned_;
  ChangeLog changes_;
  ChangeLog announced_;
  ClampLog clamps_;
  UnannouncedWrites* unannounced_ = nullptr;
  size_t next_unannounced_ = 0;  // in ascending order of ids
  uint64_t compared_ = 0;
  Tick last_tick_ = 0;
  Tick aged_tick_ = 0;
};

}  // namespace lattice::replication
