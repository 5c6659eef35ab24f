// What lattice.h promises of every call: whose result lattice_last_result() is, who may be inside a world,
// what a frame fixes, and what may be done inside a callback.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "lattice/lattice.h"

namespace lattice::test::contract_test {
namespace {

struct Body {
  float x = 0.0f;
};

/// Body as an object type of number 1, and its structure for what else takes one.
struct Description {
  Description() {
    lattice_member_desc_init(&member);
    member.name = "x";
    member.type = LATTICE_WIRE_FLOAT;
    member.flags = LATTICE_MEMBER_POSITION;
    lattice_struct_desc_init(&structure);
    structure.name = "Body";
    structure.host_bytes = sizeof(Body);
    structure.host_align = alignof(Body);
    structure.members = &member;
    structure.member_count = 1;
    lattice_behaviour_desc_init(&behaviour);
    behaviour.structure = &structure;
    lattice_type_desc_init(&type);
    type.type_id = 1;
    type.name = "Body";
    type.behaviours = &behaviour;
    type.behaviour_count = 1;
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  lattice_member_desc member;
  lattice_struct_desc structure;
  lattice_behaviour_desc behaviour;
  lattice_type_desc type;
};

class Contract : public ::testing::Test {
 protected:
  void SetUp() override {
    netsim_ = lattice_netsim_create(3);
    ASSERT_EQ(lattice_issuer_generate(seed_, issuer_), LATTICE_OK);
    server_ = create(LATTICE_ROLE_DEDICATED, "10.0.0.1:1000");
    client_ = create(LATTICE_ROLE_CLIENT, "10.0.0.2:2000");
    ASSERT_TRUE(server_ != nullptr && client_ != nullptr) << lattice_last_error();
  }
  void TearDown() override {
    lattice_world_destroy(client_);
    lattice_world_destroy(server_);
    EXPECT_EQ(lattice_netsim_destroy(netsim_), LATTICE_OK) << lattice_last_error();
  }

  lattice_world_config config(const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.netsim = netsim_;
    config.bind_address = address;
    config.clock = [](void* ctx) {
      ++static_cast<Contract*>(ctx)->clock_reads_;
      return lattice_netsim_now(static_cast<Contract*>(ctx)->netsim_);
    };
    config.clock_ctx = this;
    return config;
  }
  lattice_world* create(lattice_role role, const char* address) {
    lattice_world_config wanted = config(address);
    wanted.issuer_public_keys = role == LATTICE_ROLE_CLIENT ? nullptr : issuer_;
    wanted.issuer_public_key_count = role == LATTICE_ROLE_CLIENT ? 0 : 1;
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    lattice_world* world = lattice_world_create(&wanted, &context);
    return world;
  }
  static void register_body(lattice_world* world, uint32_t flags = 0) {
    Description description;
    description.type.flags = flags;
    ASSERT_EQ(lattice_register_type(world, &description.type), LATTICE_OK) << lattice_last_error();
  }
  lattice_conn* connect() {
    lattice_token_request request;
    lattice_token_request_init(&request);
    EXPECT_EQ(lattice_world_public_key(server_, request.server_public_key), LATTICE_OK);
    EXPECT_EQ(lattice_world_new_client_key(client_, request.client_public_key), LATTICE_OK);
    uint8_t token[LATTICE_TOKEN_MAX_BYTES];
    size_t bytes = 0;
    EXPECT_EQ(lattice_token_issue(seed_, &request, token, sizeof token, &bytes), LATTICE_OK);
    return lattice_connect(client_, "10.0.0.1:1000", token, bytes);
  }
  void pump(int steps) {
    for (int i = 0; i < steps; ++i) {
      lattice_world_pump(server_);
      lattice_world_pump(client_);
      lattice_netsim_advance(netsim_, 10'000'000);
    }
  }

