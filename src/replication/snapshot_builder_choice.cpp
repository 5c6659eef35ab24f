// The builder's choice where not everything fits the budget: by accumulated priority, what leaves together as
// one (C-04, C-05).
#include <algorithm>
#include <functional>

#include "replication/priority.h"
#include "replication/snapshot_builder.h"

namespace lattice::replication {
namespace {

constexpr uint64_t kFirstRank = uint64_t{1} << 63;  // the sign of the priority
/// Where the first of the others does not fit beside a client's own objects, it goes before them in one of so
/// many snapshots.
constexpr uint32_t kOwnTurns = 4;

}  // namespace

// Takes candidates by accumulated priority, highest first, until an estimate says that the budget is full.
// The plan then says how long they are, and the estimate is scaled by that, until the plan fits and uses most
// of the budget. A scale between one that was too small and one that was too large is halved where the guess
// leaves that range. The scale of one snapshot serves as the first guess of the next.
//
// A group that fits no snapshot beside pieces waits for one without.
void SnapshotBuilder::choose(ReplicaList& recipient, const Room& room, uint32_t max_parts) {
  constexpr uint32_t kRounds = 8;
  const uint32_t most_bytes = config_.part_capacity_bytes * max_parts;
  const uint32_t budget_bits = 8 * (room.bytes == 0 ? most_bytes : std::min(room.bytes, most_bytes));
  const uint32_t part_bits = config_.part_capacity_bytes * 8;
  const uint32_t whole_bits = std::min(std::max(budget_bits, room.whole_bytes * 8), part_bits);
  const bool any_held = sort_by_priority(recipient, std::min(budget_bits, part_bits), whole_bits);
  decide_firsts(recipient, budget_bits, max_parts, !any_held);
  double scale = recipient.estimate_scale();
  double best = 0;    // the largest scale that fitted
  double over = 1e9;  // the smallest that did not
  for (uint32_t round = 0; round < kRounds; ++round) {
    const bool everything = select(budget_bits * scale);
    const bool all = plan_.plan(candidates_, table_, max_parts);
    const double used = all ? plan_.bytes() * 8.0 / budget_bits : 2.0;
    if (used <= 1.0 && (everything || used >= 0.94)) break;
    (used <= 1.0 ? best : over) = scale;
    scale *= std::clamp(0.97 / used, 0.2, 4.0);
    if (scale <= best || scale >= over) scale = (best + over) / 2;
  }
  for (double at = best; plan_.bytes() * 8 > budget_bits && !plan_.order().empty(); at = scale *= 0.5) {
    select(budget_bits * at);
    static_cast<void>(plan_.plan(candidates_, table_, max_parts));
  }
  recipient.set_estimate_scale(std::clamp(scale, 0.05, 4.0));
  const uint32_t usual_bits = std::min(room.usual_bytes * 8, whole_bits);
  const auto needs_whole = [&](uint64_t rank) {
    const Candidate& candidate = candidates_[place_of(rank)];
    return !candidate.chosen && !fits(candidate, usual_bits);
  };
  const bool any_whole =
      any_held || (room.usual_bytes != room.whole_bytes && std::ranges::any_of(ranks_, needs_whole));
  recipient.note_left_out({first_left_out(), any_whole});
}

// Whether a candidate, or its unit, fits a snapshot with so much room in its longest part.
bool SnapshotBuilder::fits(const Candidate& candidate, uint32_t part_bits) const {
  if (candidate.unit != Candidate::kNoUnit) return units_[candidate.unit].fits(part_bits);
  const uint32_t most_bits = estimate_bits(candidate) + candidate.head_bits + kMostAloneBits;
  return most_bits <= part_bits || alone_bits(candidate) <= part_bits;
}

// The priority of the first state that was not chosen.
float SnapshotBuilder::first_left_out() const {
  const auto at = std::find_if(ranks_.begin(), ranks_.end(), [this](uint64_t rank) {
    const Candidate& candidate = candidates_[place_of(rank)];
    return !candidate.chosen && candidate.kind != EntryKind::kRemoved;
  });
  return at == ranks_.end() ? 0 : candidates_[place_of(*at)].priority;
}

// The bits of a part with this entry and no other.
uint32_t SnapshotBuilder::alone_bits(const Candidate& candidate) const {
  return static_cast<uint32_t>(kSnapshotHeaderBytes) * 8 + 8 + 16 + varint_bits(candidate.age) +
         varint_bits(candidate.slot) + estimate_bits(candidate) + candidate.head_bits + 7;
}

// Returns whether something is too long for `part_bits` and fits `whole_bits`. It is not chosen.
bool SnapshotBuilder::sort_by_priority(const ReplicaList& recipient, uint32_t part_bits,
                                       uint32_t whole_bits) {
  make_units(recipient, whole_bits);
  ranks_.clear();
  bool any_whole = false;
  uint32_t own_bits = 0, predicted_bits = 0;
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (candidate.unit != Candidate::kNoUnit) {
      const Unit& unit = units_[candidate.unit];
      // All of the unit goes where an own object goes.
      if (unit.lead != i) continue;
      if (!unit.fits(part_bits)) {
        candidates_[i].chosen = false;
        any_whole = true;
        continue;
      }
      own_bits += unit.has_own ? unit.bits : 0;
      predicted_bits += unit.has_predicted ? unit.bits : 0;
      ranks_.push_back(rank(candidate.priority, i));
      continue;
    }
    if (!fits(candidate, part_bits)) {
      // It would keep the highest priority and hold the others up. Beside groups its turn comes without them.
      const bool is_whole = alone_bits(candidate) <= whole_bits;
      any_whole = any_whole || is_whole;
      stats_.over_budget += steps_.reserved_bytes() == 0 && !is_whole ? 1u : 0u;
      candidates_[i].chosen = false;
      continue;
    }
    own_bits += candidate.is_own ? estimate_bits(candidate) : 0;
    predicted_bits += candidate.is_predicted ? estimate_bits(candidate) : 0;
    ranks_.push_back(rank(candidate.priority, i));
  }
  // The client's own objects go first, so that a part can confirm them. Only where they take at most half of
  // what may be sent: otherwise a client that owns much would hear of nothing else. Then only those go first
  // that it may predict, with the same bound.
  const bool all_own = own_bits <= part_bits / 2;
  const auto goes_first = [&](const Candidate& candidate) {
    if (candidate.unit == Candidate::kNoUnit) return all_own ? candidate.is_own : candidate.is_predicted;
    const Unit& unit = units_[candidate.unit];
    return all_own ? unit.has_own : unit.has_predicted;
  };
  if (all_own || predicted_bits <= part_bits / 2) {
    for (uint64_t& rank : ranks_) rank |= goes_first(candidates_[place_of(rank)]) ? kFirstRank : 0;
  }
  // Of a joining client most have waited equally long: they are in order.
  if (!std::is_sorted(ranks_.begin(), ranks_.end(), std::greater<>()))
    std::sort(ranks_.begin(), ranks_.end(), std::greater<>());
  return any_whole;
}

