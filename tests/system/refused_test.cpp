// Each way of not getting in, and what the player is told about it.
#include "connection_pair.h"

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
  EXPECT_EQ(pair.refusals(pair.server, "server_config_mismatch"), 1u);
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

}  // namespace
