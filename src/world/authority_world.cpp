// See authority_world.h.
#include "world/authority_world.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/assert.h"

namespace lattice::world {
namespace {

/// With a kept identity, a token may be this much older than the process: the clocks of server and issuer may
/// differ by so much.
constexpr uint64_t kTokenGraceS = 5;

}  // namespace

AuthorityWorld::AuthorityWorld(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket,
                               Observer& observer)
    : World(config, std::move(socket), observer),
      sender_(config_, table_, fixed_tick_, observer),
      clients_(config.max_connections),
      slot_of_peer_(config.max_connections) {
  sender_.store().set_unannounced_writes(this);
}

AuthorityWorld::~AuthorityWorld() = default;

void AuthorityWorld::on_schema_fixed() {
  sender_.start(*endpoint_);
  spawn_placed();
  if (const serialization::Layout* input = schema_.input()) {
    simulation::InputBufferConfig inputs;
    inputs.tick_rate_hz = config_.tick_rate_hz;
    inputs.history_ticks = config_.history_ticks;
    inputs_.emplace(*input, inputs, config_.max_connections);
  }
}

reliability::EndpointConfig AuthorityWorld::endpoint_config() const {
  reliability::EndpointConfig config;
  config.accepts_connections = true;
  config.identity = identity_.key.clone();
  config.reset_key = identity_.reset_key.clone();
  // A kept identity outlives the record of used tokens, so older tokens are refused.
  if (keeps_identity_) {
    config.tokens_from_unix_s = config_.created_unix_s - std::min(config_.created_unix_s, kTokenGraceS);
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

// --- Objects

// Ids and slots are those that every client gives them: see PlacedSet.
void AuthorityWorld::spawn_placed() {
  for (const PlacedSet::Object& object : placed_.objects()) {
    const uint32_t slot = table_.spawn(*object.type, 0, LATTICE_AUTHORITY_SERVER, 0, 0);
    LATTICE_ASSERT(slot != replication::kNoSlot && table_.network_id(slot) == uint64_t{slot} + 1);
    object.type->layout->dequantize(placed_.words(object), table_.host(slot));
    sender_.place(slot, placed_.words(object), is_always_relevant(object.type->type_id));
  }
  table_.keep_slots();
}

bool AuthorityWorld::is_always_relevant(uint32_t type_id) const {
  return (schema_.find(type_id)->flags & LATTICE_TYPE_ALWAYS_RELEVANT) != 0;
}

uint64_t AuthorityWorld::spawn(uint32_t type_id, lattice_authority_mode mode, uint64_t owner) {
  // Checked before the schema is fixed: a spawn that fails leaves the schema open.
  if (schema_.find(type_id) == nullptr) return 0;
  fix_schema();
  const replication::ObjectType* type = schema_.types().find(type_id);
  const Tick tick = current_tick_ + (phase_ == Phase::kTick ? 0 : 1);
  const uint32_t slot = table_.spawn(*type, owner, mode, tick, tick);
  if (slot == replication::kNoSlot) return 0;
  sender_.begin(slot, is_always_relevant(type_id));
  sender_.count_owned(connection_of(owner), 1);
  frame_log_.spawned(slot, table_.info(slot));
  return table_.network_id(slot);
}

OpResult AuthorityWorld::despawn(uint64_t network_id) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return OpResult::kNotFound;
  if (despawning_.size() <= slot) despawning_.resize(table_.slot_count());
  if (phase_ == Phase::kIdle && !calls_own_player(network_id)) {
    remove_now(network_id);
  } else if (!despawning_[slot]) {
    despawning_[slot] = true;
    pending_despawns_.push_back(network_id);
  }
  return OpResult::kOk;
}

// Only calls to the server's own player count: a client must not be able to keep an object alive.
bool AuthorityWorld::calls_own_player(uint64_t network_id) const {
  return is_host() && rpcs_.holds(network_id, kAuthorityPeer);
}

void AuthorityWorld::remove_pending() {
  std::erase_if(pending_despawns_, [&](uint64_t id) {
    if (calls_own_player(id)) return false;
    remove_now(id);
    return true;
  });
}

void AuthorityWorld::remove_now(uint64_t network_id) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return;
  despawning_[slot] = false;
  frame_log_.left(slot, table_.info(slot), replication::DespawnReason::kDestroyed);
  sender_.count_owned(connection_of(table_.info(slot).owner), -1);
  sender_.end(slot);
  table_.despawn(slot);
}

const void* AuthorityWorld::view(uint32_t slot, uint32_t behaviour, Now) {
  return table_.host(slot)[behaviour];
}

const serialization::Word* AuthorityWorld::confirmed(uint32_t slot, Tick* tick) const {
  *tick = current_tick_;
  return sender_.store().current(slot);
}

Tick AuthorityWorld::object_tick(uint32_t) const {
  return current_tick_;
}

// --- The pump

void AuthorityWorld::do_receive(Now now) {
  endpoint_->receive(now.ns, now.unix_s);
  rpcs_.poll(now.ns);
}

uint32_t AuthorityWorld::ticks_due(Now now) {
  return fixed_tick_.advance(now.ns).ticks;
}

void AuthorityWorld::do_tick(Tick tick, Now) {
  current_tick_ = tick;
  endpoint_->set_server_tick(tick);
  if (input_host_) {
    observer_.on_sample_input(tick, input_host_->behaviours()[0], schema_.input()->host_bytes(0));
  }
  observer_.on_tick(tick, false);
  remove_pending();
  const uint64_t changes = sender_.record(table_, tick);
  report_clamped();
  if (frame_log_.collects()) {
    sender_.each_change_since(changes, [this](uint32_t slot) { log_change(slot); });
  }
}

void AuthorityWorld::log_change(uint32_t slot) {
  const replication::StateStore& store = sender_.store();
  const serialization::Word* before = store.words(slot, store.version(slot) - 1);
  LATTICE_ASSERT(before != nullptr);  // a store keeps two ticks at least
  const replication::ObjectInfo& info = table_.info(slot);
  frame_log_.changed(slot, info, frame_members(*info.type->layout, before, store.current(slot)));
}

// After the recording, which a game that spawns or writes here would disturb. The objects are all there: what
// the game removes goes at the end of the phase.
void AuthorityWorld::report_clamped() {
  for (const replication::ClampReport& report : sender_.store().clamps().reports()) {
    observer_.on_value_clamped(table_.network_id(report.slot), report.prop_id, report.tick);
  }
  sender_.store().clear_clamp_reports();
}

// Only in validation builds, where a developer reads what the program prints.
void AuthorityWorld::on_unannounced_write(uint32_t slot, Tick tick, const serialization::Word* recorded,
                                          const serialization::Word* words) {
  constexpr uint64_t kMostLines = 20;
  if (++unannounced_writes_ > kMostLines) return;
  const replication::ObjectInfo& info = table_.info(slot);
  const std::string member = info.type->layout->first_difference(recorded, words);
  std::fprintf(stderr,
               "lattice: object %llu: %s was written before tick %u, and nobody said so. Call "
               "lattice_object_wake(), or ask for the state again with lattice_object_state().\n",
               static_cast<unsigned long long>(info.network_id), member.c_str(), tick);
}

void AuthorityWorld::do_send(Now now) {
  sender_.send(now.ns, inputs_ ? &*inputs_ : nullptr);
  endpoint_->update_and_send(now.ns, now.unix_s);
}

void AuthorityWorld::after_phase(Now now) {
  remove_pending();
  World::after_phase(now);
}

// --- Clients

void AuthorityWorld::on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) {
  auto client = std::make_unique<Client>();
  client->connection = connection;
  client->peer = info.peer_id;
  sender_.join(connection, info.peer_id);
  if (inputs_) inputs_->open(connection.slot, current_tick_);
  slot_of_peer_.insert(client->peer, connection.slot);
  clients_[connection.slot] = std::move(client);
  observer_.on_connected(connection, info);
}

