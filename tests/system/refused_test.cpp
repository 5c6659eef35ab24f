// Each way of not getting in, and what the player is told about it.
#include <cstdio>
#include <vector>

#include "connection_pair.h"
#include "refusal_count.h"

namespace lattice::test::refused_test {
namespace {

using namespace lattice::test;

/// The pair, but its client's world is made of `config`.
void replace_client(Pair& pair, const lattice_world_config& config) {
  lattice_world_destroy(pair.client);
  pair.client = pair.make_client(config, &pair.client_events);
}

TEST(Refused, AnotherTickRateIsNamedWithBothNumbers) {
  Pair pair(10);
  lattice_world_config config = pair.base("10.0.0.2:1000");
  config.tick_rate_hz = 30;
  replace_client(pair, config);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_CONFIG_MISMATCH);
  EXPECT_EQ(pair.client_events.text, "tick_rate_hz: server 60, client 30");
  EXPECT_EQ(pair.server_events.connected, 0);
  EXPECT_EQ(refusals(pair.server, "server_config_mismatch"), 1u);
}

TEST(Refused, TooLittleRoomForObjectsIsNamedWithBothNumbers) {
  Pair pair(10);
  lattice_world_config config = pair.base("10.0.0.2:1000");
  config.max_objects = 4095;
  replace_client(pair, config);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_CONFIG_MISMATCH);
  EXPECT_EQ(pair.client_events.text, "max_objects: server 4096, client 4095");
}

TEST(Refused, MoreRoomThanTheServersIsWelcome) {
  Pair pair(10);
  lattice_world_config config = pair.base("10.0.0.2:1000");
  config.max_objects = 4097;
  replace_client(pair, config);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.connected, 1);
}

TEST(Refused, AFullServerIsNamed) {
  Pair pair(10, 1);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  Events late;
  lattice_world* second = pair.make_client("10.0.0.3:1000", &late);
  ASSERT_NE(pair.connect(second, pair.token(second)), nullptr);
  for (int i = 0; i < 500; ++i) {
    pair.run_ms(1);
    lattice_world_pump(second);
  }
  EXPECT_EQ(late.reason, LATTICE_DISCONNECT_SERVER_FULL);
  lattice_world_destroy(second);
}

TEST(Refused, AClientWhoseClockIsADayAheadGetsInAllTheSame) {
  Pair pair(10);
  lattice_world_config config = pair.base("10.0.0.2:1000");
  config.unix_seconds = [](void*) -> uint64_t { return kUnix + 86400; };
  replace_client(pair, config);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.connected, 1);
}

TEST(Refused, WhereNobodyListensTheWholeBudgetIsSpentAndThenSaid) {
  // A real socket, because ICMP comes from a kernel, in virtual time.
  uint64_t now_ns = 1'000'000'000;
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "127.0.0.1:0";
  config.clock = [](void* ctx) -> uint64_t { return *static_cast<uint64_t*>(ctx); };
  config.clock_ctx = &now_ns;
  config.connect_budget_ms = 3000;
  lattice_role_context client_role;
  lattice_role_context_init(&client_role, LATTICE_ROLE_CLIENT);
  lattice_world* client = lattice_world_create(&config, &client_role);
  ASSERT_NE(client, nullptr) << lattice_last_error();
  lattice_world* neighbour = lattice_world_create(&config, &client_role);
  ASSERT_NE(neighbour, nullptr) << lattice_last_error();
  char closed[64];
  ASSERT_EQ(lattice_world_address(neighbour, closed, sizeof closed), LATTICE_OK);
  lattice_world_destroy(neighbour);
  Events events;
  install(client, &events);

  uint8_t seed[32], issuer[32];
  ASSERT_EQ(lattice_issuer_generate(seed, issuer), LATTICE_OK);
  lattice_token_request request;
  lattice_token_request_init(&request);
  request.server_public_key[0] = 9;
  ASSERT_EQ(lattice_world_new_client_key(client, request.client_public_key), LATTICE_OK);
  uint8_t token[LATTICE_TOKEN_MAX_BYTES];
  size_t token_bytes = 0;
  ASSERT_EQ(lattice_token_issue(seed, &request, token, sizeof token, &token_bytes), LATTICE_OK);
  ASSERT_NE(lattice_connect(client, closed, token, token_bytes), nullptr) << lattice_last_error();
  for (int ms = 0; ms < 2990; ms += 10, now_ns += 10'000'000) lattice_world_pump(client);
  EXPECT_EQ(events.disconnected, 0) << "anybody could have forged the report";
  for (int ms = 0; ms < 50; ms += 10, now_ns += 10'000'000) lattice_world_pump(client);
  EXPECT_EQ(events.disconnected, 1);
  // Where the system keeps no ICMP messages, or passes none, there is no answer and that is said.
  EXPECT_TRUE(events.reason == LATTICE_DISCONNECT_UNREACHABLE ||
              events.reason == LATTICE_DISCONNECT_NO_ANSWER)
      << events.reason;
#if defined(__linux__)
  EXPECT_EQ(events.reason, LATTICE_DISCONNECT_UNREACHABLE) << events.text;
#endif
  lattice_world_destroy(client);
}

