// When the ticks of a side are due that follows the clock of another: it runs ahead of that clock by as much
// as its inputs need to arrive in time (§10.2, T-02, T-03).
#pragma once

#include <cstdint>

#include "replication/snapshot_format.h"
#include "simulation/clock_sync.h"
#include "simulation/fixed_tick.h"

namespace lattice::world {

class ClockFollower {
 public:
  using Tick = base::Tick;

  /// Steers `ticks`, which outlives this.
  explicit ClockFollower(simulation::FixedTick& ticks);

  /// The session has begun: the other side had run `server_tick` when it said so.
  void start(Tick server_tick, uint64_t now_ns, uint64_t rtt_ns);
  /// The session has ended.
  void stop();
  bool started() const { return clock_.started(); }
  /// True from the first step() of the session on.
  bool ticking() const { return ticking_; }

  /// A receive phase begins.
  void begin_receive() { heard_.server_tick = 0; }
  /// A part of a snapshot came at `arrived_ns`.
  void on_part(const replication::SnapshotHeader& header, uint64_t srtt_ns, uint64_t arrived_ns);
  /// Returns for how long no snapshot had come, if one came now; 0 for the first of the session.
  uint64_t end_receive();

  struct Step {
    uint32_t due = 0;      // ticks to run now, after a jump too
    Tick newest_tick = 0;  // the first of them follows this one
    bool jumped = false;   // newest_tick is not the one that was given
  };
  /// Consumes the time since the last call. `newest_tick` is the last that ran, and ignored by the first call
  /// of a session; `newest_sent` is the tick of the newest input that has left.
  Step step(Tick newest_tick, Tick newest_sent, uint64_t now_ns);

  /// Inputs left at `now_ns`; `newest_tick` is the last that ran.
  void on_inputs_sent(Tick newest_tick, uint64_t now_ns);
  /// How early inputs are meant to arrive.
  uint8_t lead_quarter_ticks() const;
  /// The distance between two snapshots at present, 1 or more.
  uint32_t snapshot_interval_ticks() const;
  const simulation::ClockSync& sync() const { return clock_; }

 private:
  simulation::FixedTick& ticks_;
  simulation::ClockSync clock_;
  simulation::SnapshotTiming heard_;  // of the newest snapshot of this receive phase; tick 0: none
  uint64_t heard_at_ns_ = 0;          // the newest snapshot; 0: none in this session
  bool ticking_ = false;
};

}  // namespace lattice::world