  lattice_netsim* netsim_ = nullptr;
  uint8_t seed_[LATTICE_KEY_BYTES] = {};
  uint8_t issuer_[LATTICE_KEY_BYTES] = {};
  lattice_world* server_ = nullptr;
  lattice_world* client_ = nullptr;
  uint64_t clock_reads_ = 0;
};

TEST_F(Contract, TheLastResultIsThatOfTheLastCall) {
  EXPECT_EQ(lattice_spawn(server_, 99, LATTICE_AUTHORITY_SERVER), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
  EXPECT_STRNE(lattice_last_error(), "");
  lattice_world_pump(server_);
  EXPECT_EQ(lattice_last_result(), LATTICE_OK);
  EXPECT_STREQ(lattice_last_error(), "");
}

TEST_F(Contract, ANumberBesideAHandleIsNoHandle) {
  lattice_world_stats stats;
  lattice_world_stats_init(&stats);
  for (unsigned bit = 0; bit < 8 * sizeof(uintptr_t); ++bit) {
    const auto number = std::bit_cast<uintptr_t>(server_) ^ (uintptr_t{1} << bit);
    auto* const beside = std::bit_cast<lattice_world*>(number);
    if (beside == client_) continue;
    EXPECT_EQ(lattice_world_get_stats(beside, &stats), LATTICE_ERROR_STALE_HANDLE) << bit;
  }
}

TEST_F(Contract, SettingsOfAChannelAreCheckedMemberByMember) {
  lattice_conn* conn = connect();
  ASSERT_NE(conn, nullptr);
  pump(40);
  lattice_channel_settings settings;
  lattice_channel_settings_init(&settings);
  EXPECT_EQ(settings.weight, 1u);
  for (int channel = 0; channel < 4; ++channel) {
    EXPECT_EQ(lattice_conn_set_channel(conn, static_cast<lattice_channel>(channel), &settings), LATTICE_OK);
  }
  const auto names = [&](const char* member) {
    const bool is_refused =
        lattice_conn_set_channel(conn, LATTICE_CHANNEL_UNRELIABLE, &settings) == LATTICE_ERROR_CONFIG &&
        std::strstr(lattice_last_error(), member) != nullptr;
    lattice_channel_settings_init(&settings);
    return is_refused;
  };
  for (const uint32_t weight : {0u, 17u}) {
    settings.weight = weight;
    EXPECT_TRUE(names("weight")) << weight;
  }
  settings.is_urgent = 2;
  EXPECT_TRUE(names("is_urgent"));
  settings.max_wait_ms = 60'001;
  EXPECT_TRUE(names("max_wait_ms"));
  settings.max_wait_ms = 60'000;
  EXPECT_EQ(lattice_conn_set_channel(conn, LATTICE_CHANNEL_UNRELIABLE_SEQUENCED, &settings), LATTICE_OK);
  EXPECT_EQ(lattice_conn_set_channel(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, &settings),
            LATTICE_ERROR_CONFIG);
  EXPECT_NE(std::strstr(lattice_last_error(), "max_wait_ms is 60000"), nullptr) << lattice_last_error();
}

TEST_F(Contract, ACallbackDoesNotDisturbTheResultOfThePump) {
  struct Inside {
    lattice_result pump = LATTICE_OK;
    lattice_result destroy = LATTICE_OK;
  } inside;
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context*) {
    auto& self = *static_cast<Inside*>(ctx);
    self.pump = lattice_world_recv(world);
    self.destroy = lattice_world_destroy(world);
  };
  ASSERT_EQ(lattice_set_callbacks(server_, &callbacks, &inside), LATTICE_OK);
  lattice_world_pump(server_);
  lattice_netsim_advance(netsim_, 20'000'000);
  EXPECT_EQ(lattice_world_pump(server_), 1u);
  EXPECT_EQ(lattice_last_result(), LATTICE_OK);
  EXPECT_STREQ(lattice_last_error(), "");
  EXPECT_EQ(inside.pump, LATTICE_ERROR_OUT_OF_ORDER);
  EXPECT_EQ(inside.destroy, LATTICE_ERROR_OUT_OF_ORDER);
}

TEST_F(Contract, ASecondThreadIsToldThatTheWorldIsBusy) {
  struct Inside {
    lattice_world* world;
    lattice_result result = LATTICE_OK;
    lattice_result destroy = LATTICE_OK;
    std::string text = {};
  } inside{server_};
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context*) {
    auto& self = *static_cast<Inside*>(ctx);
    std::thread([&self] {
      lattice_objects(self.world, 0, nullptr, 0);
      self.result = lattice_last_result();
      self.text = lattice_last_error();
      self.destroy = lattice_world_destroy(self.world);
    }).join();
  };
  ASSERT_EQ(lattice_set_callbacks(server_, &callbacks, &inside), LATTICE_OK);
  lattice_world_pump(server_);
  lattice_netsim_advance(netsim_, 20'000'000);
  ASSERT_EQ(lattice_world_pump(server_), 1u);
  EXPECT_EQ(inside.result, LATTICE_ERROR_BUSY);
  EXPECT_EQ(inside.destroy, LATTICE_ERROR_BUSY);
  EXPECT_NE(inside.text.find("thread"), std::string::npos);
  // Afterwards any thread may use it.
  std::thread([this] { EXPECT_EQ(lattice_world_send(server_), LATTICE_OK); }).join();
}

TEST_F(Contract, ThreadsThatTakeTurnsBadlyAreRefusedAndNothingElseHappens) {
  std::atomic<uint64_t> busy{0};
  std::atomic<uint64_t> done{0};
  const auto use = [&] {
    for (int i = 0; i < 2000; ++i) {
      lattice_world_pump(server_);
      const lattice_result result = lattice_last_result();
      ++(result == LATTICE_ERROR_BUSY ? busy : done);
      if (result != LATTICE_OK && result != LATTICE_ERROR_BUSY) ADD_FAILURE() << lattice_last_error();
    }
  };
  std::thread other(use);
  use();
  other.join();
  EXPECT_EQ(busy + done, 4000u);
  EXPECT_NE(done, 0u);
}

TEST_F(Contract, AFrameReadsTheClockOnceAndPosesEachObjectOnce) {
  register_body(server_);
  register_body(client_);
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_tick = [](void*, lattice_world* world, const lattice_tick_context*) {
    lattice_netid id = 0;
    if (lattice_objects(world, 1, &id, 1) == 1)
      static_cast<Body*>(lattice_object_state(world, id, 0))->x += 1.0f;
  };
  ASSERT_EQ(lattice_set_callbacks(server_, &callbacks, nullptr), LATTICE_OK);
  const lattice_netid id = lattice_spawn(server_, 1, LATTICE_AUTHORITY_SERVER);
  ASSERT_NE(connect(), nullptr) << lattice_last_error();
  pump(100);
  Body first;
  Body second;
  const auto view = [&](Body* out) { return lattice_object_view(client_, id, 0, out, sizeof *out); };
  const auto posed = [&] {
    lattice_world_stats stats;
    lattice_world_stats_init(&stats);
    lattice_world_get_stats(client_, &stats);
    return stats.interpolation_samples;
  };

  ASSERT_EQ(lattice_frame_begin(client_), LATTICE_OK);
  ASSERT_EQ(view(&first), sizeof first);
  const uint64_t reads = clock_reads_;
  const uint64_t poses = posed();
  lattice_netsim_advance(netsim_, 30'000'000);
  ASSERT_EQ(view(&second), sizeof second);
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(clock_reads_, reads);
  EXPECT_EQ(posed(), poses);
  pump(3);
  ASSERT_EQ(view(&second), sizeof second);
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(posed(), poses);

  ASSERT_EQ(lattice_frame_begin(client_), LATTICE_OK);
  ASSERT_EQ(view(&second), sizeof second);
  EXPECT_GT(second.x, first.x);
}

TEST_F(Contract, AFrameShowsAPredictedObjectAtOneMomentWhateverIsPumped) {
  register_body(server_, LATTICE_TYPE_PREDICTED);
  register_body(client_, LATTICE_TYPE_PREDICTED);
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_tick = [](void*, lattice_world* world, const lattice_tick_context*) {
    lattice_netid id = 0;
    if (lattice_simulated_objects(world, 1, &id, 1) == 1)
      static_cast<Body*>(lattice_object_state(world, id, 0))->x += 1.0f;
  };
  ASSERT_EQ(lattice_set_callbacks(server_, &callbacks, nullptr), LATTICE_OK);
  ASSERT_EQ(lattice_set_callbacks(client_, &callbacks, nullptr), LATTICE_OK);
  ASSERT_NE(connect(), nullptr) << lattice_last_error();
  pump(100);
  const lattice_netid id =
      lattice_spawn_for(server_, 1, LATTICE_AUTHORITY_SERVER, lattice_local_peer(client_));
  ASSERT_NE(id, 0u) << lattice_last_error();
  pump(50);
  lattice_object_info info;
  lattice_object_info_init(&info);
  ASSERT_EQ(lattice_object_get_info(client_, id, &info), LATTICE_OK);
  ASSERT_EQ(info.is_simulated, 1u);

  Body first;
  Body second;
  ASSERT_EQ(lattice_frame_begin(client_), LATTICE_OK);
  ASSERT_EQ(lattice_object_view(client_, id, 0, &first, sizeof first), sizeof first);
  pump(10);
  ASSERT_EQ(lattice_object_view(client_, id, 0, &second, sizeof second), sizeof second);
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0) << first.x << " " << second.x;
  ASSERT_EQ(lattice_frame_begin(client_), LATTICE_OK);
  ASSERT_EQ(lattice_object_view(client_, id, 0, &second, sizeof second), sizeof second);
  EXPECT_GT(second.x, first.x);
}

TEST_F(Contract, ADedicatedServerHasNoPlayersInput) {
  Description description;
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &description.structure;
  lattice_world* host = create(LATTICE_ROLE_HOST, "10.0.0.3:3000");
  ASSERT_NE(host, nullptr) << lattice_last_error();
  struct Seen {
    int samples = 0;
    int source = -1;
  } on_server, on_host;
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_sample_input = [](void* ctx, lattice_world*, uint32_t, void*, size_t) {
    ++static_cast<Seen*>(ctx)->samples;
  };
  callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context*) {
    Body out;
    static_cast<Seen*>(ctx)->source = lattice_get_input(world, 1, &out, sizeof out);
  };
  const auto run = [&](lattice_world* world, Seen* seen) {
    EXPECT_EQ(lattice_register_input(world, &input), LATTICE_OK) << lattice_last_error();
    EXPECT_EQ(lattice_set_callbacks(world, &callbacks, seen), LATTICE_OK);
    for (int i = 0; i < 10; ++i) {
      lattice_world_pump(world);
      lattice_netsim_advance(netsim_, 10'000'000);
    }
  };
  run(server_, &on_server);
  EXPECT_EQ(on_server.samples, 0);
  EXPECT_EQ(on_server.source, 0);
  run(host, &on_host);
  EXPECT_GT(on_host.samples, 0);
  EXPECT_EQ(on_host.source, 1);
  const Body command{2.0f};
  EXPECT_EQ(lattice_set_input(host, &command, sizeof command), LATTICE_OK);
  EXPECT_EQ(lattice_set_input(server_, &command, sizeof command), LATTICE_ERROR_NOT_ALLOWED);
  EXPECT_NE(std::string(lattice_last_error()).find("LATTICE_ROLE_HOST"), std::string::npos);
  lattice_world_destroy(host);
}

