// A game writes values that do not fit their members: it hears of each member once, and the counter goes on.
#include <cmath>

#include "lattice/lattice.hpp"
#include "play_pair.h"
#include "refusal_count.h"

namespace lattice::test::clamped_values_test {
namespace {

struct Heard {
  lattice_netid object;
  uint16_t prop_id;
  uint32_t tick;
};

struct Server {
  lattice_world* world = nullptr;
  std::vector<Heard> heard;
  std::function<void(uint32_t tick)> step;
  bool despawns = false;

  void listen(lattice_world* of) {
    world = of;
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context* tick) {
      static_cast<Server*>(ctx)->step(tick->tick);
    };
    callbacks.on_value_clamped = [](void* ctx, lattice_world* in, lattice_netid object, uint16_t prop_id,
                                    uint32_t tick) {
      auto& self = *static_cast<Server*>(ctx);
      EXPECT_EQ(in, self.world);
      self.heard.push_back({object, prop_id, tick});
      if (self.despawns) {
        EXPECT_EQ(lattice_despawn(in, object), LATTICE_OK);
      }
    };
    ASSERT_EQ(lattice_set_callbacks(of, &callbacks, this), LATTICE_OK);
  }
};

std::vector<std::string> log_lines;

class ClampedValues : public testing::Test {
 protected:
  void SetUp() override {
    log_lines.clear();
    ASSERT_TRUE(play_.connect([](lattice_world*, uint32_t) {}));
    server_.listen(play_.pair.server.world);
  }
  static MessagePairOptions with_log() {
    MessagePairOptions options;
    options.adjust = [](lattice_world_config* config) {
      config->log = [](void*, lattice_log_level, const char* category, const char* text) {
        if (std::string(category) == "state") log_lines.push_back(text);
      };
    };
    return options;
  }
  uint64_t counted() { return refusals(server_.world, "values_clamped"); }

  PlayPair play_{with_log()};
  Server server_;
};

TEST_F(ClampedValues, AreToldOncePerMemberAndCountedEachTime) {
  const lattice_netid first = play_.spawn(kCrateType), second = play_.spawn(kCrateType);
  uint32_t began = 0, ticks = 0;
  server_.step = [&](uint32_t tick) {
    if (began == 0) began = tick;
    ++ticks;
    PlayPair::body(server_.world, first)->y = 2000.0f + static_cast<float>(tick);
    PlayPair::body(server_.world, second)->y = NAN;
  };
  play_.run(0.5);
  ASSERT_EQ(server_.heard.size(), 1u);
  EXPECT_TRUE(server_.heard[0].object == first || server_.heard[0].object == second);
  EXPECT_EQ(server_.heard[0].prop_id, 1);
  EXPECT_EQ(server_.heard[0].tick, began);
  EXPECT_EQ(counted(), 2u * ticks);
  ASSERT_EQ(log_lines.size(), 1u);
  EXPECT_NE(log_lines[0].find("Crate.y"), std::string::npos) << log_lines[0];
  const auto* seen = static_cast<const Body*>(lattice_object_read(play_.pair.client.world, first, 0));
  ASSERT_NE(seen, nullptr);
  EXPECT_FLOAT_EQ(seen->y, 1000.0f) << "clients get the clamped value";
  server_.step = [&](uint32_t) { PlayPair::body(server_.world, second)->x = -1001.0f; };
  play_.run(0.1);
  ASSERT_EQ(server_.heard.size(), 2u) << "another member is told of";
  EXPECT_EQ(server_.heard[1].object, second);
  EXPECT_EQ(server_.heard[1].prop_id, 0);
}

TEST_F(ClampedValues, ValuesInRangeAreNotToldOf) {
  const lattice_netid crate = play_.spawn(kCrateType);
  server_.step = [&](uint32_t tick) {
    *PlayPair::body(server_.world, crate) = {tick % 2 == 0 ? 1000.0f : -1000.0f, 0.0f};
  };
  play_.run(0.5);
  EXPECT_EQ(counted(), 0u);
  EXPECT_TRUE(server_.heard.empty());
  EXPECT_TRUE(log_lines.empty());
}

TEST_F(ClampedValues, TheGameMayRemoveTheObjectAtOnce) {
  const lattice_netid crate = play_.spawn(kCrateType);
  server_.despawns = true;
  server_.step = [&](uint32_t) {
    if (Body* body = PlayPair::body(server_.world, crate)) *body = {5000.0f, 5000.0f};
  };
  play_.run(0.5);
  EXPECT_EQ(server_.heard.size(), 2u) << "both members, of an object that was still there";
  EXPECT_EQ(lattice_object_read(server_.world, crate, 0), nullptr);
}

LATTICE_NETWORKED(Command, (aim, float, BOUNDS(-1, 1, 0.01)), (gear, uint8, RANGED(1, 5)))
LATTICE_NETWORKED(Level, (level, int32, RANGED(0, 10)))

/// A side whose input and calls may hold anything.
struct Speaker {
  World world;
  Command command;
  std::vector<std::string> log;

