// What a player saw reaches the server with each input, exactly as it was drawn (D-45).
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "lattice/lattice.hpp"
#include "plain_type.h"
#include "play_pair.h"
#include "refusal_count.h"

namespace lattice::test::sight_test {
namespace {

using View = std::pair<uint32_t, uint32_t>;

struct Link {
  const char* name;
  double delay_ms;
  double jitter_ms;
  double loss_percent;
  int pumps_per_frame;  // four pumps are a tick
};

class SightOnALink : public testing::TestWithParam<Link> {};

lattice_input_sight sight_of(lattice_world* world, lattice_peer_id peer) {
  lattice_input_sight sight;
  lattice_input_sight_init(&sight);
  EXPECT_EQ(lattice_get_input_sight(world, peer, &sight), LATTICE_OK) << lattice_last_error();
  return sight;
}

/// A server with a crate that moves 1/16 in a tick, and a client that draws it.
struct Range {
  explicit Range(const Link& link) {
    register_keys(play.pair.server.world);
    register_keys(play.pair.client.world);
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = link.delay_ms;
    impairment.jitter_ms = link.jitter_ms;
    impairment.loss_percent = link.loss_percent;
    EXPECT_EQ(lattice_netsim_set_impairment(play.pair.net, &impairment), LATTICE_OK);
  }
  bool connect() {
    return play.connect([this](lattice_world* world, uint32_t tick) { on_server(world, tick); },
                        [this](lattice_world* world, uint32_t tick) { on_client(world, tick); });
  }
  void on_server(lattice_world* world, uint32_t tick) {
    if (crate != 0) PlayPair::body(world, crate)->x = static_cast<float>(tick % 8000) / 16 - 250;
    const lattice_peer_id peer = lattice_local_peer(play.pair.client.world);
    uint32_t keys = 0;
    if (lattice_get_input(world, peer, &keys, sizeof keys) != 1) return;
    const lattice_input_sight sight = sight_of(world, peer);
    EXPECT_EQ(sight.input_tick, tick);
    if (sight.is_clamped == 0) heard.emplace(tick, sight);
  }
  void on_client(lattice_world* world, uint32_t tick) {
    const lattice_input_sight sight = sight_of(world, lattice_local_peer(world));
    EXPECT_EQ(sight.input_tick, tick);
    EXPECT_EQ(std::pair(sight.view_tick, sight.view_fraction), drawn);
    said.insert_or_assign(tick, sight);
  }
  /// Draws a frame, and asks the picture itself for its moment: the crate's place says it.
  void draw() {
    const WorldRef client(play.pair.client.world);
    ASSERT_EQ(client.begin_frame(), LATTICE_OK);
    const Frame frame = client.frame();
    drawn = {frame.view_tick, frame.view_fraction};
    Body body;
    if (crate == 0 || lattice_object_view(client, crate, 0, &body, sizeof body) == 0) return;
    const double moment = frame.view_tick % 8000 + frame.view_fraction / 256.0;
    if (std::abs((body.x + 250) * 16 - moment) < 1e-3) ++exact_pictures;
    ++pictures;
  }

  PlayPair play;
  lattice_netid crate = 0;
  View drawn;
  std::map<uint32_t, lattice_input_sight> said, heard;
  uint32_t pictures = 0, exact_pictures = 0;
};

TEST_P(SightOnALink, TheServerHearsTheVeryMomentThatWasDrawn) {
  Range range(GetParam());
  int pump = 0;
  range.play.each_step = [&] {
    if (++pump % GetParam().pumps_per_frame == 0) range.draw();
  };
  ASSERT_TRUE(range.connect());
  range.crate = range.play.spawn(kCrateType);
  range.play.run(10);
  uint32_t with_view = 0;
  for (const auto& [tick, heard] : range.heard) {
    const auto said = range.said.find(tick);
    ASSERT_NE(said, range.said.end()) << "tick " << tick;
    EXPECT_EQ(std::tie(heard.view_tick, heard.view_fraction, heard.snapshot_tick),
              std::tie(said->second.view_tick, said->second.view_fraction, said->second.snapshot_tick))
        << "tick " << tick;
    if (heard.view_tick == 0) continue;
    ++with_view;
    EXPECT_LT(heard.snapshot_tick, tick);
    EXPECT_LT(heard.view_tick, tick);
  }
  EXPECT_GT(with_view, 500u);
  EXPECT_EQ(refusals(range.play.pair.server.world, "input_sight_future"), 0u);
  // Where the crate is drawn between two snapshots, its place is the moment. The rest was extrapolated or
  // eased after losses, or drawn at rest in the beginning.
  EXPECT_GT(range.exact_pictures * 10, range.pictures * (GetParam().loss_percent == 0 ? 9u : 5u));
}

INSTANTIATE_TEST_SUITE_P(Links, SightOnALink,
                         testing::Values(Link{"calm", 20, 0, 0, 4}, Link{"fast_frames", 20, 0, 0, 1},
                                         Link{"slow_frames", 50, 5, 0, 11}, Link{"bad", 50, 20, 5, 3}),
                         [](const auto& each) { return each.param.name; });

TEST(Sight, WhoDrawsNothingSaysNothing) {
  Range range({"calm", 20, 0, 0, 1});
  ASSERT_TRUE(range.connect());
  range.play.run(3);
  ASSERT_FALSE(range.heard.empty());
  EXPECT_EQ(range.heard.rbegin()->second.view_tick, 0u);
  EXPECT_NE(range.heard.rbegin()->second.snapshot_tick, 0u);
  EXPECT_GT(range.heard.rbegin()->second.lead_quarter_ticks, 0u);
}

TEST(Sight, AViewBeyondTheHistoryIsHeldAndCounted) {
  MessagePairOptions options;
  options.adjust = [](lattice_world_config* config) {
    config->history_ticks = 8;
    config->interpolation_delay_ms = 400;
  };
  PlayPair play(options);
  register_keys(play.pair.server.world);
  register_keys(play.pair.client.world);
  uint32_t held = 0;
  ASSERT_TRUE(play.connect([&](lattice_world* world, uint32_t tick) {
    uint32_t keys = 0;
    const lattice_peer_id peer = lattice_local_peer(play.pair.client.world);
    if (lattice_get_input(world, peer, &keys, sizeof keys) != 1) return;
    const lattice_input_sight sight = sight_of(world, peer);
    if (sight.view_tick == 0) return;
    EXPECT_GE(sight.view_tick, tick - 8);
    held += sight.is_clamped;
  }));
  play.each_step = [&] { lattice_frame_begin(play.pair.client.world); };
  play.spawn(kCrateType);
  play.run(3);
  EXPECT_GT(held, 100u);
  EXPECT_EQ(refusals(play.pair.server.world, "input_sight_old"), held);
}

}  // namespace
}  // namespace lattice::test::sight_test
