// See client_world.h.
#include "world/client_world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/wire/token.h"

namespace lattice::world {
namespace {

constexpr size_t kMaxUnusedKeys = 4;

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

ClientWorld::ClientWorld(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket,
                         Observer& observer)
    : World(config, std::move(socket), observer),
      receiver_(table_, *this, config.max_objects),
      predictor_(reconciler_config(config), table_, receiver_, *this),
      presenter_(presenter_config(config, fixed_tick_), table_, receiver_, predictor_, fixed_tick_,
                 frame_log_),
      clock_(fixed_tick_) {}

ClientWorld::~ClientWorld() = default;

void ClientWorld::on_schema_fixed() {
  receiver_.start(schema_.types());
  if (const serialization::Layout* input = schema_.input()) {
    simulation::InputHistoryConfig inputs;
    inputs.resimulated_ticks = config_.prediction_window_ticks;
    inputs.max_redundant_inputs = config_.input_redundancy;
    inputs_.emplace(*input, inputs);
  }
}

// --- Connecting

crypto::PublicKey ClientWorld::new_client_key() {
  if (keys_.size() == kMaxUnusedKeys) keys_.erase(keys_.begin());
  keys_.push_back(crypto::KeyPair::generate(*entropy_));
  return keys_.back().public_key();
}

OpResult ClientWorld::connect(const platform::Address& server, std::span<const uint8_t> token,
                              ConnectionHandle* out, const char** error) {
  if (endpoint_ && endpoint_->state(connection_) != connection::State::kDisconnected) {
    *error = "This world already has a connection. Disconnect it first.";
    return OpResult::kNotAllowed;
  }
  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) {
    *error = "The connect token is malformed. Ask the issuer for a new one.";
    return OpResult::kInvalid;
  }
  const auto key = std::find_if(keys_.begin(), keys_.end(),
                                [&](const crypto::KeyPair& pair) { return pair.public_key() == fields.cnf; });
  if (key == keys_.end()) {
    *error =
        "The connect token was made for a client key that this world no longer holds: it was used, or made "
        "for another world, or 4 newer keys took its place. Get a token for a new key of "
        "lattice_world_new_client_key().";
    return OpResult::kInvalid;
  }
  fix_schema();
  placed_.put_in_order();
  endpoint_->endpoint().set_placed(placed_.summary());
  switch (endpoint_->connect(server, token, *key, &connection_)) {
    case reliability::ConnectResult::kOk:
      keys_.erase(key);  // one key, one token, one connection
      *out = connection_;
      return OpResult::kOk;
    case reliability::ConnectResult::kFull:
      *error = "Earlier connections are still saying goodbye. Connect again after 200 ms.";
      return OpResult::kWouldBlock;
    case reliability::ConnectResult::kBadAddress:
      *error = "The server address has no host or no port. Give host:port.";
      return OpResult::kNotFound;
    case reliability::ConnectResult::kBadToken:
      *error =
          "The connect token was made for another protocol version or key. Ask the issuer for a new one.";
      return OpResult::kInvalid;
    case reliability::ConnectResult::kSchemaMismatch:
      *error = "The connect token states another schema. Build client and server from the same types.";
      return OpResult::kInvalid;
    case reliability::ConnectResult::kAlreadyConnecting:
      break;
  }
  *error = "This world is already connecting to that server.";
  return OpResult::kNotAllowed;
}

connection::Admission ClientWorld::on_admission(const connection::AdmissionRequest&) {
  // A client's endpoint accepts no connections. If it asks all the same, the answer is a refusal.
  connection::Admission answer;
  answer.refusal = connection::DisconnectReason::kServerFull;
  return answer;
}

void ClientWorld::on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) {
  connection_ = connection;
  table_.set_local_peer(info.peer_id);
  clock_.start(info.server_tick, now_ns_, info.rtt_ns);
  receiver_.begin_session(placed_, info.server_tick);
  observer_.on_connected(connection, info);
}

