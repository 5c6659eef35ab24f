// A server that keeps its identity over a restart, and one that does not.
#include "connection_pair.h"
#include "refusal_count.h"

namespace lattice::test::identity_test {
namespace {

using namespace lattice::test;

struct Identity {
  uint8_t bytes[LATTICE_SERVER_IDENTITY_BYTES];
  uint8_t public_key[LATTICE_KEY_BYTES];
  Identity() {
    EXPECT_EQ(lattice_server_identity_generate(bytes), LATTICE_OK);
    EXPECT_EQ(lattice_server_identity_public_key(bytes, public_key), LATTICE_OK);
  }
};

TEST(Identity, AKeptOneIsThePublicKeyOfEveryProcess) {
  Pair pair;
  const Identity kept;
  for (int process = 0; process < 2; ++process) {
    pair.restart_server(kept.bytes);
    EXPECT_EQ(std::memcmp(pair.server_key, kept.public_key, sizeof kept.public_key), 0);
  }
  pair.restart_server(nullptr);
  EXPECT_NE(std::memcmp(pair.server_key, kept.public_key, sizeof kept.public_key), 0);
}

TEST(Identity, IsNeverTheSameTwice) {
  const Identity one, other;
  EXPECT_NE(std::memcmp(one.bytes, other.bytes, sizeof one.bytes), 0);
  EXPECT_NE(std::memcmp(one.bytes, one.bytes + 32, 32), 0) << "the two keys in it are independent";
  EXPECT_EQ(lattice_server_identity_generate(nullptr), LATTICE_ERROR_INVALID_ARGUMENT);
  uint8_t key[LATTICE_KEY_BYTES];
  EXPECT_EQ(lattice_server_identity_public_key(nullptr, key), LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_server_identity_public_key(one.bytes, nullptr), LATTICE_ERROR_INVALID_ARGUMENT);
}

TEST(Identity, ZerosAreNoSecret) {
  const uint8_t zeros[LATTICE_SERVER_IDENTITY_BYTES] = {};
  const uint8_t issuer[LATTICE_KEY_BYTES] = {1};
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.bind_address = "127.0.0.1:0";
  config.issuer_public_keys = issuer;
  config.issuer_public_key_count = 1;
  config.server_identity = zeros;
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_DEDICATED);
  EXPECT_EQ(lattice_world_create(&config, &role), nullptr);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_CONFIG);
  EXPECT_NE(std::strstr(lattice_last_error(), "server_identity"), nullptr) << lattice_last_error();
}

TEST(Identity, ATokenOfAfterTheRestartIsHonoured) {
  Pair pair(10);
  const Identity kept;
  pair.restart_server(kept.bytes);
  // A client may have fetched its token while the server was down: its clock and the server's may differ a
  // little.
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 5)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.connected, 1);
}

TEST(Identity, ATokenOfBeforeTheRestartIsRefusedByName) {
  Pair pair(10);
  const Identity kept;
  pair.restart_server(kept.bytes);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 6)), nullptr);
  pair.run_ms(11000);
  EXPECT_EQ(pair.client_events.connected, 0);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_GE(refusals(pair.server, "server_token_before_start"), 1u);
}

// The clock of the machine was ahead when the server started, and is set right.
TEST(Identity, AClockThatIsSetBackMakesTokensOfNowGoodAgain) {
  Pair pair(10);
  const Identity kept;
  unix_ahead_s = 120;
  pair.restart_server(kept.bytes);
  unix_ahead_s = 0;
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.connected, 1);
  EXPECT_EQ(refusals(pair.server, "server_token_before_start"), 0u);
}

TEST(Identity, WithoutAKeptOneTheAgeOfATokenDoesNotMatter) {
  Pair pair(10);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client, kUnix - 200)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.connected, 1);
}

TEST(Identity, AClientIsToldThatItsServerRestarted) {
  Pair pair(10);
  const Identity kept;
  pair.restart_server(kept.bytes);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  ASSERT_EQ(pair.client_events.connected, 1);
  pair.restart_server(kept.bytes);
  pair.run_ms(1500);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_SERVER_RESTARTED);
  EXPECT_EQ(pair.client_events.text, "the server no longer knows this connection");
  // It comes back with a new token for the key it knows.
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  EXPECT_EQ(pair.client_events.connected, 2);
}

TEST(Identity, WithoutAKeptOneARestartIsSilence) {
  Pair pair(10);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  pair.restart_server(nullptr);
  pair.run_ms(9000);
  EXPECT_EQ(pair.client_events.disconnected, 0);
  pair.run_ms(2000);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TIMEOUT);
}

}  // namespace
}  // namespace lattice::test::identity_test
