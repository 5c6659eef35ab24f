// The client's connection, snapshots and pump; see client_world.h. Prediction is in client_prediction.cpp,
// drawing in client_view.cpp.
#include "world/client_world.h"

#include <algorithm>
#include <cstring>

#include "simulation/input_codec.h"
#include "transport/wire/token.h"

namespace lattice::world {
namespace {

constexpr size_t kMaxUnusedKeys = 4;

simulation::ClockSyncConfig clock_config(const WorldConfig& config) {
  simulation::ClockSyncConfig clock;
  clock.tick_rate_hz = config.tick_rate_hz;
  return clock;
}

prediction::InterpolationClockConfig render_config(const WorldConfig& config) {
  prediction::InterpolationClockConfig render;
  render.tick_rate_hz = config.tick_rate_hz;
  render.configured_delay_ns = config.interpolation_delay_ns;
  return render;
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
      clock_(clock_config(config)),
      render_clock_(render_config(config)),
      reconciler_(std::make_unique<prediction::Reconciler>(reconciler_config(config))) {}

ClientWorld::~ClientWorld() = default;

void ClientWorld::on_schema_fixed() {
  applier_ = std::make_unique<replication::SnapshotApplier>(schema_.types(), table_, *this,
                                                            replication::slot_bound(config_.max_objects));
  if (const serialization::Layout* input = schema_.input()) {
    simulation::InputHistoryConfig inputs;
    inputs.resimulated_ticks = config_.prediction_window_ticks;
    inputs.max_redundant_inputs = config_.input_redundancy;
    inputs_.emplace(input->word_count(), inputs);
    input_words_.resize(input->word_count());
    input_out_ = std::make_unique<HostScratch>(*input);
  }
}

reliability::EndpointConfig ClientWorld::endpoint_config() const {
  return {};
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
  connected_ = true;
  clock_.start(info.server_tick, now_ns_, info.rtt_ns);
  begin_placed(info.server_tick);
  observer_.on_connected(connection, info);
}

bool ClientWorld::may_place() const {
  return table_.size() == 0 &&
         (!endpoint_ || endpoint_->state(connection_) == connection::State::kDisconnected);
}

// They are here before the first snapshot, whose tick is not before `server_tick`.
void ClientWorld::begin_placed(Tick server_tick) {
  const Tick tick = server_tick <= 1 ? server_tick - 2 : server_tick - 1;  // not 0, which says "none"
  uint32_t remote_slot = 0;
  for (const PlacedSet::Object& object : placed_.objects()) {
    replication::ObjectInfo info;
    info.network_id = uint64_t{remote_slot} + 1;
    info.type = object.type;
    const uint32_t slot = applier_->place(info, remote_slot, placed_.words(object), tick);
    begin_mirror(slot);
    mirrors_[slot].newest_tick = tick;
    ++remote_slot;
  }
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
  connected_ = false;
  ticking_ = false;
  table_.set_local_peer(0);
  rpcs_.forget(kAuthorityPeer);
  early_rpcs_.clear();
  while (table_.size() != 0) {
    const uint32_t slot = table_.ascending().back();
    mirrors_[slot].despawn_gate.stay();  // the session has ended: no RPC is missing any more
    on_despawn(slot, current_tick_, replication::DespawnReason::kSessionEnded);
    table_.despawn(slot);
  }
  applier_ = std::make_unique<replication::SnapshotApplier>(schema_.types(), table_, *this,
                                                            replication::slot_bound(config_.max_objects));
  clock_ = simulation::ClockSync(clock_config(config_));
  render_clock_ = prediction::InterpolationClock(render_config(config_));
  view_time_ = {};
  joining_ = {};
  joining_tick_ = 0;
  if (inputs_) inputs_->clear();
  reconciler_->restart();
  snapshot_tick_ = first_snapshot_tick_ = own_tick_ = reconcile_tick_ = acked_input_tick_ = 0;
}

// --- Receiving

void ClientWorld::do_receive(Now now) {
  now_ns_ = now.ns;
  timing_.server_tick = 0;
  const double interval_ticks = static_cast<double>(clock_.snapshot_interval_ns()) / fixed_tick_.tick_ns();
  applier_->set_interval(std::max(1u, static_cast<uint32_t>(interval_ticks + 0.5)));
  endpoint_->receive(now.ns, now.unix_s);
  if (timing_.server_tick != 0) clock_.on_snapshot(timing_);
  reconcile();
  rpcs_.poll(now.ns);
  applier_->retry_removals();
}

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
  switch (applier_->apply(body)) {
    case replication::SnapshotApplier::Result::kStale:
      snapshot_refusals_.add(applier_->refusal());
      return reliability::Verdict::kAcceptButDoNotAck;
    case replication::SnapshotApplier::Result::kRefused:
      snapshot_refusals_.add(applier_->refusal());
      return reliability::Verdict::kProtocolError;
    case replication::SnapshotApplier::Result::kApplied:
      break;
  }
  const replication::SnapshotHeader& header = applier_->header();
  if (header.progress) {
    note_progress(header);
    return reliability::Verdict::kAccept;
  }
  const reliability::ConnectionStats* link = endpoint_->stats(connection_);
  simulation::SnapshotTiming timing;
  timing.server_tick = header.server_tick;
  timing.last_input_tick = header.last_input_tick;
  timing.margin_quarter_ticks = header.input_margin;
  timing.received_ns = now_ns;
  timing.interval_ticks = header.interval_ticks;
  timing.srtt_ns = link == nullptr ? 0 : link->srtt_ns;
  // Only the newest snapshot of a receive phase tells the time: the others have waited for it in the socket,
  // after a pause of this process for as long as the pause.
  if (timing_.server_tick == 0 || base::tick_after(timing.server_tick, timing_.server_tick)) timing_ = timing;
  if (inputs_ && header.has_input && base::tick_after(header.server_tick, acked_input_tick_)) {
    // The server has run this tick: it will use no input up to it any more.
    acked_input_tick_ = header.server_tick;
    margin_quarter_ticks_ = header.input_margin;
    inputs_->acknowledge(header.server_tick);
  }
  note_part(header);
  return reliability::Verdict::kAccept;
}

void ClientWorld::note_progress(const replication::SnapshotHeader& header) {
  if (joining_tick_ != 0 && !base::tick_after(header.server_tick, joining_tick_)) return;
  joining_tick_ = header.server_tick;
  joining_.count = {header.join_objects, header.join_missing};
  joining_.loaded = header.join_missing == 0;
}

void ClientWorld::note_part(const replication::SnapshotHeader& header) {
  if (first_snapshot_tick_ == 0) first_snapshot_tick_ = header.server_tick;
  if (snapshot_tick_ == 0 || base::tick_after(header.server_tick, snapshot_tick_)) {
    snapshot_tick_ = header.server_tick;
    ++snapshots_applied_;
  }
  if (!header.confirms_own || (own_tick_ != 0 && !base::tick_after(header.server_tick, own_tick_))) return;
  own_tick_ = header.server_tick;
  if (reconcile_tick_ == 0 || base::tick_after(own_tick_, reconcile_tick_)) reconcile_tick_ = own_tick_;
}

void ClientWorld::on_spawn(uint32_t slot, Tick) {
  begin_mirror(slot);
}

void ClientWorld::begin_mirror(uint32_t slot) {
  if (mirrors_.size() <= slot) mirrors_.resize(slot + 1);
  Mirror& mirror = mirrors_[slot];
  mirror.type = table_.info(slot).type;
  mirror.predicted = false;
  mirror.host_kept = false;
  mirror.drawn = false;
  mirror.despawn_gate = replication::DespawnGate(early_rpcs_.take(table_.network_id(slot)));
  mirror.newest_tick = 0;
}

void ClientWorld::on_state(uint32_t slot, Tick tick, const serialization::Word* words,
                           replication::EntryKind) {
  Mirror& mirror = mirrors_[slot];
  const serialization::Layout& layout = *mirror.type->layout;
  const bool first = mirror.newest_tick == 0;
  if (!first && frame_log_.collects()) {
    frame_log_.changed(slot, table_.info(slot), frame_members(layout, applier_->former(slot), words));
  }
  mirror.newest_tick = tick;
  if (!frame_) mirror.drawn = false;  // within a frame, the pose that was shown stays
  if (!first && mirror.presentation && smooth_ && interpolate_) {
    const bool teleported = layout.teleported(applier_->former(slot), words);
    mirror.presentation->received(applier_->states(slot), teleported, view_time_, now_ns_);
  }
  if (mirror.predicted) {
    layout.dequantize_not_predicted(words, table_.host(slot));
    if (base::tick_after(tick, reconcile_tick_)) reconcile_tick_ = tick;
  } else if (mirror.host_kept && !table_.writes(slot)) {
    layout.dequantize(words, table_.host(slot));
  }
  if (first) begin_showing(slot, tick);
}

// The game hears of the object when its first state is in place.
void ClientWorld::begin_showing(uint32_t slot, Tick tick) {
  const replication::ObjectInfo& info = table_.info(slot);
  update_prediction(slot);
  frame_log_.spawned(slot, info);
  observer_.on_spawn(info.network_id, info.type->type_id);
  if (mirrors_[slot].predicted && base::tick_after(tick, reconcile_tick_)) reconcile_tick_ = tick;
}

void* const* ClientWorld::host_for_game(uint32_t slot) {
  Mirror& mirror = mirrors_[slot];
  void* const* host = table_.host(slot);
  if (!mirror.host_kept && mirror.newest_tick != 0) {
    table_.info(slot).type->layout->dequantize(newest_words(slot), host);
    mirror.host_kept = true;  // the game may keep the pointer
  }
  return host;
}

void ClientWorld::on_authority(uint32_t slot, Tick) {
  update_prediction(slot);
  observer_.on_authority_changed(table_.network_id(slot), table_.info(slot).owner);
}

void ClientWorld::on_despawn(uint32_t slot, Tick, replication::DespawnReason reason) {
  Mirror& mirror = mirrors_[slot];
  if (mirror.despawn_gate.overdue()) rpcs_.count_refusal(replication::RpcRefusal::kDespawnOverdue);
  rpcs_.release(table_.network_id(
      slot));  // delivers the RPCs that waited for a later tick: there will be no later tick
  // A placed object does not end with the session: the next one begins with it.
  const bool stays =
      reason == replication::DespawnReason::kSessionEnded && placed_.has(table_.network_id(slot));
  if (!stays) {
    if (is_known(slot)) frame_log_.left(slot, table_.info(slot), reason);
    observer_.on_despawn(table_.network_id(slot), reason);
  }
  set_predicted(slot, false);
  if (mirror.presentation) {
    poses_ += mirror.presentation->poses();
    underrun_poses_ += mirror.presentation->underrun_poses();
    spare_presentations_.push_back(std::move(mirror.presentation));
  }
}

// D-35. While the object waits, it keeps its last state: nothing simulates it any more.
bool ClientWorld::may_despawn(uint32_t slot, uint32_t rpc_count) {
  replication::DespawnGate& gate = mirrors_[slot].despawn_gate;
  const bool may_go = gate.may_go(now_ns_, rpc_count);
  if (gate.waiting()) set_predicted(slot, false);
  return may_go;
}

void ClientWorld::on_stays(uint32_t slot) {
  mirrors_[slot].despawn_gate.stay();
  update_prediction(slot);
}

void ClientWorld::reliable_rpc_arrived(uint64_t network_id) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) {
    early_rpcs_.add(network_id);
  } else {
    mirrors_[slot].despawn_gate.rpc_arrived();
  }
}

