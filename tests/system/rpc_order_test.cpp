// The order of an object's life and the calls on it, as a client sees it (docs/spec/data.md D-35): spawn,
// then every reliable call, then despawn; nothing after.
#include <map>
#include <optional>

#include "base/random.h"
#include "message_pair.h"
#include "refusal_count.h"
#include "seed_range.h"

namespace lattice::test::rpc_order_test {
namespace {

constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint32_t kSparkType = 5;
constexpr lattice_peer_id kHostPeer = 1;
constexpr lattice_peer_id kClientPeer = 2;  // the first to connect
enum Rpc : uint16_t { kOrdered, kUnordered, kAligned, kUnreliable, kRpcCount };
constexpr lattice_channel kChannel[kRpcCount] = {
    LATTICE_CHANNEL_RELIABLE_ORDERED, LATTICE_CHANNEL_RELIABLE_UNORDERED, LATTICE_CHANNEL_RELIABLE_UNORDERED,
    LATTICE_CHANNEL_UNRELIABLE};

struct Spark {
  uint32_t heat;
};
struct Number {
  uint32_t number;
};

lattice_struct_desc one_number(const char* name, const lattice_member_desc* member) {
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = name;
  desc.host_bytes = sizeof(uint32_t);
  desc.host_align = alignof(uint32_t);
  desc.members = member;
  desc.member_count = 1;
  return desc;
}

void register_spark(lattice_world* world) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "number";
  member.type = LATTICE_WIRE_UINT32;
  const lattice_struct_desc state = one_number("Spark", &member);
  const lattice_struct_desc arguments = one_number("Number", &member);
  constexpr const char* kNames[kRpcCount] = {"ordered", "unordered", "aligned", "unreliable"};
  lattice_rpc_desc rpcs[kRpcCount];
  for (uint16_t i = 0; i < kRpcCount; ++i) {
    lattice_rpc_desc_init(&rpcs[i]);
    rpcs[i].rpc_id = i;
    rpcs[i].name = kNames[i];
    rpcs[i].channel = kChannel[i];
    rpcs[i].target = LATTICE_RPC_TO_ALL;
    rpcs[i].arguments = &arguments;
  }
  rpcs[kAligned].delivery = LATTICE_RPC_TICK_ALIGNED;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &state;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = kSparkType;
  type.name = "Spark";
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  type.rpcs = rpcs;
  type.rpc_count = kRpcCount;
  ASSERT_EQ(lattice_register_type(world, &type), LATTICE_OK) << lattice_last_error();
}

/// What one side heard of one object.
struct Life {
  int spawns = 0;
  int despawns = 0;
  bool out_of_turn = false;  ///< a call before the spawn or after the despawn
  std::vector<uint32_t> calls[kRpcCount];
};

struct Listener {
  std::map<lattice_netid, Life> lives;
  bool knows_spawns = true;  ///< a listen-server's own player is told of calls only

  void listen(Side& of) {
    side_ = &of;
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* connection) {
      Side& side = *static_cast<Listener*>(ctx)->side_;
      side.conn = connection;
      ++side.connected;
    };
    callbacks.on_disconnected = [](void* ctx, lattice_conn*, int why) {
      Side& side = *static_cast<Listener*>(ctx)->side_;
      side.conn = nullptr;
      side.reason = why;
    };
    callbacks.on_spawn = [](void* ctx, lattice_netid id, uint32_t) {
      ++static_cast<Listener*>(ctx)->lives[id].spawns;
    };
    callbacks.on_despawn = [](void* ctx, lattice_netid id) {
      ++static_cast<Listener*>(ctx)->lives[id].despawns;
    };
    callbacks.on_rpc = [](void* ctx, lattice_netid id, uint16_t rpc, const void* arguments, size_t) {
      auto& self = *static_cast<Listener*>(ctx);
      Life& life = self.lives[id];
      if (self.knows_spawns) life.out_of_turn = life.out_of_turn || life.spawns != 1 || life.despawns != 0;
      life.calls[rpc].push_back(static_cast<const Number*>(arguments)->number);
    };
    lattice_set_callbacks(of.world, &callbacks, this);
  }

 private:
  Side* side_ = nullptr;
};

struct Conditions {
  lattice_impairment impairment;
  MessagePairOptions options;
};

Conditions conditions_of(uint64_t seed) {
  base::Random random(seed);
  Conditions conditions;
  lattice_impairment_init(&conditions.impairment);
  conditions.impairment.delay_ms = 10.0 + static_cast<double>(random.next_below(60));
  conditions.impairment.jitter_ms = static_cast<double>(random.next_below(30));
  conditions.impairment.jitter_reorders = 1;
  conditions.impairment.loss_percent = 5.0 + static_cast<double>(random.next_below(16));
  conditions.impairment.duplicate_percent = static_cast<double>(random.next_below(5));
  conditions.options.network_seed = seed;
  if (seed % 2 == 0) conditions.options.snapshot_budget_bytes = 200;
  return conditions;
}

/// Sparks that appear, are called, and go at once after the last call.
class Churn {
 public:
  Churn(MessagePair& pair, lattice_peer_id callee, uint64_t seed)
      : pair_(pair), callee_(callee), random_(seed) {}