void AuthorityWorld::on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                                     uint64_t remote_schema, std::string_view text) {
  Client* client = client_of(connection);
  if (client == nullptr) return;
  end_transfers(connection);
  observer_.on_disconnected(connection, reason, remote_schema, text);
  if (inputs_) inputs_->close(connection.slot, current_tick_);
  sender_.leave(connection);
  rpcs_.forget(client->peer);
  slot_of_peer_.erase(client->peer);
  clients_[connection.slot].reset();
}

connection::Admission AuthorityWorld::on_admission(const connection::AdmissionRequest& request) {
  Admission who;
  who.player = request.token.player;
  who.session = request.token.session;
  who.user_data = request.token.user_data;
  connection::Admission answer;
  answer.refusal = static_cast<connection::DisconnectReason>(observer_.on_admit(who));
  answer.peer_id = next_peer_++;
  return answer;
}

AuthorityWorld::Client* AuthorityWorld::client_of(ConnectionHandle connection) const {
  if (connection.slot >= clients_.size()) return nullptr;
  Client* client = clients_[connection.slot].get();
  return client != nullptr && client->connection == connection ? client : nullptr;
}

AuthorityWorld::Client* AuthorityWorld::client_of_peer(uint64_t peer) const {
  const uint32_t slot = slot_of_peer_.find(peer);
  return slot == base::HashIndex::kNone ? nullptr : clients_[slot].get();
}

