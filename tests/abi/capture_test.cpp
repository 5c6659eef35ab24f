// lattice_set_capture from outside: refused by name in a library without captures, and in one with them the
// plaintext of what the worlds say.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <lattice/capture.h>
#include <lattice/lattice.h>

namespace lattice::test::capture_test {
namespace {

struct Captured {
  uint32_t flags;
  uint64_t time_ns;
  uint16_t local_port, remote_port;
  std::string data;
};

void collect(void* ctx, const lattice_captured_datagram* datagram) {
  ASSERT_EQ(datagram->struct_size, sizeof *datagram);
  static_cast<std::vector<Captured>*>(ctx)->push_back(
      {datagram->flags, datagram->time_ns, datagram->local_port, datagram->remote_port,
       std::string(reinterpret_cast<const char*>(datagram->data), datagram->bytes)});
}

class CaptureAbi : public testing::Test {
 protected:
  CaptureAbi() : netsim_(lattice_netsim_create(3)) {
    lattice_issuer_generate(seed_.data(), public_key_.data());
    server_ = create(LATTICE_ROLE_DEDICATED, "10.0.0.1:1000");
    client_ = create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000");
  }
  ~CaptureAbi() override {
    lattice_world_destroy(client_);
    lattice_world_destroy(server_);
    lattice_netsim_destroy(netsim_);
  }

  lattice_world* create(lattice_role role, const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.netsim = netsim_;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = netsim_;
    config.bind_address = address;
    const bool is_server = role == LATTICE_ROLE_DEDICATED;
    config.issuer_public_keys = is_server ? public_key_.data() : nullptr;
    config.issuer_public_key_count = is_server ? 1 : 0;
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    return lattice_world_create(&config, &context);
  }

  lattice_conn* connect() {
    lattice_token_request request;
    lattice_token_request_init(&request);
    lattice_world_public_key(server_, request.server_public_key);
    lattice_world_new_client_key(client_, request.client_public_key);
    std::array<uint8_t, LATTICE_TOKEN_MAX_BYTES> token{};
    size_t bytes = 0;
    lattice_token_issue(seed_.data(), &request, token.data(), token.size(), &bytes);
    lattice_conn* conn = lattice_connect(client_, "10.0.0.1:1000", token.data(), bytes);
    pump(200);
    return conn;
  }
  void pump(int steps) {
    for (int i = 0; i < steps; ++i) {
      lattice_world_pump(server_);
      lattice_world_pump(client_);
      lattice_netsim_advance(netsim_, 5'000'000);
    }
  }

  lattice_netsim* netsim_;
  std::array<uint8_t, LATTICE_KEY_BYTES> seed_{}, public_key_{};
  lattice_world* server_ = nullptr;
  lattice_world* client_ = nullptr;
  std::vector<Captured> captured_;
};

TEST_F(CaptureAbi, MisuseIsNamed) {
  EXPECT_EQ(lattice_set_capture(nullptr, collect, nullptr), LATTICE_ERROR_INVALID_ARGUMENT);
  struct Inside {
    lattice_world* world;
    lattice_result result;
  } inside{server_, LATTICE_OK};
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context*) {
    auto& self = *static_cast<Inside*>(ctx);
    self.result = lattice_set_capture(self.world, collect, nullptr);
  };
  lattice_set_callbacks(server_, &callbacks, &inside);
  pump(20);
  EXPECT_EQ(inside.result, LATTICE_ERROR_OUT_OF_ORDER);
}

#if !defined(LATTICE_CAPTURE)

TEST_F(CaptureAbi, ALibraryWithoutCapturesSaysSo) {
  EXPECT_EQ(lattice_set_capture(server_, collect, &captured_), LATTICE_ERROR_UNSUPPORTED);
  EXPECT_NE(std::string(lattice_last_error()).find("LATTICE_CAPTURE"), std::string::npos);
  EXPECT_STREQ(lattice_result_name(LATTICE_ERROR_UNSUPPORTED), "unsupported");
  ASSERT_NE(connect(), nullptr);
  EXPECT_TRUE(captured_.empty());
}

#else

TEST_F(CaptureAbi, WhatIsSaidIsReadInPlain) {
  ASSERT_EQ(lattice_set_capture(server_, collect, &captured_), LATTICE_OK);
  lattice_conn* conn = connect();
  ASSERT_EQ(lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "in plain", 8), LATTICE_OK);
  pump(20);
  bool found = false;
  uint64_t last_ns = 0;
  for (const Captured& each : captured_) {
    EXPECT_EQ(each.local_port, 1000);
    EXPECT_EQ(each.remote_port, 2000);
    EXPECT_GE(each.time_ns, last_ns);
    last_ns = each.time_ns;
    if (each.data.find("in plain") == std::string::npos) continue;
    found = true;
    EXPECT_EQ(each.flags, uint32_t{LATTICE_CAPTURED_OPENED});
  }
  EXPECT_TRUE(found);
  ASSERT_EQ(lattice_set_capture(server_, nullptr, nullptr), LATTICE_OK);
  captured_.clear();
  pump(300);
  EXPECT_TRUE(captured_.empty());
}

#endif

}  // namespace
}  // namespace lattice::test::capture_test
