#include "replication/block_plan.h"

#include <algorithm>

#include "base/assert.h"
#include "replication/entry_writer.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kHeaderBits = kSnapshotHeaderBytes * 8;

}  // namespace

bool same_head(const ObjectInfo& a, const ObjectInfo& b) {
  return a.type == b.type && a.owner == b.owner && a.mode == b.mode && a.authority_tick == b.authority_tick;
}

bool BlockPlan::plan(std::span<const Candidate> candidates, const ObjectTable& table, uint32_t max_parts) {
  put_in_order(candidates);
  blocks_.clear();
  parts_.clear();
  bytes_ = 0;
  open_part();
  uint32_t at = 0;
  for (const Group& group : groups_) {
    bool open = false;
    for (; at < group.end; ++at) {
      const Candidate& candidate = candidates[order_[at]];
      const Candidate* previous = open ? &candidates[order_[at - 1]] : nullptr;
      Block* block = open ? &blocks_.back() : nullptr;
      const Block next{group.kind, group.mixed, group.k, group.age, at, 0};
      const uint32_t block_bits = open ? 0
                                       : 8 + 16 + (has_age(group.kind) ? varint_bits(group.age) : 0) +
                                             varint_bits(candidate.slot) + 7;
      const uint32_t bits = block_bits + entry_bits(candidate, previous, open ? *block : next, table);
      const bool fits = used_bits_ + bits <= capacity_bits_ && part_entries_ < kMaxPartEntries;
      if (!fits) {
        const bool longer_than_a_part = used_bits_ == kHeaderBits;
        if (longer_than_a_part || parts_.size() == max_parts) {
          bytes_ += (used_bits_ + 7) / 8;
          return false;
        }
        open_part();
        open = false;
        --at;
        continue;
      }
      if (!open) {
        blocks_.push_back(next);
        ++parts_.back().block_count;
        open = true;
      }
      ++blocks_.back().count;
      ++part_entries_;
      used_bits_ += bits;
    }
  }
  bytes_ += (used_bits_ + 7) / 8;
  return true;
}

void BlockPlan::open_part() {
  if (!parts_.empty()) bytes_ += (used_bits_ + 7) / 8;
  parts_.push_back(Part{static_cast<uint32_t>(blocks_.size()), 0});
  used_bits_ = kHeaderBits;
  part_entries_ = 0;
}

// Own states first, so that they lie in one part, which can confirm them. Then kind by kind.
void BlockPlan::put_in_order(std::span<const Candidate> candidates) {
  constexpr EntryKind kOrder[] = {EntryKind::kRemoved, EntryKind::kDelta, EntryKind::kFull,
                                  EntryKind::kRested};
  struct Class {
    uint32_t count = 0;
    uint32_t end = 0;                  // in order_
    uint32_t newest_age = UINT32_MAX;  // of those with one
    uint32_t oldest_age = 0;
    bool any_placed = false;  // one is against the state in which its object was placed
  };
  Class classes[2][kEntryKinds];
  const auto class_of = [&classes](const Candidate& candidate) -> Class& {
    return classes[candidate.is_own ? 0 : 1][static_cast<size_t>(candidate.kind)];
  };
  for (const Candidate& candidate : candidates) {
    if (!candidate.chosen) continue;
    Class& its = class_of(candidate);
    ++its.count;
    its.any_placed = its.any_placed || candidate.age == 0;
    if (candidate.age != 0) its.newest_age = std::min(its.newest_age, candidate.age);
    its.oldest_age = std::max(its.oldest_age, candidate.age);
  }
  uint32_t first = 0;
  for (Class(&of_owner)[kEntryKinds] : classes) {
    for (const EntryKind kind : kOrder) {
      Class& its = of_owner[static_cast<size_t>(kind)];
      its.end = first;
      first += its.count;
    }
  }
  order_.resize(first);
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].chosen) order_[class_of(candidates[i]).end++] = i;
  }
  groups_.clear();
  for (const bool own : {true, false}) {
    for (const EntryKind kind : kOrder) {
      const Class& its = classes[own ? 0 : 1][static_cast<size_t>(kind)];
      if (its.count == 0) continue;
      const uint32_t range =
          candidates[order_[its.end - 1]].slot - candidates[order_[its.end - its.count]].slot + 1;
      groups_.push_back(Group{kind, own, its.end, static_cast<uint8_t>(best_gap_k(range, its.count)),
                              its.oldest_age == 0 ? 0 : its.newest_age,
                              its.oldest_age != 0 && (its.any_placed || its.newest_age != its.oldest_age)});
    }
  }
}

uint32_t BlockPlan::entry_bits(const Candidate& candidate, const Candidate* previous, const Block& block,
                               const ObjectTable& table) {
  uint32_t bits = candidate.bits;
  if (previous != nullptr) bits += gap_bits(candidate.slot - previous->slot - 1, block.k);
  if (block.mixed) bits += candidate.age == block.age ? 1 : 1 + varint_bits(candidate.age);
  if (candidate.kind == EntryKind::kFull) {
    const bool same =
        previous != nullptr && same_head(table.info(candidate.slot), table.info(previous->slot));
    bits += (previous != nullptr ? 1 : 0) + (same ? 0 : candidate.head_bits);
  }
  if (candidate.mask_bits == 0) return bits;
  if (previous == nullptr || previous->type != candidate.type) return bits + candidate.mask_bits;
  const bool same_mask = previous->mask == candidate.mask && previous->mask_bits == candidate.mask_bits;
  return bits + (same_mask ? 1 : 1 + candidate.mask_bits);
}

}  // namespace lattice::replication
