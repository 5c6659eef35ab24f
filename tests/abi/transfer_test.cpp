// Large transfers through the C interface: two worlds on a simulated network.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "lattice/lattice.h"
#include "lattice/transfer.h"

namespace lattice::test::transfer_test {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr uint32_t kChannel = 13;

struct Side {
  lattice_world* world = nullptr;
  lattice_conn* conn = nullptr;
  lattice_transfer offered = 0;
  uint64_t offered_bytes = 0;
  std::string label;
  Bytes source, stored;
  uint64_t done_bytes = 0;
  std::vector<lattice_transfer_ending> ended;
  bool ended_before_disconnected = true;
  int disconnected = 0;
};

Bytes pattern(size_t bytes) {
  Bytes out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return out;
}

class TransferAbi : public testing::Test {
 protected:
  void SetUp() override {
    netsim_ = lattice_netsim_create(1);
    ASSERT_EQ(lattice_issuer_generate(seed_.data(), issuer_.data()), LATTICE_OK);
  }
  void TearDown() override {
    lattice_world_destroy(client.world);
    lattice_world_destroy(server.world);
    lattice_netsim_destroy(netsim_);
  }

  lattice_world* create(lattice_role role, uint32_t channel) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    const bool is_server = role == LATTICE_ROLE_DEDICATED;
    config.bind_address = is_server ? "10.0.0.1:27015" : "10.0.0.2:40000";
    config.netsim = netsim_;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = netsim_;
    config.transfer_channel = channel;
    config.max_transfer_bytes = max_bytes;
    config.issuer_public_keys = issuer_.data();
    config.issuer_public_key_count = 1;
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    return lattice_world_create(&config, &context);
  }
  void start(uint32_t server_channel = kChannel, uint32_t client_channel = kChannel) {
    server.world = create(LATTICE_ROLE_DEDICATED, server_channel);
    client.world = create(LATTICE_ROLE_CLIENT, client_channel);
    ASSERT_TRUE(server.world != nullptr && client.world != nullptr) << lattice_last_error();
    for (Side* side : {&server, &client}) set_callbacks(side);
    lattice_token_request request;
    lattice_token_request_init(&request);
    lattice_world_public_key(server.world, request.server_public_key);
    lattice_world_new_client_key(client.world, request.client_public_key);
    std::array<uint8_t, LATTICE_TOKEN_MAX_BYTES> token;
    size_t bytes = 0;
    ASSERT_EQ(lattice_token_issue(seed_.data(), &request, token.data(), token.size(), &bytes), LATTICE_OK);
    ASSERT_NE(lattice_connect(client.world, "10.0.0.1:27015", token.data(), bytes), nullptr);
  }
  static void set_callbacks(Side* side) {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* conn) { static_cast<Side*>(ctx)->conn = conn; };
    callbacks.on_disconnected = [](void* ctx, lattice_conn*, int) {
      Side* self = static_cast<Side*>(ctx);
      ++self->disconnected;
      self->conn = nullptr;
    };
    lattice_set_callbacks(side->world, &callbacks, side);
    lattice_transfer_callbacks transfers{};
    transfers.struct_size = sizeof transfers;
    transfers.on_offer = [](void* ctx, lattice_conn*, lattice_transfer transfer, uint64_t bytes,
                            const void* label, size_t label_bytes) {
      Side* self = static_cast<Side*>(ctx);
      self->offered = transfer;
      self->offered_bytes = bytes;
      self->label.assign(static_cast<const char*>(label), label_bytes);
      self->stored.assign(bytes, 0);
    };
    transfers.read = [](void* ctx, lattice_conn*, lattice_transfer, uint64_t offset, void* out,
                        size_t bytes) {
      const Side* self = static_cast<Side*>(ctx);
      std::copy_n(self->source.begin() + static_cast<ptrdiff_t>(offset), bytes, static_cast<uint8_t*>(out));
      return 1;
    };
    transfers.write = [](void* ctx, lattice_conn*, lattice_transfer, uint64_t offset, const void* data,
                         size_t bytes) {
      Side* self = static_cast<Side*>(ctx);
      std::copy_n(static_cast<const uint8_t*>(data), bytes,
                  self->stored.begin() + static_cast<ptrdiff_t>(offset));
      return 1;
    };
    transfers.on_progress = [](void* ctx, lattice_conn*, lattice_transfer, uint64_t done, uint64_t total) {
      EXPECT_LE(done, total);
      static_cast<Side*>(ctx)->done_bytes = done;
    };
    transfers.on_end = [](void* ctx, lattice_conn*, lattice_transfer, lattice_transfer_ending ending) {
      Side* self = static_cast<Side*>(ctx);
      self->ended.push_back(ending);
      self->ended_before_disconnected = self->disconnected == 0;
    };
    ASSERT_EQ(lattice_set_transfer_callbacks(side->world, &transfers, side), LATTICE_OK);
  }
  template <class Condition>
  bool pump_until(Condition condition) {
    for (int i = 0; i < 4000; ++i) {
      if (condition()) return true;
      lattice_netsim_advance(netsim_, 4'000'000);
      lattice_world_pump(server.world);
      lattice_world_pump(client.world);
    }
    return condition();
  }
  bool connected() {
    return pump_until([this] { return server.conn != nullptr && client.conn != nullptr; });
  }

  /// From server to client, which has heard of it afterwards.
  void offer(const Bytes& data, lattice_transfer* transfer) {
    ASSERT_EQ(lattice_transfer_start(server.conn, data.data(), data.size(), nullptr, 0, transfer),
              LATTICE_OK);
    ASSERT_TRUE(pump_until([this] { return client.offered != 0; }));
  }

  lattice_netsim* netsim_ = nullptr;
  std::array<uint8_t, LATTICE_KEY_BYTES> seed_{}, issuer_{};
  uint64_t max_bytes = 4u << 20;
  Side server, client;
};

