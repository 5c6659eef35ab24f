// A debugger stops a process for a minute. With LATTICE_OPTION_TIMEOUT_PAUSED on both sides nobody leaves.
#include "connection_pair.h"

namespace lattice::test::timeout_paused_test {
namespace {

using namespace lattice::test;

constexpr uint64_t kMinuteNs = 60'000'000'000;

struct PausedPair : Pair {
  lattice_conn* conn = nullptr;

  explicit PausedPair(bool is_paused = true) : Pair(10) {
    conn = connect(client, token(client));
    run_ms(500);
    EXPECT_EQ(client_events.connected, 1);
    pause(is_paused);
  }
  void pause(bool is_paused) {
    EXPECT_EQ(lattice_set_option(server, LATTICE_OPTION_TIMEOUT_PAUSED, is_paused), LATTICE_OK);
    EXPECT_EQ(lattice_set_option(client, LATTICE_OPTION_TIMEOUT_PAUSED, is_paused), LATTICE_OK);
  }
  uint64_t packets_sent(lattice_world* world) const {
    lattice_world_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(lattice_world_get_stats(world, &stats), LATTICE_OK);
    return stats.packets_sent;
  }
  /// Everybody is still there, and a reliable message arrives.
  void expect_goes_on() {
    EXPECT_EQ(client_events.disconnected, 0) << client_events.text;
    EXPECT_EQ(server_events.disconnected, 0);
    const int before = server_events.messages;
    EXPECT_EQ(lattice_send(conn, LATTICE_CHANNEL_RELIABLE_ORDERED, "hello", 5), LATTICE_OK);
    run_ms(2000);
    EXPECT_EQ(server_events.messages, before + 1);
    EXPECT_EQ(client_events.disconnected, 0);
  }
};

TEST(TimeoutPaused, BothSidesStopForAMinute) {
  PausedPair pair;
  const uint64_t before = pair.packets_sent(pair.client) + pair.packets_sent(pair.server);
  lattice_netsim_advance(pair.net, kMinuteNs);
  pair.run_ms(1000);
  // A minute is not made up for: no more than in any other second, with some to spare.
  EXPECT_LT(pair.packets_sent(pair.client) + pair.packets_sent(pair.server) - before, 300u);
  pair.expect_goes_on();
}

TEST(TimeoutPaused, OneSideStopsAndTheOtherRunsOn) {
  for (const bool stops_server : {false, true}) {
    PausedPair pair;
    lattice_world* running = stops_server ? pair.client : pair.server;
    for (int ms = 0; ms < 60'000; ++ms) {
      lattice_netsim_advance(pair.net, 1'000'000);
      lattice_world_pump(running);
    }
    pair.run_ms(1000);
    pair.expect_goes_on();
  }
}

TEST(TimeoutPaused, WithoutItAMinuteIsTheEnd) {
  PausedPair pair(false);
  for (int ms = 0; ms < 60'000; ++ms) {
    lattice_netsim_advance(pair.net, 1'000'000);
    lattice_world_pump(pair.client);
  }
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TIMEOUT);
}

TEST(TimeoutPaused, SwitchedOffTheSilenceCountsFromThenOn) {
  PausedPair pair;
  lattice_world_destroy(pair.server);
  pair.server = nullptr;
  pair.run_ms(30'000);
  EXPECT_EQ(pair.client_events.disconnected, 0);
  EXPECT_EQ(lattice_set_option(pair.client, LATTICE_OPTION_TIMEOUT_PAUSED, 0), LATTICE_OK);
  pair.run_ms(9'900);
  EXPECT_EQ(pair.client_events.disconnected, 0);
  pair.run_ms(200);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TIMEOUT);
}

TEST(TimeoutPaused, CanBeSetBeforeTheFirstPump) {
  Pair pair(10);
  EXPECT_EQ(lattice_set_option(pair.client, LATTICE_OPTION_TIMEOUT_PAUSED, 1), LATTICE_OK);
  ASSERT_NE(pair.connect(pair.client, pair.token(pair.client)), nullptr);
  pair.run_ms(500);
  lattice_world_destroy(pair.server);
  pair.server = nullptr;
  pair.run_ms(15'000);
  EXPECT_EQ(pair.client_events.disconnected, 0);
}

}  // namespace
}  // namespace lattice::test::timeout_paused_test
