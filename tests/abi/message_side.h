// One side of a connection that carries messages only, driven by a test's clock.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "lattice/lattice.h"

namespace lattice::test {

/// One world that has connections and messages only, and what it was told.
struct Side {
  ~Side() { lattice_world_destroy(world); }

  void prepare(lattice_role kind) {
    lattice_world_config_init(&config);
    lattice_role_context_init(&role, kind);
    config.transport_only = 1;
    config.record_events = 1;
    config.clock = [](void* ctx) { return *static_cast<uint64_t*>(ctx); };
    config.clock_ctx = &now_ns;
    if (kind == LATTICE_ROLE_CLIENT) return;
    ASSERT_EQ(lattice_issuer_generate(issuer_seed.data(), issuer_key.data()), LATTICE_OK);
    config.issuer_public_keys = issuer_key.data();
    config.issuer_public_key_count = 1;
  }
  /// Gives the back ends to the world, which takes a copy.
  bool create(const std::vector<lattice_datagram_backend>& given, bool without_udp) {
    std::vector<const lattice_datagram_backend*> pointers;
    for (const lattice_datagram_backend& each : given) pointers.push_back(&each);
    config.backends = pointers.data();
    config.backend_count = static_cast<uint32_t>(pointers.size());
    config.without_udp = without_udp ? 1 : 0;
    if (!without_udp && config.netsim == nullptr) config.bind_address = bind_address;
    world = lattice_world_create(&config, &role);
    return world != nullptr;
  }
  std::vector<uint8_t> token_from(Side& server) {
    lattice_token_request request;
    lattice_token_request_init(&request);
    EXPECT_EQ(lattice_world_public_key(server.world, request.server_public_key), LATTICE_OK);
    EXPECT_EQ(lattice_world_new_client_key(world, request.client_public_key), LATTICE_OK);
    std::vector<uint8_t> token(LATTICE_TOKEN_MAX_BYTES);
    size_t bytes = 0;
    EXPECT_EQ(lattice_token_issue(server.issuer_seed.data(), &request, token.data(), token.size(), &bytes),
              LATTICE_OK);
    token.resize(bytes);
    return token;
  }
  lattice_conn* connect(Side& server, const lattice_path& path) {
    const std::vector<uint8_t> token = token_from(server);
    return lattice_connect_path(world, &path, token.data(), token.size());
  }
  lattice_conn* connect(Side& server, const char* address) {
    const std::vector<uint8_t> token = token_from(server);
    return lattice_connect(world, address, token.data(), token.size());
  }
  void pump(uint64_t ns) {
    now_ns = ns;
    lattice_world_pump(world);
    EXPECT_EQ(lattice_last_result(), LATTICE_OK) << lattice_last_error();
    lattice_event events[8];
    for (size_t n; (n = lattice_world_events(world, events, 8)) != 0;) {
      for (size_t i = 0; i < n; ++i) {
        last_conn = events[i].conn;
        if (events[i].kind == LATTICE_EVENT_CONNECTED) conns.push_back(events[i].conn);
        if (events[i].kind == LATTICE_EVENT_DISCONNECTED) ++ended;
        if (events[i].kind == LATTICE_EVENT_MESSAGE) {
          messages.emplace_back(reinterpret_cast<const char*>(events[i].data), events[i].bytes);
          message_conns.push_back(events[i].conn);
        }
      }
    }
  }
  uint64_t refusals(const char* name) const {
    uint64_t value = 0;
    for (uint32_t i = 0;; ++i) {
      const char* each = lattice_world_refusal(world, i, &value);
      if (each == nullptr) return 0;
      if (std::strcmp(each, name) == 0) return value;
    }
  }
  std::string address() const {
    char text[64] = "";
    EXPECT_EQ(lattice_world_address(world, text, sizeof text), LATTICE_OK) << lattice_last_error();
    return text;
  }

  const char* bind_address = "127.0.0.1:0";
  lattice_world_config config{};
  lattice_role_context role{};
  std::array<uint8_t, LATTICE_KEY_BYTES> issuer_seed{}, issuer_key{};
  uint64_t now_ns = 1'000'000'000;
  lattice_world* world = nullptr;
  lattice_conn* last_conn = nullptr;
  std::vector<lattice_conn*> conns, message_conns;
  std::vector<std::string> messages;
  int ended = 0;
};

}  // namespace lattice::test
