// Set-up and statistics of a session; see session.h.
#include "world/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "base/random.h"
#include "platform/byte_order.h"
#include "transport/crypto/repeatable_entropy.h"

namespace lattice::world {
namespace {

/// When a removal was lost, a side that connects briefly holds its object beside the object that took its
/// place.
uint32_t table_size(const WorldConfig& config) {
  return config.connects ? 2 * config.max_objects : config.max_objects;
}

/// A side that connects learns who it is when it has a session.
uint64_t first_peer(const WorldConfig& config) {
  return config.connects ? 0 : kAuthorityPeer;
}

/// A slot serves another object when a client that lost packets may read what was sent about the first
/// (D-42): after so many others and so many ticks, and a round trip, for which there is a second. Where
/// objects come and go so fast that no slot is left, it does earlier, and clients hear of the other object
/// later.
constexpr uint32_t kRestingSlots = 4096;
constexpr uint32_t kRestTicks = replication::kStalePartTicks;

std::unique_ptr<crypto::EntropySource> make_entropy(const WorldConfig& config) {
  if (!config.repeatable_entropy) return std::make_unique<crypto::SystemEntropy>();
  return std::make_unique<crypto::RepeatableEntropy>(*config.repeatable_entropy);
}

/// A side that connects gets ids that the other side chose.
uint64_t id_seed(const WorldConfig& config) {
  if (!config.connects) return 0;
  if (config.repeatable_entropy) {
    uint64_t state = *config.repeatable_entropy;
    return base::splitmix64(state);
  }
  std::array<uint8_t, sizeof(uint64_t)> seed;
  crypto::SystemEntropy().fill(seed);
  return platform::load_u64_le(seed.data());
}

connection::ServerIdentity make_identity(const WorldConfig& config, crypto::EntropySource& entropy) {
  using connection::ServerIdentity;
  if (config.server_identity == nullptr) return ServerIdentity::generate(entropy);
  return ServerIdentity::from_bytes(std::span<const uint8_t, connection::kServerIdentityBytes>(
      config.server_identity, connection::kServerIdentityBytes));
}

Presenter::Config presenter_config(const WorldConfig& config, const simulation::FixedTick& ticks) {
  Presenter::Config presenter;
  presenter.clock.tick_rate_hz = config.tick_rate_hz;
  presenter.clock.configured_delay_ns = config.interpolation_delay_ns;
  presenter.poses.smoother.tau_ns = config.smoothing_tau_ns;
  presenter.poses.smoother.snap_distance = config.snap_distance;
  presenter.poses.tick_seconds = ticks.tick_seconds();
  presenter.poses.extrapolation_max_ns = config.extrapolation_max_ns;
  return presenter;
}

prediction::ReconcilerConfig reconciler_config(const WorldConfig& config) {
  prediction::ReconcilerConfig reconciler;
  reconciler.max_objects = config.max_objects;
  reconciler.window_ticks = config.prediction_window_ticks;
  reconciler.budget_ticks = config.resimulation_budget_ticks;
  return reconciler;
}

}  // namespace

Session::Session(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket,
                 Observer& observer)
    : config_(config),
      observer_(observer),
      entropy_(make_entropy(config)),
      identity_(make_identity(config, *entropy_)),
      socket_(std::move(socket)),
      table_(table_size(config), config.connects ? 0 : kRestingSlots, first_peer(config), id_seed(config)),
      fixed_tick_(config.tick_rate_hz),
      rpcs_(*this, observer),
      frame_log_(table_.id_seed()),
      clamped_inputs_(observer),
      current_tick_(config.newest_tick),
      keeps_identity_(config.server_identity != nullptr) {
  LATTICE_CHECK(config.listens != config.connects);  // with both, ids of objects would be of two authorities
  config_.server_identity = nullptr;  // the caller's memory, which must not be read after the constructor
  if (config.listens) clients_.emplace(config.max_connections);
  if (config.connects) connector_.emplace();
  if (config.listens && !config.transport_only) {
    table_.let_slots_rest(kRestTicks + config.tick_rate_hz);
    sender_.emplace(config_, table_, fixed_tick_, observer);
    sender_->store().set_unannounced_writes(this);
  }
  if (config.connects && !config.transport_only) {
    StateListener& states = *this;
    PredictionGame& game = *this;
    clock_.emplace(fixed_tick_);
    receiver_.emplace(table_, states, config.max_objects);
    predictor_.emplace(reconciler_config(config), table_, *receiver_, game);
    presenter_.emplace(presenter_config(config, fixed_tick_), table_, *receiver_, *predictor_, fixed_tick_,
                       frame_log_);
  }
  if (config.transport_only) schema_.set_transport_only();
  if (config.transfer_channel == 0) return;
  schema_.set_transfer_channel(config.transfer_channel);
  transfers_ = std::make_unique<TransferHub>(config, observer.transfer_handler());
}

Session::~Session() = default;

void Session::fix_schema() {
  if (endpoint_) return;
  schema_.fix(config_.quantize_simulation);
  placed_.put_in_order();
  if (const serialization::Layout* input = schema_.input(); input != nullptr && config_.has_player) {
    input_host_ = std::make_unique<HostScratch>(*input);
  }
  rpcs_.prepare(schema_, reliability::kMaxSnapshotBody);
  reliability::EndpointConfig config = endpoint_config();
  config.schema_id = schema_.id();
  if (config_.listens) config.schema_text = schema_.text();
  config.max_connections = config_.max_connections;
  config.tick_rate_hz = static_cast<uint16_t>(config_.tick_rate_hz);
  config.max_objects = config_.max_objects;
  config.placed = placed_.summary();
  config.timers.timeout_ns = config_.timeout_ns;
  config.timers.keepalive_idle_ns = config_.keepalive_interval_ns;
  config.connect_budget_ns = config_.connect_budget_ns;
  config.connect_retry_ns = config_.connect_retry_ns;
  config.rto = {config_.rto_min_ns, config_.rto_max_ns};
  config.link_limits.replay_window_packets = config_.replay_window_packets;
  config.rotation.period_ns = config_.rekey_interval_ns;
  config.rotation.bytes = config_.rekey_bytes;
  config.initial_datagram_bytes = config_.initial_datagram_bytes;
  config.max_datagram_bytes = config_.max_datagram_bytes;
  config.jitter_seed = config_.seed;
  config.congestion.mode = config_.congestion_mode;
  config.congestion.max_rate_bytes_per_s = config_.max_send_bytes_per_s;
  if (transfers_) transfers_->prepare(&config);
  config.tasks = config_.tasks;
  const char* error = nullptr;
  endpoint_ = fragment::FragmentingEndpoint::create(std::move(config), *socket_, *this, *entropy_, &error);
  LATTICE_CHECK(endpoint_ !=
                nullptr);  // every value of the configuration was checked when the world was made
  if (sender_) endpoint_->set_server_tick(current_tick_);
  if (transfers_) transfers_->bind(endpoint_->endpoint());
  if (capture_ != nullptr) endpoint_->set_capture(capture_);
  if (timeout_paused_) endpoint_->endpoint().set_timeout_paused(true, 0);
  start_parts();
}

bool Session::set_capture(reliability::CaptureObserver* observer) {
  if (!crypto::kHasAeadTap) return false;
  capture_ = observer;
  if (endpoint_) endpoint_->set_capture(observer);
  return true;
}

void Session::start_parts() {
  const serialization::Layout* input = schema_.input();
  if (sender_) {
    sender_->start(*endpoint_);
    spawn_placed();
  }
  if (sender_ && input != nullptr) {
    simulation::InputBufferConfig inputs;
    inputs.tick_rate_hz = config_.tick_rate_hz;
    inputs.history_ticks = config_.history_ticks;
    inputs.first_tick = base::next_tick(config_.newest_tick);
    input_receiver_.emplace(*input, inputs, config_.max_connections);
  }
  if (receiver_) receiver_->start(schema_.types());
  if (receiver_ && input != nullptr) {
    simulation::InputHistoryConfig inputs;
    inputs.resimulated_ticks = config_.prediction_window_ticks;
    inputs.max_redundant_inputs = config_.input_redundancy;
    input_sender_.emplace(*input, inputs);
  }
}

reliability::EndpointConfig Session::endpoint_config() const {
  reliability::EndpointConfig config;
  if (!config_.listens) return config;
  config.accepts_connections = true;
  config.identity = identity_->key.clone();
  config.reset_key = identity_->reset_key.clone();
  // A kept identity outlives the record of used tokens, so older tokens are refused.
  if (keeps_identity_) {
    config.started_unix_s = config_.created_unix_s;
  }
  config.issuers = config_.issuers;
  config.max_half_open_per_prefix = config_.max_half_open_per_prefix;
  config.requests_per_s = 2 * config_.connects_per_s_per_prefix;
  config.responses_per_s = config_.connects_per_s_per_prefix;
  config.verified_per_s = std::max(config.verified_per_s, config.responses_per_s);
  config.max_half_open = std::max(config.max_half_open, config_.max_half_open_per_prefix);
  // A connection holds a claim until its token expires. A new connection may take the slot of one that has
  // ended and whose claim still holds.
  config.max_claims = std::max(config.max_claims, 2 * config_.max_connections);
  return config;
}

// --- Statistics

WorldStats Session::stats() const {
  WorldStats stats;
  stats.tick = current_tick_;
  stats.objects = table_.size();
  stats.pump_gap_max_ns = pump_gap_.max_ns();
  stats.ticks_dropped_ns = fixed_tick_.dropped_ns_total();
  stats.rpcs_sent = rpcs_.sent();
  stats.rpcs_received = rpcs_.received();
  stats.rpcs_refused = rpcs_.refused();
  if (endpoint_) {
    const reliability::EndpointStats& link = endpoint_->stats();
    stats.packets_sent = link.traffic.packets_sent;
    stats.packets_received = link.traffic.packets_received;
    stats.bytes_sent = link.traffic.bytes_sent;
    stats.bytes_received = link.traffic.bytes_received;
    stats.datagrams_refused = link.refusals.total();
    stats.connections_leaving = link.connections_leaving;
    if (const auto* server = endpoint_->server_handshake()) {
      stats.handshakes_verified = server->verified_count();
    }
    stats.handshakes_refused = link.refusals.get(reliability::Refusal::kHandshakeRefused);
  }
  stats.connections = clients_ ? clients_->size() : is_joined() ? 1u : 0u;
  if (sender_) add_listening(&stats);
  if (receiver_) add_following(&stats);
  return stats;
}

void Session::add_listening(WorldStats* stats) const {
  const simulation::InputBufferStats inputs = input_stats();
  stats->inputs_received = inputs.accepted + inputs.late;
  stats->inputs_used = inputs.fresh;
  stats->inputs_late = inputs.late;
  stats->inputs_repeated = inputs.repeated;
  stats->inputs_defaulted = inputs.defaulted;
  stats->snapshots_sent = sender_->snapshots_sent();
  stats->snapshot_bytes_sent = sender_->snapshot_bytes_sent();
}

void Session::add_following(WorldStats* stats) const {
  const prediction::ReconcileStats& reconciled = predictor_->stats();
  stats->snapshots_applied = receiver_->snapshots_applied();
  stats->rollbacks = reconciled.rollbacks;
  stats->resimulated_ticks = reconciled.resimulated_ticks;
  stats->hard_resets = reconciled.hard_resets;
  stats->max_rollback_ticks = reconciled.max_depth_ticks;
  stats->unacked_inputs = input_sender_ ? input_sender_->unacked() : 0;
  stats->interpolation_samples = presenter_->poses();
  stats->interpolation_underruns = presenter_->underrun_poses();
  stats->clock_resyncs = clock_->sync().stats().jumps + clock_->sync().stats().stalls;
  stats->interpolation_delay_ms = presenter_->delay_ticks() * fixed_tick_.tick_ns() / 1e6;
  stats->input_margin_ticks = input_sender_ ? input_sender_->margin_quarter_ticks() / 4.0 : 0.0;
  if (clock_->started()) {
    const simulation::TickTime server = clock_->sync().server_time(now_ns_);
    stats->server_tick_estimate = static_cast<double>(server.tick) + server.fraction;
  }
}

simulation::InputBufferStats Session::input_stats() const {
  return input_receiver_ ? input_receiver_->stats(current_tick_) : simulation::InputBufferStats{};
}

replication::SnapshotApplier::TypeTraffic Session::type_traffic(const replication::ObjectType& type) const {
  return receiver_ ? receiver_->traffic(type) : replication::SnapshotApplier::TypeTraffic{};
}

const prediction::PredictionError* Session::take_prediction_error() {
  return predictor_ ? predictor_->take_error() : nullptr;
}

const reliability::ConnectionStats* Session::connection_stats(ConnectionHandle connection) const {
  return endpoint_ ? endpoint_->stats(connection) : nullptr;
}

base::PathId Session::remote_path(ConnectionHandle connection) const {
  return endpoint_ ? endpoint_->endpoint().remote_path(connection) : base::PathId{};
}

}  // namespace lattice::world
