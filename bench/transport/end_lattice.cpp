// Lattice as a contender: one Endpoint on one UDP socket, with all features on. The limits per address range
// are raised, because all clients of a load generator come from one range.
#include <algorithm>
#include <vector>

#include "platform/clock.h"
#include "reliability/endpoint/endpoint.h"
#include "thread_pool.h"
#include "transport/end.h"
#include "transport/end_lattice.h"
#include "transport/lattice_keys.h"
#include "transport/socket/udp_socket.h"

namespace bench {
namespace {

using namespace lattice;

constexpr uint32_t kNoRateLimit = 1'000'000;
constexpr uint32_t kNoClaimLimit = 65536;

/// A slot of the endpoint's table is the peer number.
class LatticeEnd final : public End, private reliability::EndpointHandler {
 public:
  ~LatticeEnd() override {
    endpoint_.reset();
    if (pool_ != nullptr) thread_pool_destroy(pool_);
  }
  /// `worker_count` threads, this one included, seal and open.
  bool open_with_threads(reliability::EndpointConfig config, uint32_t worker_count) {
    pool_ = thread_pool_create(worker_count);
    config.tasks = {&thread_pool_enqueue, &thread_pool_finish, pool_, worker_count};
    return pool_ != nullptr && open(std::move(config));
  }
  bool open(reliability::EndpointConfig config) {
    socket_ = socket::UdpSocket::open(platform::make_ipv4(127, 0, 0, 1, 0));
    if (!socket_) return false;
    handles_.resize(config.max_connections);
    endpoint_ = reliability::Endpoint::create(std::move(config), *socket_, *this, entropy_, nullptr);
    return endpoint_ != nullptr;
  }

  /// `count` clients, numbered from `first`; flush() connects one after the other, since one socket may have
  /// one handshake with one server in progress.
  void plan_connections(uint16_t port, uint32_t first, uint32_t count) {
    server_ = base::ipv4_path(127, 0, 0, 1, port);
    for (uint32_t i = count; i-- > 0;) {
      crypto::KeyPair client = crypto::KeyPair::generate(entropy_);
      std::vector<uint8_t> token = make_token(client.public_key(), first + i);
      planned_.push_back({std::move(client), std::move(token)});
    }
  }

  bool receive(EndEvents& events) override {
    events_ = &events;
    const uint64_t before = socket_->stats().datagrams_received;
    endpoint_->receive(platform::monotonic_ns(), platform::unix_seconds());
    return socket_->stats().datagrams_received != before;
  }

  bool send(uint32_t peer, Delivery delivery, std::span<const uint8_t> body) override {
    const auto channel = delivery == Delivery::kReliableOrdered ? reliability::Channel::kReliableOrdered
                                                                : reliability::Channel::kUnreliable;
    return endpoint_->send(handles_[peer], channel, {}, body) == reliability::SendResult::kOk;
  }

  void flush() override {
    if (!planned_.empty()) {
      const Planned& next = planned_.back();
      reliability::ConnectionHandle pending;
      if (endpoint_->connect(server_, next.token, next.client, &pending) == reliability::ConnectResult::kOk) {
        planned_.pop_back();
      }
    }
    endpoint_->update_and_send(platform::monotonic_ns(), platform::unix_seconds());
  }

  void disconnect(uint32_t peer) override {
    endpoint_->disconnect(handles_[peer], connection::DisconnectReason::kRequested);
  }
  void wait(uint64_t timeout_ns) override { socket_->wait_readable(timeout_ns); }
  uint16_t port() const override { return socket_->local_path().number; }
  bool has_back_pressure() const override { return true; }

 private:
  struct Planned {
    crypto::KeyPair client;
    std::vector<uint8_t> token;
  };

  connection::Admission on_admission(const connection::AdmissionRequest&) override {
    connection::Admission admission;
    admission.peer_id = ++admitted_;
    return admission;
  }
  void on_connected(reliability::ConnectionHandle connection, const reliability::ConnectedInfo&) override {
    handles_[connection.slot] = connection;
    if (events_ != nullptr) events_->on_connected(connection.slot);
  }
  void on_disconnected(reliability::ConnectionHandle connection, connection::DisconnectReason, uint64_t,
                       std::string_view) override {
    if (events_ != nullptr) events_->on_disconnected(connection.slot);
  }
  reliability::Verdict on_message(reliability::ConnectionHandle connection, reliability::Channel,
                                  reliability::MessageFlags, std::span<const uint8_t> body,
                                  uint64_t) override {
    events_->on_message(connection.slot, body);
    return reliability::Verdict::kAccept;
  }
  void on_receipt(reliability::ConnectionHandle, uint32_t, bool) override {}

  thread_pool* pool_ = nullptr;
  std::unique_ptr<socket::UdpSocket> socket_;
  crypto::SystemEntropy entropy_;
  std::unique_ptr<reliability::Endpoint> endpoint_;
  std::vector<reliability::ConnectionHandle> handles_;
  EndEvents* events_ = nullptr;
  uint64_t admitted_ = 0;
  base::PathId server_;
  std::vector<Planned> planned_;  // The next one last.
};

reliability::EndpointConfig server_config(uint32_t max_clients) {
  reliability::EndpointConfig config;
  config.max_connections = max_clients;
  config.accepts_connections = true;
  config.identity = server_identity();
  config.issuers = {token_issuer().public_key()};
  config.max_claims = kNoClaimLimit;
  config.max_half_open = config.max_half_open_per_prefix = max_clients;
  config.requests_per_s = config.responses_per_s = config.verified_per_s = kNoRateLimit;
  return config;
}

std::unique_ptr<End> serve(uint32_t max_clients) {
  auto end = std::make_unique<LatticeEnd>();
  if (!end->open(server_config(max_clients))) return nullptr;
  return end;
}

std::unique_ptr<End> serve_with_two_threads(uint32_t max_clients) {
  auto end = std::make_unique<LatticeEnd>();
  if (!end->open_with_threads(server_config(max_clients), 2)) return nullptr;
  return end;
}

std::unique_ptr<End> connect(uint16_t port, uint32_t index) {
  return connect_lattice_crowd(port, index, 1);
}

}  // namespace

std::unique_ptr<End> connect_lattice_crowd(uint16_t port, uint32_t first, uint32_t count) {
  reliability::EndpointConfig config;
  config.max_connections = count;
  config.jitter_seed = first;
  auto end = std::make_unique<LatticeEnd>();
  if (!end->open(std::move(config))) return nullptr;
  end->plan_connections(port, first, count);
  return end;
}

const Contender kLatticeContender = {"lattice", serve, connect};
const Contender kLatticeTwoThreadsContender = {"lattice-two-threads", serve_with_two_threads, connect};

}  // namespace bench
