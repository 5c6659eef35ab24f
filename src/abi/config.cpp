// lattice_world_config: defaults of §22 and B-06, and the only validation of every value.
#include "abi/config.h"

#include <algorithm>
#include <cstring>

#include "abi/call.h"
#include "abi/key_check.h"
#include "abi/least_cap.h"
#include "abi/struct_size.h"
#include "replication/object_table.h"
#include "replication/snapshot_format.h"
#include "simulation/input_history.h"
#include "transport/crypto/replay_window.h"
#include "transport/wire/channel_table.h"

namespace lattice::abi {
namespace {

constexpr uint32_t kDefaultSnapshotRateHz = 30;  // or the tick rate, if that is lower

struct Bound {
  const char* field;
  uint64_t value;
  uint64_t min;
  uint64_t max;
  const char* otherwise =
      "";  // what else than another value of this field helps, where the value is too large
};

// RFC 9001, appendix B.1: one key of AES-GCM may seal 2^28 packets of up to 2^11 bytes. A packet has at least
// 31 bytes, header and tag. A server waits an eighth longer than its own limit before it asks for new keys.
constexpr uint64_t kMaxRekeyBytes = uint64_t{1} << 32;
static_assert((kMaxRekeyBytes + kMaxRekeyBytes / 8) / 31 < uint64_t{1} << 28);

lattice_result check_bounds(const lattice_world_config& c) {
  const Bound bounds[] = {
      {"tick_rate_hz", c.tick_rate_hz, 1, 240},
      {"snapshot_rate_hz", c.snapshot_rate_hz, 0, c.tick_rate_hz, ", or raise tick_rate_hz to the same"},
      {"max_objects", c.max_objects, 1, replication::kMaxObjects},
      {"quantize_simulation", c.quantize_simulation, 0, 1},
      {"max_connections", c.max_connections, 1, kMaxConnectionSlots},
      {"socket_buffer_bytes", c.socket_buffer_bytes, 4096, 1u << 30},
      {"connect_budget_ms", c.connect_budget_ms, 1000, 60000},
      {"connection_timeout_ms", c.connection_timeout_ms, 1000, 600000},
      {"snapshot_budget_bytes", c.snapshot_budget_bytes, 0, kMostSnapshotBytes},
      {"predicted_set_bytes", c.predicted_set_bytes, 1, 65536},
      {"issuer_public_key_count", c.issuer_public_key_count, 0, 2},
      {"connects_per_s_per_prefix", c.connects_per_s_per_prefix, 1, 100000},
      {"max_half_open_per_prefix", c.max_half_open_per_prefix, 1, 16384},
      {"development_tokens", c.development_tokens, 0, 1},
      {"max_transfer_bytes", c.max_transfer_bytes, 1, uint64_t{1} << 34},
      {"interpolation_delay_ms", c.interpolation_delay_ms, 0, 1000},
      {"extrapolation_max_ms", c.extrapolation_max_ms, 0, 1000},
      {"smoothing_tau_ms", c.smoothing_tau_ms, 1, 1000},
      {"worker_count", c.worker_count, 1, reliability::CallerTasks::kMaxWorkers},
      {"congestion_mode", c.congestion_mode, LATTICE_CONGESTION_DELAY, LATTICE_CONGESTION_NONE},
      {"rto_min_ms", c.rto_min_ms, 5, 1000},
      {"rto_max_ms", c.rto_max_ms, c.rto_min_ms, 5000},
      {"keepalive_interval_ms", c.keepalive_interval_ms, 100, std::min(30000u, c.connection_timeout_ms / 4),
       c.connection_timeout_ms / 4 < 30000 ? ", or raise connection_timeout_ms to 4 times as much" : ""},
      {"connect_retry_ms", c.connect_retry_ms, 50, std::min(1000u, c.connect_budget_ms / 4),
       c.connect_budget_ms / 4 < 1000 ? ", or raise connect_budget_ms to 4 times as much" : ""},
      {"replay_window_packets", c.replay_window_packets, crypto::kMinReplayWindowPackets,
       crypto::kReplayWindowPackets},
      {"rekey_interval_s", c.rekey_interval_s, 10, 86400},
      {"rekey_bytes", c.rekey_bytes, 1u << 20, kMaxRekeyBytes},
      {"max_datagram_bytes", c.max_datagram_bytes, 1200, 1472},
      {"initial_datagram_bytes", c.initial_datagram_bytes, 1200, c.max_datagram_bytes},
      {"prediction_window_ticks", c.prediction_window_ticks, 8, 256},
      {"history_ticks", c.history_ticks, 8, uint64_t{replication::kHistoryTicks}},
      {"resimulation_budget_ticks", c.resimulation_budget_ticks, 0, 256},
      {"input_redundancy", c.input_redundancy, 0, simulation::kMaxInputsPerMessage - 1},
      {"interest_kind", c.interest_kind, LATTICE_INTEREST_NONE, LATTICE_INTEREST_TREE},
      {"interest_stay_ms", c.interest_stay_ms, 0, 60000},
      {"interest_far_rate_hz", c.interest_far_rate_hz, 0, snapshot_rate_hz(c)},
      {"transport_only", c.transport_only, 0, 1},
      {"record_events", c.record_events, 0, 1},
      {"backend_count", c.backend_count, 0, LATTICE_BACKENDS_MAX},
      {"without_udp", c.without_udp, 0, 1},
  };
  for (const Bound& bound : bounds) {
    if (bound.value >= bound.min && bound.value <= bound.max) continue;
    return fail(LATTICE_ERROR_CONFIG, "lattice_world_config.%s is %llu. Give a value in %llu..%llu%s.",
                bound.field, static_cast<unsigned long long>(bound.value),
                static_cast<unsigned long long>(bound.min), static_cast<unsigned long long>(bound.max),
                bound.value > bound.max ? bound.otherwise : "");
  }
  if (c.worker_count > 1 && (c.enqueue_tasks == nullptr || c.finish_tasks == nullptr)) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_world_config.worker_count is %u without enqueue_tasks and finish_tasks. Give both, or "
        "1 worker.",
        c.worker_count);
  }
  if (!(c.snap_distance > 0.0 && c.snap_distance <= 1e9)) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_world_config.snap_distance is %g. Give a distance in (0, 1e9].", c.snap_distance);
  }
  const bool application_channel = c.transfer_channel >= wire::kFirstApplicationChannel &&
                                   c.transfer_channel <= wire::kLastApplicationChannel;
  if (c.transfer_channel != 0 && !application_channel) {
    return fail(LATTICE_ERROR_CONFIG, "lattice_world_config.transfer_channel is %u. Give 0 or one of 4..13.",
                c.transfer_channel);
  }
  return LATTICE_OK;
}