ConnectionHandle AuthorityWorld::connection_of(uint64_t peer) const {
  const Client* client = client_of_peer(peer);
  return client == nullptr ? ConnectionHandle{} : client->connection;
}

bool AuthorityWorld::is_owner(uint64_t peer) const {
  return peer == 0 || (peer == kAuthorityPeer && is_host()) || client_of_peer(peer) != nullptr;
}

uint64_t AuthorityWorld::peer_of(ConnectionHandle connection) const {
  const Client* client = client_of(connection);
  return client == nullptr ? 0 : client->peer;
}

// --- Messages

reliability::Verdict AuthorityWorld::on_message(ConnectionHandle connection, wire::Channel channel,
                                                reliability::MessageFlags flags,
                                                std::span<const uint8_t> body, uint64_t now_ns) {
  Client* client = client_of(connection);
  if (client == nullptr) return reliability::Verdict::kAccept;
  if (!is_engine_traffic_legal(channel, flags)) return reliability::Verdict::kProtocolError;
  if (const auto verdict = engine_message(connection, channel, body)) return *verdict;
  if (flags.is_snapshot) return receive_inputs(*client, body, now_ns);
  if (!flags.is_rpc) {
    observer_.on_message(connection, static_cast<uint8_t>(channel), body);
    return reliability::Verdict::kAccept;
  }
  if (client->gate.take_token(now_ns)) {
    rpcs_.receive(now_ns, client->peer, static_cast<lattice_channel>(channel), body, false);
  } else {
    rpcs_.refuse_received(replication::RpcRefusal::kRateLimited);
  }
  return reliability::Verdict::kAccept;
}

reliability::Verdict AuthorityWorld::receive_inputs(Client& client, std::span<const uint8_t> body,
                                                    uint64_t now_ns) {
  if (!inputs_) return reliability::Verdict::kProtocolError;
  const simulation::TickTime position = fixed_tick_.position_at(current_tick_, now_ns);
  if (!inputs_->receive(client.connection.slot, body, current_tick_, position)) {
    return reliability::Verdict::kProtocolError;
  }
  sender_.heard_inputs(client.connection);
  return reliability::Verdict::kAccept;
}

void AuthorityWorld::on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  if (tell_receipt(connection, receipt, acked)) return;
  sender_.on_receipt(connection, receipt, acked);
}

int AuthorityWorld::get_input(uint64_t peer, void* out, size_t bytes) {
  const serialization::Layout* layout = schema_.input();
  if (layout == nullptr || bytes != layout->host_bytes(0)) return 0;
  if (peer == kAuthorityPeer && input_host_) {
    std::memcpy(out, input_host_->behaviours()[0], bytes);
    return 1;
  }
  const Client* client = client_of_peer(peer);
  if (client == nullptr || !inputs_) {
    std::memset(out, 0, bytes);
    return 0;
  }
  switch (inputs_->read(client->connection.slot, current_tick_, out)) {
    case simulation::InputSource::kFresh:
      return 1;
    case simulation::InputSource::kRepeated:
      return 2;
    case simulation::InputSource::kDefault:
      return 0;
  }
  return 0;
}

bool AuthorityWorld::input_sight(uint64_t peer, InputSight* out) const {
  if (peer == kAuthorityPeer && input_host_) {  // the host's own player sees the state of the last tick
    *out = {current_tick_, simulation::sight_of({current_tick_ - 1, 0.0}, current_tick_ - 1), 0, false};
    return true;
  }
  const Client* client = client_of_peer(peer);
  return client != nullptr && inputs_ && inputs_->sight(client->connection.slot, current_tick_, out);
}