// How many of the first are taken whatever the estimate says: the first of all, which fits alone, and where
// own objects or removals go first, those and the first state of the others. Where that does not fit beside
// them, it goes before them now and then: else what changes all the time would shut it out for ever.
// `may_turn`: no, where something is held for a snapshot without pieces, which then has the turn.
void SnapshotBuilder::decide_firsts(ReplicaList& recipient, uint32_t budget_bits, uint32_t max_parts,
                                    bool may_turn) {
  first_count_ = 1;
  const auto goes_first = [this](uint64_t rank) {
    return (rank & kFirstRank) != 0 || candidates_[place_of(rank)].goes_first;
  };
  const auto is_state = [this](uint64_t rank) {
    return candidates_[place_of(rank)].kind != EntryKind::kRemoved;
  };
  const auto other = std::find_if_not(ranks_.begin(), ranks_.end(), goes_first);
  const auto state = std::find_if(other, ranks_.end(), is_state);
  if (other == ranks_.begin() || state == ranks_.end()) return;
  std::rotate(other, state, state + 1);
  const auto count = static_cast<uint32_t>(other - ranks_.begin()) + 1;
  if (fit_together(count, budget_bits, max_parts)) {
    first_count_ = count;
  } else if (may_turn && recipient.count_own_first() % kOwnTurns == 0) {
    std::rotate(ranks_.begin(), other, other + 1);
  }
}

bool SnapshotBuilder::fit_together(uint32_t count, uint32_t budget_bits, uint32_t max_parts) {
  for (Candidate& candidate : candidates_) candidate.chosen = false;
  for (uint32_t i = 0; i < count; ++i) candidates_[place_of(ranks_[i])].chosen = true;
  choose_units();
  return plan_.plan(candidates_, table_, max_parts) && plan_.bytes() * 8 <= budget_bits;
}

// What belongs to a unit goes with the first of it.
void SnapshotBuilder::choose_units() {
  if (units_.empty()) return;
  for (Candidate& candidate : candidates_) {
    if (candidate.unit != Candidate::kNoUnit)
      candidate.chosen = candidates_[units_[candidate.unit].lead].chosen;
  }
}

uint32_t SnapshotBuilder::bits_together(const Candidate& candidate) const {
  return candidate.unit == Candidate::kNoUnit ? estimate_bits(candidate) : units_[candidate.unit].bits;
}

// True when all of them were taken. The first are always taken (decide_firsts()): with a limit that is only
// an estimate they might wait for ever. Of the others, one that does not fit makes way for one of the next
// few that do (C-05). One that does not fit behind the first in any case holds nobody up: there may be any
// number.
//
// Newcomers beyond three quarters of the limit come after all others. Else a storm of them, who have all
// waited equally long, would stop what the client has for as long as it lasts.
bool SnapshotBuilder::select(double limit_bits) {
  double used_bits = kSnapshotHeaderBytes * 8 + 48, new_bits = 0;
  const double most_new_bits = kNewcomersShare * (limit_bits - used_bits);
  bool all = true;
  const auto put = [&](uint64_t rank, bool chosen) {
    Candidate& candidate = candidates_[place_of(rank)];
    const uint32_t bits = bits_together(candidate);
    candidate.chosen = chosen;
    used_bits += chosen ? bits : 0;
    new_bits += chosen && candidate.is_new ? bits : 0;
    all = all && chosen;
  };
  const auto firsts = std::span(ranks_).first(std::min<size_t>(first_count_, ranks_.size()));
  for (const uint64_t rank : firsts) put(rank, true);
  const double first_bits = used_bits;
  const auto take = [&](uint64_t rank, uint32_t& skipped) {
    const uint32_t bits = bits_together(candidates_[place_of(rank)]);
    const bool fits = skipped < kScanAhead && used_bits + bits <= limit_bits;
    put(rank, fits);
    skipped += !fits && first_bits + bits <= limit_bits ? 1 : 0;
  };
  uint32_t skipped = 0, skipped_late = 0;
  deferred_.clear();
  for (const uint64_t rank : std::span(ranks_).subspan(firsts.size())) {
    const Candidate& candidate = candidates_[place_of(rank)];
    if (candidate.is_new && new_bits != 0 && new_bits + bits_together(candidate) > most_new_bits) {
      deferred_.push_back(rank);
    } else {
      take(rank, skipped);
    }
  }
  for (const uint64_t rank : deferred_) take(rank, skipped_late);
  choose_units();
  return all;
}

}  // namespace lattice::replication
