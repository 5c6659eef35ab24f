#include "replication/step_plan.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/popcount.h"
#include "replication/block_plan.h"
#include "replication/priority.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {
namespace {

/// The head of a block, and a mask that was the mask of the entry before.
constexpr uint32_t kMostCutBytes = kMostBlockHeadBytes + 8;
/// By so much, about, is a block longer than the last time.
constexpr uint32_t kMostGrowthBytes = 8;
/// In one of so many snapshots newcomers and what else is before the groups leave them nothing.
constexpr Tick kTurnsOfOthers = 4;
/// What a part takes beside blocks that are whole: its header, and the heads of a block that is cut to fill
/// the part before.
constexpr uint32_t kMostBeginBytes = static_cast<uint32_t>(kSnapshotHeaderBytes) +
                                     std::bit_width(kGroupSlots / StepPlan::kLeastCutEntries) * kMostCutBytes;

uint32_t size_of(uint32_t mask) {
  return base::popcount(mask);
}
// What a group takes, about: as much as the last time.
double bits_of(const Step& step, double alone_bits) {
  return step.bytes != 0 ? 8.0 * step.bytes : alone_bits * size_of(step.mask);
}

}  // namespace

uint32_t lower_half(uint32_t mask) {
  uint32_t upper = mask;
  for (uint32_t i = base::popcount(mask) / 2; i > 0; --i) upper &= upper - 1;
  return mask & ~upper;
}

void StepPlan::begin(std::span<Step> steps, Tick tick) {
  steps_ = steps;
  tick_ = tick;
  shared_.clear();
  taken_.clear();
  ranks_.clear();
  too_long_.clear();
  if (recent_send_ != blocks_.send() || recent_.size() < steps.size()) {
    recent_.assign(std::max(recent_.size(), steps.size()), Recent());
    recent_send_ = blocks_.send();
  }
  waiting_ = reserved_bytes_ = bytes_ = parts_ = own_ = 0;
}

bool StepPlan::take_all(uint32_t budget_bytes) {
  bool fits = true;
  for (uint32_t at = 0; fits && at < steps_.size(); ++at) {
    const size_t first = shared_.size();
    fits = find(at);
    bytes_ += steps_[at].bytes;
    fits = fits && has_room(bytes_, budget_bytes);
    taken_.push_back(at);
    if (steps_[at].own != 0) put_first(first);
  }
  if (fits && !steps_.empty()) {
    // A part is begun where less than a block's share is left in the one before.
    const uint32_t least_bytes = config_.part_capacity_bytes - config_.part_capacity_bytes / kSharedPerPart -
                                 static_cast<uint32_t>(kSnapshotHeaderBytes);
    parts_ = bytes_ / least_bytes + 1;
    bytes_ += parts_ * kMostBeginBytes;
    fits = parts_ <= config_.max_parts / 2 && has_room(bytes_, budget_bytes);
  }
  if (!fits) begin(steps_, tick_);
  return fits;
}

// Puts the blocks from `first` on before all others: the sooner a part confirms the client's own objects, the
// better (D-40).
void StepPlan::put_first(size_t first) {
  own_ += base::popcount(steps_[taken_.back()].own);
  std::rotate(shared_.begin(), shared_.begin() + static_cast<std::ptrdiff_t>(first), shared_.end());
}

bool StepPlan::has_room(uint32_t bytes, uint32_t budget_bytes) const {
  return budget_bytes == 0 ||
         uint64_t{bytes} + std::max(budget_bytes / 4, config_.part_capacity_bytes) <= budget_bytes;
}

// Finds the blocks of a group, and puts them behind shared_. False when there is one entry that is longer
// than a block may be.
bool StepPlan::find(uint32_t place) {
  Step& step = steps_[place];
  Recent& recent = recent_[place];
  if (recent.block.group == step.group && recent.block.mask == step.mask &&
      recent.block.baseline == step.base) {
    blocks_.count_reuse();
    shared_.push_back(recent.block);
    shared_.back().own = step.own;
    step.bytes = recent.bytes;
    return true;
  }
  const size_t before = shared_.size();
  if (step.base == tick_ || !find(Shared{step.group, step.mask, step.base, 0, step.own, place})) {
    shared_.resize(before);
    return false;
  }
  step.bytes = 0;
  for (size_t i = before; i < shared_.size(); ++i) {
    step.bytes += static_cast<uint32_t>(blocks_.bytes(shared_[i].block).size());
  }
  if (shared_.size() == before + 1) recent = {shared_[before], step.bytes};
  return true;
}

// Cuts what is longer than a block's share of a part.
bool StepPlan::find(Shared shared) {
  shared.block = blocks_.find(shared.group, shared.mask, shared.baseline);
  if (shared.block != BlockCache::kTooLong) {
    shared_.push_back(shared);
    return true;
  }
  const uint32_t lower = lower_half(shared.mask);
  if (lower == 0) return false;
  Shared half = shared;
  half.mask = lower, half.own = shared.own & lower;
  if (!find(half)) return false;
  half.mask = shared.mask & ~lower, half.own = shared.own & ~lower;
  return find(half);
}

