// A server or a client that did not run for a while: a paused machine, a debugger, a full disk. Afterwards
// the game is back at once: inputs are used again, states come, and nobody's clock has moved.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "lattice/lattice.hpp"
#include "plain_type.h"
#include "play_pair.h"

namespace lattice::test::pause_test {
namespace {

struct Pause {
  double seconds;
  double loss_percent;
};

class ServerPause : public testing::TestWithParam<Pause> {
 protected:
  static constexpr double kDelayMs = 40;  // each way

  void SetUp() override {
    register_keys(play.pair.server.world);
    register_keys(play.pair.client.world);
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = kDelayMs;
    impairment.jitter_ms = 5;
    impairment.loss_percent = GetParam().loss_percent;
    ASSERT_EQ(lattice_netsim_set_impairment(play.pair.net, &impairment), LATTICE_OK);
    ASSERT_TRUE(play.connect(
        [this](lattice_world* world, uint32_t tick) {
          uint32_t keys = 0;
          const lattice_peer_id peer = lattice_local_peer(play.pair.client.world);
          fresh.push_back(lattice_get_input(world, peer, &keys, sizeof keys) == 1);
          at_ns.push_back(play.pair.now_ns);
          server_tick = tick;
          if (crate != 0) PlayPair::body(world, crate)->x = place_at(tick);
        },
        [this](lattice_world*, uint32_t) { ++client_ticks; }));
    pawn = play.spawn(kPawnType, lattice_local_peer(play.pair.client.world));
    crate = play.spawn(kCrateType);
    play.run(6);
  }
  /// Time passes for the client alone: the server's process does not run.
  void pause_server(double seconds) {
    for (const uint64_t end_ns = play.pair.now_ns + static_cast<uint64_t>(seconds * 1e9);
         play.pair.now_ns < end_ns;) {
      play.pair.now_ns += 4'000'000;
      lattice_netsim_advance(play.pair.net, 4'000'000);
      lattice_world_pump(play.pair.client.world);
    }
  }
  /// When the last of so many missing inputs in a row came to an end that more than a loss explains.
  double missing_seconds(uint64_t since_ns) const {
    uint64_t until_ns = since_ns;
    size_t missing = 0;
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (at_ns[i] < since_ns) continue;
      missing = fresh[i] ? 0 : missing + 1;
      if (missing >= 3) until_ns = at_ns[i];
    }
    return static_cast<double>(until_ns - since_ns) / 1e9;
  }

  PlayPair play;
  /// Where the crate is: it tells the tick of a state.
  static float place_at(uint32_t tick) { return static_cast<float>(tick % 4000) / 4 - 500; }
  /// How many ticks old the crate is as the client draws it.
  double age_as_drawn() const {
    const WorldRef client(play.pair.client.world);
    Body drawn{};
    EXPECT_EQ(client.begin_frame(), LATTICE_OK);
    EXPECT_NE(lattice_object_view(client, crate, 0, &drawn, sizeof drawn), 0);
    return (static_cast<double>(place_at(server_tick)) - static_cast<double>(drawn.x)) * 4;
  }