// ---- What the server writes into its log

struct LoggingPair : Pair {
  std::vector<std::string> lines;
  std::vector<std::string> schema_lines;

  LoggingPair() : Pair(1) {
    lattice_world_destroy(server);
    lattice_world_config config = server_config();
    config.log_ctx = this;
    config.log = [](void* ctx, lattice_log_level level, const char* category, const char* text) {
      const bool is_schema = std::strcmp(category, "schema") == 0;
      if (!is_schema && std::strcmp(category, "connect") != 0) return;
      EXPECT_EQ(level, LATTICE_LOG_WARNING);
      auto* self = static_cast<LoggingPair*>(ctx);
      (is_schema ? self->schema_lines : self->lines).emplace_back(text);
    };
    start_server(config);
  }
  size_t lines_with(const char* words) const {
    size_t count = 0;
    for (const std::string& line : lines) count += line.find(words) != std::string::npos ? 1u : 0u;
    return count;
  }
};

TEST(RefusalLog, NamesWhoWasRefusedAndWhy) {
  LoggingPair pair;
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 4000)), nullptr);
  pair.run_ms(10);
  ASSERT_EQ(pair.lines.size(), 1u);
  EXPECT_EQ(pair.lines[0], "refused 10.0.0.2:1000: server_token_expired");
}

TEST(RefusalLog, NamesThePlayerOfTheTokenAndWhetherTheIssuerVouchesForIt) {
  LoggingPair pair;
  pair.player[0] = 0xab;
  pair.player[15] = 0x01;
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 4000)), nullptr);
  pair.run_ms(10);
  ASSERT_EQ(pair.lines.size(), 1u);
  // Nothing was verified for it: anybody may have written the name.
  EXPECT_EQ(pair.lines[0],
            "refused 10.0.0.2:1000 player ab000000000000000000000000000001 (unproven): server_token_expired");
  lattice_world_config config = pair.base("10.0.0.3:1000");
  config.tick_rate_hz = 30;
  Events events;
  lattice_world* other = pair.make_client(config, &events);
  ASSERT_NE(pair.connect(other, pair.token(other)), nullptr);
  for (int i = 0; i < 500; ++i) {
    lattice_world_pump(other);
    pair.run_ms(1);
  }
  ASSERT_GE(pair.lines.size(), 2u);
  EXPECT_EQ(pair.lines.back(),
            "refused 10.0.0.3:1000 player ab000000000000000000000000000001: server_config_mismatch: "
            "tick_rate_hz: server 60, client 30");
  lattice_world_destroy(other);
}

TEST(RefusalLog, HasTheTextThatTheClientWasTold) {
  LoggingPair pair;
  lattice_world_config config = pair.base("10.0.0.2:1000");
  config.tick_rate_hz = 30;
  replace_client(pair, config);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  ASSERT_EQ(pair.lines.size(), 1u);
  EXPECT_EQ(pair.lines[0],
            "refused 10.0.0.2:1000: server_config_mismatch: tick_rate_hz: server 60, client 30");
}

// ---- What differs in the schemas, on both sides

using Lines = std::vector<std::string>;

/// What the server has of the newest client that told.
Lines told_to(lattice_world* server) {
  Lines lines;
  const char* difference;
  for (uint32_t i = 0; (difference = lattice_world_schema_difference(server, i)) != nullptr; ++i) {
    lines.emplace_back(difference);
  }
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_FOUND);
  return lines;
}