TEST_F(TransferAbi, MemoryToMemoryThroughLoss) {
  lattice_impairment bad;
  lattice_impairment_init(&bad);
  bad.delay_ms = 20;
  bad.loss_percent = 3;
  lattice_netsim_set_impairment(netsim_, &bad);
  start();
  ASSERT_TRUE(connected());
  const Bytes map = pattern(1'000'000);
  lattice_transfer transfer = 0;
  ASSERT_EQ(lattice_transfer_start(server.conn, map.data(), map.size(), "map:depot", 9, &transfer),
            LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return client.offered != 0; }));
  EXPECT_EQ(client.label, "map:depot");
  EXPECT_EQ(client.offered_bytes, map.size());
  Bytes into(map.size());
  EXPECT_EQ(lattice_transfer_accept(client.conn, client.offered, into.data(), into.size() - 1),
            LATTICE_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(lattice_transfer_accept(client.conn, client.offered, into.data(), into.size()), LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return !server.ended.empty(); }));
  EXPECT_EQ(into, map);
  for (const Side* side : {&server, &client}) {
    EXPECT_EQ(side->ended, std::vector{LATTICE_TRANSFER_DONE});
    EXPECT_EQ(side->done_bytes, map.size());
  }
}

TEST_F(TransferAbi, CallbacksToCallbacksFromClientToServer) {
  start();
  ASSERT_TRUE(connected());
  client.source = pattern(300'000);
  lattice_transfer transfer = 0;
  ASSERT_EQ(lattice_transfer_start(client.conn, nullptr, client.source.size(), nullptr, 0, &transfer),
            LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return server.offered != 0; }));
  ASSERT_EQ(lattice_transfer_accept(server.conn, server.offered, nullptr, 0), LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return !client.ended.empty(); }));
  EXPECT_EQ(server.stored, client.source);
}