TEST_F(Contract, AnImpairmentOutOfRangeIsNamedAsItsMember) {
  const auto error_of = [this](auto change) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    change(impairment);
    EXPECT_EQ(lattice_set_impairment(client_, LATTICE_DIRECTION_SEND, &impairment), LATTICE_ERROR_CONFIG);
    return std::string(lattice_last_error());
  };
  const auto names = [](const std::string& error, const char* member) {
    return error.find(std::string("lattice_impairment.") + member + " ") != std::string::npos;
  };
  EXPECT_PRED2(names, error_of([](auto& i) { i.delay_ms = -1; }), "delay_ms");
  EXPECT_PRED2(names, error_of([](auto& i) { i.jitter_ms = 60001; }), "jitter_ms");
  EXPECT_PRED2(names, error_of([](auto& i) { i.loss_percent = 101; }), "loss_percent");
  EXPECT_PRED2(names, error_of([](auto& i) { i.burst_enter_percent = -1; }), "burst_enter_percent");
  EXPECT_PRED2(names, error_of([](auto& i) { i.burst_leave_percent = 200; }), "burst_leave_percent");
  EXPECT_PRED2(names, error_of([](auto& i) { i.duplicate_percent = 101; }), "duplicate_percent");
  EXPECT_PRED2(names, error_of([](auto& i) { i.reorder_percent = 101; }), "reorder_percent");
  EXPECT_PRED2(names, error_of([](auto& i) { i.reorder_ms = -1; }), "reorder_ms");
  EXPECT_PRED2(names, error_of([](auto& i) { i.rate_kbit_per_s = 2e9; }), "rate_kbit_per_s");
}