Presentation& ClientWorld::presentation_of(Mirror& mirror) {
  if (!mirror.presentation) mirror.presentation = take_presentation(*mirror.type);
  return *mirror.presentation;
}

std::unique_ptr<Presentation> ClientWorld::take_presentation(const replication::ObjectType& type) {
  for (std::unique_ptr<Presentation>& spare : spare_presentations_) {
    if (&spare->layout() != type.layout) continue;
    std::unique_ptr<Presentation> taken = std::move(spare);
    spare = std::move(spare_presentations_.back());
    spare_presentations_.pop_back();
    taken->reset();
    return taken;
  }
  PresentationConfig config;
  config.smoother.tau_ns = config_.smoothing_tau_ns;
  config.smoother.snap_distance = config_.snap_distance;
  config.tick_seconds = fixed_tick_.tick_seconds();
  config.extrapolation_max_ns = config_.extrapolation_max_ns;
  return std::make_unique<Presentation>(*type.layout, pose_scratch(type), config);
}

PoseScratch& ClientWorld::pose_scratch(const replication::ObjectType& type) {
  for (TypePoses& poses : pose_scratch_) {
    if (poses.type == &type) return *poses.scratch;
  }
  pose_scratch_.push_back({&type, std::make_unique<PoseScratch>(*type.layout)});
  return *pose_scratch_.back().scratch;
}

