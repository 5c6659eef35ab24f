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
  if (steps_[at].mask != 0) return;
  step_of_.erase(group);
  if (at + 1 != steps_.size()) {
    steps_[at] = steps_.back();
    step_of_.erase(steps_[at].group);
    step_of_.insert(steps_[at].group, at);
  }
  steps_.pop_back();
}

void StepList::on_acked(uint32_t group, uint32_t mask, Tick tick, bool keep) {
  Step* step = find(group);
  if (step == nullptr || base::tick_after(step->joined, tick) || !base::tick_after(tick, step->base)) return;
  if (step->acked == 0 || base::tick_after(tick, step->part)) {
    step->part = tick;
    step->acked = 0;
  }
  if (step->part != tick) return;
  step->acked |= mask;
  if ((step->mask & ~step->acked) != 0) return;
  step->base = tick;
  step->acked = 0;
  step->any_lost = false;
  if (keep) step->kept = tick;
}

uint32_t StepList::on_lost(uint32_t group, uint32_t mask, Tick tick) {
  Step* step = find(group);
  if (step == nullptr || base::tick_after(step->joined, tick)) return 0;
  if (tick == step->sent) step->lost |= mask;
  if (base::tick_after(tick, step->base)) step->any_lost = true;
  return mask & step->mask;
}

void StepList::age(Tick oldest) {
  for (Step& step : steps_) {
    if (step.kept != 0 && base::tick_after(oldest, step.kept)) step.kept = 0;
    for (Tick* tick : {&step.base, &step.sent, &step.joined, &step.part}) {
      if (*tick != 0 && base::tick_after(oldest, *tick)) *tick = oldest;
    }
  }
}

}  // namespace lattice::replication
