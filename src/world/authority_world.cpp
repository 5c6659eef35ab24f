// See authority_world.h.
#include "world/authority_world.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "simulation/input_codec.h"

namespace lattice::world {
namespace {

/// With a kept identity, a token may be this much older than the process: the clocks of server and issuer may
/// differ by so much.
constexpr uint64_t kTokenGraceS = 5;

uint32_t snapshot_interval(const WorldConfig& config) {
  return (config.tick_rate_hz + config.snapshot_rate_hz - 1) / config.snapshot_rate_hz;
}

void add(simulation::InputBufferStats* sum, const simulation::InputBufferStats& part) {
  sum->messages += part.messages;
  sum->accepted += part.accepted;
  sum->duplicates += part.duplicates;
  sum->late += part.late;
  sum->too_early += part.too_early;
  sum->sights_future += part.sights_future;
  sum->sights_old += part.sights_old;
  sum->fresh += part.fresh;
  sum->repeated += part.repeated;
  sum->defaulted += part.defaulted;
}

}  // namespace

AuthorityWorld::AuthorityWorld(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket,
                               Observer& observer)
    : World(config, std::move(socket), observer),
      store_(static_cast<int32_t>(config.history_ticks),
             replication::KeepTicks(config.tick_rate_hz, snapshot_interval(config))),
      slot_of_peer_(config.max_connections),
      snapshot_interval_ticks_(snapshot_interval(config)) {
  clients_.resize(config.max_connections);
  turns_.resize(snapshot_interval_ticks_);
  if (config.interest.enabled) {
    interest_.emplace(config.interest, config.tick_rate_hz, snapshot_interval_ticks_, table_, observer);
  }
  store_.set_unannounced_writes(this);
}

AuthorityWorld::~AuthorityWorld() = default;

void AuthorityWorld::on_schema_fixed() {
  replication::SnapshotBuilder::Config build;
  build.part_capacity_bytes = static_cast<uint32_t>(reliability::kMaxSnapshotBody);
  build.tick_rate_hz = config_.tick_rate_hz;
  build.send_interval_ticks = snapshot_interval_ticks_;
  builder_ = std::make_unique<replication::SnapshotBuilder>(build, table_, store_);
  spawn_placed();
  if (const serialization::Layout* input = schema_.input()) {
    default_input_.resize(input->word_count());
    input->zero_baseline(default_input_.data());
    input_scratch_.resize(size_t{simulation::kMaxInputsPerMessage} * input->word_count());
    input_out_ = std::make_unique<HostScratch>(*input);
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
    store_.place(slot, *object.type, placed_.words(object));
    if (interest_) interest_->spawned(slot, is_always_relevant(object.type->type_id));
  }
  table_.keep_slots();
}

bool AuthorityWorld::is_always_relevant(uint32_t type_id) const {
  return (schema_.find(type_id)->flags & LATTICE_TYPE_ALWAYS_RELEVANT) != 0;
}

// The first change of a placed object. Until then no client has a replica of it.
void AuthorityWorld::touch_placed(uint32_t slot) {
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client && has(*client, slot)) client->recipient->enter(slot, table_.network_id(slot));
  }
}

// A placed object that nobody has written since needs no replica. Whether it is in the set, the rules say.
bool AuthorityWorld::has(const Client& client, uint32_t slot) const {
  if (client.recipient->in_set(slot)) return true;
  return store_.is_placed(slot) && (!interest_ || interest_->contains(client.connection, slot));
}

uint64_t AuthorityWorld::spawn(uint32_t type_id, lattice_authority_mode mode, uint64_t owner) {
  // Checked before the schema is fixed: a spawn that fails leaves the schema open.
  if (schema_.find(type_id) == nullptr) return 0;
  fix_schema();
  const replication::ObjectType* type = schema_.types().find(type_id);
  const Tick tick = current_tick_ + (phase_ == Phase::kTick ? 0 : 1);
  const uint32_t slot = table_.spawn(*type, owner, mode, tick, tick);
  if (slot == replication::kNoSlot) return 0;
  store_.begin(slot, *type);
  frame_log_.spawned(slot, table_.info(slot));
  if (Client* client = client_of_peer(owner)) ++client->owned;
  if (interest_) {
    // The clients that are to see it learn of it in update_set().
    interest_->spawned(slot, is_always_relevant(type_id));
  } else {
    for (const std::unique_ptr<Client>& client : clients_) {
      if (client) client->recipient->enter(slot, table_.network_id(slot));
    }
  }
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
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client) client->recipient->destroyed(slot, network_id);
  }
  if (interest_) interest_->removed(slot);
  if (store_.is_placed(slot)) destroyed_placed_.push_back(slot);
  frame_log_.left(slot, table_.info(slot), replication::DespawnReason::kDestroyed);
  if (Client* client = client_of_peer(table_.info(slot).owner)) --client->owned;
  store_.end(slot);
  table_.despawn(slot);
}