bool ClientWorld::may_place() const {
  return table_.size() == 0 &&
         (!endpoint_ || endpoint_->state(connection_) == connection::State::kDisconnected);
}

void ClientWorld::on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                                  uint64_t remote_schema, std::string_view text) {
  end_transfers(connection);
  const bool is_session = connection == connection_;
  if (is_session)
    connection_ = {};  // The game may connect again inside the callback below: its new connection must stay.
  observer_.on_disconnected(connection, reason, remote_schema, text);
  if (is_session) forget_session();
}

void ClientWorld::forget_session() {
  table_.set_local_peer(0);
  rpcs_.forget(kAuthorityPeer);
  receiver_.end_session();
  predictor_.end_session();
  presenter_.end_session();
  clock_.stop();
  if (inputs_) inputs_->clear();
}

// --- The pump

void ClientWorld::do_receive(Now now) {
  now_ns_ = now.ns;
  clock_.begin_receive();
  receiver_.begin_receive(now.ns, clock_.snapshot_interval_ticks());
  endpoint_->receive(now.ns, now.unix_s);
  clock_.end_receive();
  reconcile();
  rpcs_.poll(now.ns);
  receiver_.retry_removals();
}

uint32_t ClientWorld::ticks_due(Now now) {
  const Tick newest_sent = inputs_ ? inputs_->newest_sent() : 0;
  const ClockFollower::Step step = clock_.step(current_tick_, newest_sent, now.ns);
  if (step.jumped) {
    resync(step.newest_tick);
  } else {
    current_tick_ = step.newest_tick;
  }
  return step.due;
}

void ClientWorld::resync(Tick newest_tick) {
  const Tick from = current_tick_;
  current_tick_ = newest_tick;
  // Inputs that had no budget yet may be of ticks that run once more.
  if (inputs_) inputs_->drop_after(current_tick_);
  predictor_.forget_ticks();
  observer_.on_resync(from, current_tick_);
}

void ClientWorld::do_tick(Tick tick, Now now) {
  now_ns_ = now.ns;
  current_tick_ = tick;
  if (inputs_) {
    observer_.on_sample_input(tick, input_host_->behaviours()[0], schema_.input()->host_bytes(0));
    const simulation::Sight sight = simulation::sight_of(presenter_.seen_time(), receiver_.snapshot_tick());
    inputs_->sample(tick, std::as_const(*input_host_).behaviours(), sight);
  }
  observer_.on_tick(tick, false);
  predictor_.record(tick);
}

void ClientWorld::do_send(Now now) {
  now_ns_ = now.ns;
  if (clock_.ticking() && inputs_ &&
      inputs_->send(*endpoint_, connection_, clock_.lead_quarter_ticks(), now.ns)) {
    clock_.on_inputs_sent(current_tick_, now.ns);
  }
  endpoint_->update_and_send(now.ns, now.unix_s);
}

void ClientWorld::reconcile() {
  if (!clock_.ticking()) return;
  resimulating_ = true;
  const Tick present = current_tick_;
  predictor_.reconcile(present);
  current_tick_ = present;
  resimulating_ = false;
}

void ClientWorld::run_again(Tick tick) {
  current_tick_ = tick;
  observer_.on_tick(tick, true);
}

// --- Messages

reliability::Verdict ClientWorld::on_message(ConnectionHandle connection, wire::Channel channel,
                                             reliability::MessageFlags flags, std::span<const uint8_t> body,
                                             uint64_t now_ns) {
  if (!is_engine_traffic_legal(channel, flags)) return reliability::Verdict::kProtocolError;
  if (const auto verdict = engine_message(connection, channel, body)) return *verdict;
  if (flags.is_snapshot) return receive_part(body, now_ns);
  if (flags.is_rpc) {
    rpcs_.receive(now_ns, kAuthorityPeer, static_cast<lattice_channel>(channel), body, true);
  } else {
    observer_.on_message(connection, static_cast<uint8_t>(channel), body);
  }
  return reliability::Verdict::kAccept;
}

