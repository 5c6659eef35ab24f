// The ticks of the newest snapshots that came. An object has at most one state in each, and keeps as many
// states as there are ticks here, so from the oldest of these ticks on all its states are here.
#pragma once

#include <array>
#include <cstdint>

#include "base/sequence.h"
#include "replication/keep_ticks.h"
#include "replication/snapshot_format.h"

namespace lattice::world {

class RecentTicks {
 public:
  using Tick = base::Tick;
  static constexpr uint32_t kMost = replication::kBaselineSends;

  /// A snapshot came, or one more part of it, perhaps after a newer one.
  void note(Tick tick) {
    uint32_t newer = 0;
    while (newer < count_ && base::tick_after(at(newer), tick)) ++newer;
    if (newer == kMost || (newer < count_ && at(newer) == tick)) return;
    ++end_;
    if (count_ < kMost) ++count_;
    for (uint32_t i = 0; i < newer; ++i) at(i) = at(i + 1);
    at(newer) = tick;
  }
  /// The oldest of the newest kMost; 0 while there are fewer.
  Tick oldest() const { return count_ < kMost ? 0 : ticks_[end_ % kMost]; }

 private:
  Tick& at(uint32_t newer) { return ticks_[(end_ - 1 - newer) % kMost]; }

  std::array<Tick, kMost> ticks_{};  // a ring
  uint32_t end_ = 0;                 // that of the newest is before it
  uint32_t count_ = 0;
};

}  // namespace lattice::world