const void* AuthorityWorld::view(uint32_t slot, uint32_t behaviour, Now) {
  return table_.host(slot)[behaviour];
}

const serialization::Word* AuthorityWorld::confirmed(uint32_t slot, Tick* tick) const {
  *tick = current_tick_;
  return store_.current(slot);
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
  const uint64_t recorded_before = store_.changes().end();
  store_.record(table_, tick);
  if (tick % replication::kAgingTicks == 0) {
    for (const std::unique_ptr<Client>& client : clients_) {
      if (client) client->recipient->age(tick - 2 * replication::kAgingTicks);
    }
  }
  report_clamped();
  if (store_.placed_count() != 0) {
    each_change_since(recorded_before, [this](uint32_t slot) {
      if (store_.is_placed(slot) && store_.version(slot) == 2) touch_placed(slot);
    });
  }
  if (interest_) each_change_since(recorded_before, [this](uint32_t slot) { interest_->follow(slot); });
  if (frame_log_.collects()) each_change_since(recorded_before, [this](uint32_t slot) { log_change(slot); });
  begin_snapshots(tick);
}

void AuthorityWorld::begin_snapshots(Tick tick) {
  for (Tick turn = 0; turn < snapshot_interval_ticks_; ++turn) {
    if (!begins_snapshot(tick + turn)) continue;
    for (const uint32_t slot : turns_[turn]) {
      Client& client = *clients_[slot];
      client.begins_snapshot = true;
      if (!std::exchange(client.is_listed, true)) due_.push_back(slot);
    }
  }
}

// After the recording: the log of changes has room for all objects, so it reaches back to `place`.
template <class Visit>
void AuthorityWorld::each_change_since(uint64_t place, Visit visit) const {
  const replication::ChangeLog& changes = store_.changes();
  LATTICE_ASSERT(changes.reaches(place));
  for (uint64_t at = place; at != changes.end(); ++at) visit(changes.at(at));
}

void AuthorityWorld::log_change(uint32_t slot) {
  const serialization::Word* before = store_.words(slot, store_.version(slot) - 1);
  LATTICE_ASSERT(before != nullptr);  // a store keeps two ticks at least
  const replication::ObjectInfo& info = table_.info(slot);
  frame_log_.changed(slot, info, frame_members(*info.type->layout, before, store_.current(slot)));
}

