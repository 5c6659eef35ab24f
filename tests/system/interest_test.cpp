// Interest through the public interface: in a crowd that moves, changes teams, rooms and owners and spawns
// and despawns, over a bad network, no client ever receives a state of an object that was hidden from it at
// that time. When the world rests, each client has exactly what the rules say.
#include "lattice/interest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "interest_pair.h"
#include "lattice/lattice.hpp"
#include "refusal_count.h"

namespace lattice::test::interest_test {
namespace {

constexpr uint32_t kTickRateHz = 60;
constexpr uint32_t kStayTicks = 60;
constexpr double kEnter = 30;
constexpr double kLeave = 40;
constexpr double kCell = 16;
constexpr double kSlack = 2 * kCell / 8 + 0.01;  // of the object, and of the viewer
constexpr const char* kServer = "10.0.0.1:27015";

/// What the server knew of an object in one tick.
struct Fact {
  double x = 0;
  double y = 0;
  lattice_object_interest rule{};
  lattice_peer_id owner = 0;
};

/// What the server knew of a client in one tick.
struct Sight {
  double x = 0;
  double y = 0;
  uint32_t room = 0;
  uint32_t teams = 0;
};

class Crowd;

struct Player {
  Crowd* crowd = nullptr;
  lattice_world* world = nullptr;
  lattice_conn* conn = nullptr;  // the server's side
  lattice_peer_id peer = 0;
  Sight sight;
  std::map<uint32_t, Sight> sights;               // by tick
  std::map<lattice_netid, uint32_t> newest_tick;  // of the states checked
};

class Crowd {
 public:
  Crowd(lattice_interest_kind kind, uint32_t seed, uint32_t player_count) : random_(seed) {
    net_ = lattice_netsim_create(seed);
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = 40;
    impairment.jitter_ms = 10;
    impairment.loss_percent = 5;
    EXPECT_EQ(lattice_netsim_set_impairment(net_, &impairment), LATTICE_OK);
    lattice_world_config config = base(kServer);
    config.development_tokens = 1;
    config.interest_kind = kind;
    config.interest_radius = kEnter;
    config.interest_leave_radius = kLeave;
    config.interest_cell = kCell;
    server_ = make(config, LATTICE_ROLE_DEDICATED);
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* conn) { static_cast<Crowd*>(ctx)->joined(conn); };
    callbacks.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context* tick) {
      static_cast<Crowd*>(ctx)->tick(tick->tick);
    };
    EXPECT_EQ(lattice_set_callbacks(server_, &callbacks, this), LATTICE_OK);
    for (uint32_t i = 0; i < player_count; ++i) {
      auto player = std::make_unique<Player>();
      player->crowd = this;
      const std::string address = "10.0.1." + std::to_string(i + 1) + ":1000";
      player->world = make(base(address.c_str()), LATTICE_ROLE_CLIENT);
      players_.push_back(std::move(player));
    }
  }
  ~Crowd() {
    for (auto& player : players_) lattice_world_destroy(player->world);
    lattice_world_destroy(server_);
    lattice_netsim_destroy(net_);
  }

  void connect() {
    lattice_world_pump(server_);
    for (auto& player : players_) {
      ASSERT_TRUE(lattice::WorldRef(player->world).connect_for_development(kServer));
      const lattice_peer_id before = newest_peer_;
      for (int i = 0; i < 400 && newest_peer_ == before; ++i) pump();
      ASSERT_NE(newest_peer_, before);
      player->conn = newest_conn_;
      player->peer = newest_peer_;
      player->sight.x = 20.0 * static_cast<double>(player->peer);
    }
    is_moving_ = true;
  }

  void run(uint32_t milliseconds) {
    for (uint32_t ms = 0; ms < milliseconds && !testing::Test::HasFatalFailure(); ms += 5) {
      pump();
      for (auto& player : players_) check_received(*player);
    }
  }
  void rest() { is_moving_ = false; }