void ClientWorld::on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  tell_receipt(connection, receipt, acked);  // the client's engine messages have no receipts
}

reliability::Verdict ClientWorld::receive_part(std::span<const uint8_t> body, uint64_t now_ns) {
  const replication::SnapshotHeader* part = nullptr;
  const reliability::Verdict verdict = receiver_.receive(body, &part);
  if (part == nullptr) return verdict;
  const reliability::ConnectionStats* link = endpoint_->stats(connection_);
  clock_.on_part(*part, link == nullptr ? 0 : link->srtt_ns, now_ns);
  if (inputs_) inputs_->on_part(*part);
  predictor_.on_part(*part);
  return verdict;
}

// --- Objects

void ClientWorld::on_object(uint32_t slot, Tick tick) {
  const replication::ObjectInfo& info = table_.info(slot);
  update_prediction(slot);
  frame_log_.spawned(slot, info);
  observer_.on_spawn(info.network_id, info.type->type_id);
  if (predictor_.predicts(slot)) predictor_.note_news(tick);
}

void ClientWorld::on_state(uint32_t slot, Tick tick, const serialization::Word* former,
                           const serialization::Word* words) {
  const replication::ObjectInfo& info = table_.info(slot);
  if (frame_log_.collects()) {
    frame_log_.changed(slot, info, frame_members(*info.type->layout, former, words));
  }
  presenter_.on_state(slot, former, words, now_ns_);
  if (predictor_.predicts(slot)) {
    predictor_.on_state(slot, tick, words);
  } else if (!table_.writes(slot)) {
    receiver_.update_host(slot);
  }
}

void ClientWorld::on_authority(uint32_t slot) {
  update_prediction(slot);
  observer_.on_authority_changed(table_.network_id(slot), table_.info(slot).owner);
}

void ClientWorld::on_gone(uint32_t slot, replication::DespawnReason reason) {
  const uint64_t network_id = table_.network_id(slot);
  if (receiver_.overdue(slot)) rpcs_.count_refusal(replication::RpcRefusal::kDespawnOverdue);
  rpcs_.release(network_id);  // the RPCs that waited for a later tick: there will be no later tick
  // A placed object does not end with the session: the next one begins with it.
  const bool stays = reason == replication::DespawnReason::kSessionEnded && placed_.has(network_id);
  if (!stays) {
    if (receiver_.has_state(slot)) frame_log_.left(slot, table_.info(slot), reason);
    observer_.on_despawn(network_id, reason);
  }
  predictor_.set_predicted(slot, false);
  presenter_.on_gone(slot);
}

void ClientWorld::on_corrected(uint32_t slot, const serialization::Word* before,
                               const serialization::Word* after) {
  const replication::ObjectInfo& info = table_.info(slot);
  if (frame_log_.collects()) {
    frame_log_.corrected(slot, info, frame_members(*info.type->layout, before, after));
  }
  presenter_.on_corrected(slot, before, after, now_ns_);
}

void ClientWorld::update_prediction(uint32_t slot) {
  const bool runs_ahead = table_.owns(slot) && !table_.writes(slot) && !receiver_.frozen(slot) &&
                          schema_.info(*table_.info(slot).type).predicted();
  if (predictor_.set_predicted(slot, predicts_ && runs_ahead)) presenter_.snap(slot);
}

void ClientWorld::set_option(Option option, bool enabled) {
  switch (option) {
    case Option::kPrediction:
      predicts_ = enabled;
      for (const uint32_t slot : table_.ascending()) update_prediction(slot);
      break;
    case Option::kSmoothing:
      presenter_.set_smoothing(enabled);
      break;
    case Option::kInterpolation:
      presenter_.set_interpolation(enabled);
      break;
  }
}

const void* ClientWorld::view(uint32_t slot, uint32_t behaviour, Now now) {
  if (!receiver_.has_state(slot)) return nullptr;
  if (table_.writes(slot)) return receiver_.host(slot)[behaviour];  // the true state is here
  look(now);
  return presenter_.shown(slot, behaviour, current_tick_, now.ns);
}

