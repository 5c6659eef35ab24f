#include "replication/block_plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "base/assert.h"
#include "replication/entry_writer.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kHeaderBits = kSnapshotHeaderBytes * 8;
constexpr uint32_t kMostGapBytes = 3;  // of the varint behind an escape
static_assert(slot_bound(kMaxObjects) <= uint64_t{1} << (7 * kMostGapBytes));
// Pieces are no candidates: they fill what these leave.
constexpr EntryKind kOrder[] = {EntryKind::kRemoved, EntryKind::kDelta, EntryKind::kFull, EntryKind::kRested};
constexpr uint32_t kRanks = std::size(kOrder);

/// Where an entry comes within its group.
uint32_t rank_of(const Candidate& candidate) {
  const auto kind = static_cast<uint32_t>(std::find(kOrder, kOrder + kRanks, candidate.kind) - kOrder);
  return (candidate.is_own ? 0 : kRanks) + kind;
}

}  // namespace

bool same_head(const ObjectInfo& a, const ObjectInfo& b) {
  return a.type == b.type && a.owner == b.owner && a.mode == b.mode && a.authority == b.authority;
}

bool BlockPlan::plan(std::span<const Candidate> candidates, const ObjectTable& table, uint32_t max_parts,
                     Counting counting) {
  const bool alike = put_alike_in_order(candidates);
  if (!alike) put_in_order(candidates);
  blocks_.clear();
  parts_.clear();
  bytes_ = 0;
  groups_cut_ = 0;
  open_part();
  if (alike && counting == Counting::kRoughly && plan_one_block(candidates)) return true;
  uint32_t at = 0;
  for (size_t r = 0; r < runs_.size(); ++r) {
    const Run& run = runs_[r];
    if (run.atom != 0) {
      const uint32_t bits = atom_bits(candidates, table, r);
      const bool fits_a_part = kHeaderBits + bits <= capacity_bits_;
      const bool may_open = used_bits_ != kHeaderBits && parts_.size() < max_parts;
      if (fits_a_part && may_open && used_bits_ + bits > capacity_bits_) open_part();
      groups_cut_ += fits_a_part ? 0 : 1;
    }
    const Candidate* previous = nullptr;  // in the block that the entry would go into
    while (at < run.end) {
      const Candidate& candidate = candidates[order_[at]];
      const uint32_t bits = (previous == nullptr ? block_bits(run, candidate) : 0) +
                            entry_bits(candidate, previous, run, table);
      if (used_bits_ + bits > capacity_bits_ || part_entries_ == kMaxPartEntries) {
        const bool longer_than_a_part = used_bits_ == kHeaderBits;
        if (longer_than_a_part || parts_.size() == max_parts) {
          bytes_ += (used_bits_ + 7) / 8;
          return false;
        }
        open_part();
        previous = nullptr;
        continue;
      }
      if (previous == nullptr) {
        blocks_.push_back({run.kind, run.mixed, run.k, run.age, at, 0});
        ++parts_.back().block_count;
      }
      ++blocks_.back().count;
      ++part_entries_;
      used_bits_ += bits;
      previous = &candidate;
      ++at;
    }
  }
  bytes_ += (used_bits_ + 7) / 8;
  return true;
}

// Where all is one block that fits a part by far, nobody needs to know how much is left.
bool BlockPlan::plan_one_block(std::span<const Candidate> candidates) {
  const Run& run = runs_.front();
  if (run.kind != EntryKind::kDelta || run.mixed || run.end > kMaxPartEntries) return false;
  const uint32_t most_gap_bits = std::max(run.k + kGapEscape, kGapEscape + 8 * kMostGapBytes);
  uint64_t bits = used_bits_ + block_bits(run, candidates.front()) + uint64_t{run.end} * most_gap_bits;
  for (const Candidate& candidate : candidates) bits += candidate.bits + candidate.mask.count + 1;
  if (bits > capacity_bits_) return false;
  blocks_.push_back({run.kind, run.mixed, run.k, run.age, 0, run.end});
  ++parts_.back().block_count;
  used_bits_ = static_cast<uint32_t>(bits);
  bytes_ = (used_bits_ + 7) / 8;
  return true;
}

// What a block takes beside its entries, at most.
uint32_t BlockPlan::block_bits(const Run& run, const Candidate& first) {
  return 8 + 16 + (has_age(run.kind) ? varint_bits(run.age) : 0) + varint_bits(first.slot) + 7;
}

// The bits of the runs that go into one part, from `run` on.
uint32_t BlockPlan::atom_bits(std::span<const Candidate> candidates, const ObjectTable& table,
                              size_t run) const {
  uint32_t bits = 0;
  uint32_t at = run == 0 ? 0 : runs_[run - 1].end;
  for (size_t r = run; r < run + runs_[run].atom; ++r) {
    bits += block_bits(runs_[r], candidates[order_[at]]);
    const Candidate* previous = nullptr;
    for (; at < runs_[r].end; ++at) {
      bits += entry_bits(candidates[order_[at]], previous, runs_[r], table);
      previous = &candidates[order_[at]];
    }
  }
  return bits;
}

void BlockPlan::open_part() {
  if (!parts_.empty()) bytes_ += (used_bits_ + 7) / 8;
  parts_.push_back(Part{static_cast<uint32_t>(blocks_.size()), 0});
  used_bits_ = kHeaderBits;
  part_entries_ = 0;
}

