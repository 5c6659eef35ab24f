#include "abi/least_cap.h"

#include <algorithm>
#include <cinttypes>

#include "abi/config.h"
#include "abi/last_error.h"
#include "reliability/congestion/congestion_config.h"
#include "reliability/limits.h"

namespace lattice::abi {
namespace {

/// Packets that do nothing but acknowledge come at most so often. Those that leave anyway carry the
/// acknowledgement.
constexpr uint32_t kAckPacketsPerS = static_cast<uint32_t>(1'000'000'000 / reliability::kMaxAckDelayNs);
/// What a packet has beside the body of its message: header, tag, acknowledgement, head of the message.
constexpr uint32_t kPacketBytes =
    static_cast<uint32_t>(wire::kFloorDatagramBytes - reliability::kMaxSnapshotBody);
/// What a snapshot has beside the states: its header, the heads of blocks and entries.
constexpr uint32_t kSnapshotHeadBytes = 64;
constexpr uint32_t kLeastInputBytes = 16;  // header, the sight of the player, a small input

// What a client predicts goes first as long as it takes half of a snapshot at most.
uint32_t least_snapshot_bytes(const lattice_world_config& config) {
  return kSnapshotHeadBytes + 2 * config.predicted_set_bytes;
}

lattice_result refuse_rate(uint32_t given, uint32_t packets_per_s, uint32_t rate_hz, uint32_t body_bytes,
                           const char* bodies) {
  const uint32_t least = packets_per_s * kPacketBytes + rate_hz * body_bytes;
  if (given >= least && given <= reliability::kMaxRateBytesPerS) return LATTICE_OK;
  return fail(LATTICE_ERROR_CONFIG,
              "lattice_world_config.max_send_bytes_per_s is %u. Give 0 for no ceiling, or %u..%" PRIu64
              ". The least is what a connection needs: %u packets per second of %u bytes with "
              "acknowledgements, and in them %u %s of %u bytes.",
              given, least, uint64_t{reliability::kMaxRateBytesPerS}, packets_per_s, kPacketBytes, rate_hz,
              bodies, body_bytes);
}

}  // namespace

lattice_result check_caps(const lattice_world_config& config, lattice_role role) {
  const uint32_t snapshot_bytes = least_snapshot_bytes(config);
  if (config.snapshot_budget_bytes != 0 && config.snapshot_budget_bytes < snapshot_bytes) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_world_config.snapshot_budget_bytes is %u. Give 0 for no bound, or %u..%u. The least "
                "is %u for its heads, and twice predicted_set_bytes.",
                config.snapshot_budget_bytes, snapshot_bytes, kMostSnapshotBytes, kSnapshotHeadBytes);
  }
  if (config.max_send_bytes_per_s == 0) return LATTICE_OK;
  if (config.transport_only != 0) {
    return refuse_rate(config.max_send_bytes_per_s, kAckPacketsPerS, 0, 0, "messages");
  }
  if (role == LATTICE_ROLE_CLIENT) {
    return refuse_rate(config.max_send_bytes_per_s, std::max(config.tick_rate_hz, kAckPacketsPerS),
                       config.tick_rate_hz, kLeastInputBytes, "inputs (tick_rate_hz)");
  }
  const uint32_t rate_hz = snapshot_rate_hz(config);
  return refuse_rate(config.max_send_bytes_per_s, std::max(rate_hz, kAckPacketsPerS), rate_hz, snapshot_bytes,
                     "snapshots (snapshot_rate_hz) with twice predicted_set_bytes,");
}

}  // namespace lattice::abi
