// Development tokens through the C interface: over loopback sockets and over a simulated network.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lattice/lattice.h"

namespace lattice::test::development_tokens_test {
namespace {

namespace fs = std::filesystem;

struct Side {
  lattice_world* world = nullptr;
  std::vector<std::string> log;
  std::string player;
  bool connected = false;
  int reason = 0;
};

class DevelopmentTokensAbi : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/lattice-development-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    setenv("XDG_RUNTIME_DIR", folder, 1);
  }
  void TearDown() override {
    lattice_world_destroy(client.world);
    lattice_world_destroy(server.world);
    unsetenv("XDG_RUNTIME_DIR");
    fs::remove_all(folder_);
  }

  lattice_world* create(Side& side, lattice_role role, const char* bind, uint32_t development_tokens) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.bind_address = bind;
    config.netsim = netsim;
    if (netsim != nullptr) config.clock = lattice_netsim_clock, config.clock_ctx = netsim;
    config.development_tokens = development_tokens;
    config.log = [](void* ctx, lattice_log_level, const char*, const char* text) {
      static_cast<Side*>(ctx)->log.push_back(text);
    };
    config.log_ctx = &side;
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    side.world = lattice_world_create(&config, &context);
    return side.world;
  }
  void start(const char* server_bind = "127.0.0.1:0", const char* client_bind = nullptr) {
    ASSERT_NE(create(server, LATTICE_ROLE_DEDICATED, server_bind, 1), nullptr) << lattice_last_error();
    ASSERT_NE(create(client, LATTICE_ROLE_CLIENT, client_bind, 0), nullptr) << lattice_last_error();
    char address[64] = "";
    ASSERT_EQ(lattice_world_address(server.world, address, sizeof address), LATTICE_OK);
    server_address = address;
  }
  std::string file() const {
    char path[256] = "";
    EXPECT_EQ(lattice_world_development_file(server.world, path, sizeof path), LATTICE_OK)
        << lattice_last_error();
    return path;
  }
  lattice_result token(const char* where, const lattice_token_request* request = nullptr) {
    return lattice_dev_token(client.world, where, request, token_.data(), token_.size(), &token_bytes_);
  }
  /// Pumps both until the client has an answer; bounded by rounds, whatever a round takes.
  void connect() {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* conn) {
      Side* self = static_cast<Side*>(ctx);
      self->connected = true;
      lattice_conn_info info{};
      info.struct_size = sizeof info;
      if (lattice_conn_get_info(conn, &info) == LATTICE_OK)
        self->player.assign(info.player, info.player + 16);
    };
    callbacks.on_disconnected = [](void* ctx, lattice_conn*, int reason) {
      static_cast<Side*>(ctx)->reason = reason;
    };
    lattice_set_callbacks(server.world, &callbacks, &server);
    lattice_set_callbacks(client.world, &callbacks, &client);
    ASSERT_NE(lattice_connect(client.world, server_address.c_str(), token_.data(), token_bytes_), nullptr)
        << lattice_last_error();
    for (int round = 0; round < 20000 && !(client.connected && server.connected) && client.reason == 0;
         ++round) {
      lattice_world_pump(server.world);
      lattice_world_pump(client.world);
      if (netsim != nullptr) {
        lattice_netsim_advance(netsim, 4'000'000);
      } else {
        usleep(1000);
      }
    }
  }

  Side server, client;
  lattice_netsim* netsim = nullptr;
  std::string folder_;
  std::string server_address;
  std::array<uint8_t, LATTICE_TOKEN_MAX_BYTES> token_{};
  size_t token_bytes_ = 0;
};

TEST_F(DevelopmentTokensAbi, AClientOfTheSameUserFindsTheKeyByTheAddressAndConnects) {
  start();
  ASSERT_EQ(token(server_address.c_str()), LATTICE_OK) << lattice_last_error();
  connect();
  EXPECT_TRUE(client.connected);
  EXPECT_TRUE(server.connected);
}

TEST_F(DevelopmentTokensAbi, OnIpv6LoopbackAndByPath) {
  if (create(server, LATTICE_ROLE_DEDICATED, "[::1]:0", 1) == nullptr) {
    GTEST_SKIP() << "this machine has no IPv6 loopback: " << lattice_last_error();
  }
  lattice_world_destroy(server.world);
  start("[::1]:0", "[::1]:0");
  ASSERT_EQ(token(file().c_str()), LATTICE_OK) << lattice_last_error();
  connect();
  EXPECT_TRUE(client.connected);
}

TEST_F(DevelopmentTokensAbi, TheRequestsPlayerReachesTheServer) {
  start();
  lattice_token_request request;
  lattice_token_request_init(&request);
  const std::string player = "sixteen-byte-you";
  std::copy(player.begin(), player.end(), request.player);
  ASSERT_EQ(token(server_address.c_str(), &request), LATTICE_OK) << lattice_last_error();
  connect();
  EXPECT_EQ(server.player, player);
}