  lattice_netid pawn = 0;
  lattice_netid crate = 0;
  std::vector<bool> fresh;  // whether the client's own input was there, by tick of the server
  std::vector<uint64_t> at_ns;
  uint32_t server_tick = 0;
  int client_ticks = 0;
};

TEST_P(ServerPause, InputsAreUsedAgainAtOnce) {
  const uint32_t tick_before = server_tick;
  const double age_before = age_as_drawn();
  const uint64_t before_ns = play.pair.now_ns;
  pause_server(GetParam().seconds);
  const uint64_t resumed_ns = play.pair.now_ns;
  play.run(0.5);
  EXPECT_NEAR(age_as_drawn(), age_before, GetParam().loss_percent == 0 ? 3 : 6)
      << "others are drawn as before";
  play.run(0.5);
  const int client_ticks_before = client_ticks;
  play.run(2);
  EXPECT_EQ(play.ended(), LATTICE_DISCONNECT_NONE) << play.ended_text();
  EXPECT_LE(missing_seconds(resumed_ns), 0.3 + 2 * kDelayMs / 1000);
  EXPECT_NEAR(client_ticks - client_ticks_before, 120, 6) << "nobody's clock has moved";
  const double passed_ticks = static_cast<double>(play.pair.now_ns - before_ns) * 60 / 1e9;
  // A short pause is made up by slower clocks, a long one by numbers of ticks that nobody runs.
  EXPECT_NEAR(server_tick - tick_before, passed_ticks, GetParam().seconds < 0.3 ? 12 : 2);
}

// How long the client was silent is no round trip: what is lost afterwards is sent again as soon as before.
class ClientPauseInMode : public testing::TestWithParam<lattice_congestion_mode> {};

TEST_P(ClientPauseInMode, LeavesTheRoundTripAsItWas) {
  MessagePairOptions options;
  options.adjust = [](lattice_world_config* config) { config->congestion_mode = GetParam(); };
  PlayPair play(options);
  lattice_impairment impairment;
  lattice_impairment_init(&impairment);
  impairment.delay_ms = 40;
  impairment.jitter_ms = 20;
  impairment.jitter_reorders = 1;
  ASSERT_EQ(lattice_netsim_set_impairment(play.pair.net, &impairment), LATTICE_OK);
  lattice_netid crate = 0;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) {
    if (crate != 0) PlayPair::body(world, crate)->x = static_cast<float>(tick % 1000);
    const std::array<uint8_t, 40> chat{};
    if (play.pair.server.conn != nullptr && tick % 3 == 0) {
      lattice_send(play.pair.server.conn, LATTICE_CHANNEL_RELIABLE_ORDERED, chat.data(), chat.size());
    }
  }));
  crate = play.spawn(kCrateType);
  play.run(4);
  const auto stats = [&play] {
    lattice_conn_stats out;
    lattice_conn_stats_init(&out);
    EXPECT_EQ(lattice_conn_get_stats(play.pair.server.conn, &out), LATTICE_OK) << lattice_last_error();
    return out;
  };
  const lattice_conn_stats before = stats();
  play.pause_client(5);
  for (int i = 0; i < 10; ++i) {
    play.run(0.1);
    EXPECT_LT(stats().rto_ms, 2 * before.rto_ms) << "after " << i + 1 << " tenths of a second";
    EXPECT_LT(stats().rtt_ms, before.rtt_ms + 60);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ClientPauseInMode,
                         testing::Values(LATTICE_CONGESTION_DELAY, LATTICE_CONGESTION_GOOD_BAD,
                                         LATTICE_CONGESTION_NONE));

// One silence is an accident. One after another is how the client reads, and what is on its way is not lost.
TEST(ClientPause, ThatComesAllTheTimeCounts) {
  PlayPair play;
  play.pair.impair(20, 0);
  lattice_netid crate = 0;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) {
    if (crate != 0) PlayPair::body(world, crate)->x = static_cast<float>(tick % 1000);
  }));
  crate = play.spawn(kCrateType);
  play.run(2);
  for (int i = 0; i < 20; ++i) {
    play.pause_client(2.2);
    play.run(0.01);
  }
  lattice_conn_stats stats;
  lattice_conn_stats_init(&stats);
  ASSERT_EQ(lattice_conn_get_stats(play.pair.server.conn, &stats), LATTICE_OK) << lattice_last_error();
  EXPECT_GT(stats.rto_ms, 500);
}

INSTANTIATE_TEST_SUITE_P(Seconds, ServerPause,
                         testing::Values(Pause{0.2, 0}, Pause{0.5, 0}, Pause{1, 0}, Pause{2, 0}, Pause{5, 0},
                                         Pause{8, 0}, Pause{1, 5}, Pause{2, 5}, Pause{5, 5}, Pause{8, 5}),
                         [](const auto& instance) {
                           return std::to_string(static_cast<int>(instance.param.seconds * 10)) + "Tenths" +
                                  (instance.param.loss_percent == 0 ? "" : "Lossy");
                         });

}  // namespace
}  // namespace lattice::test::pause_test
