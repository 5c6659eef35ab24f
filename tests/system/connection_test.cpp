// Connecting, being refused, and losing the other side, through the public interface.
#include "connection_pair.h"
#include "refusal_count.h"

namespace lattice::test::connection_test {
namespace {

using namespace lattice::test;

TEST(Connection, TakesTwoRoundTrips) {
  Pair pair(50);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr) << lattice_last_error();
  pair.run_ms(195);
  EXPECT_EQ(pair.client_events.connected, 0);
  pair.run_ms(20);
  EXPECT_EQ(pair.client_events.connected, 1);
  pair.run_ms(100);
  EXPECT_EQ(pair.server_events.connected, 1);
  EXPECT_EQ(lattice_local_peer(pair.client), 2u);
}

TEST(Connection, SchemaMismatchIsNamedOnBothSidesWithBothHashes) {
  Pair pair;
  add_type(pair.client, "Crate");
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(1000);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH);
  EXPECT_EQ(pair.client_events.remote_schema, lattice_world_schema_id(pair.server));
  EXPECT_NE(pair.client_events.remote_schema, lattice_world_schema_id(pair.client));
  EXPECT_GE(refusals(pair.server, "server_schema_mismatch"), 1u);
  EXPECT_EQ(pair.server_events.connected, 0);
  EXPECT_EQ(pair.client_events.schema_differences,
            (std::vector<std::string>{"Crate: only the client has it"}));
}

TEST(Connection, AnExpiredTokenIsRefusedAndSaysSo) {
  Pair pair;
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 4000)), nullptr);
  pair.run_ms(11000);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TOKEN_EXPIRED);
  EXPECT_GE(refusals(pair.server, "server_token_expired"), 1u);
}

TEST(Connection, ATokenFromTheFutureIsMetWithSilence) {
  Pair pair;
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix + 4000)), nullptr);
  pair.run_ms(11000);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_NO_ANSWER);
  EXPECT_GE(refusals(pair.server, "server_token_not_yet_valid"), 1u);
}

TEST(Connection, ATokenOfAnotherIssuerIsRefused) {
  Pair pair;
  uint8_t other_seed[32];
  uint8_t other_public[32];
  ASSERT_EQ(lattice_issuer_generate(other_seed, other_public), LATTICE_OK);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix, other_seed)), nullptr);
  pair.run_ms(11000);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TIMEOUT);
  EXPECT_GE(refusals(pair.server, "server_unknown_issuer"), 1u);
  EXPECT_EQ(pair.server_events.connected, 0);
}

TEST(Connection, ATokenForAnotherServerIsMetWithSilence) {
  Pair pair;
  const uint8_t elsewhere[32] = {1, 2, 3};
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix, nullptr, elsewhere)), nullptr);
  pair.run_ms(11000);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_NO_ANSWER);
  EXPECT_EQ(pair.client_events.text, "no answer: server absent or its key changed");
  EXPECT_GE(refusals(pair.server, "server_token_foreign"), 1u);
  EXPECT_EQ(pair.server_events.connected, 0);
}

TEST(Connection, ATokenWorksOnce) {
  Pair pair;
  const std::string token = pair.token(pair.client);
  ASSERT_NE(pair.connect(pair.client, token), nullptr);
  pair.run_ms(500);
  ASSERT_EQ(pair.client_events.connected, 1);
  // Its key is spent with it: the client itself refuses, and says what to do.
  Events events;
  lattice_world* thief = pair.make_client("10.0.0.3:1000", &events);
  EXPECT_EQ(pair.connect(thief, token), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_TOKEN);
  EXPECT_NE(std::string(lattice_last_error()).find("lattice_world_new_client_key"), std::string::npos);
  lattice_world_destroy(thief);
}

TEST(Connection, StatisticsSeeWhatNewcomersCostAndWhatHeldThePumpUp) {
  Pair pair;
  const auto stats = [&pair] {
    lattice_world_stats out;
    lattice_world_stats_init(&out);
    EXPECT_EQ(lattice_world_get_stats(pair.server, &out), LATTICE_OK);
    return out;
  };
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(stats().handshakes_verified, 1u);
  const uint64_t quiet_ns = stats().pump_gap_max_ns;
  EXPECT_GT(quiet_ns, 0u);
  EXPECT_LT(quiet_ns, 50'000'000u);
  lattice_netsim_advance(pair.net, 190'000'000);
  pair.run_ms(500);
  EXPECT_GE(stats().pump_gap_max_ns, 190'000'000u);
  EXPECT_LT(stats().pump_gap_max_ns, 190'000'000u + 50'000'000u);
}

