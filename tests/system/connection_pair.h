// A server and a client on one simulated network, through the public interface, with a record of their
// callbacks.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "lattice/lattice.h"

namespace lattice::test {

inline constexpr uint64_t kUnix = 1'800'000'000;
/// How much the clock of every world is ahead of kUnix. A test that changes it sets it back.
inline uint64_t unix_ahead_s = 0;
inline uint64_t unix_seconds(void*) {
  return kUnix + unix_ahead_s;
}

struct Events {
  int connected = 0;
  int disconnected = 0;
  int reason = 0;
  uint64_t remote_schema = 0;
  std::vector<std::string> schema_differences;
  std::string error;  // lattice_last_error() when on_disconnected began
  lattice_result result = LATTICE_OK;
  std::string text;
  int messages = 0;
  lattice_conn* newest = nullptr;  // of the last on_connected
};

inline void install(lattice_world* world, Events* events) {
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = [](void* ctx, lattice_conn* conn) {
    ++static_cast<Events*>(ctx)->connected;
    static_cast<Events*>(ctx)->newest = conn;
  };
  callbacks.on_disconnected = [](void* ctx, lattice_conn* conn, int reason) {
    auto* e = static_cast<Events*>(ctx);
    e->error = lattice_last_error();
    e->result = lattice_last_result();
    ++e->disconnected;
    e->reason = reason;
    lattice_conn_info info{};
    info.struct_size = sizeof info;
    if (lattice_conn_get_info(conn, &info) != LATTICE_OK) return;
    e->remote_schema = info.remote_schema_id;
    e->text = info.disconnect_text;
    const char* difference;
    for (uint32_t i = 0; (difference = lattice_conn_schema_difference(conn, i)) != nullptr; ++i) {
      e->schema_differences.emplace_back(difference);
    }
  };
  callbacks.on_message = [](void* ctx, lattice_conn*, lattice_channel, const void*, size_t) {
    ++static_cast<Events*>(ctx)->messages;
  };
  lattice_set_callbacks(world, &callbacks, events);
}

struct Pair {
  lattice_netsim* net = nullptr;
  lattice_world* server = nullptr;
  lattice_world* client = nullptr;
  Events server_events;
  Events client_events;
  uint8_t seed[32];
  uint8_t issuer[32];
  uint8_t server_key[32];
  uint8_t player[16] = {};  // that tokens name

  explicit Pair(double delay_ms = 50, uint32_t max_connections = 8, uint64_t seed_of_network = 7) {
    net = lattice_netsim_create(seed_of_network);
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = delay_ms;
    EXPECT_EQ(lattice_netsim_set_impairment(net, &impairment), LATTICE_OK);
    EXPECT_EQ(lattice_issuer_generate(seed, issuer), LATTICE_OK);
    lattice_world_config config = server_config();
    config.max_connections = max_connections;
    start_server(config);
    client = make_client("10.0.0.2:1000", &client_events);
  }
  ~Pair() {
    lattice_world_destroy(client);
    lattice_world_destroy(server);
    lattice_netsim_destroy(net);
  }
  lattice_world_config server_config() {
    lattice_world_config config = base("10.0.0.1:27015");
    config.issuer_public_keys = issuer;
    config.issuer_public_key_count = 1;
    return config;
  }
  void start_server(const lattice_world_config& config) {
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
    server = lattice_world_create(&config, &role);
    EXPECT_NE(server, nullptr) << lattice_last_error();
    install(server, &server_events);
    EXPECT_EQ(lattice_world_public_key(server, server_key), LATTICE_OK);
  }
  /// The server process ends without a Disconnect, and a new process takes its address.
  void restart_server(const uint8_t* identity) {
    lattice_world_destroy(server);
    lattice_world_config config = server_config();
    config.server_identity = identity;
    start_server(config);
  }
  lattice_world_config base(const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.bind_address = address;
    config.netsim = net;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = net;
    config.unix_seconds = unix_seconds;
    return config;
  }
  lattice_world* make_client(const char* address, Events* events) {
    return make_client(base(address), events);
  }
  lattice_world* make_client(const lattice_world_config& config, Events* events) {
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
    lattice_world* world = lattice_world_create(&config, &role);
    EXPECT_NE(world, nullptr) << lattice_last_error();
    install(world, events);
    return world;
  }
  std::string token(lattice_world* for_world, uint64_t issued = kUnix, const uint8_t* signer = nullptr,
                    const uint8_t* audience = nullptr) {
    lattice_token_request request;
    lattice_token_request_init(&request);
    request.issued_unix_s = issued;
    std::memcpy(request.player, player, sizeof player);
    std::memcpy(request.server_public_key, audience != nullptr ? audience : server_key, 32);
    EXPECT_EQ(lattice_world_new_client_key(for_world, request.client_public_key), LATTICE_OK);
    uint8_t bytes[LATTICE_TOKEN_MAX_BYTES];
    size_t size = 0;
    EXPECT_EQ(lattice_token_issue(signer != nullptr ? signer : seed, &request, bytes, sizeof bytes, &size),
              LATTICE_OK);
    return std::string(reinterpret_cast<const char*>(bytes), size);
  }
  lattice_conn* connect(lattice_world* world, const std::string& with) {
    return lattice_connect(world, "10.0.0.1:27015", reinterpret_cast<const uint8_t*>(with.data()),
                           with.size());
  }
  void run_ms(uint64_t ms) {
    for (uint64_t i = 0; i < ms; ++i) {
      lattice_netsim_advance(net, 1'000'000);
      if (server != nullptr) lattice_world_pump(server);
      if (client != nullptr) lattice_world_pump(client);
    }
  }
  /// The same as run_ms(), but without ticks: a lobby without traffic.
  void idle_ms(uint64_t ms) {
    for (uint64_t i = 0; i < ms; ++i) {
      lattice_netsim_advance(net, 1'000'000);
      for (lattice_world* world : {server, client}) {
        lattice_world_recv(world);
        lattice_world_send(world);
      }
    }
  }
};

inline void add_type(lattice_world* world, const char* name) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "value";
  member.type = LATTICE_WIRE_INT32;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Body";
  structure.host_bytes = 4;
  structure.host_align = 4;
  structure.members = &member;
  structure.member_count = 1;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = name;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  ASSERT_EQ(lattice_register_type(world, &type), LATTICE_OK) << lattice_last_error();
}

}  // namespace lattice::test
