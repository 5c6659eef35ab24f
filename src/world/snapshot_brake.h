// Gives a client fewer snapshots that has much to be looked at and acknowledges little of it (D-67). A
// snapshot looks at all that the client lacks. One that acknowledges now and then something would cost that
// with each. So there are as many as a number of looks per second allows, and what it acknowledges; but as
// many as for one that is silent.
//
// Who acknowledges less than half of what it was sent, for 5 to 10 s and still of the last few parts, earns
// few looks with it. An honest client loses much for a moment, and acknowledges all that comes after it.
// Others earn more, and may owe more for a while: who receives much is not held back, but who lets its link
// carry next to nothing is.
#pragma once

#include <cstdint>

#include "base/tick.h"

namespace lattice::world {

class SnapshotBrake {
 public:
  /// What became of a part that was sent to the client.
  void on_part(bool acked);

  struct Turn {
    base::Tick tick = 0;
    base::Tick snapshot_tick = 0;  // of its last snapshot
    uint32_t tick_rate_hz = 60;
    bool owns = false;           // it waits for confirmations, and may have more
    uint64_t looks = 0;          // of all its snapshots
    uint64_t acked_entries = 0;  // of all its parts
  };
  /// True when the client gets no snapshot in this turn. Call it once in each.
  bool holds(const Turn& turn);

 private:
  struct Parts {
    uint32_t all = 0, acked = 0;
  };
  bool acks_little(base::Tick tick, base::Tick span_ticks);
  void note_newest();

  uint64_t looks_ = 0, acked_entries_ = 0;  // as far as they are counted
  uint64_t owed_ = 0;                       // looks beyond those that it had earned
  base::Tick tick_ = 0;                     // of the last turn
  uint32_t newest_acked_ = 256;             // of the last parts, in 256ths
  Parts newest_;                            // since the last turn
  Parts now_, before_;                      // in this span of time, and in the one before
  base::Tick span_begin_ = 0;
};

}  // namespace lattice::world
