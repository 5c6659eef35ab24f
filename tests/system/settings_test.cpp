// Worlds whose two sides have different settings: whatever is legal connects, plays, gets new keys and stays
// connected. Ranges and refusals: tests/abi/config_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "arena.h"
#include "connection_pair.h"
#include "seed_range.h"

namespace lattice::test::settings_test {
namespace {

uint32_t within(base::Random& random, uint32_t min, uint32_t max) {
  // The ends are drawn often: that is where settings break things.
  if (random.chance(0.2)) return min;
  if (random.chance(0.25)) return max;
  return min + static_cast<uint32_t>(random.next_below(max - min + 1));
}

void draw_settings(base::Random& random, lattice_world_config* c) {
  c->rto_min_ms = within(random, 5, 1000);
  c->rto_max_ms = within(random, c->rto_min_ms, 5000);
  c->connection_timeout_ms = within(random, 3000, 600000);
  c->keepalive_interval_ms = within(random, 100, std::min(30000u, c->connection_timeout_ms / 4));
  c->connect_budget_ms = within(random, 10000, 60000);
  c->connect_retry_ms = within(random, 50, std::min(1000u, c->connect_budget_ms / 4));
  c->replay_window_packets = within(random, 64, 1024);
  c->rekey_interval_s = within(random, 10, 86400);
  c->rekey_bytes = uint64_t{1} << within(random, 20, 32);
  c->max_datagram_bytes = within(random, 1200, 1472);
  c->initial_datagram_bytes = within(random, 1200, c->max_datagram_bytes);
  c->prediction_window_ticks = within(random, 8, 256);
  c->history_ticks = within(random, 8, 64);
  c->input_redundancy = within(random, 0, 31);
  c->resimulation_budget_ticks = within(random, 0, 8);
}

std::string text_of(const lattice_world_config& c) {
  std::ostringstream out;
  out << "rto " << c.rto_min_ms << ".." << c.rto_max_ms << " timeout " << c.connection_timeout_ms
      << " keepalive " << c.keepalive_interval_ms << " retry " << c.connect_retry_ms << " replay "
      << c.replay_window_packets << " rekey " << c.rekey_interval_s << " s, " << c.rekey_bytes
      << " datagrams " << c.initial_datagram_bytes << ".." << c.max_datagram_bytes << " window "
      << c.prediction_window_ticks << " history " << c.history_ticks << " redundancy " << c.input_redundancy
      << " resimulation " << c.resimulation_budget_ticks;
  return out.str();
}

void run_seed(uint64_t seed) {
  base::Random random(seed);
  ArenaConfig config;
  config.seed = seed;
  config.clients = 3;
  config.churn = false;
  lattice_impairment_init(&config.impairment);
  config.impairment.delay_ms = 5.0 + 75.0 * random.next_unit();
  config.impairment.jitter_ms = config.impairment.delay_ms * 0.5 * random.next_unit();
  config.impairment.jitter_reorders = random.chance(0.5) ? 1 : 0;
  config.impairment.loss_percent = 5.0 * random.next_unit();
  config.impairment.duplicate_percent = 2.0 * random.next_unit();
  config.impairment.reorder_percent = 2.0 * random.next_unit();
  config.impairment.reorder_ms = 100.0 * random.next_unit();
  const bool server_rekeys = random.chance(0.5);
  std::string drawn;
  config.adjust = [&](int player, lattice_world_config* c) {
    draw_settings(random, c);
    // One side of each connection wants new keys soon; the other one's wish is drawn.
    if (server_rekeys == (player < 0)) c->rekey_interval_s = 10 + static_cast<uint32_t>(random.next_below(3));
    drawn += "  " + std::to_string(player) + ": " + text_of(*c) + "\n";
  };
  Arena arena(config);
  arena.run(22.0);
  for (size_t i = 0; i < arena.client_count(); ++i) {
    EXPECT_TRUE(arena.connected(i)) << "player " << i;
    EXPECT_GE(arena.client_stats(i).key_epoch, 1u) << "player " << i;
    EXPECT_GE(arena.server_stats(i).key_epoch, 1u) << "player " << i;
  }
  arena.settle();
  for (size_t i = 0; i < arena.client_count(); ++i) {
    EXPECT_TRUE(arena.connected(i)) << "player " << i << " after the calm";
    EXPECT_EQ(arena.hash_of(arena.client(i)), arena.hash_of(arena.server())) << "player " << i;
  }
  for (const std::string& line : arena.violations()) ADD_FAILURE() << line;
  if (::testing::Test::HasFailure()) {
    ADD_FAILURE() << "replay with: LATTICE_SIM_SEED=" << seed << " ./lattice test --filter system.settings\n"
                  << drawn;
  }
}

TEST(Settings, WhateverIsLegalConnectsPlaysGetsNewKeysAndStaysConnected) {
  for (const uint64_t seed : seeds_to_run(8, 200)) {
    run_seed(seed);
    if (HasFailure()) return;
  }
}

/// A pair with settings of its own on each side.
struct MixedPair : Pair {
  template <class Server, class Client>
  MixedPair(double delay_ms, Server server_settings, Client client_settings) : Pair(delay_ms) {
    lattice_world_destroy(server);
    lattice_world_destroy(client);
    lattice_world_config config = server_config();
    server_settings(&config);
    start_server(config);
    config = base("10.0.0.2:1000");
    client_settings(&config);
    client = make_client(config, &client_events);
    conn = connect(client, token(client));
    EXPECT_NE(conn, nullptr) << lattice_last_error();
  }
  lattice_conn_stats stats() const {
    lattice_conn_stats out{};
    out.struct_size = sizeof out;
    EXPECT_EQ(lattice_conn_get_stats(conn, &out), LATTICE_OK);
    return out;
  }
  void expect_connected() const {
    EXPECT_EQ(client_events.connected, 1);
    EXPECT_EQ(client_events.disconnected, 0);
    EXPECT_EQ(server_events.connected, 1);
    EXPECT_EQ(server_events.disconnected, 0);
  }
  lattice_conn* conn = nullptr;
};

const auto kQuick = [](lattice_world_config* c) {
  c->connection_timeout_ms = 1000;
  c->keepalive_interval_ms = 250;
};
const auto kPatient = [](lattice_world_config* c) {
  c->connection_timeout_ms = 600000;
  c->keepalive_interval_ms = 30000;
};

TEST(Settings, ASideKeepsTheConnectionAliveByItsOwnClock) {
  // Nobody has anything to say. The impatient side asks, and the patient one answers.
  MixedPair quick_client(150, kPatient, kQuick);
  quick_client.idle_ms(30'000);
  quick_client.expect_connected();
  MixedPair quick_server(150, kQuick, kPatient);
  quick_server.idle_ms(30'000);
  quick_server.expect_connected();
}

TEST(Settings, ADeadPeerIsNoticedByTheOwnTimeout) {
  MixedPair pair(20, kPatient, kQuick);
  pair.idle_ms(2000);
  lattice_world_destroy(pair.server);
  pair.server = nullptr;
  pair.run_ms(650);  // The last answer came up to 290 ms before.
  EXPECT_EQ(pair.client_events.disconnected, 0);
  pair.run_ms(360);
  EXPECT_EQ(pair.client_events.disconnected, 1);
  EXPECT_EQ(pair.client_events.reason, LATTICE_DISCONNECT_TIMEOUT);
}

TEST(Settings, KeysAreReplacedWhenEitherSideAsks) {
  const auto soon = [](lattice_world_config* c) { c->rekey_interval_s = 10; };
  const auto never = [](lattice_world_config* c) {
    c->rekey_interval_s = 86400;
    c->rekey_bytes = uint64_t{1} << 32;
  };
  MixedPair client_asks(20, never, soon);
  client_asks.run_ms(32'000);
  EXPECT_EQ(client_asks.stats().key_epoch, 3u);
  client_asks.expect_connected();
  MixedPair server_asks(20, soon, never);
  server_asks.run_ms(35'000);
  EXPECT_GE(server_asks.stats().key_epoch, 2u);
  server_asks.expect_connected();
}

TEST(Settings, NoSideSendsLargerDatagramsThanTheOtherTakes) {
  const auto large = [](lattice_world_config* c) { c->initial_datagram_bytes = 1472; };
  const auto small = [](lattice_world_config* c) { c->max_datagram_bytes = 1200; };
  MixedPair pair(20, small, large);
  pair.run_ms(5000);
  EXPECT_EQ(pair.stats().datagram_bytes, 1200u);
  MixedPair both(20, large, large);
  both.run_ms(300);
  EXPECT_EQ(both.stats().datagram_bytes, 1472u) << "before anything could be measured";
}

TEST(Settings, RtoStaysWithinItsBounds) {
  const auto none = [](lattice_world_config*) {};
  const auto low = [](lattice_world_config* c) { c->rto_min_ms = 5; };
  const auto high = [](lattice_world_config* c) { c->rto_min_ms = 700; };
  const auto capped = [](lattice_world_config* c) { c->rto_max_ms = 60; };
  MixedPair fast(1, none, low);
  fast.run_ms(3000);
  EXPECT_LT(fast.stats().rto_ms, 50.0);
  EXPECT_GE(fast.stats().rto_ms, 5.0);
  MixedPair slow(1, none, high);
  slow.run_ms(3000);
  EXPECT_EQ(slow.stats().rto_ms, 700.0);
  MixedPair tight(150, none, capped);
  tight.run_ms(3000);
  EXPECT_EQ(tight.stats().rto_ms, 60.0);
  tight.expect_connected();
}

/// How a client with `settings` fares: 100 ms each way and 2 % loss.
lattice_world_stats play(void (*settings)(lattice_world_config*)) {
  ArenaConfig config;
  config.clients = 1;
  config.churn = false;
  lattice_impairment_init(&config.impairment);
  config.impairment.delay_ms = 100;
  config.impairment.loss_percent = 2;
  config.adjust = [&](int player, lattice_world_config* c) {
    if (player >= 0) settings(c);
  };
  Arena arena(config);
  arena.run(10.0);
  EXPECT_TRUE(arena.connected(0));
  for (const std::string& line : arena.violations()) ADD_FAILURE() << line;
  lattice_world_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(lattice_world_get_stats(arena.client(0), &stats), LATTICE_OK);
  return stats;
}

TEST(Settings, APredictionWindowShorterThanTheRoundTripResetsInsteadOfRollingBack) {
  const lattice_world_stats usual = play([](lattice_world_config*) {});
  EXPECT_GT(usual.max_rollback_ticks, 8u) << "the round trip is longer than the short window";
  const lattice_world_stats brief = play([](lattice_world_config* c) { c->prediction_window_ticks = 8; });
  EXPECT_LT(brief.max_rollback_ticks, 8u);
  EXPECT_GT(brief.hard_resets, 100u);
  EXPECT_LT(usual.hard_resets, 10u);
}

}  // namespace
}  // namespace lattice::test::settings_test