lattice_result check_role(const lattice_world_config& c, const lattice_role_context& role) {
  if (role.role != LATTICE_ROLE_DEDICATED && role.role != LATTICE_ROLE_HOST &&
      role.role != LATTICE_ROLE_CLIENT) {
    return fail(LATTICE_ERROR_CONFIG, "lattice_role_context.role is %d. Give one of the LATTICE_ROLE values.",
                static_cast<int>(role.role));
  }
  if (role.relays_for_peers != 0) {
    return fail(
        LATTICE_ERROR_UNSUPPORTED,
        "lattice_role_context.relays_for_peers is %d, and this version relays nothing between clients. Give "
        "0; the authority's snapshots reach every client without it.",
        role.relays_for_peers);
  }
  if (role.has_local_view < 0 || role.has_local_view > 1 ||
      (role.role != LATTICE_ROLE_CLIENT && role.has_local_view != (role.role == LATTICE_ROLE_HOST ? 1 : 0))) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_role_context.has_local_view is %d, which contradicts the role. A dedicated server has none "
        "(0), a host has one (1): use LATTICE_ROLE_HOST for a server that plays.",
        role.has_local_view);
  }
  if (role.authority_peer_id != world::kAuthorityPeer) {
    return fail(
        LATTICE_ERROR_UNSUPPORTED,
        "lattice_role_context.authority_peer_id is %llu. Peer 1 is the authority of every session: give 1.",
        static_cast<unsigned long long>(role.authority_peer_id));
  }
  const bool authority = role.role != LATTICE_ROLE_CLIENT;
  if ((role.is_authority != 0) != authority) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_role_context.is_authority contradicts the role. Servers and hosts are the authority, "
        "clients are not.");
  }
  if (!authority && c.development_tokens != 0) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_world_config.development_tokens is 1 on a client. Only an authority honours tokens; "
                "a client "
                "calls lattice_dev_token().");
  }
  if (c.issuer_public_key_count != 0 && c.issuer_public_keys == nullptr) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_world_config.issuer_public_keys is null and issuer_public_key_count is %u. Give the "
                "keys, or "
                "a count of 0.",
                c.issuer_public_key_count);
  }
  if (authority && c.issuer_public_key_count == 0 && c.development_tokens == 0) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_world_config.issuer_public_keys is empty. Give an authority 1 or 2 issuer keys, or, on "
        "loopback, development_tokens 1.");
  }
  for (uint32_t i = 0; i < c.issuer_public_key_count; ++i) {
    if (!is_all_zero(c.issuer_public_keys + i * LATTICE_KEY_BYTES)) continue;
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_world_config.issuer_public_keys: key %u is all zero, which no issuer has. Fill it in "
        "from lattice_issuer_generate() or lattice_issuer_public_key().",
        i);
  }
  if (c.server_identity != nullptr && has_zero_half(c.server_identity)) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_world_config.server_identity holds a key of zeros, which everybody knows. Fill it with "
        "lattice_server_identity_generate(), or give NULL.");
  }
  return LATTICE_OK;
}

