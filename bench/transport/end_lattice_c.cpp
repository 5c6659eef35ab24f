// Lattice through its C interface as a contender: a world that is transport_only, with events as an array.
// What it costs more than the contender "lattice" is the cost of the interface.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "lattice/lattice.h"
#include "transport/end.h"
#include "transport/lattice_keys.h"

namespace bench {
namespace {

constexpr uint32_t kNoRateLimit = 100'000, kMostHalfOpen = 16384, kEventsAtOnce = 256;

class LatticeWorldEnd final : public End {
 public:
  ~LatticeWorldEnd() override { lattice_world_destroy(world_); }

  bool open(const lattice_world_config& config, lattice_role role) {
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    world_ = lattice_world_create(&config, &context);
    return world_ != nullptr;
  }
  /// flush() begins to connect: client number `index` of the server at `port`.
  void plan_connection(uint16_t port, uint32_t index) {
    lattice::crypto::PublicKey key;
    lattice_world_new_client_key(world_, key.data());
    server_ = "127.0.0.1:" + std::to_string(port);
    token_ = make_token(key, index);
  }

  bool receive(EndEvents& events) override {
    lattice_world_recv(world_);
    bool any = false;
    for (size_t n; (n = lattice_world_events(world_, taken_, kEventsAtOnce)) != 0; any = true) {
      for (size_t i = 0; i < n; ++i) tell(taken_[i], events);
    }
    return any;
  }
  bool send(uint32_t peer, Delivery delivery, std::span<const uint8_t> body) override {
    const auto channel = delivery == Delivery::kReliableOrdered ? LATTICE_CHANNEL_RELIABLE_ORDERED
                                                                : LATTICE_CHANNEL_UNRELIABLE;
    return lattice_send(peers_[peer], channel, body.data(), body.size()) == LATTICE_OK;
  }
  void flush() override {
    if (!token_.empty() &&
        lattice_connect(world_, server_.c_str(), token_.data(), token_.size()) != nullptr) {
      token_.clear();
    }
    lattice_world_send(world_);
  }
  void disconnect(uint32_t peer) override { lattice_disconnect(peers_[peer]); }
  void wait(uint64_t timeout_ns) override { lattice_world_wait(world_, timeout_ns); }
  uint16_t port() const override {
    char address[64];
    if (lattice_world_address(world_, address, sizeof address) != LATTICE_OK) return 0;
    return static_cast<uint16_t>(std::stoul(std::strrchr(address, ':') + 1));
  }
  bool has_back_pressure() const override { return true; }

 private:
  void tell(const lattice_event& event, EndEvents& events) {
    // The ids of clients begin with 2 and are given in turn, so that an id less 2 is dense.
    const auto peer = static_cast<uint32_t>(server_.empty() ? event.peer - 2 : 0);
    switch (event.kind) {
      case LATTICE_EVENT_CONNECTED:
        if (peers_.size() <= peer) peers_.resize(peer + 1);
        peers_[peer] = event.conn;
        return events.on_connected(peer);
      case LATTICE_EVENT_DISCONNECTED:
        return events.on_disconnected(peer);
      case LATTICE_EVENT_MESSAGE:
        return events.on_message(peer, {event.data, event.bytes});
      default:
        return;
    }
  }

  lattice_world* world_ = nullptr;
  std::vector<lattice_conn*> peers_;
  lattice_event taken_[kEventsAtOnce];
  std::string server_;  // empty: this is the server
  std::vector<uint8_t> token_;
};

lattice_world_config config_of(const char* address) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = address;
  config.transport_only = config.record_events = 1;
  return config;
}

std::unique_ptr<End> serve(uint32_t max_clients) {
  lattice_world_config config = config_of("127.0.0.1:0");
  config.max_connections = max_clients;
  config.connects_per_s_per_prefix = kNoRateLimit;
  config.max_half_open_per_prefix = kMostHalfOpen;
  const lattice::crypto::PublicKey issuer = token_issuer().public_key();
  config.issuer_public_keys = issuer.data();
  config.issuer_public_key_count = 1;
  const std::array<uint8_t, 64> identity = server_identity_bytes();
  config.server_identity = identity.data();
  auto end = std::make_unique<LatticeWorldEnd>();
  if (!end->open(config, LATTICE_ROLE_DEDICATED)) return nullptr;
  return end;
}

std::unique_ptr<End> connect(uint16_t port, uint32_t index) {
  auto end = std::make_unique<LatticeWorldEnd>();
  if (!end->open(config_of("127.0.0.1:0"), LATTICE_ROLE_CLIENT)) return nullptr;
  end->plan_connection(port, index);
  return end;
}

}  // namespace

const Contender kLatticeCContender = {"lattice-c", serve, connect};

}  // namespace bench