// ---- Turns ----------------------------------------------------------------------------------------

// As with an entry on its own, a loss gives back what was spent.
void StepPlan::line_up() {
  for (uint32_t at = 0; at < steps_.size(); ++at) {
    Step& step = steps_[at];
    const Tick since = step.any_lost ? step.base : step.sent;
    step.accumulator += step.priority * staleness(tick_, since, config_.send_interval_ticks);
    ranks_.push_back(rank(step.accumulator, at));
  }
  std::sort(ranks_.begin(), ranks_.end(), std::greater<>());
}

// A group goes before those of its objects that are on their own and go with it. A quarter of the budget is
// never reserved: the lengths of entries on their own are only guessed, and no group needs more than half.
// Where there are newcomers, groups that are not first have a quarter: else a storm of those, who have all
// waited longer, would stop what the client has for as long as it lasts. Now and then nothing is reserved,
// because one that is before the groups may need all.
float StepPlan::divide(const Alone& entries, uint32_t budget_bytes) {
  const std::span<const float> alone = entries.accumulators;
  const double alone_bits = entries.bits;
  const bool is_turn_of_others = tick_ / config_.send_interval_ticks % kTurnsOfOthers == 0;
  const float first = ranks_.empty() ? -1.0f : steps_[place_of(ranks_.front())].accumulator;
  const double most_reserved = alone.empty() || first >= alone.front() ? 0.75
                               : !entries.any_new || is_turn_of_others ? 0.0
                                                                       : 1.0 - kNewcomersShare;
  double left_bits = 8.0 * budget_bytes;
  double group_bits = 0;
  float least = 0;
  size_t next_alone = 0;
  size_t next_group = 0;
  while (left_bits >= 0 && (next_alone < alone.size() || next_group < ranks_.size())) {
    const Step* step = next_group < ranks_.size() ? &steps_[place_of(ranks_[next_group])] : nullptr;
    if (step == nullptr || (next_alone < alone.size() && alone[next_alone] > step->accumulator)) {
      left_bits -= alone_bits;
      least = alone[next_alone++];
    } else {
      const double bits = bits_of(*step, alone_bits);
      left_bits -= bits;
      group_bits += bits;
      least = step->accumulator;
      ++next_group;
    }
  }
  double group_bytes = 0;
  if (group_bits != 0) {
    group_bytes = group_bits / 8 * 1.125 + 2 * kMostBeginBytes;  // they grow, and may begin a part
  } else if (entries.any_new && !ranks_.empty()) {
    // What newcomers brought with them is before all groups: one has its turn.
    group_bytes = bits_of(steps_[place_of(ranks_.front())], alone_bits) / 8 + kMostGrowthBytes;
  }
  reserved_bytes_ = static_cast<uint32_t>(std::min(group_bytes, most_reserved * budget_bytes));
  return left_bits < 0 ? least : 0;
}

void StepPlan::take_turns(Used used, uint32_t budget_bytes) {
  const Used before = used;
  uint32_t skipped = 0;
  for (const uint64_t rank : ranks_) {
    const uint32_t at = place_of(rank);
    const size_t first = shared_.size();
    // What was too long before is not encoded again to see that it still is, but for the first in line.
    const bool is_first = rank == ranks_.front();
    const bool may_fit = skipped < kScanAhead && (is_first || used.bytes + steps_[at].bytes <= budget_bytes);
    const bool found = may_fit && find(at);
    if (found && place(std::span(shared_).subspan(first), budget_bytes, &used)) {
      taken_.push_back(at);
      continue;
    }
    shared_.resize(first);
    if ((may_fit && !found) || steps_[at].bytes > budget_bytes / 2) too_long_.push_back(steps_[at].group);
    waiting_ += size_of(steps_[at].mask);
    ++skipped;
  }
  bytes_ = used.bytes - before.bytes;
  parts_ = used.parts - before.parts;
}

// Counts blocks as they will be written, or more.
bool StepPlan::place(std::span<const Shared> blocks, uint32_t budget_bytes, Used* used) const {
  Used after = *used;
  for (const Shared& shared : blocks) {
    const auto bytes = static_cast<uint32_t>(blocks_.bytes(shared.block).size());
    const bool begins = bytes > after.room_bytes;
    const uint32_t more_bytes = begins ? bytes + kMostBeginBytes : bytes;
    after.bytes += more_bytes;
    after.parts += begins ? 1 : 0;
    const uint32_t room_bytes = begins ? config_.part_capacity_bytes : after.room_bytes;
    after.room_bytes = room_bytes - std::min(room_bytes, more_bytes);
  }
  if (after.bytes > budget_bytes || after.parts > config_.max_parts) return false;
  *used = after;
  return true;
}

void StepPlan::settle() {
  for (const uint32_t at : taken_) {
    Step& step = steps_[at];
    step.sent = tick_;
    step.lost = 0;
    step.accumulator = 0;
  }
}

}  // namespace lattice::replication