lattice_result check_routes(const lattice_world_config& c) {
  if (c.backend_count != 0 && c.backends == nullptr) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_world_config.backends is NULL and backend_count is %u. Give the back ends, or a count "
        "of 0.",
        c.backend_count);
  }
  if (c.backend_count != 0 && c.development_tokens != 0) {
    return fail(
        LATTICE_ERROR_CONFIG,
        "lattice_world_config.development_tokens is 1 and there are back ends. Development tokens are "
        "for loopback and simulated networks only: give issuer_public_keys.");
  }
  if (c.without_udp == 0) return LATTICE_OK;
  if (c.backend_count == 0) {
    return fail(LATTICE_ERROR_CONFIG,
                "lattice_world_config.without_udp is 1 and backend_count is 0. Give a back end, or let the "
                "world have UDP.");
  }
  if (c.bind_address == nullptr && c.netsim == nullptr) return LATTICE_OK;
  return fail(
      LATTICE_ERROR_CONFIG,
      "lattice_world_config.without_udp is 1 and %s is given. Leave it NULL, or let the world have UDP.",
      c.bind_address != nullptr ? "bind_address" : "netsim");
}

constexpr uint64_t kMs = 1'000'000;

double leave_radius(const lattice_world_config& c) {
  return c.interest_leave_radius != 0 ? c.interest_leave_radius : 1.2 * c.interest_radius;
}

double interest_cell(const lattice_world_config& c) {
  return c.interest_cell != 0 ? c.interest_cell : c.interest_radius / 2;
}