/// A type with a member of so many bits.
void add_fighter(lattice_world* world, const char* type_name, uint32_t bits) {
  lattice_member_desc members[2];
  for (lattice_member_desc& member : members) lattice_member_desc_init(&member);
  members[0].name = "health";
  members[0].type = LATTICE_WIRE_UINT16;
  members[0].encoding = LATTICE_ENCODING_BITS;
  members[0].bits = bits;
  members[1].name = "armour";
  members[1].type = LATTICE_WIRE_UINT16;
  members[1].offset = 2;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = "Fighter";
  structure.host_bytes = 4;
  structure.host_align = 2;
  structure.members = members;
  structure.member_count = 2;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = type_name;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  ASSERT_EQ(lattice_register_type(world, &type), LATTICE_OK) << lattice_last_error();
}

constexpr const char* kHealth = "Player.Fighter.health: client uint16 bits 10, server uint16 bits 12";

TEST(SchemaRefusal, BothSidesNameTheMember) {
  LoggingPair pair;
  pair.player[0] = 0xab;
  add_fighter(pair.server, "Player", 12);
  add_fighter(pair.client, "Player", 10);
  EXPECT_EQ(told_to(pair.server), Lines{});
  lattice_conn* conn = pair.connect(pair.client, pair.token(pair.client));
  ASSERT_NE(conn, nullptr);
  EXPECT_EQ(lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "x", 1), LATTICE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(std::string(lattice_last_error()).find("Fighter"), std::string::npos);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH);
  EXPECT_EQ(pair.client_events.schema_differences, Lines{kHealth});
  EXPECT_EQ(told_to(pair.server), Lines{kHealth});
  EXPECT_EQ(pair.schema_lines,
            Lines{"refused 10.0.0.2:1000 player ab000000000000000000000000000000: " + std::string(kHealth)});
  EXPECT_EQ(pair.server_events.connected, 0);
  // What lattice_last_error() says on the client.
  const std::string named = "The server has another schema. " + std::string(kHealth) + ".";
  EXPECT_EQ(pair.client_events.error, named);
  EXPECT_EQ(pair.client_events.result, LATTICE_ERROR_NOT_CONNECTED);
  const auto ends_named = [&named] { return std::string(lattice_last_error()).ends_with(" " + named); };
  EXPECT_EQ(lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "x", 1), LATTICE_ERROR_STALE_HANDLE);
  EXPECT_TRUE(ends_named()) << lattice_last_error();
  EXPECT_EQ(lattice_local_peer(pair.client), 0u);
  EXPECT_TRUE(ends_named()) << lattice_last_error();
  EXPECT_EQ(lattice_world_next_tick(pair.client), 0u);
  EXPECT_TRUE(ends_named()) << lattice_last_error();
  lattice_world_pump(pair.client);
  EXPECT_STREQ(lattice_last_error(), "") << "the pump has not failed";
  EXPECT_EQ(lattice_world_schema_difference(pair.client, 0), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_NOT_ALLOWED);
  // The next attempt is about something else.
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 4000)), nullptr);
  EXPECT_EQ(lattice_local_peer(pair.client), 0u);
  EXPECT_FALSE(ends_named());
  pair.run_ms(11'000);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TOKEN_EXPIRED);
  EXPECT_EQ(pair.client_events.error, "");
}

TEST(SchemaRefusal, IsNamedOverALossyNetworkOfEverySeed) {
  int named = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Pair pair(20, 8, seed);
    lattice_impairment bad;
    lattice_impairment_init(&bad);
    bad.delay_ms = 20;
    bad.jitter_ms = 10;
    bad.loss_percent = 10;
    bad.duplicate_percent = 10;
    bad.jitter_reorders = 1;
    ASSERT_EQ(lattice_netsim_set_impairment(pair.net, &bad), LATTICE_OK);
    add_fighter(pair.server, "Player", 12);
    add_fighter(pair.client, "Player", 10);
    ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
    pair.run_ms(12'000);
    ASSERT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH) << "seed " << seed;
    EXPECT_EQ(pair.client_events.schema_differences, Lines{kHealth}) << "seed " << seed;
    if (told_to(pair.server) == Lines{kHealth}) ++named;
  }
  EXPECT_GE(named, 19) << "a thousandth of the messages 7 is lost three times";
}

