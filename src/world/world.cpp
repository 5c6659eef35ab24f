// See world.h.
#include "world/world.h"

#include <cstring>

#include <algorithm>

#include "base/assert.h"
#include "transport/crypto/repeatable_entropy.h"
#include "transport/wire/control_body.h"

namespace lattice::world {
namespace {

/// When a removal was lost, a client briefly holds its object beside the object that took its place.
uint32_t table_size(const WorldConfig& config) {
  const bool client = config.role.role == LATTICE_ROLE_CLIENT;
  return client ? 2 * config.max_objects : config.max_objects;
}

/// A client learns who it is when it has a session.
uint64_t first_peer(const WorldConfig& config) {
  return config.role.role == LATTICE_ROLE_CLIENT ? 0 : kAuthorityPeer;
}

/// A slot serves another object when a client that lost packets may read what was sent about the first
/// (D-42).
constexpr uint32_t kRestingSlots = 4096;

std::unique_ptr<crypto::EntropySource> make_entropy(const WorldConfig& config) {
  if (!config.repeatable_entropy) return std::make_unique<crypto::SystemEntropy>();
  return std::make_unique<crypto::RepeatableEntropy>(*config.repeatable_entropy);
}

connection::ServerIdentity make_identity(const WorldConfig& config, crypto::EntropySource& entropy) {
  using connection::ServerIdentity;
  if (config.server_identity == nullptr) return ServerIdentity::generate(entropy);
  return ServerIdentity::from_bytes(std::span<const uint8_t, connection::kServerIdentityBytes>(
      config.server_identity, connection::kServerIdentityBytes));
}

}  // namespace

/// Sets the phase for one call of the pump.
class World::PhaseScope {
 public:
  PhaseScope(World& world, Phase phase) : world_(world) { world_.phase_ = phase; }
  ~PhaseScope() { world_.phase_ = Phase::kIdle; }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  World& world_;
};

World::World(const WorldConfig& config, std::unique_ptr<socket::DatagramSocket> socket, Observer& observer)
    : config_(config),
      observer_(observer),
      entropy_(make_entropy(config)),
      identity_(make_identity(config, *entropy_)),
      socket_(std::move(socket)),
      table_(table_size(config), config.role.role == LATTICE_ROLE_CLIENT ? 0 : kRestingSlots,
             first_peer(config)),
      fixed_tick_(config.tick_rate_hz),
      rpcs_(*this, observer),
      keeps_identity_(config.server_identity != nullptr) {
  config_.server_identity = nullptr;  // the caller's memory, which must not be read after the constructor
  if (config.transfer_channel == 0) return;
  schema_.set_transfer_channel(config.transfer_channel);
  transfers_ = std::make_unique<TransferHub>(config, observer.transfer_handler());
}

World::~World() = default;

void World::fix_schema() {
  if (endpoint_) return;
  schema_.fix(config_.quantize_simulation);
  placed_.put_in_order();
  if (const serialization::Layout* input = schema_.input(); input != nullptr && has_player()) {
    input_host_ = std::make_unique<HostScratch>(*input);
  }
  rpcs_.prepare(schema_, reliability::kMaxSnapshotBody);
  reliability::EndpointConfig config = endpoint_config();
  config.schema_id = schema_.id();
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
  if (transfers_) transfers_->bind(endpoint_->endpoint());
  if (capture_ != nullptr) endpoint_->set_capture(capture_);
  if (timeout_paused_) endpoint_->endpoint().set_timeout_paused(true, 0);
  on_schema_fixed();
}

bool World::set_capture(reliability::CaptureObserver* observer) {
  if (!crypto::kHasAeadTap) return false;
  capture_ = observer;
  if (endpoint_) endpoint_->set_capture(observer);
  return true;
}

// --- The pump

bool World::receive(Now now) {
  if (phase_ != Phase::kIdle) return false;
  fix_schema();
  {
    PhaseScope scope(*this, Phase::kReceive);
    do_receive(now);
  }
  after_phase(now);
  return true;
}

bool World::tick(Tick tick, Now now) {
  if (phase_ != Phase::kIdle) return false;
  fix_schema();
  if (tick == 0 || tick != next_tick()) return false;
  {
    PhaseScope scope(*this, Phase::kTick);
    do_tick(tick, now);
  }
  after_phase(now);
  return true;
}

bool World::send(Now now) {
  if (phase_ != Phase::kIdle) return false;
  fix_schema();
  {
    PhaseScope scope(*this, Phase::kSend);
    if (transfers_) transfers_->transfers().update();
    do_send(now);
  }
  after_phase(now);
  return true;
}

void World::after_phase(Now) {
  // By index: to end a connection calls the game, whose callback may end more connections.
  for (size_t i = 0; i < pending_disconnects_.size(); ++i) {
    const PendingDisconnect pending = pending_disconnects_[i];
    endpoint_->disconnect(pending.connection, pending.reason, pending.text);
  }
  pending_disconnects_.clear();
}

uint64_t World::time_to_tick_ns(Now now) const {
  const double rest = 1.0 - fixed_tick_.alpha_at(now.ns);
  return rest <= 0.0 ? 0 : static_cast<uint64_t>(rest * fixed_tick_.tick_ns());
}

void World::disconnect(ConnectionHandle connection, connection::DisconnectReason reason,
                       std::string_view text, Now) {
  if (!endpoint_) return;
  if (phase_ == Phase::kIdle) {
    endpoint_->disconnect(connection, reason, text);
  } else {
    pending_disconnects_.push_back({connection, reason, std::string(text)});
  }
}

void World::set_timeout_paused(bool paused, Now now) {
  timeout_paused_ = paused;
  if (endpoint_) endpoint_->endpoint().set_timeout_paused(paused, now.ns);
}

reliability::SendResult World::send_message(ConnectionHandle connection, wire::Channel channel,
                                            std::span<const uint8_t> body, uint32_t* receipt) {
  if (!endpoint_) return reliability::SendResult::kNotConnected;
  if (receipt == nullptr) return endpoint_->send(connection, channel, {}, body);
  const uint32_t number = last_receipt_ % (kApplicationReceiptBit - 1) + 1;
  const auto sent = endpoint_->send(connection, channel, {}, body, kApplicationReceiptBit | number);
  if (sent == reliability::SendResult::kOk) *receipt = last_receipt_ = number;
  return sent;
}

bool World::tell_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  if ((receipt & kApplicationReceiptBit) == 0) return false;
  observer_.on_receipt(connection, receipt & ~kApplicationReceiptBit, acked);
  return true;
}