lattice_result check_interest(const lattice_world_config& c) {
  constexpr double kMaxRadius = 1e6;
  const struct {
    const char* field;
    double value;
    double used;
    double min;
    double max;
  } bounds[] = {
      {"interest_radius", c.interest_radius, c.interest_radius, 1e-6, kMaxRadius},
      {"interest_near_radius", c.interest_near_radius, c.interest_near_radius, 0, c.interest_radius},
      {"interest_leave_radius", c.interest_leave_radius, leave_radius(c), c.interest_radius, 2 * kMaxRadius},
      // A query looks at no more than some 33 cells along each axis.
      {"interest_cell", c.interest_cell, interest_cell(c), leave_radius(c) / 16, 2 * kMaxRadius},
  };
  for (const auto& bound : bounds) {
    if (bound.used >= bound.min && bound.used <= bound.max) continue;
    return fail(LATTICE_ERROR_CONFIG, "lattice_world_config.%s is %g. Give a value in %g..%g.", bound.field,
                bound.value, bound.min, bound.max);
  }
  return LATTICE_OK;
}

void copy_interest(const lattice_world_config& c, world::InterestConfig* out) {
  using replication::InterestKind;
  out->enabled = c.interest_kind != LATTICE_INTEREST_NONE;
  if (c.interest_kind == LATTICE_INTEREST_GRID) out->kind = InterestKind::kGrid;
  if (c.interest_kind == LATTICE_INTEREST_TREE) out->kind = InterestKind::kTree;
  out->cell = interest_cell(c);
  out->enter_radius = c.interest_radius;
  out->leave_radius = leave_radius(c);
  out->stay_ms = c.interest_stay_ms;
  out->near_radius = c.interest_near_radius;
  out->far_rate_hz = c.interest_far_rate_hz;
}

// The members that tune transport, prediction and history.
void copy_settings(const lattice_world_config& c, world::WorldConfig* world) {
  world->rto_min_ns = c.rto_min_ms * kMs;
  world->rto_max_ns = c.rto_max_ms * kMs;
  world->keepalive_interval_ns = c.keepalive_interval_ms * kMs;
  world->connect_retry_ns = c.connect_retry_ms * kMs;
  world->replay_window_packets = c.replay_window_packets;
  world->rekey_interval_ns = c.rekey_interval_s * (1000 * kMs);
  world->rekey_bytes = c.rekey_bytes;
  world->initial_datagram_bytes = c.initial_datagram_bytes;
  world->max_datagram_bytes = c.max_datagram_bytes;
  world->prediction_window_ticks = c.prediction_window_ticks;
  world->history_ticks = c.history_ticks;
  world->input_redundancy = c.input_redundancy;
  world->resimulation_budget_ticks = c.resimulation_budget_ticks;
  copy_interest(c, &world->interest);
}

reliability::CongestionMode congestion_mode(uint32_t mode) {
  switch (mode) {
    case LATTICE_CONGESTION_GOOD_BAD:
      return reliability::CongestionMode::kGoodBad;
    case LATTICE_CONGESTION_NONE:
      return reliability::CongestionMode::kNone;
    default:
      return reliability::CongestionMode::kDelay;
  }
}

}  // namespace

uint32_t snapshot_rate_hz(const lattice_world_config& config) {
  return config.snapshot_rate_hz != 0 ? config.snapshot_rate_hz
                                      : std::min(kDefaultSnapshotRateHz, config.tick_rate_hz);
}

