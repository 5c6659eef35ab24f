// A server with interest management and one client that looks from a point, on a simulated network.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "lattice/lattice.h"
#include "plain_type.h"

namespace lattice::test {

using Lines = std::vector<std::string>;

inline constexpr uint32_t kThingType = 3;
inline constexpr uint32_t kBulkType = 4;
inline constexpr uint16_t kPoke = 1;       // from the server to all, on a Thing
inline constexpr uint16_t kTimedPoke = 2;  // the same, tick-aligned

/// Each state says in which tick it was written.
struct Thing {
  float place[2];
  uint32_t tick;
};

inline void register_thing(lattice_world* world) {
  lattice_member_desc members[2];
  for (lattice_member_desc& member : members) lattice_member_desc_init(&member);
  members[0].name = "place";
  members[0].type = LATTICE_WIRE_VECTOR2;
  members[0].flags = LATTICE_MEMBER_POSITION;
  members[0].offset = offsetof(Thing, place);
  members[1].name = "tick";
  members[1].type = LATTICE_WIRE_UINT32;
  members[1].offset = offsetof(Thing, tick);
  lattice_rpc_desc poke;
  lattice_rpc_desc_init(&poke);
  poke.rpc_id = kPoke;
  poke.name = "poke";
  poke.channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
  poke.target = LATTICE_RPC_TO_ALL;
  lattice_rpc_desc timed = poke;
  timed.rpc_id = kTimedPoke;
  timed.name = "timed_poke";
  timed.delivery = LATTICE_RPC_TICK_ALIGNED;
  const lattice_rpc_desc rpcs[] = {poke, timed};
  register_plain_type<Thing>(world,
                             {.type_id = kThingType, .name = "Thing", .members = members, .rpcs = rpcs});
}

/// An entry of up to 256 bytes.
struct Bulk {
  uint32_t numbers[64];
};

inline void register_bulk(lattice_world* world) {
  lattice_member_desc member;
  lattice_member_desc_init(&member);
  member.name = "numbers";
  member.type = LATTICE_WIRE_UINT32;
  member.array_count = 64;
  member.offset = offsetof(Bulk, numbers);
  register_plain_type<Bulk>(world, {.type_id = kBulkType, .name = "Bulk", .members = std::span(&member, 1)});
}

inline std::string spawned(lattice_netid object) {
  return "spawned " + std::to_string(object);
}

struct PairTicks {
  uint32_t rate_hz = 60;
  bool have_inputs = false;  // the client sends one each
};

inline std::string poked(lattice_netid object) {
  return "poked " + std::to_string(object);
}

inline std::string poked_in_time(lattice_netid object) {
  return "poked in time " + std::to_string(object);
}

class InterestPair {
 public:
  static constexpr double kRadius = 30;
  static constexpr double kLeaveRadius = 40;

  /// `adjust` changes the server's configuration.
  explicit InterestPair(lattice_interest_kind kind = LATTICE_INTEREST_GRID, uint32_t budget_bytes = 0,
                        void (*adjust)(lattice_world_config*) = nullptr, PairTicks ticks = {})
      : is_filtering_(kind != LATTICE_INTEREST_NONE), ticks_(ticks) {
    net_ = lattice_netsim_create(1);
    lattice_world_config config = base("10.0.0.1:27015");
    config.development_tokens = 1;
    config.interest_kind = kind;
    config.snapshot_budget_bytes = budget_bytes;
    if (is_filtering_) {
      config.interest_radius = kRadius;
      config.interest_leave_radius = kLeaveRadius;
      config.interest_cell = 16;
      config.interest_stay_ms = 100;
    }
    if (adjust != nullptr) adjust(&config);
    server_ = make(config, LATTICE_ROLE_DEDICATED);
    client_ = make(base("10.0.0.2:1000"), LATTICE_ROLE_CLIENT);
    listen();
  }
  InterestPair(const InterestPair&) = delete;
  InterestPair& operator=(const InterestPair&) = delete;
  ~InterestPair() {
    lattice_world_destroy(client_);
    lattice_world_destroy(server_);
    lattice_netsim_destroy(net_);
  }

  /// Connects the client, which looks from the origin then.
  bool connect() {
    lattice_world_pump(server_);
    uint8_t token[LATTICE_TOKEN_MAX_BYTES];
    size_t bytes = 0;
    if (lattice_dev_token(client_, kServer, nullptr, token, sizeof token, &bytes) != LATTICE_OK) return false;
    client_conn_ = lattice_connect(client_, kServer, token, bytes);
    if (client_conn_ == nullptr) return false;
    if (!run_until([this] { return conn_ != nullptr; })) return false;
    if (is_filtering_) look_from(0);
    return true;
  }
  void look_from(double x) {
    lattice_viewer viewer;
    lattice_viewer_init(&viewer);
    viewer.kind = LATTICE_VIEWER_POINT;
    viewer.x = x;
    EXPECT_EQ(lattice_conn_set_viewer(conn_, &viewer), LATTICE_OK) << lattice_last_error();
  }
  lattice_netid spawn_at(double x, lattice_peer_id owner = 0) {
    const lattice_netid id = lattice_spawn_for(server_, kThingType, LATTICE_AUTHORITY_SERVER, owner);
    EXPECT_NE(id, 0u) << lattice_last_error();
    write(id, x);
    return id;
  }
  lattice_result poke(lattice_netid object) { return call(object, kPoke); }
  lattice_result poke_in_time(lattice_netid object) { return call(object, kTimedPoke); }
  /// An object without a place, of which `count` numbers are not 0.
  lattice_netid spawn_bulk(uint32_t count, lattice_peer_id owner = 0) {
    const lattice_netid id = lattice_spawn_for(server_, kBulkType, LATTICE_AUTHORITY_SERVER, owner);
    EXPECT_NE(id, 0u) << lattice_last_error();
    auto* bulk = static_cast<Bulk*>(lattice_object_state(server_, id, 0));
    for (uint32_t i = 0; i < count; ++i) bulk->numbers[i] = 0x10000000u + i;
    return id;
  }
  void write(lattice_netid object, double x, uint32_t tick = 0) {
    auto* thing = static_cast<Thing*>(lattice_object_state(server_, object, 0));
    thing->place[0] = static_cast<float>(x);
    thing->tick = tick;
  }
  /// Loses everything in both directions from now on, or nothing.
  void cut(bool is_cut) { lose(is_cut ? 100 : 0); }
  void lose(double percent) { set_link(kDelayMs, percent); }
  /// Each way.
  void set_link(double delay_ms, double loss_percent) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = delay_ms;
    impairment.loss_percent = loss_percent;
    EXPECT_EQ(lattice_netsim_set_impairment(net_, &impairment), LATTICE_OK);
  }