  /// Each client has exactly what the rules say, but for the width of the border.
  void check_complete() {
    for (auto& player : players_) {
      for (const auto& [id, facts] : history_) {
        if (lattice_object_state(server_, id, 0) == nullptr) continue;
        lattice_object_info info;
        lattice_object_info_init(&info);
        const bool has = lattice_object_get_info(player->world, id, &info) == LATTICE_OK;
        ASSERT_EQ(has, lattice_conn_has_object(player->conn, id) == 1) << id;
        const Fact& fact = facts.rbegin()->second;
        if (!may_see(*player, player->sight, fact)) {
          ASSERT_FALSE(has) << "object " << id << " is hidden from " << player->peer;
        } else if (!by_distance(*player, fact) || distance(player->sight, fact) < kEnter - kSlack) {
          ASSERT_TRUE(has) << "object " << id << " is missing at " << player->peer;
        } else if (distance(player->sight, fact) > kLeave + kSlack) {
          ASSERT_FALSE(has) << "object " << id << " is far from " << player->peer;
        }
      }
    }
  }

  uint64_t states_checked = 0;
  uint64_t spawns = 0;    // seen by clients
  uint64_t despawns = 0;  // seen by clients

 private:
  lattice_world_config base(const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.bind_address = address;
    config.netsim = net_;
    config.tick_rate_hz = kTickRateHz;
    config.clock = [](void* ctx) { return static_cast<Crowd*>(ctx)->now_ns_; };
    config.clock_ctx = this;
    return config;
  }
  lattice_world* make(const lattice_world_config& config, lattice_role role) {
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    lattice_world* world = lattice_world_create(&config, &context);
    EXPECT_NE(world, nullptr) << lattice_last_error();
    register_thing(world);
    return world;
  }

  void pump() {
    now_ns_ += 5'000'000;
    lattice_netsim_advance(net_, 5'000'000);
    lattice_world_pump(server_);
    for (auto& player : players_) lattice_world_pump(player->world);
  }

  void joined(lattice_conn* conn) {
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    ASSERT_EQ(lattice_conn_get_info(conn, &info), LATTICE_OK);
    newest_conn_ = conn;
    newest_peer_ = info.peer_id;
  }

  double below(double bound) { return std::uniform_real_distribution<double>(0, bound)(random_); }
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  lattice_object_interest random_rule() {
    lattice_object_interest rule;
    lattice_object_interest_init(&rule);
    rule.relevance = pick(8) == 0 ? 1 + pick(2) : 0;
    rule.room = pick(10) == 0 ? LATTICE_ROOM_ALL : pick(2);
    rule.team_mask = pick(3) == 0 ? 1 + pick(3) : 0;
    return rule;
  }

  void spawn_one() {
    const lattice_peer_id owner =
        pick(6) == 0 ? players_[pick(static_cast<uint32_t>(players_.size()))]->peer : 0;
    const lattice_netid id = lattice_spawn_for(server_, kThingType, LATTICE_AUTHORITY_SERVER, owner);
    ASSERT_NE(id, 0u) << lattice_last_error();
    Fact fact;
    fact.owner = owner;
    fact.x = below(200);
    fact.y = below(60);
    fact.rule = random_rule();
    ASSERT_EQ(lattice_object_set_interest(server_, id, &fact.rule), LATTICE_OK) << lattice_last_error();
    alive_[id] = fact;
  }

  void change_the_world() {
    while (alive_.size() < 120) spawn_one();
    auto victim = std::next(alive_.begin(), pick(static_cast<uint32_t>(alive_.size())));
    if (pick(10) == 0) {
      ASSERT_EQ(lattice_despawn(server_, victim->first), LATTICE_OK);
      alive_.erase(victim);
    } else if (pick(4) == 0) {
      victim->second.rule = random_rule();
      ASSERT_EQ(lattice_object_set_interest(server_, victim->first, &victim->second.rule), LATTICE_OK);
    }
    for (auto& [id, fact] : alive_) {
      if (id % 3 == 0) continue;
      fact.x = pick(600) == 0 ? below(200) : fact.x + below(1.0) - 0.5;
      fact.y += below(0.6) - 0.3;
    }
    for (auto& player : players_) {
      player->sight.x += below(1.2) - 0.55;
      if (player->sight.x > 200) player->sight.x = 0;
      player->sight.y = 30;
      if (pick(300) == 0) player->sight.room = pick(2);
      if (pick(300) == 0) player->sight.teams = pick(4);
    }
  }

