// The objects whose states one client gets in step: each snapshot holds a delta of all of them against one
// tick. They are listed by groups of 32 slots, so that a snapshot and its acks cost something per group and
// nothing per object. Spec: X-01, D-15, D-26.
//
// True at all times, for each object in a group's mask:
//   - The client has acked its state at tick `base`, in a part of that snapshot or by an entry on its own.
//   - Each block of the group with a tick from `joined` on holds an entry of it.
// So a block that is acked, and has a tick from `joined` on, moves the base to its tick. A block that is lost
// moves nothing: later blocks refer to the base and hold all that it held.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/block_cache.h"
#include "replication/slot_map.h"

namespace lattice::replication {

/// One group of a client.
struct Step {
  uint32_t group = 0;
  uint32_t mask = 0;  // the objects that are in step; bit i: slot 32 * group + i
  Tick base = 0;
  Tick sent = 0;          // of the newest block, or of the entries on their own with which the step began
  Tick joined = 0;        // blocks of earlier ticks lack an object
  Tick part = 0;          // tick of the newest acked block, which may hold only some of the group's objects
  uint32_t acked = 0;     // those of which the state at `part` was acked
  uint32_t lost = 0;      // those whose state at `sent` was lost
  uint32_t changed = 0;   // those that changed since the build before
  Tick kept = 0;          // the client keeps the states of this tick long; 0: that is noted
  bool any_lost = false;  // a block after the base was lost
};

class StepList {
 public:
  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  std::vector<Step>& steps() { return steps_; }
  Step* find(uint32_t group) {
    const uint32_t at = step_of_.find(group);
    return at == SlotMap::kNone ? nullptr : &steps_[at];
  }
  const Step* find(uint32_t group) const { return const_cast<StepList*>(this)->find(group); }
  bool holds(uint32_t slot) const {
    const Step* step = find(slot >> kGroupBits);
    return step != nullptr && (step->mask >> slot % kGroupSlots & 1) != 0;
  }

  /// The group must not be there yet. The reference is valid until the next add() or remove().
  Step& add(uint32_t group);
  /// Takes an object of a step out. A step without objects ends.
  void remove(uint32_t slot);

  /// A block with the objects of `mask`, sent at `tick`, was acked.
  void on_acked(uint32_t group, uint32_t mask, Tick tick, bool keep);
  /// It was lost. Returns the objects in step that it held.
  uint32_t on_lost(uint32_t group, uint32_t mask, Tick tick);
  /// Moves ticks of long ago forward: ticks wrap.
  void age(Tick oldest);

 private:
  std::vector<Step> steps_;
  SlotMap step_of_;  // group -> index in steps_
};

}  // namespace lattice::replication
