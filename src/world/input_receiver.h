// The inputs that other peers make: one jitter buffer for each client, and the input of each for the present
// tick (§10.3, T-06). Clients are named by the slots of their connections.
//
// Nobody can tell when a tick's input is taken, as long as it is before the next one comes. So ticks do not
// visit the clients: every call here takes the inputs up to the tick that it is given.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/counters.h"
#include "replication/snapshot_format.h"
#include "serialization/layout.h"
#include "simulation/input_buffer.h"
#include "world/presentation.h"

namespace lattice::world {

using base::Tick;

/// What a player saw when an input was made.
struct InputSight {
  Tick input_tick = 0;
  simulation::Sight sight;
  uint8_t lead_quarter_ticks = 0;
  bool is_clamped = false;  // the client said otherwise
};

class InputReceiver {
 public:
  /// `layout` is that of the inputs and outlives this. Slots are below `max_clients`.
  InputReceiver(const serialization::Layout& layout, const simulation::InputBufferConfig& config,
                uint32_t max_clients);

  /// A client joins; `tick` is the last that ran.
  void open(uint32_t client, Tick tick);
  /// Its counters stay in stats().
  void close(uint32_t client, Tick tick);
  /// Fetch what a client needs into the cache, with some work in between: where its buffer is, the buffer,
  /// and the inputs that report() looks at. Only hints.
  void prefetch_place(uint32_t client) const { base::prefetch(&buffers_[client]); }
  void prefetch(uint32_t client) const {
    if (buffers_[client]) buffers_[client]->prefetch();
  }
  void prefetch_inputs(uint32_t client) const {
    if (buffers_[client]) buffers_[client]->prefetch_inputs();
  }
  /// Takes a message of inputs. False, and counted, when it is malformed. `tick` is the last that ran, and
  /// `position` that of the clock. What comes faster than ticks can use it is dropped unread, and counted.
  bool receive(uint32_t client, std::span<const uint8_t> body, Tick tick, simulation::TickTime position);

  /// Writes the client's input of `tick` into `out`, which has the bytes of the input's structure.
  simulation::InputSource read(uint32_t client, Tick tick, void* out);
  /// False when the input of `tick` is nobody's.
  bool sight(uint32_t client, Tick tick, InputSight* out) const;
  /// The clock skips the ticks after `ran`, up to `tick`: they never run, and their inputs do not count.
  void skip(Tick ran, Tick tick);
  /// Tells the client what became of its inputs.
  void report(uint32_t client, Tick tick, replication::SnapshotHeader* header);

  simulation::InputBufferStats stats(Tick tick) const;
  uint64_t refusals(simulation::InputRefusal reason) const { return refusals_.get(reason); }

 private:
  const simulation::TakenInput& take(uint32_t client, Tick tick) const {
    return buffers_[client]->take_up_to(tick);
  }

  const serialization::Layout& layout_;
  simulation::InputBufferConfig config_;
  std::vector<std::unique_ptr<simulation::InputBuffer>> buffers_;  // by client; null: it is not here
  std::vector<serialization::Word> default_;
  std::vector<serialization::Word> scratch_;
  HostScratch host_;
  simulation::InputBufferStats closed_;  // of clients that left
  base::Counters<simulation::InputRefusal, static_cast<size_t>(simulation::InputRefusal::kCount)> refusals_;
};

}  // namespace lattice::world