  void tick(uint32_t tick) {
    tick_ = tick;
    if (is_moving_) change_the_world();
    for (const auto& [id, fact] : alive_) {
      auto* thing = static_cast<Thing*>(lattice_object_state(server_, id, 0));
      ASSERT_NE(thing, nullptr);
      thing->place[0] = static_cast<float>(fact.x);
      thing->place[1] = static_cast<float>(fact.y);
      if (is_moving_) thing->tick = tick;
      history_[id][tick] = fact;
    }
    for (auto& player : players_) {
      player->sights[tick] = player->sight;
      if (player->conn == nullptr) continue;
      lattice_viewer viewer;
      lattice_viewer_init(&viewer);
      viewer.kind = LATTICE_VIEWER_POINT;
      viewer.room = player->sight.room;
      viewer.team_mask = player->sight.teams;
      viewer.x = player->sight.x;
      viewer.y = player->sight.y;
      ASSERT_EQ(lattice_conn_set_viewer(player->conn, &viewer), LATTICE_OK) << lattice_last_error();
    }
  }

  static double distance(const Sight& sight, const Fact& fact) {
    return std::hypot(sight.x - fact.x, sight.y - fact.y);
  }
  static bool may_see(const Player& player, const Sight& sight, const Fact& fact) {
    if (fact.owner == player.peer) return true;
    if (fact.rule.relevance == LATTICE_RELEVANCE_OWNER) return false;
    if (fact.rule.team_mask != 0 && (fact.rule.team_mask & sight.teams) == 0) return false;
    return fact.rule.room == LATTICE_ROOM_ALL || fact.rule.room == sight.room;
  }
  static bool by_distance(const Player& player, const Fact& fact) {
    return fact.owner != player.peer && fact.rule.relevance == LATTICE_RELEVANCE_DISTANCE;
  }

  /// Was the object near enough in that tick, or was it near so short before that it stays?
  bool near(const Player& player, lattice_netid id, uint32_t tick) {
    const auto& facts = history_[id];
    if (distance(player.sights.at(tick), facts.at(tick)) <= kLeave + kSlack) return true;
    for (uint32_t back = tick; back + kStayTicks + 1 > tick && facts.contains(back); --back) {
      const Fact& then = facts.at(back);
      const Sight& sight = player.sights.at(back);
      if (may_see(player, sight, then) && !by_distance(player, then)) return true;
      if (distance(sight, then) <= kEnter + kSlack) return true;
    }
    return false;
  }

  void check_received(Player& player) {
    lattice_netid ids[512];
    const size_t count = lattice_objects(player.world, 0, ids, 512);
    ASSERT_LE(count, 512u);
    for (size_t i = 0; i < count; ++i) {
      Thing thing{};
      if (lattice_object_confirmed(player.world, ids[i], 0, &thing, sizeof thing, nullptr) == 0) continue;
      uint32_t& newest = player.newest_tick[ids[i]];
      if (thing.tick == newest || thing.tick == 0) continue;
      newest = thing.tick;
      ++states_checked;
      const Fact& fact = history_[ids[i]].at(thing.tick);
      const Sight& sight = player.sights.at(thing.tick);
      ASSERT_TRUE(may_see(player, sight, fact))
          << "client " << player.peer << " got tick " << thing.tick << " of hidden object " << ids[i];
      if (by_distance(player, fact)) {
        ASSERT_TRUE(near(player, ids[i], thing.tick))
            << "client " << player.peer << " got tick " << thing.tick << " of object " << ids[i] << " at "
            << distance(sight, fact);
      }
    }
    const size_t before = held_[&player];
    spawns += count > before ? count - before : 0;
    despawns += count < before ? before - count : 0;
    held_[&player] = count;
  }

  std::mt19937 random_;
  lattice_netsim* net_ = nullptr;
  uint64_t now_ns_ = 0;
  lattice_world* server_ = nullptr;
  std::vector<std::unique_ptr<Player>> players_;
  lattice_conn* newest_conn_ = nullptr;
  lattice_peer_id newest_peer_ = 0;
  bool is_moving_ = false;
  uint32_t tick_ = 0;
  std::map<lattice_netid, Fact> alive_;
  std::map<lattice_netid, std::map<uint32_t, Fact>> history_;  // by object and tick
  std::map<const Player*, size_t> held_;
};

class Interest : public testing::TestWithParam<lattice_interest_kind> {};