TEST_F(TransferAbi, HoldProgressAndCancel) {
  start();
  ASSERT_TRUE(connected());
  const Bytes map = pattern(4'000'000);
  lattice_transfer transfer = 0;
  offer(map, &transfer);
  EXPECT_EQ(lattice_transfer_hold(client.conn, client.offered, 1), LATTICE_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(lattice_transfer_hold(server.conn, transfer, 1), LATTICE_OK);
  ASSERT_EQ(lattice_transfer_accept(client.conn, client.offered, nullptr, 0), LATTICE_OK);
  EXPECT_FALSE(pump_until([this] { return client.done_bytes != 0; }));
  ASSERT_EQ(lattice_transfer_hold(server.conn, transfer, 0), LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return client.done_bytes != 0; }));
  uint64_t done = 0, total = 0;
  ASSERT_EQ(lattice_transfer_get_progress(client.conn, client.offered, &done, &total), LATTICE_OK);
  EXPECT_TRUE(done >= client.done_bytes && done < total && total == map.size());
  ASSERT_EQ(lattice_transfer_cancel(client.conn, client.offered), LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return !server.ended.empty(); }));
  EXPECT_EQ(server.ended[0], LATTICE_TRANSFER_CANCELLED);
  EXPECT_TRUE(client.ended.empty());
  EXPECT_EQ(lattice_transfer_cancel(server.conn, transfer), LATTICE_ERROR_NOT_FOUND);
  EXPECT_EQ(lattice_transfer_get_progress(client.conn, client.offered, &done, &total),
            LATTICE_ERROR_NOT_FOUND);
}

TEST_F(TransferAbi, EndedWithTheConnectionAndBeforeIt) {
  start();
  ASSERT_TRUE(connected());
  const Bytes map = pattern(4'000'000);
  lattice_transfer transfer = 0;
  offer(map, &transfer);
  lattice_disconnect(client.conn);
  ASSERT_TRUE(pump_until([this] { return server.disconnected != 0 && client.disconnected != 0; }));
  for (const Side* side : {&server, &client}) {
    EXPECT_EQ(side->ended, std::vector{LATTICE_TRANSFER_CONNECTION_LOST});
    EXPECT_TRUE(side->ended_before_disconnected);
  }
}

TEST_F(TransferAbi, BadArgumentsAreNamed) {
  start();
  const uint8_t byte = 1;
  lattice_transfer transfer = 0;
  EXPECT_EQ(lattice_transfer_start(nullptr, &byte, 1, nullptr, 0, &transfer), LATTICE_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(connected());
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 1, nullptr, 0, nullptr),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 1, nullptr, 4, &transfer),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 0, nullptr, 0, &transfer), LATTICE_ERROR_LIMIT);
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, max_bytes + 1, nullptr, 0, &transfer),
            LATTICE_ERROR_LIMIT);
  const std::string label(LATTICE_TRANSFER_LABEL_MAX_BYTES + 1, 'x');
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 1, label.data(), label.size(), &transfer),
            LATTICE_ERROR_LIMIT);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 1, nullptr, 0, &transfer), LATTICE_OK);
  }
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 1, nullptr, 0, &transfer), LATTICE_ERROR_LIMIT);
  EXPECT_EQ(lattice_transfer_accept(server.conn, transfer, nullptr, 0), LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_transfer_cancel(server.conn, 12345), LATTICE_ERROR_NOT_FOUND);
  lattice_transfer_callbacks unsized{};
  EXPECT_EQ(lattice_set_transfer_callbacks(server.world, &unsized, nullptr), LATTICE_ERROR_INVALID_ARGUMENT);
}

