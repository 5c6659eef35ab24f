#include "replication/step_list.h"

#include "base/assert.h"

namespace lattice::replication {

Step& StepList::add(uint32_t group) {
  step_of_.insert(group, static_cast<uint32_t>(steps_.size()));
  Step& step = steps_.emplace_back();
  step.group = group;
  return step;
}

void StepList::remove(uint32_t slot) {
  const uint32_t group = slot >> kGroupBits;
  const uint32_t at = step_of_.find(group);
  LATTICE_ASSERT(at != SlotMap::kNone && holds(slot));
  steps_[at].mask &= ~(1u << slot % kGroupSlots);
  steps_[at].own &= steps_[at].mask;
  if (steps_[at].mask != 0) return;
  step_of_.erase(group);
  if (at + 1 != steps_.size()) {
    steps_[at] = steps_.back();
    step_of_.erase(steps_[at].group);
    step_of_.insert(steps_[at].group, at);
  }
  steps_.pop_back();
}

void Step::on_acked(uint32_t mask_acked, Tick tick, bool keep) {
  if (lattice::base::tick_after(joined, tick) || !lattice::base::tick_after(tick, base)) return;
  if (acked == 0 || lattice::base::tick_after(tick, part)) {
    part = tick;
    acked = 0;
  }
  if (part != tick) return;
  acked |= mask_acked;
  if ((mask & ~acked) != 0) return;
  base = tick;
  acked = 0;
  any_lost = false;
  if (keep) kept = tick;
}

uint32_t Step::on_lost(uint32_t mask_lost, Tick tick) {
  if (lattice::base::tick_after(joined, tick)) return 0;
  if (tick == sent) lost |= mask_lost;
  if (lattice::base::tick_after(tick, base)) any_lost = true;
  return mask_lost & mask;
}

void StepList::age(Tick oldest) {
  for (Step& step : steps_) {
    if (step.kept != 0 && lattice::base::tick_after(oldest, step.kept)) step.kept = 0;
    for (Tick* tick : {&step.base, &step.sent, &step.joined, &step.part}) {
      if (*tick != 0 && lattice::base::tick_after(oldest, *tick)) *tick = oldest;
    }
  }
}

}  // namespace lattice::replication