TEST_P(Interest, NoHiddenStateIsEverSent) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    Crowd crowd(GetParam(), seed, 4);
    crowd.connect();
    crowd.run(15'000);
    if (HasFatalFailure()) return;
    EXPECT_GT(crowd.states_checked, 5'000u);
    EXPECT_GT(crowd.spawns, 100u);
    EXPECT_GT(crowd.despawns, 100u);
    crowd.rest();
    crowd.run(4'000);
    crowd.check_complete();
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Indexes, Interest, testing::Values(LATTICE_INTEREST_GRID, LATTICE_INTEREST_TREE),
                         [](const auto& one) {
                           return std::string(one.param == LATTICE_INTEREST_GRID ? "grid" : "tree");
                         });

// A client must not play an explosion for what only went out of sight.
TEST(InterestEvents, LeavingAndDestructionAreToldApart) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  const lattice_netid first = pair.spawn_at(5);
  const lattice_netid second = pair.spawn_at(6);
  ASSERT_TRUE(pair.run_until([&] { return pair.heard.size() == 2; }));
  EXPECT_EQ(pair.heard, (Lines{spawned(first), spawned(second)}));
  pair.heard.clear();
  EXPECT_EQ(lattice_object_despawn_reason(pair.client()), LATTICE_DESPAWN_NONE);
  EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_OUT_OF_ORDER);

  pair.look_from(500);
  ASSERT_TRUE(pair.run_until([&] { return pair.heard.size() == 2; }));
  EXPECT_EQ(pair.heard[0].substr(0, 4), "left");
  EXPECT_EQ(pair.heard[1].substr(0, 4), "left");
  pair.heard.clear();

  pair.look_from(0);
  ASSERT_TRUE(pair.run_until([&] { return pair.heard.size() == 2; }));
  EXPECT_EQ(pair.heard, (Lines{spawned(first), spawned(second)}));
  pair.heard.clear();

  ASSERT_EQ(lattice_despawn(pair.server(), first), LATTICE_OK);
  ASSERT_TRUE(pair.run_until([&] { return pair.heard.size() == 1; }));
  EXPECT_EQ(pair.heard, Lines{"destroyed " + std::to_string(first)});
  pair.heard.clear();

  ASSERT_EQ(lattice_disconnect(pair.conn()), LATTICE_OK);
  ASSERT_TRUE(pair.run_until([&] { return pair.heard.size() == 1; }));
  EXPECT_EQ(pair.heard, Lines{"session ended " + std::to_string(second)});
}

// The set of a client is being made there: an object that appears in it would be missed.
// Calls follow what a client has. Its set is made with its snapshots, and those wait for its
// acknowledgements.
// When it is made, nobody knows yet who gets the object.
TEST(InterestEvents, ACallRightAfterASpawnReachesThoseWhoGetTheObject) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  pair.run(500);
  const lattice_netid near = pair.spawn_at(5);
  EXPECT_EQ(pair.poke(near), LATTICE_OK);
  const lattice_netid far = pair.spawn_at(500);
  EXPECT_EQ(pair.poke(far), LATTICE_OK);
  EXPECT_EQ(pair.poke(near), LATTICE_OK);
  const lattice_netid gone = pair.spawn_at(6);
  EXPECT_EQ(pair.poke(gone), LATTICE_OK);
  EXPECT_EQ(lattice_despawn(pair.server(), gone), LATTICE_OK);
  pair.run(500);
  EXPECT_EQ(pair.heard, (Lines{spawned(near), poked(near), poked(near)}));
  pair.look_from(500);  // a call on what was out of sight does not come later
  pair.run(500);
  EXPECT_EQ(std::count(pair.heard.begin(), pair.heard.end(), spawned(far)), 1);
  EXPECT_EQ(std::count(pair.heard.begin(), pair.heard.end(), poked(far)), 0);
}

// More calls than are kept, on objects that the client does not get, take no place from others.
TEST(InterestEvents, CallsThatWaitAreBounded) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  pair.run(500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pair.poke(pair.spawn_at(500)), LATTICE_OK);
  const lattice_netid near = pair.spawn_at(5);
  EXPECT_EQ(pair.poke(near), LATTICE_OK);
  pair.run(500);
  EXPECT_EQ(pair.heard, (Lines{spawned(near), poked(near)}));
}