// --- RPC

replication::RpcRefusal AuthorityWorld::check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                                  const lattice_rpc_desc* rpc, uint64_t sender) const {
  const bool is_own = sender == kAuthorityPeer;  // it calls the host's own player, or that player calls it
  if (is_own && header.target != LATTICE_RPC_TO_SERVER) {
    return rpc == nullptr ? replication::RpcRefusal::kUnknownRpc : replication::RpcRefusal::kNone;
  }
  const Client* client = client_of_peer(sender);
  const bool has_object = is_own || (client != nullptr && sees(client->connection, slot));
  return replication::RpcGate::check_from_client(header, rpc, table_.info(slot), sender, has_object);
}

bool AuthorityWorld::send_rpc(const Client& client, uint32_t slot, lattice_channel channel) {
  reliability::MessageFlags flags;
  flags.is_rpc = true;
  const auto sent =
      endpoint_->send(client.connection, static_cast<wire::Channel>(channel), flags, rpcs_.body());
  if (sent != reliability::SendResult::kOk) return false;
  if (replication::is_reliable_rpc(channel)) sender_.count_reliable_rpc(client.connection, slot);
  rpcs_.count_sent();
  return true;
}

bool AuthorityWorld::is_callee(const RpcCall& call, uint32_t slot, uint64_t peer) const {
  switch (call.target) {
    case LATTICE_RPC_TO_SERVER:
      return peer == kAuthorityPeer;
    case LATTICE_RPC_TO_ALL:
      return true;
    case LATTICE_RPC_TO_OWNER:
      return table_.info(slot).owned_by(peer);
    case LATTICE_RPC_TO_PEER:
      return peer == call.peer;
  }
  return false;
}

OpResult AuthorityWorld::call(const RpcCall& call, Now now) {
  // Only a listen-server has a player of its own, who may call the server (B-08).
  if (call.target == LATTICE_RPC_TO_SERVER && !is_host()) return OpResult::kNotAllowed;
  const uint32_t slot = table_.find(call.network_id);
  if (slot == replication::kNoSlot) return OpResult::kNotFound;
  const RpcCallError error = rpcs_.encode(call);
  if (error != RpcCallError::kNone) {
    return error == RpcCallError::kTooLarge ? OpResult::kLimit : OpResult::kInvalid;
  }
  bool any = is_host() && is_callee(call, slot, kAuthorityPeer);
  bool blocked = any && !rpcs_.loop_back(now.ns, kAuthorityPeer);
  for (const std::unique_ptr<Client>& client : clients_) {
    if (!client || !is_callee(call, slot, client->peer) || !sees(client->connection, slot)) continue;
    any = true;
    sender_.begin_calls(client->connection, slot);
    blocked = !send_rpc(*client, slot, call.channel) || blocked;
  }
  if (blocked) return OpResult::kWouldBlock;
  return any || call.target == LATTICE_RPC_TO_ALL ? OpResult::kOk : OpResult::kNotFound;
}

// --- Statistics

bool AuthorityWorld::why(ConnectionHandle connection, uint32_t slot, lattice_why_info* out) {
  const Tick next_snapshot = phase_ == Phase::kSend ? current_tick_ : next_tick();
  return sender_.why(connection, slot, current_tick_, next_snapshot, out);
}

simulation::InputBufferStats AuthorityWorld::input_stats() const {
  return inputs_ ? inputs_->stats(current_tick_) : simulation::InputBufferStats{};
}

void AuthorityWorld::add_stats(WorldStats* stats) const {
  const simulation::InputBufferStats inputs = input_stats();
  stats->connections = static_cast<uint32_t>(slot_of_peer_.size());
  stats->inputs_received = inputs.accepted + inputs.late;
  stats->inputs_used = inputs.fresh;
  stats->inputs_late = inputs.late;
  stats->inputs_repeated = inputs.repeated;
  stats->inputs_defaulted = inputs.defaulted;
  stats->snapshots_sent = sender_.snapshots_sent();
  stats->snapshot_bytes_sent = sender_.snapshot_bytes_sent();
}

}  // namespace lattice::world