  void step(bool busy) {
    if (busy && alive_.size() < 12)
      alive_.push_back(lattice_spawn(world(), kSparkType, LATTICE_AUTHORITY_SERVER));
    if (busy && random_.next_below(2) == 0) call(alive_[random_.next_below(alive_.size())]);
    for (size_t i = 0; i < alive_.size();) {
      if (busy && random_.next_below(40) != 0) {
        ++i;
        continue;
      }
      for (uint64_t n = random_.next_below(4); n > 0; --n) call(alive_[i]);
      lattice_despawn(world(), alive_[i]);
      alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    tick();
  }
  void run(int ticks, bool busy) {
    for (int i = 0; i < ticks; ++i) step(busy);
  }

  std::map<lattice_netid, Life> made;

 private:
  lattice_world* world() { return pair_.server.world; }
  void call(lattice_netid object) {
    const auto rpc = static_cast<uint16_t>(random_.next_below(kRpcCount));
    const Number number{++calls_};
    const lattice_result sent =
        lattice_rpc_to(world(), object, rpc, callee_, kChannel[rpc], &number, sizeof number);
    if (sent == LATTICE_OK) made[object].calls[rpc].push_back(number.number);
  }
  void tick() {
    for (int i = 0; i < 4; ++i) {
      pair_.now_ns += kTickNs / 4;
      lattice_netsim_advance(pair_.net, kTickNs / 4);
      for (const Side* side : {&pair_.server, &pair_.client}) lattice_world_pump(side->world);
    }
  }

  MessagePair& pair_;
  lattice_peer_id callee_;
  base::Random random_;
  uint32_t calls_ = 0;
  std::vector<lattice_netid> alive_;
};

/// Returns how many reliable calls were looked at.
size_t expect_complete(const std::map<lattice_netid, Life>& made, std::map<lattice_netid, Life>& heard) {
  size_t compared = 0;
  for (const auto& [id, life] : made) {
    Life& seen = heard[id];
    if (seen.spawns == 0) {  // gone before any state of it arrived: no calls either
      for (const auto& calls : seen.calls) EXPECT_TRUE(calls.empty()) << id;
      continue;
    }
    EXPECT_EQ(seen.spawns, 1) << id;
    EXPECT_EQ(seen.despawns, 1) << id;
    EXPECT_FALSE(seen.out_of_turn) << id;
    EXPECT_EQ(seen.calls[kOrdered], life.calls[kOrdered]) << id;
    for (const Rpc rpc : {kUnordered, kAligned}) {
      std::sort(seen.calls[rpc].begin(), seen.calls[rpc].end());
      EXPECT_EQ(seen.calls[rpc], life.calls[rpc]) << id;
    }
    EXPECT_LE(seen.calls[kUnreliable].size(), life.calls[kUnreliable].size()) << id;
    for (const Rpc rpc : {kOrdered, kUnordered, kAligned}) compared += life.calls[rpc].size();
  }
  return compared;
}

TEST(RpcOrder, ReliableCallsArriveBetweenSpawnAndDespawn) {
  for (const uint64_t seed : seeds_to_run(12, 200)) {
    SCOPED_TRACE(testing::Message() << "LATTICE_SIM_SEED=" << seed);
    const Conditions conditions = conditions_of(seed);
    MessagePair pair(conditions.options);
    Listener client;
    Listener server;
    client.listen(pair.client);
    server.listen(pair.server);
    register_spark(pair.server.world);
    register_spark(pair.client.world);
    ASSERT_TRUE(pair.connect());
    ASSERT_EQ(lattice_netsim_set_impairment(pair.net, &conditions.impairment), LATTICE_OK);
    Churn churn(pair, kClientPeer, seed);
    churn.run(360, true);
    churn.run(900, false);
    EXPECT_EQ(pair.client.reason, -1);
    EXPECT_GT(expect_complete(churn.made, client.lives), 200u);
    EXPECT_EQ(lattice_objects(pair.client.world, kSparkType, nullptr, 0), 0u);
    EXPECT_EQ(refusals(pair.client.world, "rpc_despawn_overdue"), 0u);
    if (HasFailure()) return;
  }
}

TEST(RpcOrder, AListenServersOwnPlayerHearsEveryCall) {
  MessagePairOptions options;
  options.server_role = LATTICE_ROLE_HOST;
  MessagePair pair(options);
  ASSERT_NE(pair.server.world, nullptr) << lattice_last_error();
  Listener host;
  host.knows_spawns = false;
  host.listen(pair.server);
  register_spark(pair.server.world);
  register_spark(pair.client.world);
  Churn churn(pair, kHostPeer, 3);
  churn.run(120, true);
  churn.run(10, false);
  size_t calls = 0;
  for (const auto& [id, life] : churn.made) {
    for (uint16_t rpc = 0; rpc < kRpcCount; ++rpc) {
      EXPECT_EQ(host.lives[id].calls[rpc], life.calls[rpc]) << id;
      calls += life.calls[rpc].size();
    }
  }
  EXPECT_GT(calls, 50u);
  EXPECT_EQ(lattice_objects(pair.server.world, kSparkType, nullptr, 0), 0u);
}

}  // namespace
}  // namespace lattice::test::rpc_order_test