TEST_F(TransferAbi, BytesFromNowhereAndToNowhereAreRefused) {
  start();
  ASSERT_TRUE(connected());
  server.source = pattern(1000);
  lattice_transfer transfer = 0;
  ASSERT_EQ(lattice_transfer_start(server.conn, nullptr, 1000, nullptr, 0, &transfer), LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return client.offered != 0; }));
  ASSERT_EQ(lattice_set_transfer_callbacks(server.world, nullptr, nullptr), LATTICE_OK);
  EXPECT_EQ(lattice_transfer_start(server.conn, nullptr, 1000, nullptr, 0, &transfer),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(lattice_last_error()).find("lattice_transfer_callbacks.read"), std::string::npos);
  ASSERT_EQ(lattice_set_transfer_callbacks(client.world, nullptr, nullptr), LATTICE_OK);
  EXPECT_EQ(lattice_transfer_accept(client.conn, client.offered, nullptr, 0), LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(lattice_last_error()).find("lattice_transfer_callbacks.write"), std::string::npos);
  EXPECT_EQ(lattice_transfer_accept(client.conn, client.offered, client.stored.data(), 1000), LATTICE_OK);
}

TEST_F(TransferAbi, WithoutOnOfferEveryOfferIsRefused) {
  start();
  ASSERT_TRUE(connected());
  ASSERT_EQ(lattice_set_transfer_callbacks(client.world, nullptr, nullptr), LATTICE_OK);
  const uint8_t byte = 1;
  lattice_transfer transfer = 0;
  ASSERT_EQ(lattice_transfer_start(server.conn, &byte, 1, nullptr, 0, &transfer), LATTICE_OK);
  ASSERT_TRUE(pump_until([this] { return !server.ended.empty(); }));
  EXPECT_EQ(server.ended[0], LATTICE_TRANSFER_REFUSED);
}

TEST_F(TransferAbi, WithoutAChannelThereAreNone) {
  start(0, 0);
  ASSERT_TRUE(connected());
  const uint8_t byte = 1;
  lattice_transfer transfer = 0;
  EXPECT_EQ(lattice_transfer_start(server.conn, &byte, 1, nullptr, 0, &transfer), LATTICE_ERROR_NOT_ALLOWED);
}

TEST_F(TransferAbi, ChannelIsPartOfTheSchema) {
  start(kChannel, 0);
  EXPECT_NE(lattice_world_schema_id(server.world), lattice_world_schema_id(client.world));
  ASSERT_TRUE(pump_until([this] { return client.disconnected != 0; }));
  EXPECT_EQ(server.conn, nullptr);
}

TEST_F(TransferAbi, ChannelAndSizeAreChecked) {
  EXPECT_EQ(create(LATTICE_ROLE_CLIENT, 3), nullptr);
  EXPECT_NE(std::string(lattice_last_error()).find("transfer_channel"), std::string::npos);
  EXPECT_EQ(create(LATTICE_ROLE_CLIENT, 14), nullptr);
  max_bytes = 0;
  EXPECT_EQ(create(LATTICE_ROLE_CLIENT, 13), nullptr);
  EXPECT_NE(std::string(lattice_last_error()).find("max_transfer_bytes"), std::string::npos);
}

TEST_F(TransferAbi, EndingsHaveNames) {
  const char* names[] = {"done", "refused", "cancelled", "failed", "too_large", "connection_lost", "unknown"};
  for (int i = 0; i < 7; ++i) {
    EXPECT_STREQ(lattice_transfer_ending_name(static_cast<lattice_transfer_ending>(i)), names[i]);
  }
}

TEST_F(TransferAbi, EachRefusalHasANameAndATextOfItsOwn) {
  start();
  std::set<std::string> names;
  uint64_t value = 0;
  const char* name = nullptr;
  for (uint32_t i = 0; (name = lattice_world_refusal(server.world, i, &value)) != nullptr; ++i) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_NE(lattice_refusal_text(name), nullptr) << name;
  }
  EXPECT_EQ(names.count("transfer_too_many"), 1u);
  EXPECT_EQ(names.count("socket_send_oversize"), 1u);
  EXPECT_EQ(lattice_refusal_text("no_such_counter"), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace lattice::test::transfer_test