// After the recording, which a game that spawns or writes here would disturb. The objects are all there: what
// the game removes goes at the end of the phase.
void AuthorityWorld::report_clamped() {
  for (const replication::ClampReport& report : store_.clamps().reports()) {
    observer_.on_value_clamped(table_.network_id(report.slot), report.prop_id, report.tick);
  }
  store_.clear_clamp_reports();
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

// Nobody can tell when a tick's input is taken, as long as it is before the next one comes. So ticks do not
// visit the clients.
std::optional<simulation::TakenInput> AuthorityWorld::take_input(Client& client) const {
  if (!client.inputs) return std::nullopt;
  return client.inputs->take_up_to(current_tick_);
}

// The snapshots of a second are spread over its ticks as evenly as ticks allow: at 40 Hz of 60 on two of
// three.
bool AuthorityWorld::begins_snapshot(Tick tick) const {
  const auto snapshots_until = [this](Tick at) {
    return uint64_t{at} * config_.snapshot_rate_hz / config_.tick_rate_hz;
  };
  return snapshots_until(tick) != snapshots_until(tick - 1);
}

void AuthorityWorld::do_send(Now now) {
  bool begun = false;
  std::erase_if(due_, [&](uint32_t slot) {
    Client* client = clients_[slot].get();
    if (client == nullptr) return true;  // it left
    if (rests(*client)) {
      client->begins_snapshot = client->is_listed = false;
      return true;
    }
    const uint64_t budget_bytes = due_budget_bytes(*client, now);
    // Without room for a datagram no snapshot is made: it would wait in a queue and grow old there. The next
    // send makes a newer one.
    client->is_listed = client->snapshot_due && budget_bytes < reliability::kDatagramBytes;
    if (client->is_listed || !client->snapshot_due) return !client->is_listed;
    if (!std::exchange(begun, true)) builder_->begin_send(current_tick_);
    client->snapshot_due = false;
    send_snapshot(*client, budget_bytes);
    return true;
  });
  endpoint_->update_and_send(now.ns, now.unix_s);
}

// Whether a snapshot would have nothing to say and may stay away (D-44). Most clients of a large world are so
// most of the time, and nothing more is done for them.
bool AuthorityWorld::rests(Client& client) {
  if (client.snapshot_due || silence_of(client) == replication::SnapshotBuilder::Silence::kForbidden)
    return false;
  return client.recipient->rests(store_) &&
         (!interest_ || !interest_->has_news(client.connection, current_tick_));
}

// What a snapshot to the client may hold now; 0 when none is due.
uint64_t AuthorityWorld::due_budget_bytes(Client& client, Now now) {
  if (std::exchange(client.begins_snapshot, false)) {
    // Parts that have waited for two intervals are old: their objects go into a newer snapshot.
    if (client.snapshot_due) endpoint_->drop_waiting_snapshot(client.connection);
    client.snapshot_due = true;
  }
  if (!client.snapshot_due) return 0;
  // A snapshot holds what may leave until the next one is due, so its size does not depend on how often the
  // application pumps.
  return endpoint_->send_budget_bytes(client.connection, now.ns,
                                      until_next_snapshot_ns(now, turn_of(client)));
}

// Clients take turns: their snapshots leave on different ticks, so no tick has to serve all.
Tick AuthorityWorld::turn_of(const Client& client) const {
  return client.connection.slot % snapshot_interval_ticks_;
}

uint64_t AuthorityWorld::until_next_snapshot_ns(Now now, Tick turn) const {
  const uint64_t rate_hz = config_.snapshot_rate_hz;
  const uint64_t begun = (uint64_t{current_tick_} + turn) * rate_hz / config_.tick_rate_hz;
  // The first tick that begins_snapshot() says yes to.
  const uint64_t next_tick = ((begun + 1) * config_.tick_rate_hz + rate_hz - 1) / rate_hz;
  const simulation::TickTime next{static_cast<Tick>(next_tick - turn), 0.0};
  const double ticks = simulation::ticks_between(next, fixed_tick_.position_at(current_tick_, now.ns));
  return static_cast<uint64_t>(std::max(ticks, 0.0) * fixed_tick_.tick_ns());
}

// The bytes that the builder may write: the share of the bodies in the connection's budget, within the
// configured bound. Under a cap of less than a datagram for each snapshot, a client that owns objects gets an
// even share with each: a whole datagram now and then would correct it too seldom.
uint32_t AuthorityWorld::snapshot_budget(const Client& client, uint64_t send_budget_bytes) const {
  constexpr uint64_t kPacketBytes = reliability::kDatagramBytes - reliability::kMaxSnapshotBody;
  if (send_budget_bytes == UINT64_MAX) return config_.snapshot_budget_bytes;
  uint64_t bodies = send_budget_bytes * reliability::kMaxSnapshotBody / reliability::kDatagramBytes;
  if (config_.snapshot_budget_bytes != 0) bodies = std::min<uint64_t>(bodies, config_.snapshot_budget_bytes);
  const uint64_t even_bytes = config_.max_send_bytes_per_s / config_.snapshot_rate_hz;
  if (client.owned != 0 && even_bytes > kPacketBytes && even_bytes < reliability::kDatagramBytes) {
    bodies = std::min(bodies, even_bytes - kPacketBytes);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(bodies, UINT32_MAX));
}

void AuthorityWorld::send_snapshot(Client& client, uint64_t send_budget_bytes) {
  if (interest_) update_set(client);
  replication::SnapshotHeader header;
  if (take_input(client)) {
    header.has_input = true;
    header.last_input_tick = client.inputs->last_input_tick();
    header.input_margin = client.inputs->margin_quarter_ticks();
  }
  std::optional<InterestHub::SendRules> rules;
  if (interest_) rules.emplace(interest_->send_rules(client.connection));
  client.budget_bytes = snapshot_budget(client, send_budget_bytes);
  const auto parts = builder_->build(*client.recipient, header, client.budget_bytes,
                                     rules ? &*rules : nullptr, silence_of(client));
  if (parts.empty()) return;
  client.snapshot_tick = current_tick_;
  client.sent_inputs = false;
  for (const replication::SnapshotPart& part : parts) send_part(client, part.bytes, part.receipt);
  send_progress(client);
}

void AuthorityWorld::send_part(Client& client, std::span<const uint8_t> bytes, uint32_t receipt) {
  // messages with this flag that are queued between two sends share one sequence.
  reliability::MessageFlags flags;
  flags.is_snapshot = true;
  const auto sent =
      endpoint_->send(client.connection, wire::Channel::kUnreliableSequenced, flags, bytes, receipt);
  if (sent != reliability::SendResult::kOk) take_receipt(client, receipt, false);
}

// Tells a client how far it has come with the set that it had at join (D-48).
void AuthorityWorld::send_progress(Client& client) {
  const replication::JoinCount count = client.recipient->join_count();
  if (!client.progress.due(current_tick_, count.missing, config_.tick_rate_hz)) return;
  const uint32_t receipt = client.recipient->ledger().open(current_tick_);
  send_part(client, client.progress.write(current_tick_, count, receipt), receipt);
}

void AuthorityWorld::take_receipt(Client& client, uint32_t receipt, bool acked) {
  client.progress.on_receipt(receipt, acked);
  client.recipient->on_receipt(receipt, acked);
}

// A client that sends inputs hears at once what became of them, and one that owns objects predicts them and
// waits for their confirmation.
replication::SnapshotBuilder::Silence AuthorityWorld::silence_of(const Client& client) const {
  using Silence = replication::SnapshotBuilder::Silence;
  if (client.sent_inputs || client.owned != 0 || !client.progress.done()) return Silence::kForbidden;
  const uint32_t longest_ticks = config_.tick_rate_hz / replication::kQuietSnapshotsPerS;
  return current_tick_ - client.snapshot_tick < longest_ticks ? Silence::kAllowed : Silence::kForbidden;
}

// What the client may not see leaves its set before anything is sent. An object spawned or moved since the
// last snapshot enters it now.
void AuthorityWorld::update_set(Client& client) {
  const replication::InterestSet::Changes changes = interest_->evaluate(client.connection, current_tick_);
  for (const uint32_t slot : changes.left) {
    client.recipient->leave(slot, table_.network_id(slot));
  }
  for (const uint32_t slot : changes.entered) {
    if (store_.is_untouched(slot)) continue;
    client.recipient->enter(slot, table_.network_id(slot));
    if (!client.looked) client.recipient->owe(slot);
  }
  client.looked = true;
}

bool AuthorityWorld::sees(ConnectionHandle connection, uint32_t slot) const {
  const Client* client = client_of(connection);
  return client != nullptr && has(*client, slot);
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
  if (schema_.input() != nullptr) {
    simulation::InputBufferConfig inputs;
    inputs.tick_rate_hz = config_.tick_rate_hz;
    inputs.history_ticks = config_.history_ticks;
    client->inputs.emplace(inputs, default_input_, current_tick_);
  }
  replication::ReplicaList::Config known;
  known.peer_id = info.peer_id;
  known.placed_count = store_.placed_count();
  client->recipient = std::make_unique<replication::ReplicaList>(known);
  if (interest_) {
    interest_->joined(connection, info.peer_id);
  } else {
    client->recipient->join(table_, store_);
  }
  for (const uint32_t slot : destroyed_placed_) {
    client->recipient->join_without(slot, uint64_t{slot} + 1);
  }
  client->gate.emplace(replication::RpcGate::Config{});
  turns_[turn_of(*client)].push_back(connection.slot);
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
  if (take_input(*client)) add(&closed_inputs_, client->inputs->stats());
  std::erase(turns_[turn_of(*client)], connection.slot);
  if (interest_) interest_->left(connection);
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

bool AuthorityWorld::loaded(ConnectionHandle connection) const {
  const Client* client = client_of(connection);
  return client != nullptr && (client->looked || !interest_) && client->recipient->loaded();
}

replication::JoinCount AuthorityWorld::join_count(ConnectionHandle connection) const {
  const Client* client = client_of(connection);
  return client == nullptr ? replication::JoinCount{} : client->recipient->join_count();
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
  if (client->gate->take_token(now_ns)) {
    rpcs_.receive(now_ns, client->peer, static_cast<lattice_channel>(channel), body, false);
  } else {
    rpcs_.refuse_received(replication::RpcRefusal::kRateLimited);
  }
  return reliability::Verdict::kAccept;
}

reliability::Verdict AuthorityWorld::receive_inputs(Client& client, std::span<const uint8_t> body,
                                                    uint64_t now_ns) {
  if (!client.inputs) return reliability::Verdict::kProtocolError;
  const simulation::DecodedInputs decoded = simulation::decode_inputs(*schema_.input(), body, input_scratch_);
  if (decoded.refusal != simulation::InputRefusal::kNone) {
    input_refusals_.add(decoded.refusal);
    return reliability::Verdict::kProtocolError;
  }
  client.sent_inputs = true;
  take_input(client);
  client.inputs->receive(decoded, input_scratch_, fixed_tick_.position_at(current_tick_, now_ns));
  return reliability::Verdict::kAccept;
}

void AuthorityWorld::on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  if (tell_receipt(connection, receipt, acked)) return;
  if (Client* client = client_of(connection)) take_receipt(*client, receipt, acked);
}

int AuthorityWorld::get_input(uint64_t peer, void* out, size_t bytes) {
  const serialization::Layout* layout = schema_.input();
  if (layout == nullptr || bytes != layout->host_bytes(0)) return 0;
  if (peer == kAuthorityPeer && input_host_) {
    std::memcpy(out, input_host_->behaviours()[0], bytes);
    return 1;
  }
  Client* client = client_of_peer(peer);
  const std::optional<simulation::TakenInput> taken = client == nullptr ? std::nullopt : take_input(*client);
  if (!taken) {
    std::memset(out, 0, bytes);
    return 0;
  }
  layout->dequantize(taken->words, input_out_->behaviours());
  std::memcpy(out, input_out_->behaviours()[0], bytes);
  switch (taken->source) {
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
  Client* client = client_of_peer(peer);
  const std::optional<simulation::TakenInput> taken = client == nullptr ? std::nullopt : take_input(*client);
  if (!taken || taken->source == simulation::InputSource::kDefault) return false;
  *out = {taken->input_tick, taken->sight, client->inputs->lead_quarter_ticks(), taken->sight_clamped};
  return true;
}

// --- RPC

replication::RpcRefusal AuthorityWorld::check_rpc(const replication::RpcHeader& header, uint32_t slot,
                                                  const lattice_rpc_desc* rpc, uint64_t sender) const {
  const bool is_own = sender == kAuthorityPeer;  // it calls the host's own player, or that player calls it
  if (is_own && header.target != LATTICE_RPC_TO_SERVER) {
    return rpc == nullptr ? replication::RpcRefusal::kUnknownRpc : replication::RpcRefusal::kNone;
  }
  const Client* client = client_of_peer(sender);
  const bool has_object = is_own || (client != nullptr && has(*client, slot));
  return replication::RpcGate::check_from_client(header, rpc, table_.info(slot), sender, has_object);
}

bool AuthorityWorld::send_rpc(const Client& client, uint32_t slot, lattice_channel channel) {
  reliability::MessageFlags flags;
  flags.is_rpc = true;
  const auto sent =
      endpoint_->send(client.connection, static_cast<wire::Channel>(channel), flags, rpcs_.body());
  if (sent != reliability::SendResult::kOk) return false;
  if (replication::is_reliable_rpc(channel)) client.recipient->count_reliable_rpc(slot);
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
    if (!client || !is_callee(call, slot, client->peer) || !has(*client, slot)) continue;
    any = true;
    client->recipient->enter(slot, call.network_id);  // a placed object: its calls are counted from here on
    blocked = !send_rpc(*client, slot, call.channel) || blocked;
  }
  if (blocked) return OpResult::kWouldBlock;
  return any || call.target == LATTICE_RPC_TO_ALL ? OpResult::kOk : OpResult::kNotFound;
}

// --- Statistics

simulation::InputBufferStats AuthorityWorld::input_stats() const {
  simulation::InputBufferStats inputs = closed_inputs_;
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client && take_input(*client)) add(&inputs, client->inputs->stats());
  }
  return inputs;
}

void AuthorityWorld::add_stats(WorldStats* stats) const {
  const simulation::InputBufferStats inputs = input_stats();
  stats->connections = static_cast<uint32_t>(slot_of_peer_.size());
  stats->inputs_received = inputs.accepted + inputs.late;
  stats->inputs_used = inputs.fresh;
  stats->inputs_late = inputs.late;
  stats->inputs_repeated = inputs.repeated;
  stats->inputs_defaulted = inputs.defaulted;
  if (builder_) {
    stats->snapshots_sent = builder_->stats().snapshots;
    stats->snapshot_bytes_sent = builder_->stats().bytes;
  }
}

}  // namespace lattice::world