  void on_sample_input(uint32_t, Command& out) { out = command; }
  uint64_t counted() { return refusals(world.get(), "values_clamped"); }
};

TEST(ClampedArguments, AreNamedOnceAndCountedWhereTheyAreMade) {
  Netsim net(1);
  Speaker server, client;
  constexpr Type<Level> kType{.id = 1, .name = "Level"};
  constexpr Rpc<Level> kCall{.id = 5, .name = "call", .target = LATTICE_RPC_TO_SERVER};
  const auto start = [&](Speaker& side, lattice_role role, const char* address) {
    WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    config.log_ctx = &side;
    config.log = [](void* ctx, lattice_log_level, const char* category, const char* text) {
      if (std::string(category) == "state") static_cast<Speaker*>(ctx)->log.push_back(text);
    };
    net.attach(config);
    side.world = World::create(config, role);
    ASSERT_TRUE(side.world);
    ASSERT_EQ(side.world.add(kType, kCall), LATTICE_OK);
    ASSERT_EQ(side.world.add_input<Command>(), LATTICE_OK);
    ASSERT_EQ(side.world.set_callbacks(side), LATTICE_OK);
  };
  start(server, LATTICE_ROLE_DEDICATED, "10.0.0.1:1");
  start(client, LATTICE_ROLE_CLIENT, "10.0.0.2:1");
  const lattice_netid object = server.world.spawn(kType);
  ASSERT_TRUE(client.world.connect_for_development("10.0.0.1:1"));
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i, net.advance(4'000'000)) server.world.pump(), client.world.pump();
  };
  run(500);
  EXPECT_EQ(client.counted(), 0u) << "an input that nobody has set is no fault";
  client.command = {.aim = NAN, .gear = 77};
  run(250);
  const uint64_t inputs = client.counted();
  EXPECT_GE(inputs, 2u * 50) << "two members in each tick of a second";
  client.command = {.aim = 0, .gear = 1};
  run(50);
  ASSERT_EQ(client.world.call(object, kCall, Level{99}), LATTICE_OK);
  ASSERT_EQ(client.world.call(object, kCall, Level{-99}), LATTICE_OK);
  EXPECT_LE(client.counted(), inputs + 2 + 2 * 2);
  EXPECT_GE(client.counted(), inputs + 2);
  ASSERT_EQ(client.log.size(), 3u) << "each member once";
  EXPECT_EQ(client.log[0],
            "the input: aim does not fit its member and was clamped; values_clamped counts from here on");
  EXPECT_EQ(client.log[2],
            "an argument of RPC 5: level does not fit its member and was clamped; values_clamped "
            "counts from here on");
  EXPECT_EQ(server.counted(), 0u);
}

}  // namespace
}  // namespace lattice::test::clamped_values_test
