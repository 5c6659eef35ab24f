// lattice_last_error() names the cause that there is, and the values that matter.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "lattice/lattice.hpp"

namespace lattice::test::error_text_test {
namespace {

LATTICE_NETWORKED(Pawn, (steps, uint32))
LATTICE_NETWORKED(Crate, (weight, uint32))
LATTICE_NETWORKED(Hinge, (position, vec2, BOUNDS(-100, 100, 1.0 / 64)), (notch, uint32, RANGED(2, 9)))
LATTICE_NETWORKED(Stick, (right, int8))
LATTICE_NETWORKED(Say, (text, string, STRING(16)))

constexpr lattice::Type<Pawn> kPawn{.id = 1, .name = "Pawn", .flags = LATTICE_TYPE_PREDICTED};
constexpr lattice::Type<Crate> kCrate{.id = 2, .name = "Crate"};
constexpr lattice::Rpc<Say> kAsk{.id = 1, .name = "ask"};
constexpr lattice::Rpc<> kWave{.id = 2, .name = "wave", .target = LATTICE_RPC_TO_OWNER};
constexpr lattice::Rpc<> kCheer{.id = 3, .name = "cheer", .target = LATTICE_RPC_TO_ALL};
constexpr lattice_channel kOrdered = LATTICE_CHANNEL_RELIABLE_ORDERED;

struct Game {
  lattice::World world;
  std::vector<std::string> log;
  std::function<void()> in_tick, at_end;
  std::vector<std::string> events;
  int cheers = 0;

  void on_rpc(const lattice::Call& call) { cheers += call.is(kCheer) ? 1 : 0; }
  void on_tick(const lattice_tick_context&) {
    if (in_tick) in_tick();
  }
  void on_despawn(lattice_netid) { events.emplace_back("despawn"); }
  void on_disconnected(lattice::Connection, int) {
    events.emplace_back("disconnected");
    if (at_end) at_end();
  }
};

class ErrorText : public testing::Test {
 protected:
  static constexpr const char* kServer = "10.0.0.1:1";

  void start(Game& game, lattice_role role, const char* address) {
    lattice::WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role != LATTICE_ROLE_CLIENT;
    config.log_ctx = &game;
    config.log = [](void* ctx, lattice_log_level, const char*, const char* text) {
      static_cast<Game*>(ctx)->log.emplace_back(text);
    };
    network.attach(config);
    game.world = lattice::World::create(config, role);
    ASSERT_TRUE(game.world) << lattice_last_error();
    ASSERT_EQ(game.world.add(kPawn, kAsk, kWave, kCheer), LATTICE_OK) << lattice_last_error();
    ASSERT_EQ(game.world.add_input<Stick>(), LATTICE_OK) << lattice_last_error();
    ASSERT_EQ(game.world.set_callbacks(game), LATTICE_OK);
  }
  void SetUp() override {
    start(server, LATTICE_ROLE_DEDICATED, kServer);
    start(client, LATTICE_ROLE_CLIENT, "10.0.0.2:1");
  }
  void run(int ms) {
    for (; ms > 0; ms -= 4) {
      server.world.pump();
      client.world.pump();
      network.advance(4'000'000);
    }
  }
  void join() {
    connection = client.world.connect_for_development(kServer);
    ASSERT_TRUE(connection) << lattice_last_error();
    run(1000);
    ASSERT_NE(client.world.local_peer(), 0u);
  }
  /// The last call failed with `code`, and its text has all of `words`.
  static void expect_error(lattice_result code, const std::vector<std::string>& words) {
    EXPECT_STREQ(lattice_result_name(lattice_last_result()), lattice_result_name(code));
    const std::string text = lattice_last_error();
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
  }