std::optional<reliability::Verdict> World::engine_message(ConnectionHandle connection, wire::Channel channel,
                                                          std::span<const uint8_t> body) {
  if (transfers_) {
    if (const auto verdict = transfers_->on_message(connection, channel, body)) return verdict;
  }
  if (channel != wire::Channel::kControl) return std::nullopt;
  // Transfers need a bulk channel (spec B-2). The other types have no meaning in 1.0.
  return wire::is_transfer_control_type(body[0]) ? reliability::Verdict::kProtocolError
                                                 : reliability::Verdict::kAccept;
}

void World::end_transfers(ConnectionHandle connection) {
  if (transfers_) transfers_->transfers().on_disconnected(connection);
}

// --- Placed objects

World::PlaceResult World::place(uint64_t key, uint32_t type_id, const void* const* states) {
  if (!may_place()) return PlaceResult::kOutOfOrder;
  if (schema_.find(type_id) == nullptr) return PlaceResult::kUnknownType;
  if (placed_.size() == config_.max_objects) return PlaceResult::kFull;
  schema_.fix(config_.quantize_simulation);
  switch (placed_.add(key, *schema_.types().find(type_id), states)) {
    case PlacedSet::Result::kOk:
      break;
    case PlacedSet::Result::kDuplicate:
      return PlaceResult::kDuplicate;
    case PlacedSet::Result::kDoesNotFit:
      return PlaceResult::kDoesNotFit;
  }
  return PlaceResult::kOk;
}

bool World::clear_placed() {
  if (!may_place()) return false;
  placed_.clear();
  return true;
}

// --- Objects

void* World::object_state(uint64_t network_id, uint32_t behaviour) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return nullptr;
  if (behaviour >= table_.info(slot).type->layout->behaviour_count()) return nullptr;
  announce_write(slot);
  return host_for_game(slot)[behaviour];
}

const void* World::read_state(uint64_t network_id, uint32_t behaviour) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return nullptr;
  if (behaviour >= table_.info(slot).type->layout->behaviour_count()) return nullptr;
  return host_for_game(slot)[behaviour];
}

