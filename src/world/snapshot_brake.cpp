#include "world/snapshot_brake.h"

#include <algorithm>

namespace lattice::world {

void SnapshotBrake::on_part(bool acked) {
  ++newest_.all;
  newest_.acked += acked ? 1 : 0;
}

bool SnapshotBrake::holds(const Turn& turn) {
  constexpr uint64_t kLooksPerAck = 64, kMoreLooksPerAck = 512;
  constexpr uint64_t kMostOwed = 2'000'000;  // also before the first acks of a large world come
  constexpr base::Tick kSpanS = 5;
  const bool acks_little = this->acks_little(turn.tick, kSpanS * turn.tick_rate_hz);
  const uint64_t looks_per_s = turn.owns ? 300'000 : 40'000;
  const uint32_t least_snapshots_per_s = turn.owns ? 4 : 1;
  const uint64_t earned =
      uint64_t{turn.tick - tick_} * looks_per_s / turn.tick_rate_hz +
      (turn.acked_entries - acked_entries_) * (acks_little ? kLooksPerAck : kMoreLooksPerAck);
  const uint64_t most_owed = acks_little ? looks_per_s : kMostOwed;
  owed_ = std::min(owed_ + (turn.looks - looks_), kMostOwed + looks_per_s + earned);
  owed_ -= std::min(owed_, earned);
  looks_ = turn.looks, acked_entries_ = turn.acked_entries, tick_ = turn.tick;
  return owed_ > most_owed && turn.tick - turn.snapshot_tick < turn.tick_rate_hz / least_snapshots_per_s;
}

bool SnapshotBrake::acks_little(base::Tick tick, base::Tick span_ticks) {
  constexpr uint32_t kLeastParts = 4;
  note_newest();
  if (tick - span_begin_ >= span_ticks) {
    before_ = tick - span_begin_ < 2 * span_ticks ? now_ : Parts{};
    now_ = {};
    span_begin_ = tick;
  }
  const uint32_t all = now_.all + before_.all, acked = now_.acked + before_.acked;
  return all >= kLeastParts && 2 * acked < all && newest_acked_ < 128;
}

// What came since the last turn counts as a whole: a client chooses the order within it.
void SnapshotBrake::note_newest() {
  constexpr uint32_t kForgets = 32;  // parts, after which nothing is left of those before
  if (newest_.all == 0) return;
  const uint32_t share = 256 * newest_.acked / newest_.all;
  for (uint32_t i = 0; i < std::min(newest_.all, kForgets); ++i)
    newest_acked_ = (7 * newest_acked_ + share) / 8;
  now_.all += newest_.all;
  now_.acked += newest_.acked;
  newest_ = {};
}

}  // namespace lattice::world