  lattice::Netsim network{1};
  Game server, client;
  lattice::Connection connection;
};

TEST_F(ErrorText, ASpawnFixesTheSchemaAndIsNamed) {
  ASSERT_NE(server.world.spawn(kPawn), 0u) << lattice_last_error();
  server.world.add(kCrate);
  expect_error(LATTICE_ERROR_SCHEMA, {"pump", "lattice_connect()", "lattice_spawn()", "lattice_set_input()"});
  server.world.add_input<Stick>();
  expect_error(LATTICE_ERROR_SCHEMA, {"lattice_spawn()"});
}

TEST_F(ErrorText, TheSameTypeTwiceIsNotAQuestionOfItsNumber) {
  server.world.add(kPawn);
  expect_error(LATTICE_ERROR_SCHEMA, {"'Pawn' is registered already"});
  EXPECT_EQ(std::string(lattice_last_error()).find("another type_id"), std::string::npos);
}

TEST_F(ErrorText, ACallThatIsNotAsDeclaredNamesBothValues) {
  join();
  const lattice_netid pawn = server.world.spawn(kPawn, client.world.local_peer());
  run(500);
  Say say;
  const lattice_rpc_target to_server = LATTICE_RPC_TO_SERVER;
  lattice_rpc(client.world, pawn, 1, to_server, LATTICE_CHANNEL_UNRELIABLE, &say, sizeof say);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT,
               {"'ask'", "channel LATTICE_CHANNEL_RELIABLE_ORDERED", "names LATTICE_CHANNEL_UNRELIABLE."});
  lattice_rpc(client.world, pawn, 3, to_server, kOrdered, nullptr, 0);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT,
               {"'cheer'", "target LATTICE_RPC_TO_ALL", "names LATTICE_RPC_TO_SERVER"});
  lattice_rpc(client.world, pawn, 1, to_server, kOrdered, &say, sizeof say - 1);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT,
               {"'ask'", std::to_string(sizeof say) + " bytes", "gives " + std::to_string(sizeof say - 1)});
  lattice_rpc(client.world, pawn, 9, to_server, kOrdered, nullptr, 0);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT, {"'Pawn' has no RPC 9", "registered with their type"});
  lattice_rpc(client.world, pawn + 100, 1, to_server, kOrdered, &say, sizeof say);
  expect_error(LATTICE_ERROR_NOT_FOUND, {"no object " + std::to_string(pawn + 100)});
  lattice_rpc(client.world, pawn, 3, LATTICE_RPC_TO_ALL, kOrdered, nullptr, 0);
  expect_error(LATTICE_ERROR_NOT_ALLOWED, {"client", "LATTICE_RPC_TO_SERVER"});
  lattice_rpc(server.world, pawn, 1, to_server, kOrdered, &say, sizeof say);
  expect_error(LATTICE_ERROR_NOT_ALLOWED, {"dedicated server"});
  lattice_rpc_to(server.world, pawn, 3, 77, kOrdered, nullptr, 0);
  expect_error(LATTICE_ERROR_NOT_FOUND, {"Peer 77"});
  const lattice_netid unowned = server.world.spawn(kPawn);
  server.world.call(unowned, kWave);
  expect_error(LATTICE_ERROR_NOT_FOUND, {"has no owner"});
}

TEST_F(ErrorText, ACallWithoutAConnectionSaysSo) {
  Say say;
  client.world.call(2, kAsk, say);
  expect_error(LATTICE_ERROR_NOT_CONNECTED, {"not connected"});
  client.world.pump();
  client.world.call(2, kAsk, say);
  expect_error(LATTICE_ERROR_NOT_CONNECTED, {"not connected"});
  join();
  const lattice_netid pawn = server.world.spawn(kPawn);
  run(500);
  lattice_result at_end = LATTICE_OK;
  client.at_end = [&] { at_end = client.world.call(pawn, kAsk, say); };
  EXPECT_EQ(client.world.call(pawn, kAsk, say), LATTICE_OK) << lattice_last_error();
  connection.disconnect();
  run(500);
  EXPECT_EQ(at_end, LATTICE_ERROR_NOT_CONNECTED);
  client.world.call(pawn, kAsk, say);
  expect_error(LATTICE_ERROR_NOT_CONNECTED, {"not connected"});
}

TEST_F(ErrorText, ACallBeforeTheFirstPump) {
  server.world.call(2, kCheer);
  expect_error(LATTICE_ERROR_NOT_FOUND, {"no object 2", "The world has not been pumped yet."});
  const lattice_netid pawn = server.world.spawn(kPawn);
  EXPECT_EQ(server.world.call(pawn, kCheer), LATTICE_OK) << lattice_last_error();
  lattice_rpc_to(server.world, pawn, 3, 2, kOrdered, nullptr, 0);
  expect_error(LATTICE_ERROR_NOT_FOUND, {"Peer 2", "The world has not been pumped yet."});
  server.world.pump();
  lattice_rpc_to(server.world, pawn, 3, 2, kOrdered, nullptr, 0);
  expect_error(LATTICE_ERROR_NOT_FOUND, {"Peer 2"});
  EXPECT_EQ(std::string(lattice_last_error()).find("pumped"), std::string::npos);
}

TEST_F(ErrorText, ATickThatIsNotNext) {
  client.world.tick(5);
  expect_error(LATTICE_ERROR_OUT_OF_ORDER, {"not connected"});
  const uint32_t next = server.world.next_tick();
  server.world.tick(next + 3);
  expect_error(LATTICE_ERROR_OUT_OF_ORDER,
               {"tick " + std::to_string(next) + ", not " + std::to_string(next + 3)});
  EXPECT_EQ(server.world.tick(next), LATTICE_OK) << lattice_last_error();
}