TEST(SchemaRefusal, TheLogHasFourAndTheCallSixteen) {
  LoggingPair pair;
  for (int i = 0; i < 20; ++i) add_fighter(pair.client, ("T" + std::to_string(10 + i)).c_str(), 10);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(3000);
  const Lines told = told_to(pair.server);
  EXPECT_EQ(told.size(), 16u);
  EXPECT_EQ(told[0], pair.client_events.schema_differences[0]);
  ASSERT_EQ(pair.schema_lines.size(), 5u);
  EXPECT_EQ(pair.schema_lines[0], "refused 10.0.0.2:1000: " + told[0]);
  EXPECT_EQ(pair.schema_lines[4], "refused 10.0.0.2:1000: and 12 more differences");
  EXPECT_EQ(pair.client_events.schema_differences.size(), 20u);
  EXPECT_NE(pair.client_events.error.find("names the 20 differences that were found."), std::string::npos);
}

// The players of an old build all tell the same; the next one with another is named.
TEST(SchemaRefusal, TheSameIsLoggedOnceAMinute) {
  LoggingPair pair;
  add_fighter(pair.server, "Player", 12);
  const auto refuse = [&pair](int host, uint8_t player, uint32_t bits) {
    Events events;
    const std::string address = "10.0." + std::to_string(host) + ".1:1000";
    lattice_world* client = pair.make_client(address.c_str(), &events);
    pair.player[0] = player;
    add_fighter(client, "Player", bits);
    ASSERT_NE(pair.connect(client, pair.token(client)), nullptr);
    for (int i = 0; i < 3000; ++i) {
      lattice_world_pump(client);
      pair.run_ms(1);
    }
    EXPECT_EQ(events.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH);
    lattice_world_destroy(client);
  };
  for (int i = 1; i <= 4; ++i) refuse(i, static_cast<uint8_t>(i), 10);
  EXPECT_EQ(pair.schema_lines.size(), 1u);
  refuse(5, 5, 11);
  ASSERT_EQ(pair.schema_lines.size(), 2u);
  EXPECT_NE(pair.schema_lines[1].find("client uint16 bits 11"), std::string::npos);
  EXPECT_EQ(told_to(pair.server).size(), 1u);
  for (int i = 6; i <= 30; ++i) refuse(i, static_cast<uint8_t>(i), 11);
  EXPECT_EQ(pair.schema_lines.size(), 3u) << "a minute has passed";
}

TEST(RefusalLog, WritesLinesForEachReasonAndSecond) {
  LoggingPair pair;
  constexpr int kCrowd = 20;
  std::vector<lattice_world*> crowd;
  std::vector<Events> events(kCrowd);
  for (int i = 0; i < kCrowd; ++i) {
    const std::string address = "10.0.1." + std::to_string(i + 1) + ":1000";
    crowd.push_back(pair.make_client(address.c_str(), &events[static_cast<size_t>(i)]));
    ASSERT_NE(pair.connect(crowd.back(), pair.token(crowd.back(), kUnix - 4000)), nullptr);
  }
  const uint8_t elsewhere[32] = {1, 2, 3};
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix, nullptr, elsewhere)), nullptr);
  const auto run_ms = [&](int ms) {
    for (int i = 0; i < ms; ++i) {
      for (lattice_world* world : crowd) lattice_world_pump(world);
      pair.run_ms(1);
    }
  };
  run_ms(200);  // Everybody has asked once. The crowd has one address range.
  EXPECT_EQ(pair.lines_with("server_token_expired"), 1u);
  EXPECT_EQ(pair.lines_with("server_token_foreign"), 1u);
  run_ms(9000);
  // At most two lines a second, one with a name and one with a count, and every refusal is in one of them.
  EXPECT_LE(pair.lines_with("server_token_expired"), 20u);
  EXPECT_GE(pair.lines_with("server_token_expired"), 5u);
  for (lattice_world* world : crowd) lattice_world_destroy(world);
  pair.run_ms(2000);
  uint64_t told = 0;
  for (const std::string& line : pair.lines) {
    if (line.find("server_token_expired") == std::string::npos) continue;
    unsigned long long more = 0;
    const bool is_sum = line.find(" more: ") != std::string::npos;
    told += is_sum && std::sscanf(line.c_str(), "refused %llu", &more) == 1 ? more : 1;
  }
  EXPECT_EQ(told, refusals(pair.server, "server_token_expired"));
}

}  // namespace
}  // namespace lattice::test::refused_test