const serialization::Word* ClientWorld::confirmed(uint32_t slot, Tick* tick) const {
  if (!receiver_.has_state(slot)) return nullptr;
  *tick = receiver_.newest_tick(slot);
  return receiver_.newest(slot);
}

// --- Inputs

int ClientWorld::get_input(uint64_t peer, void* out, size_t bytes) {
  const serialization::Layout* layout = schema_.input();
  if (layout == nullptr || bytes != layout->host_bytes(0)) return 0;
  if (peer == local_peer() && inputs_ && inputs_->read(current_tick_, out)) return 1;
  std::memset(out, 0, bytes);
  return 0;
}

bool ClientWorld::input_sight(uint64_t peer, InputSight* out) const {
  simulation::Sight sight;
  if (peer != local_peer() || !inputs_ || !inputs_->sight(current_tick_, &sight)) return false;
  *out = {current_tick_, sight, clock_.lead_quarter_ticks(), false};
  return true;
}

// --- RPC

OpResult ClientWorld::call(const RpcCall& call) {
  if (call.target != LATTICE_RPC_TO_SERVER) return OpResult::kNotAllowed;
  if (resimulating_) return OpResult::kOk;  // the call was sent when the tick ran for the first time
  if (!is_connected()) return OpResult::kNotConnected;
  const RpcCallError error = rpcs_.encode(call);
  if (error == RpcCallError::kUnknownObject) return OpResult::kNotFound;
  if (error == RpcCallError::kTooLarge) return OpResult::kLimit;
  if (error != RpcCallError::kNone) return OpResult::kInvalid;
  reliability::MessageFlags flags;
  flags.is_rpc = true;
  switch (endpoint_->send(connection_, static_cast<wire::Channel>(call.channel), flags, rpcs_.body())) {
    case reliability::SendResult::kOk:
      rpcs_.count_sent();
      return OpResult::kOk;
    case reliability::SendResult::kWouldBlock:
      return OpResult::kWouldBlock;
    case reliability::SendResult::kTooLarge:
      return OpResult::kLimit;
    case reliability::SendResult::kNotConnected:  // inside on_disconnected
      return OpResult::kNotConnected;
    case reliability::SendResult::kInvalidChannel:
      return OpResult::kInvalid;
  }
  return OpResult::kInvalid;
}

replication::RpcRefusal ClientWorld::check_rpc(const replication::RpcHeader& header, uint32_t,
                                               const lattice_rpc_desc* rpc, uint64_t) const {
  return replication::RpcGate::check_from_authority(header, rpc);
}

// --- Statistics

void ClientWorld::add_stats(WorldStats* stats) const {
  const prediction::ReconcileStats& reconciled = predictor_.stats();
  stats->connections = is_connected() ? 1 : 0;
  stats->snapshots_applied = receiver_.snapshots_applied();
  stats->rollbacks = reconciled.rollbacks;
  stats->resimulated_ticks = reconciled.resimulated_ticks;
  stats->hard_resets = reconciled.hard_resets;
  stats->max_rollback_ticks = reconciled.max_depth_ticks;
  stats->unacked_inputs = inputs_ ? inputs_->unacked() : 0;
  stats->interpolation_samples = presenter_.poses();
  stats->interpolation_underruns = presenter_.underrun_poses();
  stats->clock_resyncs = clock_.sync().stats().jumps + clock_.sync().stats().stalls;
  stats->interpolation_delay_ms = presenter_.delay_ticks() * fixed_tick_.tick_ns() / 1e6;
  stats->input_margin_ticks = inputs_ ? inputs_->margin_quarter_ticks() / 4.0 : 0.0;
  if (is_connected()) {
    const simulation::TickTime server = clock_.sync().server_time(now_ns_);
    stats->server_tick_estimate = static_cast<double>(server.tick) + server.fraction;
  }
}

}  // namespace lattice::world
