// What happened between two frames, as one array per kind, so that a game asks nothing per object.
//
// The arrays are the difference between two frames: an object that came and went between them is in none.
// While a frame is shown, the next one is collected. Each array has at most one entry per object, and the
// room of both is kept, so a world at rest in its size allocates nothing.
//
// Nothing is collected before start(): a world without frames pays nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "lattice/frame.h"
#include "replication/despawn_reason.h"
#include "replication/object_table.h"
#include "simulation/tick_time.h"

namespace lattice::world {

lattice_despawn_reason public_reason(replication::DespawnReason reason);

/// Which members differ, in the form of lattice_frame_object.
uint64_t frame_members(const serialization::Layout& layout, const serialization::Word* before,
                       const serialization::Word* after);

class FrameLog {
 public:
  /// `seed` is one that no peer knows: a peer may choose the ids of objects.
  explicit FrameLog(uint64_t seed) : left_of_id_(64, base::HashIndex::Growth::kDoubling, seed) {}

  void start() { collects_ = true; }
  bool collects() const { return collects_; }
  /// Counts begin().
  uint32_t number() const { return number_; }
  /// Shows what was collected up to `tick`, and begins to collect for the next frame. The frame draws the
  /// objects of others at `view_time`.
  void begin(base::Tick tick, simulation::TickTime view_time);
  base::Tick tick() const { return tick_; }
  simulation::TickTime view_time() const { return view_time_; }

  // --- What happens to the object in `slot`
  void spawned(uint32_t slot, const replication::ObjectInfo& info);
  void left(uint32_t slot, const replication::ObjectInfo& info, replication::DespawnReason reason);
  /// `members` is frame_members(), or 0 for nothing.
  void changed(uint32_t slot, const replication::ObjectInfo& info, uint64_t members);
  void corrected(uint32_t slot, const replication::ObjectInfo& info, uint64_t members);
  /// Takes the objects with these ids out of what is collected, whatever happened to them.
  void forget_up_to(uint64_t last_id);

  // --- What the present frame shows, until the next begin()
  std::span<const lattice_frame_object> shown_left() const { return shown_left_; }
  std::span<const lattice_frame_object> shown_spawned() const { return spawned_.shown; }
  std::span<const lattice_frame_object> shown_changed() const { return changed_.shown; }
  std::span<const lattice_frame_object> shown_corrected() const { return corrected_.shown; }

 private:
  /// At most one entry per slot, in one piece.
  struct Entries {
    /// Null when the slot has none.
    lattice_frame_object* find(uint32_t slot);
    lattice_frame_object& add(uint32_t slot, const replication::ObjectInfo& info);
    /// False when the slot has none. The last entry takes its place.
    bool remove(uint32_t slot);
    void show();

    std::vector<lattice_frame_object> objects;
    std::vector<uint32_t> slots;      // by entry
    std::vector<uint32_t> entry_of_;  // by slot; holds only where slots[] agrees
    std::vector<lattice_frame_object> shown;
  };
  static void mark(Entries* entries, uint32_t slot, const replication::ObjectInfo& info, uint64_t members);

  Entries spawned_;
  Entries changed_;
  Entries corrected_;
  std::vector<lattice_frame_object> left_;
  std::vector<lattice_frame_object> shown_left_;
  base::HashIndex left_of_id_;  // the entry in left_
  bool collects_ = false;
  uint32_t number_ = 0;
  base::Tick tick_ = 0;
  simulation::TickTime view_time_;
};

}  // namespace lattice::world