// Of calls on objects that a client does not get, none is lost.
TEST(InterestEvents, CallsOutOfSightAreNotCountedAsLost) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  pair.run(3000);
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 8; ++k) EXPECT_EQ(pair.poke(pair.spawn_at(500)), LATTICE_OK);
    pair.run(15);
  }
  EXPECT_EQ(refusals(pair.server(), "rpc_queue_full"), 0u);
}

TEST(InterestEvents, ARuleHidesAtOnceAlsoFromAClientThatGetsNoSnapshots) {
  InterestPair pair;
  const lattice_netid thing = pair.spawn_at(5);
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  ASSERT_TRUE(pair.run_until([&] { return !pair.heard.empty(); }));
  pair.cut(true);
  pair.run(2000);
  EXPECT_EQ(lattice_conn_has_object(pair.conn(), thing), 1);
  lattice_object_interest rule;
  lattice_object_interest_init(&rule);
  rule.team_mask = 1u << 3;
  ASSERT_EQ(lattice_object_set_interest(pair.server(), thing, &rule), LATTICE_OK) << lattice_last_error();
  EXPECT_EQ(lattice_conn_has_object(pair.conn(), thing), 0) << "before any snapshot";
  pair.run(500);
  EXPECT_EQ(lattice_conn_has_object(pair.conn(), thing), 0);
}

// Nobody is asked about what is attached, so it would be shown whatever the game said.
TEST(InterestEvents, WhatTheGameIsAskedAboutCannotBeAttached) {
  InterestPair pair;
  const lattice_netid car = pair.spawn_at(1), box = pair.spawn_at(1);
  lattice_object_interest asked;
  lattice_object_interest_init(&asked);
  asked.is_filtered = 1;
  ASSERT_EQ(lattice_object_set_interest(pair.server(), box, &asked), LATTICE_OK);
  EXPECT_EQ(lattice_object_attach(pair.server(), box, car), LATTICE_ERROR_NOT_ALLOWED);
  EXPECT_NE(std::string(lattice_last_error()).find("is_filtered"), std::string::npos);
  lattice_object_interest everybody;
  lattice_object_interest_init(&everybody);
  ASSERT_EQ(lattice_object_set_interest(pair.server(), box, &everybody), LATTICE_OK);
  ASSERT_EQ(lattice_object_attach(pair.server(), box, car), LATTICE_OK);
  EXPECT_EQ(lattice_object_set_interest(pair.server(), box, &asked), LATTICE_ERROR_NOT_ALLOWED);
  lattice_object_interest rule;
  lattice_object_interest_init(&rule);
  ASSERT_EQ(lattice_object_get_interest(pair.server(), box, &rule), LATTICE_OK);
  EXPECT_EQ(rule.is_filtered, 0u) << "nothing changed";
  ASSERT_EQ(lattice_object_attach(pair.server(), box, 0), LATTICE_OK);
  EXPECT_EQ(lattice_object_set_interest(pair.server(), box, &asked), LATTICE_OK);
}

TEST(InterestEvents, OnRelevantMayAskAndMustNotChangeOrSpawn) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_relevant = [](void* ctx, lattice_world* world, lattice_conn*, lattice_netid object) {
    lattice_object_interest rule;
    lattice_object_interest_init(&rule);
    EXPECT_EQ(lattice_object_get_interest(world, object, &rule), LATTICE_OK) << lattice_last_error();
    EXPECT_EQ(rule.is_filtered, 1u);
    EXPECT_EQ(lattice_object_set_interest(world, object, &rule), LATTICE_ERROR_OUT_OF_ORDER);
    EXPECT_EQ(lattice_spawn(world, kThingType, LATTICE_AUTHORITY_SERVER), 0u);
    EXPECT_EQ(lattice_last_result(), LATTICE_ERROR_OUT_OF_ORDER);
    ++*static_cast<int*>(ctx);
    return 1;
  };
  int asked = 0;
  ASSERT_EQ(lattice_set_callbacks(pair.server(), &callbacks, &asked), LATTICE_OK);
  lattice_object_interest rule;
  lattice_object_interest_init(&rule);
  rule.is_filtered = 1;
  ASSERT_EQ(lattice_object_set_interest(pair.server(), pair.spawn_at(1), &rule), LATTICE_OK);
  pair.run(200);
  EXPECT_GT(asked, 0);
}

}  // namespace
}  // namespace lattice::test::interest_test
