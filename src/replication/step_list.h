// The objects whose states one client gets in step: a snapshot holds a delta of all of a group against one
// tick, or nothing of the group. They are listed by groups of 32 slots, so that a snapshot and its acks cost
// something per group and nothing per object. The client's own objects are among them where everyone gets the
// same of their type and the budget suffices for all. Spec: X-01, D-15, D-26.
//
// True at all times, for each object in a group's mask:
//   - The client has acked its state at tick `base`, in a part of that snapshot or by an entry on its own.
//   - Each block of the group with a tick after `joined` holds an entry of it. At `joined` itself a block or
//     an entry on its own told its state.
// So a tick from `joined` on becomes the base when all that it told was acked. A block that is lost moves
// nothing: later blocks refer to the base and hold all that it held.
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
  uint32_t own = 0;   // of them, the client's own
  Tick base = 0;
  Tick sent = 0;          // of the newest block, or of the entries on their own with which the step began
  Tick joined = 0;        // when the newest of its objects came: blocks up to here lack some
  Tick part = 0;          // the newest tick of which a state was acked, maybe not that of all objects
  uint32_t acked = 0;     // those of which the state at `part` was acked
  uint32_t lost = 0;      // those whose state at `sent` was lost
  uint32_t changed = 0;   // those that changed since the build before
  Tick kept = 0;          // the newest acked tick of which the client keeps the states long; 0: none
  float accumulator = 0;  // C-04, of each of its objects, while groups take turns
  float priority = 0;     // the base priority of its objects
  uint32_t bytes = 0;     // of its blocks when they were looked for last; 0: never yet
  bool any_lost = false;  // a block after the base was lost
  bool uneven = false;    // its objects have several base priorities

  /// The states of `mask_acked` at `tick` were acked: those of a block, or one that went on its own when the
  /// object came into step.
  void on_acked(uint32_t mask_acked, Tick tick, bool keep);
  /// They were lost. Returns those that are in step.
  uint32_t on_lost(uint32_t mask_lost, Tick tick);
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
  /// find(), cheap where the group is still at `place` of steps().
  Step* find_near(uint32_t group, uint32_t place) {
    return place < steps_.size() && steps_[place].group == group ? &steps_[place] : find(group);
  }
  /// find() for one who asks for many groups: cheap where they come in the order of steps().
  Step* find_in_turn(uint32_t group) {
    for (const uint32_t at : {turn_ + 1, turn_ + 2, 0u}) {
      if (at < steps_.size() && steps_[at].group == group) return &steps_[turn_ = at];
    }
    Step* step = find(group);
    if (step != nullptr) turn_ = static_cast<uint32_t>(step - steps_.data());
    return step;
  }
  bool holds(uint32_t slot) const {
    const Step* step = find(slot >> kGroupBits);
    return step != nullptr && (step->mask >> slot % kGroupSlots & 1) != 0;
  }

  /// Fetches all groups into the cache. Only a hint.
  void prefetch() const { base::prefetch(steps_.data(), steps_.data() + steps_.size()); }

  /// The group must not be there yet. The reference is valid until the next add() or remove().
  Step& add(uint32_t group);
  /// Takes an object of a step out. A step without objects ends.
  void remove(uint32_t slot);

  /// Moves ticks of long ago forward: ticks wrap.
  void age(Tick oldest);

 private:
  std::vector<Step> steps_;
  SlotMap step_of_;    // group -> index in steps_
  uint32_t turn_ = 0;  // the step that find_in_turn() found last
};

}  // namespace lattice::replication
