// The inputs of this side's own player: one a tick, sent until the other side has run their ticks, and kept
// for as long as a tick may run again here (§10.3, §11.1, C-06).
#pragma once

#include <cstdint>
#include <vector>

#include "fragment/fragmenting_endpoint.h"
#include "replication/snapshot_format.h"
#include "serialization/layout.h"
#include "simulation/input_history.h"
#include "world/input_receiver.h"

namespace lattice::world {

class InputSender {
 public:
  /// `layout` is that of the inputs and outlives this.
  InputSender(const serialization::Layout& layout, const simulation::InputHistoryConfig& config);

  /// Takes the player's structure as the input of `tick`, and what the player saw. False when values did not
  /// fit and were clamped.
  bool sample(Tick tick, const void* const* input, const simulation::Sight& sight);
  /// Writes the input of `tick` into `out`, which has the bytes of the input's structure, as the other side
  /// reads it: quantized (I2). False when there is none.
  bool read(Tick tick, void* out);
  /// What the player saw at the input of `tick`. False when there is none.
  bool sight(Tick tick, simulation::Sight* out) const;

  /// A part of a snapshot says which tick the other side has run, and how early the inputs come.
  void on_part(const replication::SnapshotHeader& header);
  /// Sends what the other side lacks. False when there is nothing new, or nothing may be sent now: what waits
  /// goes with the next message. `lead_quarter_ticks` is how early the inputs are meant to arrive.
  bool send(fragment::FragmentingEndpoint& endpoint, reliability::ConnectionHandle connection,
            uint8_t lead_quarter_ticks, uint64_t now_ns);
  /// Drops the inputs after `tick`, where the clock jumped to. None of them was sent.
  void drop_after(Tick tick) { history_.drop_after(tick); }
  /// The session has ended. The next one may begin at any tick.
  void clear();

  Tick newest_sent() const { return history_.newest_sent(); }
  /// How many inputs the next message would hold.
  uint32_t unacked() const { return history_.window_count(); }
  /// How early the inputs arrive, as the other side last said.
  int8_t margin_quarter_ticks() const { return margin_quarter_ticks_; }

 private:
  const serialization::Layout& layout_;
  simulation::InputHistory history_;
  std::vector<serialization::Word> words_;
  HostScratch host_;
  Tick acked_tick_ = 0;
  int8_t margin_quarter_ticks_ = 0;
};

}  // namespace lattice::world
