// Which objects in step go into a snapshot, as blocks that clients share. Spec: C-04, C-05, D-13, D-15.
//
// Where the budget suffices, every group goes into every snapshot. Where it does not, groups take turns: each
// has an accumulator, as an entry on its own has, and the highest go first. So a snapshot costs something per
// group and for what it holds, and nothing per object that waits. All objects of a group have the same base
// priority then: on their own, they would come at the same time too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replication/block_cache.h"
#include "replication/step_list.h"

namespace lattice::replication {

class StepPlan {
 public:
  /// A block of objects in step takes this share of a part at most.
  static constexpr uint32_t kSharedPerPart = 4;
  static constexpr uint32_t kLeastCutEntries = 8;  // a smaller block is not cut to fill up a part

  struct Config {
    uint32_t part_capacity_bytes = 0;
    uint32_t max_parts = 0;
    uint32_t send_interval_ticks = 0;
  };
  struct Shared {
    uint32_t group = 0;
    uint32_t mask = 0;
    Tick baseline = 0;
    uint32_t block = 0;  // in the BlockCache
    uint32_t own = 0;    // of mask, the client's own objects
    uint32_t place = 0;  // of the group's step
  };
  /// What a snapshot holds already.
  struct Used {
    uint32_t bytes = 0;
    uint32_t parts = 0;
    uint32_t room_bytes = 0;  // left in the last part
  };

  /// What is on its own.
  struct Alone {
    std::span<const float> accumulators;  // in descending order
    bool any_new = false;                 // there are newcomers among them
    double bits = 0;                      // that such an entry has, some
  };

  StepPlan(const Config& config, BlockCache& blocks) : config_(config), blocks_(blocks) {}

  /// Starts with nothing. The steps must stay where they are until settle().
  void begin(std::span<Step> steps, Tick tick);
  /// Takes all groups. False when they would leave too little of the budget for what else there is: then
  /// nothing is taken. Without bound if `budget_bytes` is 0.
  bool take_all(uint32_t budget_bytes);

  /// Raises the accumulators of all groups.
  void line_up();
  /// Divides the budget among the groups and what is on its own, in the order of their priorities: returns
  /// the least priority for which there is room.
  float divide(const Alone& entries, uint32_t budget_bytes);
  /// What divide() keeps for groups. Nothing when an entry on its own is the first in line: that may need all
  /// of the budget. But where there are newcomers, a quarter in three of four snapshots.
  uint32_t reserved_bytes() const { return reserved_bytes_; }
  /// Takes groups in their order, behind what is there. One that does not fit makes way for one of the next
  /// few that do.
  void take_turns(Used used, uint32_t budget_bytes);
  /// Objects of groups that take_turns() did not take.
  uint32_t waiting() const { return waiting_; }
  /// Groups that are so long that they might wait for ever.
  std::span<const uint32_t> too_long() const { return too_long_; }

  std::span<const Shared> shared() const { return shared_; }
  /// The client's own objects in shared().
  uint32_t own() const { return own_; }
  /// At most so many bytes does shared() take, with the parts that it begins; and so many parts does it
  /// begin.
  uint32_t bytes() const { return bytes_; }
  uint32_t parts() const { return parts_; }
  /// Notes that shared() was sent.
  void settle();

  /// Whether a quarter of the budget is left behind `bytes`, and a part.
  bool has_room(uint32_t bytes, uint32_t budget_bytes) const;

 private:
  struct Recent {
    Shared block;
    uint32_t bytes = 0;
  };
  bool find(uint32_t place);
  void put_first(size_t first);
  bool find(Shared shared);
  bool place(std::span<const Shared> blocks, uint32_t budget_bytes, Used* used) const;

  Config config_;
  BlockCache& blocks_;
  std::span<Step> steps_;
  Tick tick_ = 0;
  /// By place, the block that a client got last, where it was one. The next client mostly has the same groups
  /// at the same places.
  std::vector<Recent> recent_;
  uint32_t recent_send_ = 0;  // BlockCache::send() of its blocks
  std::vector<Shared> shared_;
  std::vector<uint32_t> taken_;  // places in steps_
  std::vector<uint64_t> ranks_;  // of all steps, in descending order
  std::vector<uint32_t> too_long_;
  uint32_t waiting_ = 0;
  uint32_t reserved_bytes_ = 0;
  uint32_t bytes_ = 0;
  uint32_t parts_ = 0;
  uint32_t own_ = 0;
};

/// The lower half of the bits that are set.
uint32_t lower_half(uint32_t mask);

}  // namespace lattice::replication
