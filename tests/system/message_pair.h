// A server and a client world that only send each other messages, through the public interface. The clock is
// virtual and the caller's; the network is the simulated one, or real loopback sockets.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lattice/lattice.h"

namespace lattice::test {

using Bytes = std::vector<uint8_t>;

/// Bytes that differ from place to place and from message to message.
inline Bytes pattern(size_t bytes, uint32_t seed) {
  Bytes out(bytes);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : out) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return out;
}

/// One world and a record of its callbacks.
struct Side {
  lattice_world* world = nullptr;
  lattice_conn* conn = nullptr;
  int connected = 0;
  int reason = -1;  ///< Of the end; -1: none yet.
  bool keep = true;
  uint64_t messages = 0;
  std::vector<std::pair<lattice_channel, Bytes>> received;
  std::map<uint32_t, std::vector<int>> receipts;

  void listen() {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* connection) {
      auto& self = *static_cast<Side*>(ctx);
      self.conn = connection;
      ++self.connected;
    };
    callbacks.on_disconnected = [](void* ctx, lattice_conn*, int why) {
      auto& self = *static_cast<Side*>(ctx);
      self.conn = nullptr;
      self.reason = why;
    };
    callbacks.on_message = [](void* ctx, lattice_conn*, lattice_channel channel, const void* data,
                              size_t bytes) {
      auto& self = *static_cast<Side*>(ctx);
      ++self.messages;
      if (!self.keep) return;
      const auto* begin = static_cast<const uint8_t*>(data);
      self.received.emplace_back(channel, Bytes(begin, begin + bytes));
    };
    callbacks.on_receipt = [](void* ctx, lattice_conn*, uint32_t receipt, int acked) {
      auto& self = *static_cast<Side*>(ctx);
      if (self.keep) self.receipts[receipt].push_back(acked);
    };
    ASSERT_EQ(lattice_set_callbacks(world, &callbacks, this), LATTICE_OK);
  }

  lattice_result send(lattice_channel channel, const Bytes& body) {
    return lattice_send(conn, channel, body.data(), body.size());
  }
};

struct MessagePairOptions {
  bool simulated = true;
  const char* server_address = "10.0.0.1:27015";
  const char* client_address = "10.0.0.2:1000";
  const char* client_connects_to =
      nullptr;  ///< "host:" of the server's port; null: the server's own address.
  uint64_t start_ns = 0;
  uint64_t network_seed = 7;
  uint32_t snapshot_budget_bytes = 0;
  uint32_t max_objects = 4096;
  lattice_role server_role = LATTICE_ROLE_DEDICATED;
  /// Changes the configuration of both worlds before they are made.
  std::function<void(lattice_world_config*)> adjust = nullptr;
};

class MessagePair {
 public:
  explicit MessagePair(MessagePairOptions o = {}) : options(o), now_ns(o.start_ns) {
    if (options.simulated) {
      net = lattice_netsim_create(options.network_seed);
      lattice_netsim_advance(net, now_ns);
    }
    EXPECT_EQ(lattice_issuer_generate(seed, issuer), LATTICE_OK);
    lattice_world_config config = base(options.server_address);
    config.issuer_public_keys = issuer;
    config.issuer_public_key_count = 1;
    lattice_role_context authority;
    lattice_role_context_init(&authority, options.server_role);
    server.world = lattice_world_create(&config, &authority);
    config = base(options.client_address);
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
    client.world = lattice_world_create(&config, &role);
    if (server.world == nullptr || client.world == nullptr) return;
    server.listen();
    client.listen();
  }
  ~MessagePair() {
    lattice_world_destroy(client.world);
    lattice_world_destroy(server.world);
    lattice_netsim_destroy(net);
  }
  MessagePair(const MessagePair&) = delete;
  MessagePair& operator=(const MessagePair&) = delete;

  void impair(double delay_ms, double loss_percent) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = delay_ms;
    impairment.loss_percent = loss_percent;
    EXPECT_EQ(lattice_netsim_set_impairment(net, &impairment), LATTICE_OK);
  }

  /// Starts connecting; true when the client took token and address.
  bool start() {
    lattice_token_request request;
    lattice_token_request_init(&request);
    EXPECT_EQ(lattice_world_public_key(server.world, request.server_public_key), LATTICE_OK);
    EXPECT_EQ(lattice_world_new_client_key(client.world, request.client_public_key), LATTICE_OK);
    request.issued_unix_s = kUnixSeconds;
    uint8_t token[LATTICE_TOKEN_MAX_BYTES];
    size_t bytes = 0;
    EXPECT_EQ(lattice_token_issue(seed, &request, token, sizeof token, &bytes), LATTICE_OK);
    char address[64];
    EXPECT_EQ(lattice_world_address(server.world, address, sizeof address), LATTICE_OK);
    std::string to = address;
    if (options.client_connects_to != nullptr) {
      to = options.client_connects_to + to.substr(to.rfind(':') + 1);
    }
    return lattice_connect(client.world, to.c_str(), token, bytes) != nullptr;
  }

  void pump(Side& side) {
    lattice_world_recv(side.world);
    lattice_world_send(side.world);
  }
  /// Time passes, then both pump once. Neither ticks.
  void step(uint64_t ns) {
    now_ns += ns;
    if (net != nullptr) lattice_netsim_advance(net, ns);
    pump(server);
    pump(client);
  }
  template <class Condition>
  bool run_until(uint64_t at_most_ms, Condition condition, uint64_t step_ns = 5'000'000) {
    for (uint64_t ns = 0; ns < at_most_ms * 1'000'000; ns += step_ns) {
      if (condition()) return true;
      step(step_ns);
    }
    return condition();
  }
  bool connect(uint64_t at_most_ms = 30'000) {
    return start() && run_until(at_most_ms, [this] { return server.connected > 0 && client.connected > 0; });
  }

  lattice_conn_stats client_stats() {
    lattice_conn_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(lattice_conn_get_stats(client.conn, &stats), LATTICE_OK);
    return stats;
  }

  static constexpr uint64_t kUnixSeconds = 1'800'000'000;

  MessagePairOptions options;
  uint64_t now_ns;
  lattice_netsim* net = nullptr;
  Side server;
  Side client;
  uint8_t seed[LATTICE_KEY_BYTES];
  uint8_t issuer[LATTICE_KEY_BYTES];

 private:
  lattice_world_config base(const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.bind_address = address;
    config.netsim = net;
    config.clock = [](void* ctx) { return static_cast<MessagePair*>(ctx)->now_ns; };
    config.clock_ctx = this;
    config.unix_seconds = [](void*) { return kUnixSeconds; };
    config.snapshot_budget_bytes = options.snapshot_budget_bytes;
    config.max_objects = options.max_objects;
    if (options.adjust) options.adjust(&config);
    return config;
  }
};

}  // namespace lattice::test
