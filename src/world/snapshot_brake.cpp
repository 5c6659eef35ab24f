#include "world/snapshot_brake.h"

#include <algorithm>

namespace lattice::world {

void SnapshotBrake::on_part(bool acked) {
  newest_acked_ = (7 * newest_acked_ + (acked ? 256 : 0)) / 8;
  ++now_.all;
  now_.acked += acked ? 1 : 0;
}

bool SnapshotBrake::holds(const Turn& turn) {
  constexpr uint64_t kLooksPerAck = 64;
  constexpr base::Tick kSpanS = 5;
  const uint64_t looks_per_s = turn.owns ? 300'000 : 40'000;
  const uint32_t least_snapshots_per_s = turn.owns ? 4 : 1;
  const uint64_t earned = uint64_t{turn.tick - tick_} * looks_per_s / turn.tick_rate_hz +
                          (turn.acked_entries - acked_entries_) * kLooksPerAck;
  owed_ = std::min(owed_ + (turn.looks - looks_), 2 * looks_per_s + earned);
  owed_ -= std::min(owed_, earned);
  looks_ = turn.looks, acked_entries_ = turn.acked_entries, tick_ = turn.tick;
  return acks_little(turn.tick, kSpanS * turn.tick_rate_hz) && owed_ > looks_per_s &&
         turn.tick - turn.snapshot_tick < turn.tick_rate_hz / least_snapshots_per_s;
}

bool SnapshotBrake::acks_little(base::Tick tick, base::Tick span_ticks) {
  constexpr uint32_t kLeastParts = 4;
  if (tick - span_begin_ >= span_ticks) {
    before_ = tick - span_begin_ < 2 * span_ticks ? now_ : Parts{};
    now_ = {};
    span_begin_ = tick;
  }
  const uint32_t all = now_.all + before_.all, acked = now_.acked + before_.acked;
  return all >= kLeastParts && 2 * acked < all && newest_acked_ < 128;
}

}  // namespace lattice::world