TEST(Connection, AFullServerSaysSo) {
  Pair pair(10, 1);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  ASSERT_EQ(pair.client_events.connected, 1);
  Events events;
  lattice_world* second = pair.make_client("10.0.0.3:1000", &events);
  ASSERT_NE(pair.connect(second, pair.token(second)), nullptr);
  for (int i = 0; i < 1000; ++i) {
    pair.run_ms(1);
    lattice_world_pump(second);
  }
  EXPECT_EQ(events.reason, LATTICE_DISCONNECT_SERVER_FULL);
  lattice_world_destroy(second);
}

TEST(Connection, AKilledClientTimesOutAndItsResourcesReturn) {
  Pair pair(10, 1);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  ASSERT_EQ(pair.server_events.connected, 1);
  lattice_world_destroy(pair.client);
  pair.client = nullptr;
  pair.run_ms(11000);
  EXPECT_EQ(pair.server_events.disconnected, 1);
  EXPECT_EQ(pair.server_events.reason, LATTICE_DISCONNECT_TIMEOUT);
  // The one slot is free again.
  pair.client = pair.make_client("10.0.0.2:1000", &pair.client_events);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.server_events.connected, 2);
}

TEST(Connection, AKilledServerTimesOut) {
  Pair pair(10);
  lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
  pair.run_ms(500);
  lattice_world_destroy(pair.server);
  pair.server = nullptr;
  pair.run_ms(11000);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TIMEOUT);
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(lattice_conn_get_info(conn, &info), LATTICE_ERROR_STALE_HANDLE);
}

TEST(Connection, DisconnectReachesTheOtherSideWithItsReason) {
  Pair pair(10);
  lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
  pair.run_ms(500);
  ASSERT_EQ(lattice_disconnect_with(conn, 300, "bored"), LATTICE_OK);
  pair.run_ms(500);
  EXPECT_EQ(pair.server_events.disconnected, 1);
  EXPECT_EQ(pair.server_events.reason, 300);
  EXPECT_EQ(pair.client_events.disconnected, 1);
}

TEST(Connection, TheAuthorityMayGiveEveryReasonOfAServer) {
  Pair pair(10);
  lattice_conn* on_server = nullptr;
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_connected = [](void* ctx, lattice_conn* conn) { *static_cast<lattice_conn**>(ctx) = conn; };
  ASSERT_EQ(lattice_set_callbacks(pair.server, &callbacks, &on_server), LATTICE_OK);
  for (int reason = LATTICE_DISCONNECT_REQUESTED; reason <= LATTICE_DISCONNECT_HOST_LEFT; ++reason) {
    ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr) << lattice_last_error();
    pair.run_ms(500);
    const bool legal = reason != LATTICE_DISCONNECT_TIMEOUT;
    EXPECT_EQ(lattice_disconnect_with(on_server, reason, nullptr),
              legal ? LATTICE_OK : LATTICE_ERROR_INVALID_ARGUMENT)
        << reason;
    lattice_disconnect(on_server);  // If it goes on.
    pair.run_ms(500);
    EXPECT_EQ(pair.client_events.reason, legal ? reason : LATTICE_DISCONNECT_KICKED);
  }
}

// The lines of the category "connection", each with its level before it.
void log_into(lattice_world_config& config, std::vector<std::string>* lines) {
  config.log_ctx = lines;
  config.log = [](void* ctx, lattice_log_level level, const char* category, const char* text) {
    if (std::strcmp(category, "connection") != 0) return;
    static_cast<std::vector<std::string>*>(ctx)->push_back(
        (level == LATTICE_LOG_WARNING ? "warning " : "info ") + std::string(text));
  };
}