TEST_F(Contract, AReasonOfTheLibrarysOwnIsNotForTheApplication) {
  lattice_conn* conn = connect();
  ASSERT_NE(conn, nullptr) << lattice_last_error();
  for (const int reason : {0, 2, 3, 9, 13, 14, 17, 255, 65536, 65537}) {
    EXPECT_EQ(lattice_disconnect_with(conn, reason, nullptr), LATTICE_ERROR_INVALID_ARGUMENT) << reason;
    EXPECT_NE(std::string(lattice_last_error()).find("on a client 1 "), std::string::npos)
        << lattice_last_error();
  }
  for (const char* text : {"a\nb", "\x1b[2J", "\xc2\x9b", "\xff", "a\u202Eb", "\u200B"}) {
    EXPECT_EQ(lattice_disconnect_with(conn, LATTICE_DISCONNECT_REQUESTED, text),
              LATTICE_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(lattice_disconnect_with(conn, LATTICE_DISCONNECT_RESOURCE_LIMIT, "bis sp\xc3\xa4ter"),
            LATTICE_OK);
}

TEST_F(Contract, AClientReconnectsInsideOnDisconnected) {
  struct Inside {
    std::function<lattice_conn*()> again;
    int connected = 0;
    int ended = 0;
    bool reconnect = true;
    std::string error = {};
  } inside{[this] { return connect(); }};
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = [](void* ctx, lattice_conn*) { ++static_cast<Inside*>(ctx)->connected; };
  callbacks.on_disconnected = [](void* ctx, lattice_conn*, int) {
    auto& self = *static_cast<Inside*>(ctx);
    ++self.ended;
    if (self.reconnect && self.again() == nullptr) self.error = lattice_last_error();
  };
  ASSERT_EQ(lattice_set_callbacks(client_, &callbacks, &inside), LATTICE_OK);
  lattice_conn* conn = connect();
  ASSERT_NE(conn, nullptr);
  pump(50);
  ASSERT_EQ(inside.connected, 1);
  ASSERT_EQ(lattice_disconnect(conn), LATTICE_OK);
  pump(100);
  EXPECT_EQ(inside.error, "");
  EXPECT_EQ(inside.ended, 1);
  EXPECT_EQ(inside.connected, 2);
  EXPECT_GE(lattice_local_peer(client_), 2u);
  inside.reconnect = false;
}

TEST_F(Contract, AnAttemptThatFailedIsRepeatedInsideOnDisconnected) {
  struct Inside {
    std::function<lattice_conn*()> again;
    int ended = 0;
    std::string error = {};
  } inside{[this] { return connect(); }};
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_disconnected = [](void* ctx, lattice_conn*, int) {
    auto& self = *static_cast<Inside*>(ctx);
    if (++self.ended == 1 && self.again() == nullptr) self.error = lattice_last_error();
  };
  ASSERT_EQ(lattice_set_callbacks(client_, &callbacks, &inside), LATTICE_OK);
  ASSERT_NE(connect(), nullptr);
  for (int i = 0; i < 1500 && inside.ended == 0; ++i) {  // the server is not pumped: nobody answers
    lattice_world_pump(client_);
    lattice_netsim_advance(netsim_, 10'000'000);
  }
  ASSERT_EQ(inside.ended, 1);
  EXPECT_EQ(inside.error, "");
  pump(100);
  EXPECT_GE(lattice_local_peer(client_), 2u);
}

TEST_F(Contract, ASpawnThatFailsLeavesTheSchemaOpen) {
  EXPECT_EQ(lattice_spawn(server_, 1, LATTICE_AUTHORITY_SERVER), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
  register_body(server_);
  EXPECT_NE(lattice_spawn(server_, 1, LATTICE_AUTHORITY_SERVER), 0u) << lattice_last_error();
}

TEST_F(Contract, WhatDoesNothingYetIsRefusedByName) {
  Description shared;
  shared.type.authority = LATTICE_AUTHORITY_SHARED;
  EXPECT_EQ(lattice_register_type(server_, &shared.type), LATTICE_ERROR_UNSUPPORTED);
  EXPECT_NE(std::string(lattice_last_error()).find("LATTICE_AUTHORITY_SERVER"), std::string::npos);
  register_body(server_);
  EXPECT_EQ(lattice_spawn(server_, 1, LATTICE_AUTHORITY_SHARED), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_UNSUPPORTED);
  EXPECT_NE(std::string(lattice_last_error()).find("LATTICE_AUTHORITY_SERVER"), std::string::npos);
  EXPECT_EQ(lattice_spawn_for(server_, 1, LATTICE_AUTHORITY_SERVER, 77), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
  EXPECT_NE(std::string(lattice_last_error()).find("77"), std::string::npos);

  const auto refused_for = [this](auto change) {
    lattice_world_config wanted = config("10.0.0.7:7000");
    wanted.issuer_public_keys = issuer_;
    wanted.issuer_public_key_count = 1;
    lattice_role_context role;
    lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
    change(role);
    EXPECT_EQ(lattice_world_create(&wanted, &role), nullptr);
    return std::string(lattice_last_error());
  };
  EXPECT_NE(refused_for([](auto& role) { role.relays_for_peers = 1; }).find("relays_for_peers"),
            std::string::npos);
  EXPECT_NE(refused_for([](auto& role) { role.authority_peer_id = 5; }).find("authority_peer_id"),
            std::string::npos);
  EXPECT_NE(refused_for([](auto& role) { role.has_local_view = 1; }).find("LATTICE_ROLE_HOST"),
            std::string::npos);
  EXPECT_NE(refused_for([](auto& role) { role.is_authority = 0; }).find("is_authority"), std::string::npos);
}

TEST_F(Contract, ANetworkOutlivesItsWorlds) {
  EXPECT_EQ(lattice_netsim_destroy(netsim_), LATTICE_ERROR_NOT_ALLOWED);
  EXPECT_NE(std::string(lattice_last_error()).find("2 worlds"), std::string::npos);
}

TEST_F(Contract, TheSnapshotRateFollowsALowTickRate) {
  lattice_world_config wanted = config("10.0.0.7:7000");
  wanted.issuer_public_keys = issuer_;
  wanted.issuer_public_key_count = 1;
  wanted.tick_rate_hz = 20;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  lattice_world* world = lattice_world_create(&wanted, &role);
  EXPECT_NE(world, nullptr) << lattice_last_error();
  lattice_world_destroy(world);
  wanted.snapshot_rate_hz = 25;
  EXPECT_EQ(lattice_world_create(&wanted, &role), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
}

TEST_F(Contract, MissingUserDataIsNamed) {
  lattice_token_request request;
  lattice_token_request_init(&request);
  request.user_data_bytes = 8;
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  EXPECT_EQ(lattice_token_issue(seed_, &request, token, sizeof token, &bytes), LATTICE_ERROR_CONFIG);
  EXPECT_NE(std::string(lattice_last_error()).find("user_data is NULL"), std::string::npos);
}

TEST_F(Contract, AHostNameIsAnAddressToBind) {
  lattice_world_config wanted = config("localhost:0");
  wanted.netsim = nullptr;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
  lattice_world* world = lattice_world_create(&wanted, &role);
  EXPECT_NE(world, nullptr) << lattice_last_error();
  lattice_world_destroy(world);
  wanted.bind_address = "no-such-host.invalid:0";
  EXPECT_EQ(lattice_world_create(&wanted, &role), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_ADDRESS);
  EXPECT_NE(std::string(lattice_last_error()).find("no-such-host"), std::string::npos);
}

}  // namespace
}  // namespace lattice::test::contract_test