// Most snapshots hold entries of one kind and nothing else. False when these differ.
bool BlockPlan::put_alike_in_order(std::span<const Candidate> candidates) {
  if (candidates.empty()) return false;
  const Candidate& first = candidates.front();
  Ages ages;
  for (const Candidate& candidate : candidates) {
    if (candidate.kind != first.kind || candidate.is_own != first.is_own || !candidate.chosen ||
        candidate.group != kNoSlot)
      return false;
    ages.add(candidate.age);
  }
  const auto count = static_cast<uint32_t>(candidates.size());
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0u);
  runs_.clear();
  add_run(candidates, first.kind, count, count, ages);
  return true;
}

// Own states first, so that they lie in one part, which can confirm them. Then the groups, then kind by kind.
void BlockPlan::put_in_order(std::span<const Candidate> candidates) {
  struct Class {
    uint32_t count = 0;
    uint32_t end = 0;  // in order_
    Ages ages;
  };
  Class classes[2][kRanks];
  const auto class_of = [&classes](const Candidate& candidate) -> Class& {
    return classes[candidate.is_own ? 0 : 1][static_cast<size_t>(candidate.kind)];
  };
  grouped_.clear();
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (!candidate.chosen) continue;
    if (candidate.group != kNoSlot) {
      grouped_.push_back(Grouped{candidate.group, i, rank_of(candidate)});
      continue;
    }
    Class& its = class_of(candidate);
    ++its.count;
    its.ages.add(candidate.age);
  }
  uint32_t first = 0;
  uint32_t first_grouped = 0;
  for (Class(&of_owner)[kRanks] : classes) {
    for (const EntryKind kind : kOrder) {
      Class& its = of_owner[static_cast<size_t>(kind)];
      its.end = first;
      first += its.count;
    }
    if (&of_owner == &classes[0]) {
      first_grouped = first;
      first += static_cast<uint32_t>(grouped_.size());
    }
  }
  order_.resize(first);
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].chosen && candidates[i].group == kNoSlot) order_[class_of(candidates[i]).end++] = i;
  }
  runs_.clear();
  for (Class(&of_owner)[kRanks] : classes) {
    for (const EntryKind kind : kOrder) {
      const Class& its = of_owner[static_cast<size_t>(kind)];
      if (its.count != 0) add_run(candidates, kind, its.end, its.count, its.ages);
    }
    if (&of_owner == &classes[0]) put_groups_in_order(candidates, first_grouped);
  }
}

// Group after group, those with own objects first; within a group own ones first, then kind by kind.
void BlockPlan::put_groups_in_order(std::span<const Candidate> candidates, uint32_t first) {
  const auto by_group = [](const Grouped& a, const Grouped& b) {
    return std::tie(a.is_foreign, a.group, a.rank, a.candidate) <
           std::tie(b.is_foreign, b.group, b.rank, b.candidate);
  };
  std::sort(grouped_.begin(), grouped_.end(), by_group);
  bool foreign = false;
  for (size_t i = 0; i < grouped_.size(); ++i) {
    if (i == 0 || grouped_[i].group != grouped_[i - 1].group) foreign = grouped_[i].rank >= kRanks;
    grouped_[i].is_foreign = foreign;
  }
  std::sort(grouped_.begin(), grouped_.end(), by_group);
  size_t atom = runs_.size();
  for (size_t i = 0, end = 0; i < grouped_.size(); i = end) {
    Ages ages;
    for (; end < grouped_.size() && grouped_[end].group == grouped_[i].group &&
           grouped_[end].rank == grouped_[i].rank;
         ++end) {
      order_[first + end] = grouped_[end].candidate;
      ages.add(candidates[grouped_[end].candidate].age);
    }
    if (i == 0 || grouped_[i].group != grouped_[i - 1].group) atom = runs_.size();
    add_run(candidates, kOrder[grouped_[i].rank % kRanks], first + static_cast<uint32_t>(end),
            static_cast<uint32_t>(end - i), ages);
    ++runs_[atom].atom;
  }
}

void BlockPlan::add_run(std::span<const Candidate> candidates, EntryKind kind, uint32_t end, uint32_t count,
                        const Ages& ages) {
  const uint32_t range = candidates[order_[end - 1]].slot - candidates[order_[end - count]].slot + 1;
  Run run;
  run.kind = kind;
  run.mixed = ages.oldest != 0 && (ages.any_placed || ages.newest != ages.oldest);
  run.k = static_cast<uint8_t>(best_gap_k(range, count));
  run.age = ages.oldest == 0 ? 0 : ages.newest;
  run.end = end;
  runs_.push_back(run);
}

inline uint32_t BlockPlan::entry_bits(const Candidate& candidate, const Candidate* previous, const Run& run,
                                      const ObjectTable& table) {
  uint32_t bits = candidate.bits;
  if (previous != nullptr) bits += gap_bits(candidate.slot - previous->slot - 1, run.k);
  if (run.mixed) bits += candidate.age == run.age ? 1 : 1 + varint_bits(candidate.age);
  if (candidate.kind == EntryKind::kFull) {
    const bool same =
        previous != nullptr && same_head(table.info(candidate.slot), table.info(previous->slot));
    bits += (previous != nullptr ? 1u : 0u) + (same ? 0u : candidate.head_bits);
  }
  const bool same_type = previous != nullptr && previous->type == candidate.type;
  return bits + mask_bits(candidate.mask, same_type ? &previous->mask : nullptr);
}

}  // namespace lattice::replication