TEST(Connection, TheLogSaysWhoEndedItAndQuotesThePeer) {
  Pair pair(10);
  std::vector<std::string> on_server, on_client;
  lattice_world_config config = pair.server_config();
  log_into(config, &on_server);
  lattice_world_destroy(pair.server);
  pair.start_server(config);
  config = pair.base("10.0.0.2:1000");
  log_into(config, &on_client);
  lattice_world_destroy(pair.client);
  pair.client = pair.make_client(config, &pair.client_events);
  const auto ended_lines = [&](int reason, const char* text) {
    lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
    pair.run_ms(500);
    EXPECT_EQ(lattice_disconnect_with(conn, reason, text), LATTICE_OK);
    pair.run_ms(500);
    const auto end_of = [](const std::string& line) {
      const size_t said = line.find(": ") + 2;
      return line.substr(0, line.find(' ') + 1) + line.substr(said, line.find("; player ") - said);
    };
    return end_of(on_server.back()) + " | " + end_of(on_client.back());
  };
  EXPECT_EQ(ended_lines(300, "bored"),
            "info ended by the peer: application \"bored\" | info ended here: application (bored)");
  EXPECT_EQ(ended_lines(LATTICE_DISCONNECT_REQUESTED, nullptr),
            "info ended by the peer: requested | info ended here: requested");
  // What a peer says raises no warning, and does not get out of its quotes.
  EXPECT_EQ(ended_lines(LATTICE_DISCONNECT_INTERNAL_ERROR, "a\" \\b"),
            "info ended by the peer: internal_error \"a\\\" \\\\b\" | warning ended here: internal_error "
            "(a\" \\b)");
}

TEST(Connection, IssuersChangeWhileTheServerRuns) {
  Pair pair(5);
  pair.connect(pair.client, pair.token(pair.client));
  pair.run_ms(300);
  ASSERT_EQ(pair.client_events.connected, 1);
  uint8_t new_seed[32], keys[64] = {};
  ASSERT_EQ(lattice_issuer_generate(new_seed, keys), LATTICE_OK);
  const auto joins = [&](const char* address, const uint8_t* seed) {
    Events events;
    lattice_world* world = pair.make_client(address, &events);
    EXPECT_NE(pair.connect(world, pair.token(world, kUnix, seed)), nullptr);
    for (int ms = 0; ms < 400; ++ms) {
      lattice_world_pump(world);
      pair.run_ms(1);
    }
    lattice_world_destroy(world);
    return events.connected == 1;
  };
  EXPECT_FALSE(joins("10.0.1.1:1", new_seed));
  EXPECT_EQ(lattice_world_set_issuers(pair.server, keys, 2), LATTICE_ERROR_INVALID_ARGUMENT) << "a zero key";
  EXPECT_EQ(lattice_world_set_issuers(pair.server, keys, 0), LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_world_set_issuers(pair.client, keys, 1), LATTICE_ERROR_NOT_ALLOWED);
  std::memcpy(keys + 32, pair.issuer, 32);
  ASSERT_EQ(lattice_world_set_issuers(pair.server, keys, 2), LATTICE_OK) << lattice_last_error();
  EXPECT_TRUE(joins("10.0.1.2:1", new_seed));
  EXPECT_TRUE(joins("10.0.1.3:1", pair.seed));
  ASSERT_EQ(lattice_world_set_issuers(pair.server, keys, 1), LATTICE_OK);
  EXPECT_FALSE(joins("10.0.1.4:1", pair.seed));
  EXPECT_TRUE(joins("10.0.1.5:1", new_seed));
  EXPECT_EQ(pair.client_events.disconnected, 0) << "who is connected stays";
}

