// The counters of one world. The layer abi copies them into lattice_world_stats.
#pragma once

#include <cstdint>

namespace lattice::world {

struct WorldStats {
  uint32_t tick = 0;
  uint32_t connections = 0;
  uint32_t objects = 0;
  uint64_t packets_sent = 0, packets_received = 0, bytes_sent = 0, bytes_received = 0;
  uint64_t datagrams_refused = 0, handshakes_refused = 0;
  uint64_t ticks_dropped_ns = 0;
  uint64_t inputs_received = 0, inputs_used = 0, inputs_late = 0, inputs_repeated = 0, inputs_defaulted = 0;
  uint64_t snapshots_sent = 0, snapshot_bytes_sent = 0;
  uint64_t snapshots_applied = 0;
  uint64_t rollbacks = 0, resimulated_ticks = 0, hard_resets = 0;
  uint32_t max_rollback_ticks = 0, unacked_inputs = 0;
  uint64_t interpolation_samples = 0, interpolation_underruns = 0;
  uint64_t clock_resyncs = 0;
  double interpolation_delay_ms = 0, input_margin_ticks = 0, server_tick_estimate = 0;
  uint64_t rpcs_sent = 0, rpcs_received = 0, rpcs_refused = 0;
  uint64_t handshakes_verified = 0, pump_gap_max_ns = 0;
  uint32_t connections_leaving = 0;
};

}  // namespace lattice::world
