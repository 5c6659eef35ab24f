// What a ReplicaList does with objects in step: see step_list.h.
#include <bit>

#include "base/assert.h"
#include "base/popcount.h"
#include "replication/replica_list.h"

namespace lattice::replication {

// Wakes what changed and is not in step, and finds out what changed of what is.
void ReplicaList::follow_groups(const StateStore& store, const ChangedGroups::Changes& changes) {
  size_t in_step = 0;
  for (Step& step : steps_.steps()) {
    step.changed = changes.mask_of(step.group);
    in_step += base::popcount(step.mask & step.changed);
  }
  visited_ += steps_.steps().size();
  size_t others = changes.objects - in_step;
  if (!awake_is_stale_ && awake_.size() < steps_.steps().size()) {  // mostly, what is awake is all
    for (const uint64_t entry : awake_) others -= changes.holds(static_cast<uint32_t>(entry >> 32)) ? 1u : 0u;
  }
  if (is_worth_asking_each(others)) {
    wake_own(changes);
  } else if (others != 0) {
    wake_groups(changes);
  }
  end_idle_steps(store);
}

void ReplicaList::wake_groups(const ChangedGroups::Changes& changes) {
  for (const ChangedGroups::Group& group : changes.groups) {
    const Step* step = steps_.find_in_turn(group.group);
    for (uint32_t rest = group.mask & ~(step != nullptr ? step->mask : 0); rest != 0; rest &= rest - 1) {
      const uint32_t slot = (group.group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
      if (!lists_awake(slot)) wake_slot(slot);
      ++visited_;
    }
  }
  visited_ += changes.groups.size();
}

// The same where the change log does not reach back: looks at the objects. A server that is late must not
// lose what makes its snapshots cheap.
void ReplicaList::follow_outdated(const StateStore& store) {
  for (Step& step : steps_.steps()) {
    step.changed = 0;
    for (uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<uint32_t>(std::countr_zero(rest));
      const Tick newest = store.summary((step.group << kGroupBits) + bit).tick;
      if (base::tick_after(newest, changes_tick_)) step.changed |= 1u << bit;
    }
    visited_ += base::popcount(step.mask);
  }
  end_idle_steps(store);
}

// Takes out of step what did not change since the last build, and groups with a base too old to name.
void ReplicaList::end_idle_steps(const StateStore& store) {
  std::vector<Step>& steps = steps_.steps();
  visited_ += steps.size();
  for (size_t at = steps.size(); at-- > 0;) {  // a step that ends is replaced by the last one
    Step& step = steps[at];
    const bool aged = base::tick_distance(tick_, step.base) > kOldestBaseTicks ||
                      static_cast<uint32_t>(tick_ - step.base) >= store.history_ticks();
    const uint32_t stay = step.mask & step.changed;
    const bool few = base::popcount(stay) < kLeastInStep / 2;
    const uint32_t leave = aged || few ? step.mask : step.mask & ~stay;
    if (leave != 0) leave_step(store, step, leave);
  }
}

// The client keeps the states of `step.kept` long, as baselines for bad times: also that of this object, if
// it was in step then.
void ReplicaList::note_kept(const StateStore& store, const Step& step, uint32_t slot, uint32_t index) {
  if (step.kept == 0 || !base::tick_after(step.kept, replicas_[index].sent_tick)) return;
  const VersionRing::Version kept = store.version_at(slot, step.kept);
  if (kept.exact) keep_state(index, kept.version, step.kept);
}

// By value: the step may end with its last object.
void ReplicaList::leave_step(const StateStore& store, Step step, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = (step.group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t index = slots_.find(slot);
    steps_.remove(slot);
    note_kept(store, step, slot, index);
    replicas_[index] = replica_in_step(slot, replicas_[index], step, store);
    doing_[index] = Doing::kSleeps;
    wake(index);
  }
  visited_ += base::popcount(mask);
}

// What the Replica of an object in step would say if each of its states had been an entry on its own. Where
// that takes a count of sends, there was one in each tick: so many at most.
Replica ReplicaList::replica_in_step(uint32_t slot, const Replica& replica, const Step& step,
                                     const StateStore& store) const {
  Replica now = replica;
  now.accumulator = step.accumulator;
  if (step.sent == replica.sent_tick) return now;  // it came into step with the last block
  const uint32_t bit = 1u << slot % kGroupSlots;
  const VersionRing::Version sent = store.version_at(slot, step.sent);
  now.sent_version = sent.version;
  now.sent_tick = step.sent;
  now.sends = static_cast<uint16_t>(now.sends + (step.sent - replica.sent_tick));
  const Tick acked_tick = (step.acked & bit) != 0 ? step.part : step.base;
  const VersionRing::Version acked = store.version_at(slot, acked_tick);
  if (base::tick_distance(tick_, acked_tick) > kOldestBaseTicks || !acked.exact) {
    now.acked_tick = 0;
  } else if (replica.acked_tick == 0 || base::tick_after(acked_tick, replica.acked_tick)) {
    now.acked_version = acked.version;
    now.acked_tick = acked_tick;
    now.acked_send = static_cast<uint16_t>(now.sends - (step.sent - acked_tick));
  }
  now.in_flight = now.acked_version != now.sent_version && (step.lost & bit) == 0;
  now.lost = step.any_lost;
  now.sent_in_step = sent.exact;  // else nobody knows what an ack of that block would say
  now.rest_sent = false;
  return now;
}

void ReplicaList::end_steps(const StateStore& store) {
  while (!steps_.empty()) leave_step(store, steps_.steps().back(), steps_.steps().back().mask);
  steps_from_ = tick_ + static_cast<Tick>(kStepPauseTicks);
}

void ReplicaList::end_steps_without_turns(const StateStore& store) {
  const std::vector<Step>& steps = steps_.steps();
  for (size_t at = steps.size(); at-- > 0;) {  // a step that ends is replaced by the last one
    if (steps[at].uneven) leave_step(store, steps[at], steps[at].mask);
  }
  end_own_steps(store);
}

void ReplicaList::end_own_steps(const StateStore& store) {
  const std::vector<Step>& steps = steps_.steps();
  for (size_t at = steps.size(); at-- > 0;) {  // a step that ends is replaced by the last one
    if (steps[at].own == 0) continue;
    leave_step(store, steps[at], steps[at].own);
    own_steps_from_ = tick_ + static_cast<Tick>(kOwnStepPauseTicks);
  }
}

void ReplicaList::begin_step(const StepBegin& begin) {
  Step* step = steps_.find(begin.group);
  if (step == nullptr) {
    if (base::popcount(begin.mask) < kLeastInStep) return;
    step = &steps_.add(begin.group);
    step->base = begin.base;
    step->priority = begin.priority;
  } else if (step->base != begin.base || step->sent != tick_ ||
             base::tick_distance(tick_, step->joined) < kStepPauseTicks) {
    return;
  }
  step->mask |= begin.mask;
  step->own |= begin.own;
  step->sent = tick_;
  step->joined = tick_;
  step->acked = 0;
  step->uneven = step->uneven || begin.uneven || begin.priority != step->priority;
  for (uint32_t rest = begin.mask; rest != 0; rest &= rest - 1) {
    const uint32_t slot = (begin.group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t index = slots_.find(slot);
    Replica& replica = replicas_[index];
    LATTICE_ASSERT(doing_[index] != Doing::kInStep);
    LATTICE_ASSERT(replica.sent_tick == tick_ && replica.acked_tick == begin.base);
    doing_[index] = Doing::kInStep;
    awake_is_stale_ = true;
  }
}

void ReplicaList::on_block(const SentEntry& entry, Tick tick, bool keep, bool acked) {
  const uint32_t group = entry.index();
  const uint32_t mask = entry.mask();
  Step* step = steps_.find_near(group, entry.likely_place());
  const uint32_t in_step = step != nullptr ? step->mask & mask : 0;
  if (step != nullptr && acked) {
    step->on_acked(mask, tick, keep);
  } else if (step != nullptr) {
    for (uint32_t rest = step->on_lost(mask, tick); rest != 0; rest &= rest - 1) {
      const uint32_t slot = (group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest));
      replicas_[slots_.find(slot)].count_loss();
    }
  }
  for (uint32_t rest = mask & ~in_step; rest != 0; rest &= rest - 1) {
    on_dropped((group << kGroupBits) + static_cast<uint32_t>(std::countr_zero(rest)), tick, keep, acked);
  }
}

// The verdict on the last block that held the object, which came out of step since. Of earlier blocks nothing
// is learned: the version that they held is not known here, and what was sent later matters more.
void ReplicaList::on_dropped(uint32_t slot, Tick tick, bool keep, bool acked) {
  const uint32_t index = slots_.find(slot);
  if (index == SlotIndex::kNone) return;
  Replica& replica = replicas_[index];
  if (!replica.sent_in_step || replica.sent_tick != tick || doing_[index] == Doing::kInStep) return;
  if (!acked) {
    replica.count_loss();
    if (replica.acked_version == replica.sent_version) return repeat_rest(index);
    replica.lost = replica.regains = true;
    replica.in_flight = false;
    return;
  }
  const bool fresh = base::tick_distance(tick_, tick) <= kOldestBaseTicks;
  take_ack(index, replica.sent_version, tick, fresh, replica.sends);
  if (keep) kept_[index] = KeptState{replica.sent_version, tick};
}

}  // namespace lattice::replication