TEST_F(ErrorText, WhatACallbackMayNotDo) {
  std::string destroy, pump;
  server.in_tick = [&] {
    lattice_world_destroy(server.world);
    destroy = lattice_last_error();
    server.world.pump();
    pump = lattice_last_error();
  };
  run(100);
  EXPECT_NE(destroy.find("Destroy it outside of its callbacks"), std::string::npos) << destroy;
  EXPECT_EQ(destroy.find("recv"), std::string::npos) << destroy;
  EXPECT_NE(pump.find("inside a callback"), std::string::npos) << pump;
}

TEST_F(ErrorText, AnUnknownOptionIsUnknownToAnAuthorityToo) {
  for (const Game* game : {&server, &client}) {
    lattice_set_option(game->world, std::bit_cast<lattice_option>(17), 1);
    expect_error(LATTICE_ERROR_INVALID_ARGUMENT, {"no option 17"});
  }
  lattice_set_option(server.world, LATTICE_OPTION_SMOOTHING, 1);
  expect_error(LATTICE_ERROR_NOT_ALLOWED, {"client"});
}

TEST_F(ErrorText, AnAddressIsToldWhatIsWrongWithIt) {
  const lattice::Token token = client.world.dev_token(kServer);
  ASSERT_TRUE(token);
  client.world.connect("127.0.0.1:99999", token);
  expect_error(LATTICE_ERROR_ADDRESS, {"'127.0.0.1:99999'", "the port is not in 0..65535"});
  client.world.connect("127.0.0.1", token);
  expect_error(LATTICE_ERROR_ADDRESS, {"not host:port"});
  client.world.connect("no-such-host.invalid:1", token);
  expect_error(LATTICE_ERROR_ADDRESS, {"does not resolve"});
  client.world.dev_token("127.0.0.1:99999");
  expect_error(LATTICE_ERROR_ADDRESS, {"the port is not in 0..65535"});
  lattice::WorldConfig config;
  network.attach(config);
  config.bind_address = "127.0.0.1:99999";
  EXPECT_FALSE(lattice::World::create(config, LATTICE_ROLE_CLIENT));
  expect_error(LATTICE_ERROR_ADDRESS, {"bind_address '127.0.0.1:99999'", "the port is not in 0..65535"});
}

TEST_F(ErrorText, ATokenThatWasUsed) {
  const lattice::Token token = client.world.dev_token(kServer);
  lattice::Connection first = client.world.connect(kServer, token);
  ASSERT_TRUE(first) << lattice_last_error();
  run(500);
  first.disconnect();
  run(500);
  client.world.connect(kServer, token);
  expect_error(
      LATTICE_ERROR_TOKEN,
      {"made for a client key that this world no longer holds: it was used, or made for another world"});
}

TEST_F(ErrorText, ATokenForAnotherProtocolVersionIsRefusedAtOnceAndBothAreNamed) {
  const lattice::Token made = client.world.dev_token(kServer);
  const std::span<const uint8_t> bytes = made;
  std::vector<uint8_t> token(bytes.begin(), bytes.end());
  token[35] += 1;  // protocol_id: "LT", minor, major
  client.world.connect(kServer, token);
  expect_error(LATTICE_ERROR_TOKEN, {"is for protocol version 2.0", "this library speaks 1.0"});
}

TEST_F(ErrorText, TheLogSaysWhoCameAndWhereAClientWent) {
  join();
  const auto last_of = [](const Game& game) { return game.log.empty() ? std::string() : game.log.back(); };
  EXPECT_NE(last_of(server).find("connected from 10.0.0.2:1"), std::string::npos) << last_of(server);
  EXPECT_NE(last_of(client).find("connected to 10.0.0.1:1"), std::string::npos) << last_of(client);
}

TEST_F(ErrorText, AllZeroKeysOfATokenAreNamed) {
  uint8_t seed[LATTICE_KEY_BYTES], issuer[LATTICE_KEY_BYTES], token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  ASSERT_EQ(lattice_issuer_generate(seed, issuer), LATTICE_OK);
  lattice::TokenRequest request;
  request.client_public_key[3] = 1;
  lattice_token_issue(seed, &request, token, sizeof token, &bytes);
  expect_error(LATTICE_ERROR_CONFIG, {"lattice_token_request.server_public_key is all zero"});
  request.server_public_key[31] = 1;
  EXPECT_EQ(lattice_token_issue(seed, &request, token, sizeof token, &bytes), LATTICE_OK);
  request.client_public_key[3] = 0;
  lattice_token_issue(seed, &request, token, sizeof token, &bytes);
  expect_error(LATTICE_ERROR_CONFIG, {"lattice_token_request.client_public_key is all zero"});
}

