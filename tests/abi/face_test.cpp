// lattice.hpp: what it wires, and a whole session through it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lattice/lattice.hpp"

namespace lattice::test::face_test {
namespace {

LATTICE_NETWORKED(Mover, (position, vec2, BOUNDS(-100, 100, 1.0 / 64), POSITION), (steps, uint32))
LATTICE_NETWORKED(Stick, (right, int8))
LATTICE_NETWORKED(Say, (text, string, STRING(16)))

constexpr lattice::Type<Mover> kMover{.id = 7, .name = "Mover", .flags = LATTICE_TYPE_PREDICTED};
constexpr lattice::Rpc<Say> kAsk{.id = 1, .name = "ask"};
constexpr lattice::Rpc<Say> kAnswer{.id = 2, .name = "answer", .target = LATTICE_RPC_TO_PEER};
constexpr lattice::Rpc<> kCheer{.id = 3, .name = "cheer", .target = LATTICE_RPC_TO_ALL};

// ---- Which members are wired -----------------------------------------------------------------------------

lattice_callbacks wired;

template <class Game>
int wired_by() {
  lattice::callbacks::fill<Game>(wired);
  return (wired.on_connected != nullptr) + (wired.on_disconnected != nullptr) + (wired.on_spawn != nullptr) +
         (wired.on_despawn != nullptr) + (wired.on_rpc != nullptr) + (wired.on_authority_changed != nullptr) +
         (wired.on_tick != nullptr) + (wired.on_sample_input != nullptr) + (wired.on_message != nullptr) +
         (wired.on_admit != nullptr) + (wired.on_resync != nullptr) + (wired.on_receipt != nullptr) +
         (wired.on_relevant != nullptr) + (wired.on_value_clamped != nullptr) + (wired.on_loaded != nullptr);
}

struct Nothing {
  int value = 0;
};
struct OnlyTick {
  void on_tick(const lattice_tick_context&) noexcept {}
};
struct FinalClass final {
  void on_spawn(lattice_netid, uint32_t) {}
};
struct Interface {
  virtual ~Interface() = default;
  virtual void on_rpc(const lattice::Call&) = 0;
};
struct Overloads {
  void on_despawn(lattice_netid) {}
  void on_despawn(const char*) {}
};
struct Inherits : OnlyTick {
  void on_resync(uint32_t, uint32_t) {}
};
struct Converts {
  template <class Message>
  void on_message(lattice::Connection, lattice_channel, Message) {}
};

TEST(Face, WiresTheMembersThatAreThereAndNoOther) {
  EXPECT_EQ(wired_by<Nothing>(), 0);
  EXPECT_EQ(wired_by<OnlyTick>(), 1);
  EXPECT_NE(wired.on_tick, nullptr);
  EXPECT_EQ(wired_by<FinalClass>(), 1);
  EXPECT_NE(wired.on_spawn, nullptr);
  EXPECT_EQ(wired_by<Interface>(), 1);
  EXPECT_NE(wired.on_rpc, nullptr);
  EXPECT_EQ(wired_by<Overloads>(), 1);
  EXPECT_NE(wired.on_despawn, nullptr);
  EXPECT_EQ(wired_by<Inherits>(), 2);
  EXPECT_EQ(wired_by<Converts>(), 1);
  EXPECT_NE(wired.on_message, nullptr);
}

// ---- A session -------------------------------------------------------------------------------------------

struct Game {
  lattice::World world;
  lattice::Connection conn;
  std::vector<std::string> heard;
  std::string said;
  lattice_netid spawned = 0, despawned = 0;
  int reason = 0, cheers = 0, receipts = 0, admitted = 0, loaded = 0;
  uint32_t receipt = 0;
  int8_t right = 0;