// --- Sending

void ClientWorld::do_send(Now now) {
  now_ns_ = now.ns;
  // Without a budget the inputs wait and go together later: a message holds all inputs that are not yet
  // acknowledged (C-06).
  if (connected_ && ticking_ && inputs_ && inputs_->newest() != inputs_->newest_sent() &&
      endpoint_->send_budget_bytes(connection_, now.ns) != 0) {
    uint8_t body[reliability::kMaxSnapshotBody];
    const size_t bytes = simulation::encode_inputs(*schema_.input(), *inputs_, lead_quarter_ticks(), body);
    reliability::MessageFlags flags;
    flags.is_snapshot = true;
    if (bytes != 0 && endpoint_->send(connection_, wire::Channel::kUnreliableSequenced, flags,
                                      {body, bytes}) == reliability::SendResult::kOk) {
      inputs_->mark_sent(inputs_->newest());
      clock_.on_input_sent(fixed_tick_.position_at(current_tick_, now.ns), now.ns);
    }
  }
  endpoint_->update_and_send(now.ns, now.unix_s);
}

// --- RPC

OpResult ClientWorld::call(const RpcCall& call) {
  if (call.target != LATTICE_RPC_TO_SERVER) return OpResult::kNotAllowed;
  if (resimulating_) return OpResult::kOk;  // the call was sent when the tick ran for the first time
  if (!connected_) return OpResult::kNotConnected;
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

Tick ClientWorld::object_tick(uint32_t slot) const {
  return mirrors_[slot].newest_tick;
}

replication::RpcRefusal ClientWorld::check_rpc(const replication::RpcHeader& header, uint32_t,
                                               const lattice_rpc_desc* rpc, uint64_t) const {
  return replication::RpcGate::check_from_authority(header, rpc);
}

// --- Statistics

void ClientWorld::add_stats(WorldStats* stats) const {
  const prediction::ReconcileStats& reconciled = reconciler_->stats();
  stats->connections = connected_ ? 1 : 0;
  stats->snapshots_applied = snapshots_applied_;
  stats->rollbacks = reconciled.rollbacks;
  stats->resimulated_ticks = reconciled.resimulated_ticks;
  stats->hard_resets = reconciled.hard_resets;
  stats->max_rollback_ticks = reconciled.max_depth_ticks;
  stats->unacked_inputs = inputs_ ? inputs_->window_count() : 0;
  stats->interpolation_samples = poses_;
  stats->interpolation_underruns = underrun_poses_;
  for (const uint32_t slot : table_.ascending()) {
    if (!mirrors_[slot].presentation) continue;
    stats->interpolation_samples += mirrors_[slot].presentation->poses();
    stats->interpolation_underruns += mirrors_[slot].presentation->underrun_poses();
  }
  stats->clock_resyncs = clock_.stats().jumps + clock_.stats().stalls;
  stats->interpolation_delay_ms = render_clock_.delay_ticks() * fixed_tick_.tick_ns() / 1e6;
  stats->input_margin_ticks = margin_quarter_ticks_ / 4.0;
  if (clock_.started()) {
    const simulation::TickTime server = clock_.server_time(now_ns_);
    stats->server_tick_estimate = static_cast<double>(server.tick) + server.fraction;
  }
}

}  // namespace lattice::world
