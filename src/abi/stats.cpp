// Statistics of worlds and connections.
#include "abi/call.h"
#include "abi/struct_size.h"
#include "base/events.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

double ms(uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

uint32_t mode_of(reliability::CongestionMode mode) {
  switch (mode) {
    case reliability::CongestionMode::kGoodBad:
      return LATTICE_CONGESTION_GOOD_BAD;
    case reliability::CongestionMode::kNone:
      return LATTICE_CONGESTION_NONE;
    case reliability::CongestionMode::kDelay:
      break;
  }
  return LATTICE_CONGESTION_DELAY;
}

uint32_t phase_of(reliability::CongestionPhase phase) {
  using Phase = reliability::CongestionPhase;
  switch (phase) {
    case Phase::kUnlimited:
      break;
    case Phase::kGood:
      return LATTICE_CONGESTION_PHASE_GOOD;
    case Phase::kBad:
      return LATTICE_CONGESTION_PHASE_BAD;
    case Phase::kStartup:
      return LATTICE_CONGESTION_PHASE_STARTUP;
    case Phase::kSteady:
      return LATTICE_CONGESTION_PHASE_STEADY;
    case Phase::kDrain:
      return LATTICE_CONGESTION_PHASE_DRAIN;
    case Phase::kBlackout:
      return LATTICE_CONGESTION_PHASE_BLACKOUT;
  }
  return LATTICE_CONGESTION_PHASE_UNLIMITED;
}

void fill_congestion(const reliability::ConnectionStats& link, lattice_conn_stats* out) {
  out->jitter_ms = ms(link.jitter_ns);
  out->send_loss_recent_percent = 100.0 * link.loss_out;
  out->receive_loss_recent_percent = 100.0 * link.loss_in;
  out->queue_ms = ms(link.queue_ns);
  out->queue_bytes = link.waiting_bytes;
  out->send_budget_bytes_per_s = link.rate_bytes_per_s;
  out->send_window_bytes = link.window_bytes;
  out->bytes_in_flight = link.bytes_in_flight;
  out->congestion_mode = mode_of(link.congestion_mode);
  out->congestion_phase = phase_of(link.congestion_phase);
  out->quality = link.quality;
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

extern "C" {

lattice_result lattice_conn_get_stats(lattice_conn* conn, lattice_conn_stats* out) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  const world::ConnectionHandle connection = call.connection();
  const reliability::ConnectionStats* link = instance->world->connection_stats(connection);
  if (link == nullptr) link = instance->find({connection.slot, connection.generation})->last_stats.get();
  if (link == nullptr) return fail(LATTICE_ERROR_STALE_HANDLE, "The connection has ended.");
  lattice_conn_stats value{};
  value.struct_size = sizeof value;
  value.rtt_ms = ms(link->srtt_ns);
  value.rtt_variance_ms = ms(link->rttvar_ns);
  value.min_rtt_ms = ms(link->min_rtt_ns);
  value.rto_ms = ms(link->rto_ns);
  value.send_loss_percent = percent(link->packets_lost, link->packets_lost + link->packets_acked);
  value.receive_loss_percent =
      percent(link->packets_missing, link->packets_missing + link->traffic.packets_received);
  value.packets_sent = link->traffic.packets_sent;
  value.packets_received = link->traffic.packets_received;
  value.bytes_sent = link->traffic.bytes_sent;
  value.bytes_received = link->traffic.bytes_received;
  value.messages_resent = link->traffic.messages_resent;
  value.packets_lost = link->packets_lost;
  value.packets_refused = link->refusals.total();
  value.key_epoch = link->key_epoch;
  value.datagram_bytes = link->datagram_bytes;
  value.path_moves = link->path_moves;
  value.connected_ms = ms(link->connected_ns);
  value.silent_ms = ms(link->silent_ns);
  fill_congestion(*link, &value);
  return lattice::abi::write_struct(value, out, "lattice_conn_stats");
}

lattice_result lattice_world_get_stats(lattice_world* world, lattice_world_stats* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  const world::WorldStats stats = instance->world->stats();
  lattice_world_stats value{};
  value.struct_size = sizeof value;
  value.tick = stats.tick;
  value.connections = stats.connections;
  value.objects = stats.objects;
  value.packets_sent = stats.packets_sent;
  value.packets_received = stats.packets_received;
  value.bytes_sent = stats.bytes_sent;
  value.bytes_received = stats.bytes_received;
  value.datagrams_refused = stats.datagrams_refused;
  value.handshakes_refused = stats.handshakes_refused;
  value.ticks_dropped_ns = stats.ticks_dropped_ns;
  value.inputs_received = stats.inputs_received;
  value.inputs_used = stats.inputs_used;
  value.inputs_late = stats.inputs_late;
  value.inputs_repeated = stats.inputs_repeated;
  value.inputs_defaulted = stats.inputs_defaulted;
  value.snapshots_sent = stats.snapshots_sent;
  value.snapshot_bytes_sent = stats.snapshot_bytes_sent;
  value.snapshots_applied = stats.snapshots_applied;
  value.rollbacks = stats.rollbacks;
  value.resimulated_ticks = stats.resimulated_ticks;
  value.hard_resets = stats.hard_resets;
  value.max_rollback_ticks = stats.max_rollback_ticks;
  value.unacked_inputs = stats.unacked_inputs;
  value.interpolation_samples = stats.interpolation_samples;
  value.interpolation_underruns = stats.interpolation_underruns;
  value.clock_resyncs = stats.clock_resyncs;
  value.interpolation_delay_ms = stats.interpolation_delay_ms;
  value.input_margin_ticks = stats.input_margin_ticks;
  value.server_tick_estimate = stats.server_tick_estimate;
  value.rpcs_sent = stats.rpcs_sent;
  value.rpcs_received = stats.rpcs_received;
  value.rpcs_refused = stats.rpcs_refused;
  value.handshakes_verified = stats.handshakes_verified;
  value.pump_gap_max_ns = stats.pump_gap_max_ns;
  value.connections_leaving = stats.connections_leaving;
  return lattice::abi::write_struct(value, out, "lattice_world_stats");
}

lattice_result lattice_world_get_type_stats(lattice_world* world, uint32_t type_id, lattice_type_stats* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (abi::caller_size(out, "lattice_type_stats") == 0) return LATTICE_ERROR_INVALID_ARGUMENT;
  const replication::ObjectType* type = instance->world->schema().types().find(type_id);
  if (type == nullptr) return fail(LATTICE_ERROR_NOT_FOUND, "No type has the id %u.", type_id);
  const auto traffic = instance->world->type_traffic(*type);
  lattice_type_stats value{};
  value.struct_size = sizeof value;
  const replication::ObjectTable& objects = instance->world->objects();
  for (const uint32_t slot : objects.ascending()) value.objects += objects.info(slot).type == type ? 1u : 0u;
  value.entries_received = traffic.entries;
  value.bits_received = traffic.bits;
  return lattice::abi::write_struct(value, out, "lattice_type_stats");
}

lattice_result lattice_world_take_prediction_error(lattice_world* world, lattice_prediction_error* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (abi::caller_size(out, "lattice_prediction_error") == 0) return LATTICE_ERROR_INVALID_ARGUMENT;
  const prediction::PredictionError* error = instance->world->take_prediction_error();
  if (error == nullptr) return fail(LATTICE_ERROR_NOT_FOUND, "There are no more prediction errors.");
  lattice_prediction_error value{};
  value.struct_size = sizeof value;
  value.type_id = error->type_id;
  value.prop_id = error->prop_id;
  value.worst_tick = error->tick;
  value.count = error->count;
  value.worst = error->worst;
  value.worst_object = error->network_id;
  value.member = error->member.c_str();
  return lattice::abi::write_struct(value, out, "lattice_prediction_error");
}

const char* lattice_world_refusal(lattice_world* world, uint32_t index, uint64_t* value) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  if (value == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_world_refusal needs a place for the value.");
    return nullptr;
  }
  const char* name = instance->world->refusal(index, value);
  if (name == nullptr)
    fail(LATTICE_ERROR_NOT_FOUND, "There is no counter %u. The one before was the last.", index);
  return name;
}

const char* lattice_refusal_text(const char* counter) {
  const abi::Call call;
  if (counter == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_refusal_text needs the name of a counter.");
    return nullptr;
  }
  const char* text = base::event_text(counter);
  if (text == nullptr) fail(LATTICE_ERROR_NOT_FOUND, "No counter has the name \"%.64s\".", counter);
  return text;
}

}  // extern "C"