TEST(Connection, TheLogTellsTheLifeOfAConnectionAtItsEnd) {
  Pair pair(11);
  std::vector<std::string> on_server;
  lattice_world_config config = pair.server_config();
  config.connection_timeout_ms = 4000;
  log_into(config, &on_server);
  lattice_world_destroy(pair.server);
  pair.start_server(config);
  pair.player[0] = 7;
  pair.connect(pair.client, pair.token(pair.client));
  pair.run_ms(3000);
  ASSERT_EQ(pair.server_events.connected, 1);
  lattice_conn_info info;
  lattice_conn_info_init(&info);
  ASSERT_EQ(lattice_conn_get_info(pair.server_events.newest, &info), LATTICE_OK);
  EXPECT_NE(info.connection_id, 0u);
  lattice_conn_info of_client;
  lattice_conn_info_init(&of_client);
  ASSERT_EQ(lattice_conn_get_info(pair.client_events.newest, &of_client), LATTICE_OK);
  EXPECT_EQ(info.connection_id, of_client.connection_id);
  lattice_conn_stats stats;
  lattice_conn_stats_init(&stats);
  ASSERT_EQ(lattice_conn_get_stats(pair.server_events.newest, &stats), LATTICE_OK);
  EXPECT_NEAR(stats.connected_ms, 3000, 100);
  EXPECT_LT(stats.silent_ms, 1100);
  lattice_world* gone = pair.client;
  pair.client = nullptr;  // it is not pumped any more
  pair.run_ms(6000);
  lattice_world_destroy(gone);
  const std::string& line = on_server.back();
  char name[96];
  std::snprintf(name, sizeof name, "peer 2 (connection %016llx) at 10.0.0.2:1000: ended here: timeout",
                static_cast<unsigned long long>(info.connection_id));
  EXPECT_NE(line.find(name), std::string::npos) << line;
  for (const char* part :
       {"; player 07", ", session 0", "connected for 6.", "rtt ", "loss ", "last heard 4."}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in: " << line;
  }
}

TEST(Connection, TheLogNamesAServerThatIsGone) {
  Pair pair(10);
  std::vector<std::string> on_client;
  lattice_world_config config = pair.base("10.0.0.2:1000");
  log_into(config, &on_client);
  lattice_world_destroy(pair.client);
  pair.client = pair.make_client(config, &pair.client_events);
  pair.connect(pair.client, pair.token(pair.client));
  pair.run_ms(500);
  lattice_world_destroy(pair.server);
  pair.server = nullptr;
  pair.run_ms(11000);
  ASSERT_FALSE(on_client.empty());
  EXPECT_NE(on_client.back().find(": ended here: timeout (silence"), std::string::npos) << on_client.back();
}

TEST(Connection, ThereIsNoQualityWhileConnecting) {
  Pair pair(5);
  lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
  const auto quality = [&] {
    lattice_conn_stats stats;
    lattice_conn_stats_init(&stats);
    EXPECT_EQ(lattice_conn_get_stats(conn, &stats), LATTICE_OK) << lattice_last_error();
    return stats.quality;
  };
  pair.run_ms(10);
  ASSERT_EQ(pair.client_events.connected, 0);
  EXPECT_EQ(quality(), 0u);
  pair.run_ms(500);
  ASSERT_EQ(pair.client_events.connected, 1);
  EXPECT_EQ(quality(), 100u);
}

TEST(Connection, AClientMayComeBackAtOnce) {
  Pair pair(10);
  for (int round = 1; round <= 3; ++round) {
    lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
    ASSERT_NE(conn, nullptr) << lattice_last_error();
    EXPECT_EQ(pair.connect(pair.client, pair.token(pair.client)), nullptr) << "one connection at a time";
    pair.run_ms(300);
    ASSERT_EQ(pair.client_events.connected, round);
    lattice_disconnect(conn);
    pair.run_ms(5);  // far less than the 200 ms of goodbye
    ASSERT_EQ(pair.client_events.disconnected, round);
  }
}

TEST(Connection, AnIdleConnectionSendsAtMostTwoDatagramsPerSecond) {
  Pair pair(10);
  lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
  pair.idle_ms(3000);
  lattice_conn_stats before{};
  before.struct_size = sizeof before;
  ASSERT_EQ(lattice_conn_get_stats(conn, &before), LATTICE_OK);
  pair.idle_ms(10000);
  lattice_conn_stats after{};
  after.struct_size = sizeof after;
  ASSERT_EQ(lattice_conn_get_stats(conn, &after), LATTICE_OK);
  EXPECT_LE(after.packets_sent - before.packets_sent, 20u);
  EXPECT_NEAR(after.rtt_ms, 21.0, 3.0);
  EXPECT_EQ(after.datagram_bytes, 1472u);
  EXPECT_EQ(after.key_epoch, 0u);
  EXPECT_EQ(after.path_moves, 0u);
}

