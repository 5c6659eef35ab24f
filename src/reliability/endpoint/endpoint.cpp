#include "reliability/endpoint/endpoint.h"

#include <algorithm>

#include "base/assert.h"
#include "reliability/channel/send_memory.h"
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {
namespace {

// Most carried items of all connections together; 12 bytes each.
constexpr size_t kMaxCarriedItems = size_t{1} << 22;
constexpr size_t kReservedItemsPerConnection = 64;
constexpr uint64_t kReservedBlocksPerConnection = 4;

// A server that takes many clients a second may spend more at once: what comes in a 32nd of a second.
constexpr uint32_t kVerifyingPumpsPerS = 32;

connection::ServerHandshakeConfig server_config(const EndpointConfig& config, uint32_t features) {
  connection::ServerHandshakeConfig out;
  out.protocol_id = config.protocol_id;
  out.schema_id = config.schema_id;
  out.schema_text = config.schema_text;
  out.features = features;
  out.mtu_hint_bytes = static_cast<uint16_t>(config.max_datagram_bytes);
  out.tick_rate_hz = config.tick_rate_hz;
  out.max_objects = config.max_objects;
  out.placed = config.placed;
  out.started_unix_s = config.started_unix_s;
  out.max_claims = config.max_claims;
  out.max_half_open = config.max_half_open;
  out.max_half_open_per_prefix = config.max_half_open_per_prefix;
  out.requests_per_s = config.requests_per_s;
  out.request_burst = config.requests_per_s * 2;
  out.responses_per_s = config.responses_per_s;
  out.response_burst = config.responses_per_s * 2;
  out.verified_per_s = config.verified_per_s;
  out.verified_burst = std::max(out.verified_burst, config.verified_per_s / kVerifyingPumpsPerS);
  out.hashed_per_s = config.hashed_per_s;
  out.hashed_burst = std::max(1u, config.hashed_per_s / 20);
  out.half_open_ns = config.timers.half_open_ns;
  return out;
}

// A share of the reserve for each size of buffer that a connection uses (bodies of every size, rings,
// snapshot parts, histories), and at least one of each. So the first late message of a session allocates
// nothing.
void reserve_pool(base::BufferPool& pool, const EndpointConfig& config) {
  constexpr std::array<size_t, 7> kBufferBytes = {64, 128, 256, 512, 1024, 1536, 4096};
  const uint64_t total = config.pool_reserve_bytes_per_connection * config.max_connections;
  for (const size_t bytes : kBufferBytes) {
    pool.reserve(bytes, std::max<uint64_t>(1, total / kBufferBytes.size() / bytes));
  }
}

// One share for each reliable channel of each connection, and one for all of its unreliable channels.
uint64_t receive_share_count(const EndpointConfig& config) {
  uint64_t each = 1;
  for (uint8_t i = 0; i < wire::kChannelCount; ++i) {
    if (wire::is_reliable(config.channels.mode(i))) ++each;
  }
  return each * config.max_connections;
}

/// A server visits all of its clients every tick, which large pages make faster. With few clients large pages
/// would be mostly empty.
base::PageSize pages_of(const EndpointConfig& config) {
  constexpr uint32_t kManyConnections = 256;
  const bool many = config.accepts_connections && config.max_connections >= kManyConnections;
  return many ? base::PageSize::kLarge : base::PageSize::kSmall;
}

}  // namespace

Endpoint::Core::Core(EndpointConfig config, socket::DatagramSocket& s, EndpointHandler& handler,
                     crypto::EntropySource& entropy)
    : context{.config = std::move(config),
              .socket = s,
              .handler = handler,
              .entropy = entropy,
              .pool = pool,
              .receive_memory = receive_memory,
              .items = items,
              .batch = batch,
              .schedule = schedule,
              .totals = stats,
              .framed_messages = framed_messages},
      socket(s),
      pool(send_pool_bytes(context.config.max_connections, context.config.send_growth_bytes),
           pages_of(context.config)),
      receive_memory(receive_share_count(context.config),
                     context.config.receive_growth_bytes / ReceiveMemory::kBlockBytes,
                     kReservedBlocksPerConnection * context.config.max_connections, base::PageSize::kSmall),
      items(std::min(kReservedItemsPerConnection * context.config.max_connections, kMaxCarriedItems),
            kMaxCarriedItems),
      batch(s, capture, context.config.tasks),
      schedule(context.config.max_connections),
      table(context.config.max_connections),
      connection_memory(context.config.max_connections * sizeof(Connection), pages_of(context.config)),
      connections(context.config.max_connections),
      receive_datagrams(context.config.tasks.enabled() ? DatagramBatch::kDatagramsWithTasks
                                                       : DatagramBatch::kDatagrams) {
  LATTICE_CHECK(connection_memory.data() != nullptr);
  EndpointConfig& own = context.config;
  receive_buffers =
      std::make_unique_for_overwrite<uint8_t[]>(receive_datagrams.size() * socket::kMaxDatagramBytes);
  if (own.tasks.enabled()) opening = std::make_unique<OpenAhead>(receive_datagrams.size());
  for (size_t i = 0; i < receive_datagrams.size(); ++i) {
    receive_datagrams[i].data = receive_buffers.get() + i * socket::kMaxDatagramBytes;
  }
  reserve_pool(pool, own);
  if (own.accepts_connections) {
    server.emplace(server_config(own, offered_features(own)), std::move(own.identity), own.issuers, entropy,
                   *this, &socket);
    if (!own.reset_key) entropy.fill(own.reset_key.emplace().mutable_bytes());
    resets.emplace(*own.reset_key, own.reset_limits, entropy, &socket);
    own.reset_key.reset();
    context.server = &*server;
    context.resets = &*resets;
  }
}

Endpoint::Core::~Core() = default;

Endpoint::Endpoint(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Endpoint::~Endpoint() = default;

std::unique_ptr<Endpoint> Endpoint::create(EndpointConfig config, socket::DatagramSocket& socket,
                                           EndpointHandler& handler, crypto::EntropySource& entropy,
                                           const char** error) {
  const char* refused = endpoint_config_error(config);
  if (error != nullptr) *error = refused;
  if (refused != nullptr) return nullptr;
  return std::unique_ptr<Endpoint>(
      new Endpoint(std::make_unique<Core>(std::move(config), socket, handler, entropy)));
}

template <class Work>
void Endpoint::Core::run_phase(uint64_t now_ns, uint64_t unix_s, Work work) {
  LATTICE_CHECK(!in_phase);
  context.clock.enter(now_ns, unix_s);
  in_phase = true;
  capture.enter();
  work();
  capture.leave();
  in_phase = false;
}

void Endpoint::receive(uint64_t now_ns, uint64_t unix_s) {
  core_->run_phase(now_ns, unix_s, [this] { core_->receive(); });
}

bool Endpoint::set_channel(ConnectionHandle handle, Channel channel, const ChannelSettings& settings) {
  Connection* connection = core_->find(handle);
  const auto number = static_cast<uint8_t>(channel);
  const bool carries = number < wire::kChannelCount && channel != Channel::kControl &&
                       core_->context.config.channels.mode(number) <= ChannelMode::kReliableOrdered;
  if (connection == nullptr || !carries) return false;
  connection->set_channel(number, settings);
  return true;
}

uint64_t Endpoint::next_update_ns() const {
  if (!core_->context.clock.has_updated() || core_->schedule.is_woken()) return 0;
  constexpr uint64_t kRetryNs = 1'000'000;
  const uint64_t retry_ns = core_->context.clock.last_update_ns() + kRetryNs;
  if (core_->schedule.has_ending() || (core_->server && core_->server->has_waiting())) return retry_ns;
  constexpr uint64_t kServerUpdateNs = 1'000'000'000;
  const uint64_t server_ns =
      core_->server ? core_->last_server_update_ns + kServerUpdateNs : ServiceSchedule::kNever;
  const uint64_t service_ns = core_->schedule.earliest_ns();
  return std::min(service_ns == 0 ? retry_ns : service_ns, server_ns);
}

void Endpoint::begin_update(uint64_t now_ns, uint64_t unix_s) {
  core_->run_phase(now_ns, unix_s, [this] { core_->begin_update(); });
}

void Endpoint::send_now(ConnectionHandle handle) {
  LATTICE_CHECK(core_->update_begun);
  Connection* connection = core_->find(handle);
  if (connection == nullptr) return;
  const EndpointClock& clock = core_->context.clock;
  core_->run_phase(clock.now_ns(), clock.unix_s(), [this, connection] { core_->service_now(*connection); });
}

void Endpoint::prefetch(ConnectionHandle handle) const {
  const Connection* connection = core_->in_slot(handle);
  if (connection != nullptr) connection->prefetch_members(core_->context.config.congestion);
}

void Endpoint::prefetch_for_send(ConnectionHandle handle) const {
  if (const Connection* connection = core_->in_slot(handle)) connection->prefetch_for_send();
}

bool Endpoint::has_reliable_waiting(ConnectionHandle handle) const {
  const Connection* connection = core_->find(handle);
  return connection != nullptr && connection->has_reliable_waiting();
}

void Endpoint::update_and_send(uint64_t now_ns, uint64_t unix_s) {
  core_->run_phase(now_ns, unix_s, [this] { core_->update_and_send(); });
}

bool Endpoint::set_capture(CaptureObserver* observer) {
  return core_->capture.set_observer(observer);
}

void Endpoint::set_timeout_paused(bool paused, uint64_t now_ns) {
  core_->set_timeout_paused(paused, now_ns);
}

void Endpoint::set_issuers(std::span<const crypto::PublicKey> issuers) {
  core_->server->set_issuers(issuers);
}

void Endpoint::disconnect_all(connection::DisconnectReason reason, std::string_view text) {
  for (const auto& connection : core_->connections) {
    if (connection && !connection->is_half_open()) connection->disconnect(reason, text);
  }
}

void Endpoint::set_closing(bool is_closing) {
  core_->is_closing = is_closing;
}

void Endpoint::set_placed(const wire::PlacedSummary& placed) {
  core_->context.config.placed = placed;
}

ConnectResult Endpoint::connect(const base::PathId& server, std::span<const uint8_t> token,
                                const crypto::KeyPair& client, ConnectionHandle* out) {
  return core_->connect(server, token, client, out);
}

void Endpoint::disconnect(ConnectionHandle handle, connection::DisconnectReason reason,
                          std::string_view text) {
  if (Connection* connection = core_->find(handle)) connection->disconnect(reason, text);
}

SendResult Endpoint::send(ConnectionHandle handle, Channel channel, MessageFlags flags,
                          std::span<const uint8_t> body, uint32_t receipt) {
  Connection* connection = core_->find(handle);
  return connection == nullptr ? SendResult::kNotConnected
                               : connection->send(static_cast<uint8_t>(channel), flags, body, receipt);
}

void Endpoint::wake(ConnectionHandle handle) {
  if (const Connection* connection = core_->find(handle)) connection->wake();
}

uint64_t Endpoint::send_budget_bytes(ConnectionHandle handle, uint64_t now_ns, uint64_t during_ns) {
  Connection* connection = core_->find(handle);
  return connection == nullptr ? 0 : connection->send_budget_bytes(now_ns, during_ns);
}

void Endpoint::drop_waiting_snapshot(ConnectionHandle handle) {
  if (Connection* connection = core_->find(handle)) connection->drop_waiting_snapshot();
}

SendResult Endpoint::send_fragments(ConnectionHandle handle, Channel channel, MessageFlags flags,
                                    uint16_t group, size_t unit_bytes, std::span<const uint8_t> body,
                                    uint32_t receipt) {
  Connection* connection = core_->find(handle);
  return connection == nullptr ? SendResult::kNotConnected
                               : connection->send_fragments(static_cast<uint8_t>(channel), flags, group,
                                                            unit_bytes, body, receipt);
}

void Endpoint::count_refusal(ConnectionHandle handle, Refusal refusal, uint64_t how_often) {
  if (Connection* connection = core_->find(handle)) {
    connection->count(refusal, how_often);
  } else {
    core_->count(refusal, how_often);
  }
}

void Endpoint::refuse(ConnectionHandle handle, Refusal refusal, connection::DisconnectReason reason) {
  Connection* connection = core_->find(handle);
  count_refusal(handle, refusal);
  if (connection != nullptr) connection->disconnect(reason, refusal_name(refusal));
}

std::optional<base::Sequence16> Endpoint::newest_sequence(ConnectionHandle handle, Channel channel) const {
  const Connection* connection = core_->find(handle);
  if (connection == nullptr) return std::nullopt;
  return connection->newest_sequence(static_cast<uint8_t>(channel));
}

ReceiveMemory& Endpoint::receive_memory() {
  return core_->receive_memory;
}
const ReceiveMemory& Endpoint::receive_memory() const {
  return core_->receive_memory;
}

const ConnectionStats* Endpoint::stats(ConnectionHandle handle) const {
  Connection* connection = core_->find(handle);
  return connection == nullptr ? nullptr : &connection->stats();
}

const EndpointStats& Endpoint::stats() const {
  core_->stats.handshake_datagrams_sent = core_->batch.emitted_count();
  return core_->stats;
}

base::PathId Endpoint::remote_path(ConnectionHandle handle) const {
  const Connection* connection = core_->find(handle);
  return connection == nullptr ? base::PathId{} : connection->address();
}

connection::State Endpoint::state(ConnectionHandle handle) const {
  const Connection* connection = core_->find(handle);
  return connection == nullptr ? connection::State::kDisconnected : connection->state();
}

void Endpoint::set_server_tick(uint32_t tick) {
  core_->context.server_tick = tick;
}
uint32_t Endpoint::connection_count() const {
  return core_->table.size();
}
const connection::ServerHandshake* Endpoint::server_handshake() const {
  return core_->server ? &*core_->server : nullptr;
}
const base::BufferPoolStats& Endpoint::pool_stats() const {
  return core_->pool.stats();
}

}  // namespace lattice::reliability