  bool is_server() const { return world.local_peer() == 1; }
  void on_connected(lattice::Connection peer) { conn = peer; }
  void on_loaded(lattice::Connection peer) {
    EXPECT_EQ(peer, conn);
    ++loaded;
  }
  void on_disconnected(lattice::Connection peer, int why) {
    EXPECT_EQ(peer, conn);
    reason = why;
  }
  void on_spawn(lattice_netid id, uint32_t type_id) {
    EXPECT_EQ(type_id, kMover.id);
    spawned = id;
  }
  void on_despawn(lattice_netid id) { despawned = id; }
  void on_rpc(const lattice::Call& call) {
    EXPECT_EQ(call.as(kAsk) != nullptr, call.is(kAsk));
    if (const Say* ask = call.as(kAsk)) {
      said = ask->text.c_str();
      Say answer;
      answer.text = "hello " + said;
      EXPECT_EQ(world.call_peer(call.object, kAnswer, world.rpc_sender(), answer), LATTICE_OK);
      EXPECT_EQ(world.call(call.object, kCheer), LATTICE_OK);
    } else if (const Say* answer = call.as(kAnswer)) {
      said = answer->text.c_str();
    } else if (call.is(kCheer)) {
      ++cheers;
    }
  }
  void on_authority_changed(lattice_netid, lattice_peer_id) {}
  void on_tick(const lattice_tick_context& tick) {
    world.each_simulated(kMover, [&](lattice_netid id, Mover& mover) {
      Stick stick;
      world.get_input(world.info(id).owner, stick);
      mover.position.x += static_cast<float>(tick.dt_s) * stick.right;
      ++mover.steps;
    });
  }
  void on_sample_input(uint32_t, Stick& stick) { stick.right = right; }
  void on_message(lattice::Connection peer, lattice_channel channel, std::span<const uint8_t> message) {
    heard.emplace_back(message.begin(), message.end());
    if (is_server()) {
      EXPECT_EQ(peer.send(channel, message), LATTICE_OK);
    }
  }
  int on_admit(const lattice_conn_info& info) {
    EXPECT_EQ(info.user_data_bytes, 2u);
    ++admitted;
    return 0;
  }
  void on_resync(uint32_t, uint32_t) {}
  void on_receipt(lattice::Connection, uint32_t number, bool acked) {
    EXPECT_TRUE(acked);
    EXPECT_EQ(number, receipt);
    ++receipts;
  }
  bool on_relevant(lattice::Connection, lattice_netid) { return true; }
  void on_value_clamped(lattice_netid, uint16_t, uint32_t) {}
};

TEST(Face, AllMembersAreWired) {
  EXPECT_EQ(wired_by<Game>(), 15);
}

class FaceSession : public testing::Test {
 protected:
  void start(Game& game, lattice_role role, const char* address) {
    lattice::WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    network.attach(config);
    game.world = lattice::World::create(config, role);
    ASSERT_TRUE(game.world) << lattice_last_error();
    ASSERT_EQ(game.world.add(kMover, kAsk, kAnswer, kCheer), LATTICE_OK) << lattice_last_error();
    ASSERT_EQ(game.world.add_input<Stick>(), LATTICE_OK) << lattice_last_error();
    ASSERT_EQ(game.world.set_callbacks(game), LATTICE_OK) << lattice_last_error();
    EXPECT_STREQ(game.world.address().c_str(), address);
  }
  void SetUp() override {
    start(server, LATTICE_ROLE_DEDICATED, kServer);
    start(client, LATTICE_ROLE_CLIENT, "10.0.0.2:1");
    const uint8_t user_data[] = {1, 2};
    lattice::TokenRequest request;
    request.user_data = user_data;
    request.user_data_bytes = sizeof user_data;
    const lattice::Token token = client.world.dev_token(kServer, &request);
    ASSERT_TRUE(token) << lattice_last_error();
    ASSERT_TRUE(client.world.connect(kServer, token)) << lattice_last_error();
    run(1000);
    ASSERT_TRUE(server.conn && client.conn);
    EXPECT_EQ(server.loaded, 1);
    EXPECT_EQ(client.loaded, 1);
  }
  void run(int ms) {
    for (; ms > 0; ms -= 4) {
      server.world.pump();
      client.world.pump();
      network.advance(4'000'000);
    }
  }