TEST(Connection, AListenServerHasAPlayerOfItsOwn) {
  lattice_netsim* net = lattice_netsim_create(3);
  uint8_t seed[32];
  uint8_t issuer[32];
  ASSERT_EQ(lattice_issuer_generate(seed, issuer), LATTICE_OK);
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "10.0.0.1:27015";
  config.netsim = net;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = net;
  config.issuer_public_keys = issuer;
  config.issuer_public_key_count = 1;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_HOST);
  lattice_world* host = lattice_world_create(&config, &role);
  ASSERT_NE(host, nullptr) << lattice_last_error();

  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "value";
  member.type = LATTICE_WIRE_INT32;
  lattice_struct_desc body;
  lattice_struct_desc_init(&body);
  body.name = "Body";
  body.host_bytes = 4;
  body.host_align = 4;
  body.members = &member;
  body.member_count = 1;
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &body;
  ASSERT_EQ(lattice_register_input(host, &input), LATTICE_OK) << lattice_last_error();
  lattice_rpc_desc rpc;
  lattice_rpc_desc_init(&rpc);
  rpc.rpc_id = 1;
  rpc.name = "knock";
  rpc.owner_only = 1;
  rpc.arguments = &body;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &body;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = 1;
  type.name = "Pawn";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  type.rpcs = &rpc;
  type.rpc_count = 1;
  ASSERT_EQ(lattice_register_type(host, &type), LATTICE_OK) << lattice_last_error();

  struct Seen {
    lattice_world* host;
    int value = 0;
    lattice_peer_id sender = 0;
  } seen{host};
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_rpc = [](void* ctx, lattice_netid, uint16_t, const void* args, size_t) {
    auto* s = static_cast<Seen*>(ctx);
    std::memcpy(&s->value, args, 4);
    s->sender = lattice_rpc_sender(s->host);
  };
  callbacks.on_tick = [](void*, lattice_world* world, const lattice_tick_context*) {
    lattice_netid id = 0;
    if (lattice_simulated_objects(world, 1, &id, 1) != 1) return;
    int32_t pressed = 0;
    EXPECT_EQ(lattice_get_input(world, 1, &pressed, sizeof pressed), 1);
    *static_cast<int32_t*>(lattice_object_state(world, id, 0)) += pressed;
  };
  ASSERT_EQ(lattice_set_callbacks(host, &callbacks, &seen), LATTICE_OK);
  const lattice_netid pawn = lattice_spawn_for(host, 1, LATTICE_AUTHORITY_SERVER, 1);
  const int32_t press = 3;
  ASSERT_EQ(lattice_set_input(host, &press, sizeof press), LATTICE_OK);
  const int32_t argument = 42;
  lattice_rpc(host, pawn, 1, LATTICE_RPC_TO_SERVER, LATTICE_CHANNEL_RELIABLE_ORDERED, &argument,
              sizeof argument);
  EXPECT_EQ(seen.value, 0);  // callbacks come inside the pump only
  for (int i = 0; i < 60; ++i) {
    lattice_netsim_advance(net, 1'000'000'000 / 60 + 1);
    lattice_world_pump(host);
  }
  EXPECT_EQ(seen.value, 42);
  EXPECT_EQ(seen.sender, 1u);
  int32_t value = 0;
  ASSERT_EQ(lattice_object_view(host, pawn, 0, &value, sizeof value), sizeof value);
  EXPECT_NEAR(value, 3 * 60, 6);
  lattice_world_destroy(host);
  lattice_netsim_destroy(net);
}

TEST(Connection, MisuseIsNamed) {
  Pair pair;
  EXPECT_EQ(pair.connect(pair.server, pair.token(pair.client)), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_ALLOWED);
  EXPECT_EQ(lattice_spawn(pair.client, 1, LATTICE_AUTHORITY_SERVER), 0u);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_ALLOWED);
  lattice_world_tick(pair.server, 77);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_OUT_OF_ORDER);
  lattice_world_config config = pair.base("10.0.0.9:1");
  config.tick_rate_hz = 1000;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
  EXPECT_EQ(lattice_world_create(&config, &role), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
  EXPECT_NE(std::string(lattice_last_error()).find("tick_rate_hz is 1000"), std::string::npos);
  lattice_world* gone = pair.make_client("10.0.0.8:1", &pair.client_events);
  lattice_world_destroy(gone);
  lattice_world_destroy(gone);
  uint8_t key[32];
  EXPECT_EQ(lattice_world_new_client_key(gone, key), LATTICE_ERROR_STALE_HANDLE);
}

}  // namespace
}  // namespace lattice::test::connection_test
