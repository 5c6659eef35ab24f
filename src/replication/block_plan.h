// Cuts the entries of one snapshot into blocks and parts, and counts their bits before anything is written.
// Spec: D-11, D-13, D-14, D-41, D-43.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replication/entry_cache.h"
#include "replication/object_table.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {

/// An entry that a snapshot may hold. A cache line: thousands of them may compete for the budget.
struct Candidate {
  static constexpr uint32_t kNoUnit = UINT32_MAX;

  WireMask mask;  // as in EntryBody
  const ObjectType* type = nullptr;
  uint32_t slot = 0;
  uint32_t index = 0;  // of the replica or the removal
  uint32_t age = 0;    // of the baseline; 0: the kind has none, or it is the state as placed
  uint32_t bits = 0;   // of the content without mask and head
  uint32_t body = 0;   // in the EntryCache; EntryCache::kTooLarge when the kind has none
  float priority = 0;
  uint32_t group = kNoSlot;  // entries of one group go into one part, if they fit one
  uint32_t unit = kNoUnit;   // where a budget chooses: what is chosen together
  uint16_t head_bits = 0;    // of a full entry's head
  EntryKind kind = EntryKind::kDelta;
  bool chosen = true;             // goes into this snapshot
  bool is_own : 1 = false;        // a state of an object that the client owns
  bool is_predicted : 1 = false;  // an own one that the client may predict
  bool is_new : 1 = false;        // a newcomer
  bool goes_first : 1 = false;    // a removal that goes before the states of others
  bool may_step : 1 = false;      // may come into step
};
static_assert(sizeof(Candidate) == 64);

class BlockPlan {
 public:
  struct Block {
    EntryKind kind = EntryKind::kDelta;
    bool mixed = false;
    uint8_t k = 0;
    uint32_t age = 0;    // of most of its entries
    uint32_t first = 0;  // in order()
    uint32_t count = 0;
  };
  struct Part {
    uint32_t first_block = 0;
    uint32_t block_count = 0;
  };

  explicit BlockPlan(uint32_t part_capacity_bytes) : capacity_bits_(part_capacity_bytes * 8) {}

  /// The plan of so many candidates needs no further memory, but for their groups.
  void make_room(uint32_t candidates) { order_.resize(candidates); }
  /// Roughly: never too few bytes, for a snapshot whose bytes no budget bounds.
  enum class Counting : uint8_t { kExactly, kRoughly };
  /// Plans the chosen candidates, which ascend by slot within each kind. The result has one part at least,
  /// even without candidates, and `max_parts` at most. False when not all of them found room.
  bool plan(std::span<const Candidate> candidates, const ObjectTable& table, uint32_t max_parts,
            Counting counting = Counting::kExactly);

  std::span<const Part> parts() const { return parts_; }
  std::span<const Block> blocks() const { return blocks_; }
  /// Indexes of candidates, block after block.
  std::span<const uint32_t> order() const { return order_; }
  /// Groups that are longer than a part.
  uint32_t groups_cut() const { return groups_cut_; }
  /// At most so many bytes will be written.
  uint32_t bytes() const { return bytes_; }
  /// At least so many bytes are left in the last part.
  uint32_t room_bytes() const { return (capacity_bits_ - used_bits_) / 8; }

 private:
  /// Of the baselines of a run.
  struct Ages {
    uint32_t newest = UINT32_MAX;  // of those with one
    uint32_t oldest = 0;
    bool any_placed = false;  // one is against the state in which its object was placed
    void add(uint32_t age) {
      any_placed = any_placed || age == 0;
      if (age != 0) newest = std::min(newest, age);
      oldest = std::max(oldest, age);
    }
  };
  bool put_alike_in_order(std::span<const Candidate> candidates);
  bool plan_one_block(std::span<const Candidate> candidates);
  void put_in_order(std::span<const Candidate> candidates);
  void put_groups_in_order(std::span<const Candidate> candidates, uint32_t first);
  void add_run(std::span<const Candidate> candidates, EntryKind kind, uint32_t end, uint32_t count,
               const Ages& ages);
  uint32_t atom_bits(std::span<const Candidate> candidates, const ObjectTable& table, size_t run) const;
  void open_part();

  uint32_t capacity_bits_;
  uint32_t bytes_ = 0;
  uint32_t groups_cut_ = 0;
  uint32_t used_bits_ = 0;  // of the open part
  uint32_t part_entries_ = 0;
  /// Entries of one kind that follow each other in order_.
  struct Run {
    EntryKind kind = EntryKind::kDelta;
    bool mixed = false;
    uint8_t k = 0;
    uint32_t age = 0;
    uint32_t end = 0;   // in order_
    uint32_t atom = 0;  // so many runs from here on go into one part, if they fit one
  };
  static uint32_t block_bits(const Run& run, const Candidate& first);
  static uint32_t entry_bits(const Candidate& candidate, const Candidate* previous, const Run& run,
                             const ObjectTable& table);

  /// A chosen candidate that belongs to a group.
  struct Grouped {
    uint32_t group = 0;
    uint32_t candidate = 0;
    uint32_t rank = 0;        // own ones first, then by kind
    bool is_foreign = false;  // no object of the group is the client's own
  };
  std::vector<Run> runs_;
  std::vector<Grouped> grouped_;
  std::vector<uint32_t> order_;
  std::vector<Block> blocks_;
  std::vector<Part> parts_;
};

/// Whether two full entries have the same head (D-41).
bool same_head(const ObjectInfo& a, const ObjectInfo& b);

/// The head of a block takes so many bytes at most.
inline constexpr uint32_t kMostBlockHeadBytes = 1 + 1 + 3 + 4;

/// Bits of a gap (D-14).
inline uint32_t gap_bits(uint32_t gap, uint32_t k) {
  const uint32_t quotient = gap >> k;
  if (quotient < kGapEscape) return quotient + 1 + k;
  uint32_t bits = kGapEscape + 8;
  for (uint32_t rest = gap >> 7; rest != 0; rest >>= 7) bits += 8;
  return bits;
}

}  // namespace lattice::replication