  /// Each way; datagrams overtake each other.
  void overtake(double delay_ms, double jitter_ms) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = delay_ms;
    impairment.jitter_ms = jitter_ms;
    impairment.jitter_reorders = 1;
    EXPECT_EQ(lattice_netsim_set_impairment(net_, &impairment), LATTICE_OK);
  }

  void run(uint32_t milliseconds) {
    for (uint32_t ms = 0; ms < milliseconds; ms += 5) pump();
  }
  /// False when it did not happen in 4 s.
  template <class Condition>
  bool run_until(Condition condition) {
    for (uint32_t ms = 0; ms < 4000; ms += 5) {
      if (condition()) return true;
      pump();
    }
    return false;
  }

  /// Whether the object is at the client.
  bool client_has(lattice_netid object) {
    lattice_object_info info;
    lattice_object_info_init(&info);
    return lattice_object_get_info(client_, object, &info) == LATTICE_OK;
  }

  lattice_world* server() { return server_; }
  lattice_world* client() { return client_; }
  /// The server's side.
  lattice_conn* conn() { return conn_; }
  lattice_conn* client_conn() { return client_conn_; }
  lattice_peer_id peer() { return lattice_local_peer(client_); }

  /// Objects that came to the client, and why they went.
  Lines heard;
  /// Connections of which on_loaded told, in that order.
  std::vector<lattice_conn*> loaded;

 private:
  static constexpr const char* kServer = "10.0.0.1:27015";
  static constexpr uint32_t kDelayMs = 20;

  lattice_world_config base(const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.bind_address = address;
    config.netsim = net_;
    config.tick_rate_hz = ticks_.rate_hz;
    config.max_objects = 32768;
    config.clock = [](void* ctx) { return static_cast<InterestPair*>(ctx)->now_ns_; };
    config.clock_ctx = this;
    return config;
  }
  lattice_result call(lattice_netid object, uint16_t rpc) {
    return lattice_rpc(server_, object, rpc, LATTICE_RPC_TO_ALL, LATTICE_CHANNEL_RELIABLE_ORDERED, nullptr,
                       0);
  }
  lattice_world* make(const lattice_world_config& config, lattice_role role) {
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    lattice_world* world = lattice_world_create(&config, &context);
    EXPECT_NE(world, nullptr) << lattice_last_error();
    register_thing(world);
    register_bulk(world);
    if (ticks_.have_inputs) register_keys(world);
    return world;
  }
  void listen() {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* conn) {
      static_cast<InterestPair*>(ctx)->conn_ = conn;
    };
    callbacks.on_loaded = [](void* ctx, lattice_conn* conn) {
      static_cast<InterestPair*>(ctx)->loaded.push_back(conn);
    };
    EXPECT_EQ(lattice_set_callbacks(server_, &callbacks, this), LATTICE_OK);
    callbacks.on_connected = nullptr;
    callbacks.on_spawn = [](void* ctx, lattice_netid object, uint32_t) {
      static_cast<InterestPair*>(ctx)->heard.push_back(spawned(object));
    };
    callbacks.on_rpc = [](void* ctx, lattice_netid object, uint16_t rpc, const void*, size_t) {
      static_cast<InterestPair*>(ctx)->heard.push_back(rpc == kPoke ? poked(object) : poked_in_time(object));
    };
    callbacks.on_despawn = [](void* ctx, lattice_netid object) {
      auto& pair = *static_cast<InterestPair*>(ctx);
      const char* const names[] = {"none ", "destroyed ", "left ", "session ended "};
      pair.heard.push_back(names[lattice_object_despawn_reason(pair.client_)] + std::to_string(object));
    };
    EXPECT_EQ(lattice_set_callbacks(client_, &callbacks, this), LATTICE_OK);
    cut(false);
  }
  void pump() {
    now_ns_ += 5'000'000;
    lattice_netsim_advance(net_, 5'000'000);
    lattice_world_pump(server_);
    lattice_world_pump(client_);
  }

  bool is_filtering_;
  PairTicks ticks_;
  lattice_netsim* net_ = nullptr;
  uint64_t now_ns_ = 0;
  lattice_world* server_ = nullptr;
  lattice_world* client_ = nullptr;
  lattice_conn* conn_ = nullptr;
  lattice_conn* client_conn_ = nullptr;
};

}  // namespace lattice::test