TEST_F(ErrorText, SecretsOfZerosAreRefusedInASentence) {
  uint8_t zero[LATTICE_SERVER_IDENTITY_BYTES] = {}, public_key[LATTICE_KEY_BYTES],
          token[LATTICE_TOKEN_MAX_BYTES];
  size_t bytes = 0;
  lattice_issuer_public_key(zero, public_key);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT,
               {"the issuer's seed is all zero", "lattice_issuer_generate()"});
  lattice::TokenRequest request;
  request.client_public_key[3] = request.server_public_key[3] = 1;
  lattice_token_issue(zero, &request, token, sizeof token, &bytes);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT,
               {"the issuer's seed is all zero", "lattice_issuer_generate()"});
  // A half that was never filled in counts, whichever it is.
  for (const size_t filled : {size_t{99}, size_t{0}, size_t{LATTICE_KEY_BYTES}}) {
    uint8_t identity[LATTICE_SERVER_IDENTITY_BYTES] = {};
    if (filled < sizeof identity) identity[filled] = 1;
    lattice_server_identity_public_key(identity, public_key);
    expect_error(LATTICE_ERROR_INVALID_ARGUMENT, {"a key of zeros", "lattice_server_identity_generate()"});
  }
}

TEST_F(ErrorText, AFullQueueOfOneCalleeKeepsTheOthersFromNothing) {
  Game host;
  start(host, LATTICE_ROLE_HOST, "10.0.0.3:1");
  connection = client.world.connect_for_development("10.0.0.3:1");
  ASSERT_TRUE(connection) << lattice_last_error();
  const auto run_both = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      host.world.pump();
      client.world.pump();
      network.advance(4'000'000);
    }
  };
  run_both(250);
  const lattice_netid pawn = host.world.spawn(kPawn);
  run_both(100);
  // The host's own player hears in the next pump only, so its queue fills first.
  int calls = 1;
  while (host.world.call(pawn, kCheer) == LATTICE_OK && calls < 1000) ++calls;
  expect_error(LATTICE_ERROR_WOULD_BLOCK, {"do not call all of them again"});
  run_both(100);
  EXPECT_EQ(client.cheers, calls);
  EXPECT_EQ(host.cheers, calls - 1);
}

TEST_F(ErrorText, ARefusedValueOfAPlacedObjectIsNamedWithItsBounds) {
  constexpr lattice::Type<Hinge> kHinge{.id = 4, .name = "Hinge"};
  ASSERT_EQ(server.world.add(kHinge), LATTICE_OK) << lattice_last_error();
  Hinge hinge;
  hinge.notch = 3;
  hinge.position.y = 150;
  server.world.place(7, kHinge, hinge);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT,
               {"the key 7", "Hinge.position.y is 150 and takes -100 to 100."});
  hinge.position.y = 50;
  hinge.notch = 10;
  server.world.place(7, kHinge, hinge);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT, {"Hinge.notch is 10 and takes 2 to 9."});
  hinge.notch = 9;
  EXPECT_EQ(server.world.place(7, kHinge, hinge), LATTICE_OK) << lattice_last_error();
}

TEST_F(ErrorText, APlacedObjectFixesTheSchemaAndIsNamed) {
  ASSERT_EQ(server.world.place(1, kPawn, Pawn{}), LATTICE_OK) << lattice_last_error();
  server.world.add(kCrate);
  expect_error(LATTICE_ERROR_SCHEMA, {"lattice_place()"});
  server.world.add_input<Stick>();
  expect_error(LATTICE_ERROR_SCHEMA, {"lattice_place()"});
}

TEST_F(ErrorText, APropertyThatIsMissingAndOneOfAnotherSizeAreNotTheSame) {
  const lattice_netid pawn = server.world.spawn(kPawn);
  const uint8_t byte = 1;
  lattice_set_prop(server.world, pawn, 9, &byte, 1);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT, {"has no property 0x0009"});
  lattice_set_prop(server.world, pawn, 0, &byte, 1);
  expect_error(LATTICE_ERROR_INVALID_ARGUMENT, {"0x0000 (Pawn.steps) has 4 bytes", "gives 1."});
}

// ---- What the headers promise of the end of a connection and of resimulated ticks

TEST_F(ErrorText, AClientHearsOfTheEndAndThenOfItsObjects) {
  join();
  server.world.spawn(kPawn);
  server.world.spawn(kPawn);
  run(500);
  connection.disconnect();
  run(500);
  EXPECT_EQ(client.events, (std::vector<std::string>{"disconnected", "despawn", "despawn"}));
}

}  // namespace
}  // namespace lattice::test::error_text_test
