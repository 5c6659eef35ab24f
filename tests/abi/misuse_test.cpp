// Every exported function, misused in every way its declaration allows (misuse_test.h, make_misuse_test.py):
// nothing crashes, and the result says what was wrong.
#include "misuse_test.h"

#include <gtest/gtest.h>

namespace lattice::misuse {
namespace {

constexpr const char* kPoison = "There is no preset 4294967295";

lattice_result register_things(lattice_world* world) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "value";
  member.type = LATTICE_WIRE_INT32;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Thing";
  structure.host_bytes = sizeof(Thing);
  structure.host_align = alignof(Thing);
  structure.members = &member;
  structure.member_count = 1;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_rpc_desc rpc;
  lattice_rpc_desc_init(&rpc);
  rpc.rpc_id = kThingRpc;
  rpc.name = "poke";
  rpc.arguments = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = kThingType;
  type.name = "Thing";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  type.rpcs = &rpc;
  type.rpc_count = 1;
  if (const lattice_result bad = lattice_register_type(world, &type)) return bad;
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &structure;
  return lattice_register_input(world, &input);
}

lattice_world* make_world(Worlds& f, lattice_role role, const char* address, const uint8_t* issuer) {
  lattice_world_config_init(&f.config);
  f.config.netsim = f.netsim;
  f.config.bind_address = address;
  f.config.clock = lattice_netsim_clock;
  f.config.clock_ctx = f.netsim;
  f.config.max_connections = 4;
  f.config.max_objects = 64;
  f.config.issuer_public_keys = issuer;
  f.config.issuer_public_key_count = issuer != nullptr ? 1 : 0;
  f.config.transfer_channel = 4;
  f.config.interest_kind = LATTICE_INTEREST_GRID;
  lattice_role_context_init(&f.role, role);
  lattice_world* world = lattice_world_create(&f.config, &f.role);
  EXPECT_NE(world, nullptr) << lattice_last_error();
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = [](void* ctx, lattice_conn* conn) { *static_cast<lattice_conn**>(ctx) = conn; };
  lattice_set_callbacks(world, &callbacks, role == LATTICE_ROLE_CLIENT ? &f.client_conn : &f.server_conn);
  EXPECT_EQ(register_things(world), LATTICE_OK) << lattice_last_error();
  return world;
}

void pump(Worlds& f, int steps) {
  for (int i = 0; i < steps; ++i) {
    lattice_world_pump(f.server);
    lattice_world_pump(f.client);
    lattice_netsim_advance(f.netsim, 10'000'000);
  }
}

}  // namespace

Worlds::Worlds(Stage stage, bool is_client) {
  stale_netsim = lattice_netsim_create(1);
  lattice_netsim_destroy(stale_netsim);
  netsim = lattice_netsim_create(1);
  uint8_t seed[LATTICE_KEY_BYTES];
  uint8_t issuer[LATTICE_KEY_BYTES];
  lattice_issuer_generate(seed, issuer);
  stale_world = make_world(*this, LATTICE_ROLE_DEDICATED, "10.0.0.9:9000", issuer);
  lattice_world_destroy(stale_world);
  server = make_world(*this, LATTICE_ROLE_DEDICATED, "10.0.0.1:1000", issuer);
  client = make_world(*this, LATTICE_ROLE_CLIENT, "10.0.0.2:2000", nullptr);
  config.bind_address = "10.0.0.3:3000";
  lattice_token_request request;
  lattice_token_request_init(&request);
  lattice_world_public_key(server, request.server_public_key);
  const auto issue = [&] {
    lattice_world_new_client_key(client, request.client_public_key);
    EXPECT_EQ(lattice_token_issue(seed, &request, token, sizeof token, &token_bytes), LATTICE_OK);
  };
  issue();
  const auto connect = [&] {
    EXPECT_NE(lattice_connect(client, "10.0.0.1:1000", token, token_bytes), nullptr) << lattice_last_error();
    pump(*this, 30);
    EXPECT_TRUE(server_conn != nullptr && client_conn != nullptr);
    issue();
  };
  // A connection that has ended; before the first, something of the shape of one.
  if (stage != Stage::kFresh) {
    connect();
    stale_conn = is_client ? client_conn : server_conn;
    lattice_disconnect(client_conn);
    pump(*this, 60);
    client_conn = server_conn = nullptr;
  } else {
    stale_conn = reinterpret_cast<lattice_conn*>(uintptr_t{2} << 62);
  }
  if (stage == Stage::kConnected) {
    connect();
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    EXPECT_EQ(lattice_conn_get_info(server_conn, &info), LATTICE_OK);
    peer = info.peer_id;
    object = lattice_spawn_for(server, kThingType, LATTICE_AUTHORITY_SERVER, peer);
    EXPECT_NE(object, 0u) << lattice_last_error();
    pump(*this, 30);
    EXPECT_EQ(lattice_objects(client, 0, nullptr, 0), 1u);
  }
  world = is_client ? client : server;
  conn = is_client ? client_conn : server_conn;
}

Worlds::~Worlds() {
  lattice_world_destroy(client);
  lattice_world_destroy(server);
  lattice_netsim_destroy(netsim);
}

uint32_t Worlds::next_tick() const {
  return lattice_world_next_tick(world);
}

void poison_last_result() {
  lattice_impairment_preset_name(UINT32_MAX);
}

void expect_result(const char* function, const char* what, Expect expectation, Returned returned) {
  const lattice_result result = lattice_last_result();
  const std::string text = lattice_last_error();
  SCOPED_TRACE(std::string(function) + ", " + what + ": " + lattice_result_name(result) + " " + text);
  const bool is_poison = text.find(kPoison) != std::string::npos;
  const bool asked_the_same = std::string(function) == "lattice_impairment_preset_name";
  if (expectation == Expect::kExempt) {
    EXPECT_TRUE(is_poison) << "the comment says that it does not set the last result";
    return;
  }
  EXPECT_TRUE(!is_poison || asked_the_same) << "lattice_last_result() was not set";
  EXPECT_EQ(text.empty(), result == LATTICE_OK);
  EXPECT_STRNE(lattice_result_name(result), "unknown");
  if (returned) {
    EXPECT_EQ(*returned, result) << "it returned something else";
  }
  if (expectation == Expect::kOk) {
    EXPECT_EQ(result, LATTICE_OK);
  }
  if (expectation == Expect::kInvalid) {
    EXPECT_EQ(result, LATTICE_ERROR_INVALID_ARGUMENT);
  }
  if (expectation == Expect::kStale) {
    EXPECT_EQ(result, LATTICE_ERROR_STALE_HANDLE);
  }
  if (expectation == Expect::kRefused) {
    EXPECT_NE(result, LATTICE_OK);
  }
}

namespace {

void misuse_everything(Stage stage) {
  for (const bool is_client : {false, true}) {
    for (const Misuse& misuse : misuses()) {
      SCOPED_TRACE(is_client ? "client" : "authority");
      Worlds worlds(stage, is_client);
      misuse.run(worlds);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Misuse, OfEveryFunctionBeforeConnecting) {
  misuse_everything(Stage::kFresh);
}
TEST(Misuse, OfEveryFunctionWhileConnected) {
  misuse_everything(Stage::kConnected);
}
TEST(Misuse, OfEveryFunctionAfterTheEnd) {
  misuse_everything(Stage::kEnded);
}
TEST(Misuse, InitialisersLeaveNothingAlone) {
  initialise_null();
}

}  // namespace
}  // namespace lattice::misuse