  static constexpr const char* kServer = "10.0.0.1:1";
  lattice::Netsim network{1};
  Game server, client;
};

TEST_F(FaceSession, ObjectsAreSpawnedPredictedSeenAndDespawned) {
  EXPECT_EQ(server.admitted, 1);
  const lattice_peer_id player = client.world.local_peer();
  EXPECT_EQ(server.world.connection_of(player), server.conn);
  const lattice_netid id = server.world.spawn(kMover, player);
  const lattice_netid unowned = server.world.spawn(kMover);
  ASSERT_TRUE(id != 0 && unowned != 0) << lattice_last_error();
  run(500);
  EXPECT_EQ(client.world.info(id).owner, player);
  client.right = 1;
  run(1000);
  client.right = 0;
  run(500);
  const auto seen = client.world.view<Mover>(id);
  uint32_t tick = 0;
  const auto confirmed = client.world.confirmed<Mover>(id, &tick);
  ASSERT_TRUE(seen && confirmed);
  EXPECT_GT(tick, 0u);
  EXPECT_GT(confirmed->position.x, 0.8f);
  EXPECT_EQ(seen->position.x, server.world.state<Mover>(id)->position.x);
  std::vector<lattice_netid> visited;
  client.world.each(kMover, [&](lattice_netid outer, const Mover&) {
    client.world.each(kMover, [&](lattice_netid inner, const Mover&) { visited.push_back(inner); });
    visited.push_back(outer);
  });
  EXPECT_EQ(visited, (std::vector<lattice_netid>{id, unowned, id, id, unowned, unowned}));
  server.world.despawn(id);
  run(500);
  EXPECT_EQ(client.despawned, id);
  EXPECT_FALSE(client.world.view<Mover>(id));
  EXPECT_FALSE(client.world.confirmed<Mover>(id));
  EXPECT_EQ(client.world.state<Mover>(id), nullptr);
  EXPECT_GT(client.world.stats().snapshots_applied, 0u);
}

TEST_F(FaceSession, PredictionErrorsAreTakenOnce) {
  const lattice_netid id = server.world.spawn(kMover, client.world.local_peer());
  run(500);
  client.world.take_prediction_errors([](const lattice_prediction_error&) {});
  server.world.state<Mover>(id)->position.x += 5;  // no client can foresee it
  run(500);
  std::vector<std::string> members;
  const auto note = [&](const lattice_prediction_error& error) { members.emplace_back(error.member); };
  client.world.take_prediction_errors(note);
  EXPECT_EQ(members, std::vector<std::string>{"Mover.position"});
  client.world.take_prediction_errors(note);
  EXPECT_EQ(members.size(), 1u);
}

TEST_F(FaceSession, ALinkOfItsOwnLosesEverything) {
  lattice::Impairment deaf;
  deaf.loss_percent = 100;
  ASSERT_EQ(network.set_link("10.0.0.2:1", kServer, deaf), LATTICE_OK) << lattice_last_error();
  EXPECT_EQ(network.set_link("10.0.0.9:1", kServer, deaf), LATTICE_ERROR_NOT_FOUND);
  client.conn.send(LATTICE_CHANNEL_RELIABLE_ORDERED, "unheard");
  run(20);  // what was on its way
  const uint64_t received = server.conn.stats().packets_received;
  run(1000);
  EXPECT_EQ(server.conn.stats().packets_received, received);
}

struct Refused {
  lattice::World world;
  int reason = 0;
  std::vector<std::string> differences;