void World::begin_frame(Now now) {
  frame_ = now;
  if (!frame_log_.collects()) {
    frame_log_.start();
    for (const uint32_t slot : table_.ascending()) {
      const bool is_new = is_known(slot) && !placed_.has(table_.network_id(slot));
      if (is_new) frame_log_.spawned(slot, table_.info(slot));
    }
  }
  frame_log_.begin(current_tick_, look(now));
}

const serialization::TypeInfo* World::type_of(uint64_t network_id, uint32_t* slot) const {
  *slot = table_.find(network_id);
  return *slot == replication::kNoSlot ? nullptr : &schema_.info(*table_.info(*slot).type);
}

OpResult World::set_prop(uint64_t network_id, uint16_t prop_id, const void* data, size_t bytes) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return OpResult::kNotFound;
  const serialization::LayoutNode* member = table_.info(slot).type->layout->member(prop_id);
  if (member == nullptr || member->host_bytes != bytes) return OpResult::kInvalid;
  if (!writable(slot)) return OpResult::kNotAllowed;
  announce_write(slot);
  auto* host = static_cast<std::byte*>(host_for_game(slot)[member->behaviour]);
  std::memcpy(host + member->host_offset, data, bytes);
  return OpResult::kOk;
}

size_t World::get_prop(uint64_t network_id, uint16_t prop_id, void* out, size_t capacity) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return 0;
  const serialization::LayoutNode* member = table_.info(slot).type->layout->member(prop_id);
  if (member == nullptr || member->host_bytes > capacity) return 0;
  const auto* host = static_cast<const std::byte*>(host_for_game(slot)[member->behaviour]);
  std::memcpy(out, host + member->host_offset, member->host_bytes);
  return member->host_bytes;
}

size_t World::read_confirmed(uint32_t slot, uint32_t behaviour, void* out, size_t capacity,
                             Tick* tick) const {
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  if (behaviour >= layout.behaviour_count() || layout.host_bytes(behaviour) > capacity) return 0;
  Tick at = 0;
  const serialization::Word* words = confirmed(slot, &at);
  if (words == nullptr) return 0;
  const HostScratch& host = scratch_for(*table_.info(slot).type);
  layout.dequantize(words, host.writable());
  std::memcpy(out, host.behaviours()[behaviour], layout.host_bytes(behaviour));
  if (tick != nullptr) *tick = at;
  return layout.host_bytes(behaviour);
}

const HostScratch& World::scratch_for(const replication::ObjectType& type) const {
  for (const TypeScratch& scratch : type_scratch_) {
    if (scratch.type == &type) return *scratch.host;
  }
  type_scratch_.push_back({&type, std::make_unique<HostScratch>(*type.layout)});
  return *type_scratch_.back().host;
}

uint64_t World::state_hash() const {
  uint64_t hash = 0xCBF29CE484222325u;
  const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001B3u; };
  for (const uint32_t slot : table_.ascending()) {
    Tick tick = 0;
    const serialization::Word* words = confirmed(slot, &tick);
    if (words == nullptr) continue;
    const replication::ObjectInfo& info = table_.info(slot);
    mix(info.network_id);
    mix(info.type->type_id);
    mix(info.owner);
    mix(info.type->layout->state_hash(words));
  }
  return hash;
}

OpResult World::set_input(const void* input, size_t bytes) {
  if (!has_player()) return OpResult::kNotAllowed;
  fix_schema();
  if (!input_host_ || bytes != schema_.input()->host_bytes(0)) return OpResult::kInvalid;
  std::memcpy(input_host_->behaviours()[0], input, bytes);
  return OpResult::kOk;
}

// --- Statistics

WorldStats World::stats() const {
  WorldStats stats;
  stats.tick = current_tick_;
  stats.objects = table_.size();
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
    stats.handshakes_refused = link.refusals.get(reliability::Refusal::kHandshakeRefused);
  }
  add_stats(&stats);
  return stats;
}

const reliability::ConnectionStats* World::connection_stats(ConnectionHandle connection) const {
  return endpoint_ ? endpoint_->stats(connection) : nullptr;
}

platform::Address World::remote_address(ConnectionHandle connection) const {
  return endpoint_ ? endpoint_->endpoint().remote_address(connection) : platform::Address{};
}

}  // namespace lattice::world