TEST_F(DevelopmentTokensAbi, TheFileIsPrivateIsSaidOnceAndGoesWithTheWorld) {
  start();
  struct stat status {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(file(), folder_ + "/lattice/dev-" + server_address);
  int said = 0;
  for (const std::string& line : server.log) said += line.find(file()) != std::string::npos ? 1 : 0;
  EXPECT_EQ(said, 1);
  const std::string path = file();
  lattice_world_destroy(server.world);
  server.world = nullptr;
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(token(server_address.c_str()), LATTICE_ERROR_NOT_FOUND);
}

TEST_F(DevelopmentTokensAbi, AnythingButLoopbackIsRefusedByName) {
  for (const char* bind :
       {static_cast<const char*>(nullptr), "0.0.0.0:0", "[::]:0", "10.0.0.1:0", "128.0.0.1:0"}) {
    EXPECT_EQ(create(server, LATTICE_ROLE_DEDICATED, bind, 1), nullptr);
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
    EXPECT_NE(std::string(lattice_last_error()).find("development_tokens"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(folder_ + "/lattice"));
  ASSERT_NE(create(server, LATTICE_ROLE_DEDICATED, "127.9.8.7:0", 1), nullptr) << lattice_last_error();
}

TEST_F(DevelopmentTokensAbi, AreRefusedOnAClientAndOtherValuesThan0And1) {
  EXPECT_EQ(create(client, LATTICE_ROLE_CLIENT, "127.0.0.1:0", 1), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
  EXPECT_EQ(create(server, LATTICE_ROLE_DEDICATED, "127.0.0.1:0", 2), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
  EXPECT_EQ(create(server, LATTICE_ROLE_DEDICATED, "127.0.0.1:0", 0), nullptr) << "no issuer at all";
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
}

TEST_F(DevelopmentTokensAbi, AServerWhoseFolderOthersMayEnterDoesNotStart) {
  ASSERT_EQ(mkdir((folder_ + "/lattice").c_str(), 0700), 0);
  ASSERT_EQ(chmod((folder_ + "/lattice").c_str(), 0755), 0);
  EXPECT_EQ(create(server, LATTICE_ROLE_DEDICATED, "127.0.0.1:0", 1), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_PERMISSION);
  EXPECT_TRUE(fs::is_empty(folder_ + "/lattice"));
}

TEST_F(DevelopmentTokensAbi, AFileThatOthersMayReadIsDamagedOrTooLargeIsRefused) {
  start();
  const std::string path = file();
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(token(server_address.c_str()), LATTICE_ERROR_PERMISSION);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(token(server_address.c_str()), LATTICE_OK);
  const auto whole = fs::file_size(path);
  fs::resize_file(path, whole - 1);
  EXPECT_EQ(token(server_address.c_str()), LATTICE_ERROR_TOKEN);
  fs::resize_file(path, whole);
  EXPECT_EQ(token(server_address.c_str()), LATTICE_ERROR_TOKEN) << "its last byte is zero now";
  fs::resize_file(path, 1 << 20);
  EXPECT_EQ(token(server_address.c_str()), LATTICE_ERROR_TOKEN);
  EXPECT_EQ(token(folder_.c_str()), LATTICE_ERROR_PERMISSION) << "a folder";
}

TEST_F(DevelopmentTokensAbi, WhatAClientCannotUseIsRefusedByName) {
  start();
  const char* elsewhere[] = {"192.0.2.1:27015", "0.0.0.0:27015"};
  for (const char* address : elsewhere) EXPECT_EQ(token(address), LATTICE_ERROR_NOT_ALLOWED) << address;
  EXPECT_EQ(token("127.0.0.1:1"), LATTICE_ERROR_NOT_FOUND);
  EXPECT_EQ(token("nonsense"), LATTICE_ERROR_ADDRESS);
  EXPECT_EQ(token(nullptr), LATTICE_ERROR_INVALID_ARGUMENT);
  const char* where = server_address.c_str();
  EXPECT_EQ(lattice_dev_token(server.world, where, nullptr, token_.data(), token_.size(), &token_bytes_),
            LATTICE_ERROR_NOT_ALLOWED);
  EXPECT_EQ(lattice_dev_token(client.world, where, nullptr, token_.data(), token_.size() - 1, &token_bytes_),
            LATTICE_ERROR_BUFFER_TOO_SMALL);
  lattice_token_request request;
  lattice_token_request_init(&request);
  request.lifetime_s = 0;
  EXPECT_EQ(token(where, &request), LATTICE_ERROR_CONFIG);
  char path[256];
  EXPECT_EQ(lattice_world_development_file(client.world, path, sizeof path), LATTICE_ERROR_NOT_FOUND);
  EXPECT_EQ(lattice_world_development_file(server.world, path, 10), LATTICE_ERROR_BUFFER_TOO_SMALL);
  EXPECT_EQ(lattice_world_development_file(server.world, nullptr, 256), LATTICE_ERROR_INVALID_ARGUMENT);
}

TEST_F(DevelopmentTokensAbi, OnASimulatedNetworkTheNetworkHoldsTheKey) {
  netsim = lattice_netsim_create(1);
  start("10.0.0.1:27015", "10.0.0.2:1000");
  ASSERT_EQ(token("10.0.0.1:27015"), LATTICE_OK) << lattice_last_error();
  EXPECT_EQ(token("10.0.0.9:27015"), LATTICE_ERROR_NOT_FOUND);
  EXPECT_FALSE(fs::exists(folder_ + "/lattice"));
  char path[256];
  EXPECT_EQ(lattice_world_development_file(server.world, path, sizeof path), LATTICE_ERROR_NOT_FOUND);
  ASSERT_EQ(token("10.0.0.1:27015"), LATTICE_OK);
  connect();
  EXPECT_TRUE(client.connected);
  lattice_world_destroy(server.world);
  server.world = nullptr;
  EXPECT_EQ(token("10.0.0.1:27015"), LATTICE_ERROR_NOT_FOUND);
  lattice_world_destroy(client.world);
  client.world = nullptr;
  lattice_netsim_destroy(netsim);
  netsim = nullptr;
}

}  // namespace
}  // namespace lattice::test::development_tokens_test
