// The builder's care for objects in step (step_list.h): takes their groups whole or in turns, and sees what
// comes into step and what comes out of it.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "base/popcount.h"
#include "replication/priority.h"
#include "replication/snapshot_builder.h"

namespace lattice::replication {
namespace {

/// How often the distances of objects in step are looked at.
constexpr uint32_t kSlowStepBuilds = 16;

}  // namespace

// What gets fewer snapshots, or leaves together with others, stays on its own.
bool SnapshotBuilder::may_step(const SendTerms& terms) const {
  return terms.interval_ticks <= config_.send_interval_ticks && terms.group == kNoSlot;
}

// Takes out of step what came into a group, and now and then what has gone so far away that it gets fewer
// snapshots.
void SnapshotBuilder::end_unfit_steps(ReplicaList& recipient) {
  if (rules_ == nullptr || recipient.steps().empty()) return;
  const bool regrouped = recipient.note_groups(rules_->groups_version());
  const uint64_t build = tick_ / config_.send_interval_ticks + recipient.peer_id();
  if (!regrouped && (!rules_->slows() || build % kSlowStepBuilds != 0)) return;
  // From the back: a step that ends is replaced by the last one.
  for (size_t i = recipient.steps().size(); i-- > 0;) {
    const Step& step = recipient.steps()[i];
    uint32_t unfit = 0;
    for (uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<uint32_t>(std::countr_zero(rest));
      SendTerms terms;
      read_terms((step.group << kGroupBits) + bit, &terms);
      if (!may_step(terms)) unfit |= 1u << bit;
    }
    if (unfit != 0) recipient.end_step(store_, step.group, unfit);
  }
}

// Takes all groups, or lets them take turns.
void SnapshotBuilder::plan_steps(ReplicaList& recipient, uint32_t budget_bytes) {
  steps_.begin(recipient.steps(), tick_);
  if (!recipient.takes_turns() && steps_.take_all(budget_bytes)) return;
  recipient.set_takes_turns(may_take_turns_);
  if (may_take_turns_) {
    recipient.end_steps_without_turns(store_);
  } else {
    recipient.end_steps(store_);
  }
  steps_.begin(recipient.steps(), tick_);
}

// Puts what is on its own in one line with the groups. What comes too late in it for the budget is no
// candidate: returns how many.
size_t SnapshotBuilder::line_up(ReplicaList& recipient, uint32_t budget_bytes) {
  steps_.line_up();
  if (recipient.steps().empty()) return 0;
  alone_.clear();
  newcomers_.clear();
  for (Waiting& waiting : waiting_) {
    if (waiting.is_own) continue;
    // It goes with its group where it can, because then it can come into step again.
    const uint32_t slot = waiting.slot;
    const Step* step = recipient.step_of(slot);
    if (step != nullptr && step->priority == table_.info(slot).type->base_priority) {
      waiting.priority = std::max(waiting.priority, step->accumulator);
    }
    (waiting.is_new ? newcomers_ : alone_).push_back(waiting.priority);
  }
  for (const Candidate& candidate : candidates_) {
    if (!candidate.goes_first) alone_.push_back(candidate.priority);
  }
  // More newcomers than their share holds do not compete with groups.
  const auto share =
      static_cast<size_t>(8 * kNewcomersShare * budget_bytes / recipient.mean_entry_bits()) + 1;
  if (newcomers_.size() > share) {
    std::nth_element(newcomers_.begin(), newcomers_.begin() + static_cast<std::ptrdiff_t>(share),
                     newcomers_.end(), std::greater<>());
    newcomers_.resize(share);
  }
  alone_.insert(alone_.end(), newcomers_.begin(), newcomers_.end());
  std::sort(alone_.begin(), alone_.end(), std::greater<>());
  const StepPlan::Alone alone{alone_, !newcomers_.empty(), recipient.mean_entry_bits()};
  const float least = steps_.divide(alone, budget_bytes);
  return std::erase_if(waiting_, [least](const Waiting& w) { return !w.is_own && w.priority < least; }) +
         std::erase_if(candidates_,
                       [least](const Candidate& candidate) { return candidate.priority < least; });
}

// Sees what came out of step, and what comes into step.
void SnapshotBuilder::end_build(ReplicaList& recipient, size_t postponed, uint32_t budget_bytes) {
  const bool fits = postponed == 0 && steps_.has_room(plan_.bytes() + steps_.bytes(), budget_bytes);
  // No part has room for the blocks of all own objects and for what else is own. Entries on their own are
  // shorter.
  if (!confirmed_own_ && steps_.own() != 0) recipient.end_own_steps(store_);
  if (may_take_turns_) {
    for (const uint32_t group : steps_.too_long()) {
      recipient.end_step(store_, group, recipient.step_of(group << kGroupBits)->mask);
    }
    recipient.set_takes_turns(postponed != 0 || (recipient.takes_turns() && !fits));
    begin_steps(recipient);
  } else if (fits) {
    begin_steps(recipient);
  } else if (postponed != 0 && !steps_.shared().empty()) {
    recipient.end_steps(store_);  // those on their own have the same right to the budget
  }
}

void SnapshotBuilder::begin_steps(ReplicaList& recipient) {
  if (!recipient.may_begin_steps()) return;
  for (size_t at = 0; at < candidates_.size();) {
    const uint32_t group = candidates_[at].slot >> kGroupBits;
    size_t end = at + 1;
    while (end < candidates_.size() && candidates_[end].slot >> kGroupBits == group) ++end;
    // Fewer begin no group, and most clients of a wide world have no group to join.
    const bool may_begin =
        end - at >= ReplicaList::kLeastInStep || recipient.step_of(candidates_[at].slot) != nullptr;
    if (may_begin) begin_step(recipient, std::span(candidates_).subspan(at, end - at));
    at = end;
  }
}

// Whether the object changed as often as snapshots are sent since the state that the client acked.
bool SnapshotBuilder::streams(const Replica& replica, const StateSummary& newest) const {
  if (tick_ - newest.tick >= config_.send_interval_ticks) return false;
  return newest.version - replica.acked_version >= (tick_ - replica.acked_tick) / config_.send_interval_ticks;
}

// Brings into step what changes all the time and was sent in this snapshot, where the client acked the states
// of the same tick. Only objects of one base priority take turns together.
void SnapshotBuilder::begin_step(ReplicaList& recipient, std::span<const Candidate> of_group) {
  std::array<float, kGroupSlots> priorities;
  ReplicaList::StepBegin begin;
  begin.group = of_group[0].slot >> kGroupBits;
  for (const Candidate& candidate : of_group) {
    if (candidate.kind != EntryKind::kDelta || !candidate.may_step) continue;
    // The client's own objects wait for no turn, and others share what the owner gets where all get the same.
    const bool may_own = recipient.may_begin_own_steps() && !candidate.type->layout->has_conditions();
    if (candidate.is_own && !may_own) continue;
    if (candidate.type->max_entry_bytes > config_.part_capacity_bytes) continue;  // one day it goes in pieces
    // An entry that is much longer than others would make the blocks hard to place.
    if (!candidate.chosen || candidate.bits > config_.part_capacity_bytes / 2) continue;
    const Replica& replica = recipient.replica(candidate.index);
    const Tick acked_tick = replica.acked_tick;
    if (acked_tick == 0 || tick_ - acked_tick != candidate.age) continue;
    if (!streams(replica, store_.summary(candidate.slot))) continue;
    if (base::tick_distance(tick_, acked_tick) > ReplicaList::kOldestFirstBaseTicks) continue;
    if (begin.mask != 0 && base::tick_after(begin.base, acked_tick)) continue;
    if (acked_tick != begin.base) begin.mask = 0;
    begin.base = acked_tick;
    begin.mask |= 1u << candidate.slot % kGroupSlots;
    if (candidate.is_own) begin.own |= 1u << candidate.slot % kGroupSlots;
    priorities[candidate.slot % kGroupSlots] = candidate.type->base_priority;
  }
  const auto of_priority = [&](float priority) {
    uint32_t mask = 0;
    for (uint32_t rest = begin.mask; rest != 0; rest &= rest - 1) {
      mask |= priorities[static_cast<size_t>(std::countr_zero(rest))] == priority ? rest & (~rest + 1) : 0;
    }
    return mask;
  };
  const Step* step = recipient.step_of(of_group[0].slot);
  uint32_t most = step != nullptr ? of_priority(step->priority) : 0;
  begin.priority = step != nullptr ? step->priority : 0;
  for (uint32_t rest = step != nullptr ? 0 : begin.mask; rest != 0;) {
    const float priority = priorities[static_cast<size_t>(std::countr_zero(rest))];
    const uint32_t mask = of_priority(priority);
    if (base::popcount(mask) > base::popcount(most)) most = mask, begin.priority = priority;
    rest &= ~mask;
  }
  begin.uneven = !recipient.takes_turns() && begin.mask != most;
  if (!begin.uneven) begin.mask = most;
  begin.own &= begin.mask;
  if (begin.mask != 0) recipient.begin_step(begin);
}

}  // namespace lattice::replication