lattice_result read_config(const lattice_world_config* in, const lattice_role_context* role,
                           lattice_world_config* out, lattice_role_context* out_role,
                           world::WorldConfig* world) {
  lattice_world_config_init(out);
  lattice_role_context_init(out_role, LATTICE_ROLE_DEDICATED);
  if (const lattice_result bad = read_struct(in, out, "lattice_world_config")) return bad;
  if (const lattice_result bad = read_struct(role, out_role, "lattice_role_context")) return bad;
  if (const lattice_result bad = check_bounds(*out)) return bad;
  if (const lattice_result bad = check_interest(*out)) return bad;
  if (const lattice_result bad = check_role(*out, *out_role)) return bad;
  if (const lattice_result bad = check_routes(*out)) return bad;
  if (const lattice_result bad = check_caps(*out, out_role->role)) return bad;
  world->listens = out_role->role != LATTICE_ROLE_CLIENT;
  world->connects = out_role->role == LATTICE_ROLE_CLIENT;
  world->transport_only = out->transport_only != 0;
  world->has_player = out_role->role != LATTICE_ROLE_DEDICATED && !world->transport_only;
  if (world->transport_only) {
    // Both ends must agree on these, and here they mean nothing.
    lattice_world_config defaults;
    lattice_world_config_init(&defaults);
    out->tick_rate_hz = defaults.tick_rate_hz;
    out->max_objects = defaults.max_objects;
  }
  world->tick_rate_hz = out->tick_rate_hz;
  world->snapshot_rate_hz = snapshot_rate_hz(*out);
  world->max_objects = out->max_objects;
  world->quantize_simulation = out->quantize_simulation != 0;
  world->seed = out->seed;
  // A client has one connection, and room for earlier ones that are still disconnecting.
  world->max_connections = world->connects ? 4 : out->max_connections;
  world->connect_budget_ns = out->connect_budget_ms * kMs;
  world->timeout_ns = out->connection_timeout_ms * kMs;
  world->snapshot_budget_bytes = out->snapshot_budget_bytes;
  world->congestion_mode = congestion_mode(out->congestion_mode);
  world->tasks = {out->enqueue_tasks, out->finish_tasks, out->tasks_ctx, out->worker_count};
  world->max_send_bytes_per_s = out->max_send_bytes_per_s;
  world->connects_per_s_per_prefix = out->connects_per_s_per_prefix;
  world->max_half_open_per_prefix = out->max_half_open_per_prefix;
  world->transfer_channel = static_cast<uint8_t>(out->transfer_channel);
  world->max_transfer_bytes = out->max_transfer_bytes;
  world->interpolation_delay_ns = out->interpolation_delay_ms * kMs;
  world->extrapolation_max_ns = out->extrapolation_max_ms * kMs;
  world->smoothing_tau_ns = out->smoothing_tau_ms * kMs;
  world->snap_distance = out->snap_distance;
  world->server_identity = out->server_identity;
  copy_settings(*out, world);
  for (uint32_t i = 0; i < out->issuer_public_key_count; ++i) {
    std::memcpy(world->issuers.emplace_back().data(), out->issuer_public_keys + i * LATTICE_KEY_BYTES,
                LATTICE_KEY_BYTES);
  }
  return LATTICE_OK;
}

}  // namespace lattice::abi

extern "C" lattice_result lattice_world_config_init_sized(lattice_world_config* out, uint32_t struct_size) {
  const lattice::abi::Call call;
  lattice_world_config value{};
  lattice_world_config* config = &value;
  config->tick_rate_hz = 60;
  config->max_objects = 4096;
  config->quantize_simulation = 1;
  config->seed = 1;
  config->max_connections = 64;
  config->socket_buffer_bytes = 4u << 20;
  config->connect_budget_ms = 10000;
  config->connection_timeout_ms = 10000;
  config->connects_per_s_per_prefix = 100;
  config->max_half_open_per_prefix = 16;
  config->max_transfer_bytes = 256u << 20;
  config->interpolation_delay_ms = 100;
  config->extrapolation_max_ms = 250;
  config->smoothing_tau_ms = 60;
  config->snap_distance = 4.0;
  config->worker_count = 1;
  config->rto_min_ms = 50;
  config->rto_max_ms = 1000;
  config->keepalive_interval_ms = 1000;
  config->connect_retry_ms = 250;
  config->replay_window_packets = 1024;
  config->rekey_interval_s = 900;
  config->rekey_bytes = uint64_t{1} << 30;
  config->initial_datagram_bytes = 1200;
  config->max_datagram_bytes = 1472;
  config->prediction_window_ticks = 64;
  config->history_ticks = 64;
  config->input_redundancy = 31;
  config->interest_stay_ms = 1000;
  config->interest_radius = 64.0;
  config->predicted_set_bytes = 32;
  return lattice::abi::write_defaults(value, out, struct_size);
}
