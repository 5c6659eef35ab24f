// A validated lattice_world_config, in the library's own units.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lattice/types.h"
#include "prediction/reconciler.h"
#include "reliability/congestion/congestion_config.h"
#include "reliability/endpoint/caller_tasks.h"
#include "reliability/recovery/rtt_estimator.h"
#include "replication/interest/interest_objects.h"
#include "replication/state_store.h"
#include "simulation/input_history.h"
#include "transport/crypto/replay_window.h"
#include "transport/crypto/secret.h"

namespace lattice::world {

/// Interest management of an authority (§15).
struct InterestConfig {
  bool enabled = false;  // false: every client gets every object
  replication::InterestKind kind = replication::InterestKind::kNone;
  double cell = 32;
  double enter_radius = 64;
  double leave_radius = 77;
  uint32_t stay_ms = 1000;
  double near_radius = 0;    // nearer objects come at full rate
  uint32_t far_rate_hz = 0;  // states per second of an object at enter_radius; 0: as near
};

struct WorldConfig {
  // What the session does. A dedicated server listens; a listen-server listens and has a player; a client
  // connects and has a player.
  bool listens = true;
  bool connects = false;
  bool has_player = false;
  /// Nothing but connections, messages and large transfers: no objects, ticks, snapshots, inputs and calls.
  bool transport_only = false;
  uint32_t tick_rate_hz = 60;
  uint32_t snapshot_rate_hz = 30;
  uint32_t newest_tick = 0;  // of the side that listens: its first tick follows this one
  uint32_t max_objects = 4096;
  bool quantize_simulation = true;  // S-03
  uint64_t seed = 1;
  /// On a simulated network, keys and all other random numbers follow from it. Absent: the system's entropy.
  std::optional<uint64_t> repeatable_entropy;
  uint32_t max_connections = 64;
  uint64_t connect_budget_ns = 10'000'000'000;
  uint64_t timeout_ns = 10'000'000'000;
  uint32_t connects_per_s_per_prefix = 100;  // H-08, per /24 or /56
  uint32_t max_half_open_per_prefix = 16;    // S-42
  uint32_t snapshot_budget_bytes = 0;        // 0: as many as kMaxParts parts hold
  reliability::CongestionMode congestion_mode = reliability::CongestionMode::kDelay;
  uint64_t max_send_bytes_per_s = 0;         // per connection; 0: no limit
  uint8_t transfer_channel = 0;              // 4 to 13; 0: no large transfers
  uint64_t max_transfer_bytes = 256u << 20;  // of one transfer
  reliability::CallerTasks tasks;            // threads that build snapshots, seal and open
  std::vector<crypto::PublicKey> issuers;
  /// For a server that keeps its identity: connection::kServerIdentityBytes bytes, borrowed while the world
  /// is made. Otherwise null.
  const uint8_t* server_identity = nullptr;
  uint64_t created_unix_s = 0;  // when the world was made
  uint64_t interpolation_delay_ns = 100'000'000;
  uint64_t extrapolation_max_ns = 250'000'000;
  uint64_t smoothing_tau_ns = 60'000'000;
  double snap_distance = 4.0;

  // Transport.
  uint64_t rto_min_ns = reliability::kMinRtoNs;
  uint64_t rto_max_ns = reliability::kMaxRtoNs;
  uint64_t keepalive_interval_ns = 1'000'000'000;
  uint64_t connect_retry_ns = 250'000'000;
  uint32_t replay_window_packets = crypto::kReplayWindowPackets;
  uint64_t rekey_interval_ns = uint64_t{900} * 1'000'000'000;
  uint64_t rekey_bytes = uint64_t{1} << 30;
  uint32_t initial_datagram_bytes = 1200;
  uint32_t max_datagram_bytes = 1472;

  // Prediction and history.
  uint32_t prediction_window_ticks = prediction::kPredictionWindowTicks;
  uint32_t resimulation_budget_ticks = 0;  // per receive phase, beyond the ticks that ran since; 0: no limit
  uint32_t history_ticks = replication::kHistoryTicks;
  uint32_t input_redundancy = simulation::kMaxInputsPerMessage - 1;

  InterestConfig interest;
};

using replication::kAuthorityPeer;
using replication::kFirstClientPeer;

}  // namespace lattice::world