  void on_disconnected(lattice::Connection conn, int why) {
    reason = why;
    conn.each_schema_difference([this](const char* difference) { differences.emplace_back(difference); });
  }
};

TEST_F(FaceSession, BothSidesNameWhatDiffersInTheirSchemas) {
  Refused other;
  lattice::WorldConfig config;
  config.bind_address = "10.0.0.3:1";
  network.attach(config);
  other.world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(other.world) << lattice_last_error();
  ASSERT_EQ(other.world.add(kMover), LATTICE_OK) << lattice_last_error();
  ASSERT_EQ(other.world.set_callbacks(other), LATTICE_OK) << lattice_last_error();
  ASSERT_TRUE(other.world.connect_for_development(kServer)) << lattice_last_error();
  for (int i = 0; i < 1000; ++i) {
    other.world.pump();
    run(4);
  }
  EXPECT_EQ(other.reason, LATTICE_DISCONNECT_SCHEMA_MISMATCH);
  EXPECT_EQ(other.differences.size(), 4u) << "three RPCs and an input";
  std::vector<std::string> of_server;
  server.world.each_schema_difference([&](const char* difference) { of_server.emplace_back(difference); });
  EXPECT_EQ(of_server, other.differences);
}

TEST(Face, ATypeWithoutAnIdIsKnownByTheHashOfItsName) {
  constexpr lattice::Type<Mover> kNamed{.name = "Named"};
  constexpr lattice::Type<Say> kOther{.name = "Other"};
  lattice::Netsim network{1};
  lattice::WorldConfig config;
  config.bind_address = "10.0.0.1:1";
  network.attach(config);
  config.development_tokens = 1;
  lattice::World world = lattice::World::create(config, LATTICE_ROLE_DEDICATED);
  ASSERT_TRUE(world) << lattice_last_error();
  ASSERT_EQ(world.add(kNamed), LATTICE_OK) << lattice_last_error();
  ASSERT_EQ(world.add(kOther), LATTICE_OK) << lattice_last_error();
  const lattice_netid named = world.spawn(kNamed);
  const lattice_netid other = world.spawn(kOther);
  ASSERT_TRUE(named != 0 && other != 0) << lattice_last_error();
  EXPECT_EQ(world.info(named).type_id, kNamed.type_id());
  std::vector<lattice_netid> visited;
  world.each(kNamed, [&](lattice_netid id, const Mover&) { visited.push_back(id); });
  EXPECT_EQ(visited, std::vector<lattice_netid>{named});
}

TEST_F(FaceSession, ReadingEachWakesNobody) {
  const lattice_netid id = server.world.spawn(kMover);
  run(100);
  ASSERT_EQ(lattice_object_sleep(server.world.get(), id), LATTICE_OK) << lattice_last_error();
  run(100);
  int visits = 0;
  server.world.each(kMover, [&](lattice_netid, const Mover&) { ++visits; });
  EXPECT_EQ(visits, 1);
  EXPECT_FALSE(server.world.info(id).is_simulated);
  run(100);
  EXPECT_FALSE(server.world.info(id).is_simulated);
}

TEST_F(FaceSession, RpcsCarryTheirStructuresBothWays) {
  const lattice_netid id = server.world.spawn(kMover);
  run(500);
  Say ask;
  ask.text = "world";
  EXPECT_EQ(client.world.call(id, kAsk, ask), LATTICE_OK);
  run(500);
  EXPECT_EQ(server.said, "world");
  EXPECT_EQ(client.said, "hello world");
  EXPECT_EQ(client.cheers, 1);
  EXPECT_EQ(server.world.call_peer(id, kCheer, client.world.local_peer()), LATTICE_OK)
      << lattice_last_error();
  run(500);
  EXPECT_EQ(client.cheers, 2);
  EXPECT_NE(client.world.call(id, kCheer), LATTICE_OK) << "only the authority cheers";
}

TEST_F(FaceSession, MessagesReceiptsAndTheEnd) {
  EXPECT_EQ(client.conn.send(LATTICE_CHANNEL_RELIABLE_ORDERED, "text"), LATTICE_OK);
  const uint8_t bytes[] = {'b', 'y', 't', 'e'};
  EXPECT_EQ(client.conn.send_with_receipt(LATTICE_CHANNEL_UNRELIABLE, bytes, client.receipt), LATTICE_OK);
  run(500);
  EXPECT_EQ(client.heard.size(), 2u);
  EXPECT_EQ(client.receipts, 1);
  EXPECT_GT(client.conn.stats().packets_sent, 0u);
  EXPECT_EQ(client.conn.disconnect(300, "bye"), LATTICE_OK);
  run(500);
  EXPECT_EQ(server.reason, 300);
  EXPECT_EQ(client.conn.send(LATTICE_CHANNEL_UNRELIABLE, "late"), LATTICE_ERROR_STALE_HANDLE);
}

TEST(Face, AWorldIsReplacedAfterItIsReset) {
  lattice::Netsim network(1);
  lattice::WorldConfig config;
  network.attach(config);
  config.bind_address = "10.0.0.2:1";
  lattice::World world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(world) << lattice_last_error();
  world.reset();
  world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(world) << lattice_last_error();
  // As documented: the new world finds the port of the old one taken, and the reason is lost.
  world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  EXPECT_FALSE(world);
  EXPECT_STREQ(lattice_last_error(), "");
}

TEST(Face, ALoopOfTheProgramsOwnAsksTheWorldWhenAndOnWhat) {
  lattice::WorldConfig config;
  config.bind_address = "127.0.0.1:0";
  config.transport_only = 1;
  const lattice::World world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(world) << lattice_last_error();
  EXPECT_GE(world.descriptor(), 0);
  world.pump();
  EXPECT_GT(world.idle_ns(), 0u);
  EXPECT_EQ(lattice::World().idle_ns(), 0u);
  EXPECT_EQ(lattice::World().descriptor(), -1);
}

TEST(Face, AWorldMovesAndAnEmptyOneRefuses) {
  lattice::Netsim network(1);
  lattice::WorldConfig config;
  network.attach(config);
  config.bind_address = "10.0.0.2:1";
  lattice::World world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
  ASSERT_TRUE(world) << lattice_last_error();
  lattice_world* const handle = world.get();
  lattice::World other = std::move(world);
  EXPECT_EQ(other.get(), handle);
  EXPECT_FALSE(world);
  EXPECT_EQ(world.pump(), 0u);
  EXPECT_NE(world.add(kMover), LATTICE_OK);
  EXPECT_EQ(world.spawn(kMover), 0u);
  EXPECT_FALSE(world.view<Mover>(1));
  EXPECT_FALSE(world.connect_for_development("127.0.0.1:1"));
  EXPECT_EQ(other.add(kMover), LATTICE_OK);
  other = lattice::World();
  EXPECT_FALSE(other);
  EXPECT_EQ(lattice_world_schema_id(handle), 0u) << "the world is destroyed";
  EXPECT_NE(lattice::Connection().send(LATTICE_CHANNEL_UNRELIABLE, "x"), LATTICE_OK);
}

}  // namespace
}  // namespace lattice::test::face_test
