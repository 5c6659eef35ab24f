// A server world and two client worlds on one simulated network, through the public interface, and a way past
// it: a message of any bytes that the endpoint of a world sends as its own, sealed and acknowledged as usual.
// Client 0 and the server may lie to each other. Client 1 is honest and is told the truth.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "abi/world_instance.h"
#include "system/play_pair.h"

namespace lattice::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// What the input of a fuzz target chooses of a session.
struct RigOptions {
  bool interest = false;
  bool host = false;
  uint32_t tick_rate_hz = 60;
  uint32_t snapshot_rate_hz = 30;
  uint32_t snapshot_budget_bytes = 0;
  bool has_liar = true;                        // client 0 plays
  const uint8_t* issuer_public_key = nullptr;  // of tokens beside the clients' own
};

class WorldRig {
 public:
  static constexpr uint32_t kMaxObjects = 24;
  static constexpr uint32_t kClients = 2;
  static constexpr uint32_t kHonest = 1;
  struct Command {
    float x;
  };

  struct Peer {
    WorldRig* rig = nullptr;
    lattice_world* world = nullptr;
    lattice_conn* conn = nullptr;         // the client's side
    lattice_conn* server_conn = nullptr;  // the server's side
    lattice_peer_id id = 0;
    bool paused = false;
    int reason = 0;      // why the last connection ended, as the client heard it
    uint64_t ends = 0;   // connections that ended
    uint32_t heard = 0;  // messages numbered from 0, in order, that the client has
    uint32_t told = 0;   // the same, that the server has from it
  };

  explicit WorldRig(const RigOptions& options) : options_(options) {
    net_ = lattice_netsim_create(7);
    set_link(0);
    lattice_world_config config = base("10.0.0.1:27015");
    config.development_tokens = 1;
    config.max_connections = 4;
    config.issuer_public_keys = options.issuer_public_key;
    config.issuer_public_key_count = options.issuer_public_key != nullptr ? 1 : 0;
    config.snapshot_rate_hz = options.snapshot_rate_hz;
    config.snapshot_budget_bytes = options.snapshot_budget_bytes;
    config.interest_kind = options.interest ? LATTICE_INTEREST_RULES : LATTICE_INTEREST_NONE;
    server = make(config, options.host ? LATTICE_ROLE_HOST : LATTICE_ROLE_DEDICATED);
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_connected = [](void* ctx, lattice_conn* conn) { static_cast<WorldRig*>(ctx)->joined(conn); };
    callbacks.on_disconnected = [](void* ctx, lattice_conn* conn, int) {
      for (Peer& peer : static_cast<WorldRig*>(ctx)->clients) {
        if (peer.server_conn == conn) peer.server_conn = nullptr, peer.id = 0;
      }
    };
    callbacks.on_message = [](void* ctx, lattice_conn* conn, lattice_channel, const void* data,
                              size_t bytes) {
      for (Peer& peer : static_cast<WorldRig*>(ctx)->clients) {
        if (peer.server_conn == conn) count(&peer.told, data, bytes);
      }
    };
    callbacks.on_relevant = [](void* ctx, lattice_world*, lattice_conn* conn, lattice_netid object) {
      const auto& self = *static_cast<WorldRig*>(ctx);
      return self.clients[kHonest].server_conn == conn || ((self.hidden >> object % 32) & 1) == 0 ? 1 : 0;
    };
    require(lattice_set_callbacks(server, &callbacks, this) == LATTICE_OK);
    for (uint32_t i = 0; i < kClients; ++i) {
      clients[i].rig = this;
      if (i != kHonest && !options.has_liar) continue;
      clients[i].world = make(base(i == 0 ? "10.0.0.2:1000" : "10.0.0.3:1000"), LATTICE_ROLE_CLIENT);
      listen(clients[i]);
      connect(clients[i]);
    }
  }
  ~WorldRig() {
    for (Peer& peer : clients) lattice_world_destroy(peer.world);
    lattice_world_destroy(server);
    lattice_netsim_destroy(net_);
  }
  WorldRig(const WorldRig&) = delete;
  WorldRig& operator=(const WorldRig&) = delete;

  void set_link(double loss_percent) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = 20;
    impairment.loss_percent = loss_percent;
    impairment.jitter_ms = loss_percent > 0 ? 15 : 0;
    require(lattice_netsim_set_impairment(net_, &impairment) == LATTICE_OK);
  }
  void step() {
    lattice_netsim_advance(net_, 1'000'000'000 / options_.tick_rate_hz);
    lattice_world_pump(server);
    for (Peer& peer : clients) {
      if (!peer.paused && peer.world != nullptr) lattice_world_pump(peer.world);
    }
  }
  void run(uint32_t steps) {
    while (steps-- > 0) step();
  }
  /// Does nothing while the client has a connection, or one that is ending.
  void connect(Peer& peer) {
    uint8_t token[LATTICE_TOKEN_MAX_BYTES];
    size_t bytes = 0;
    if (lattice_dev_token(peer.world, "10.0.0.1:27015", nullptr, token, sizeof token, &bytes) != LATTICE_OK) {
      return;
    }
    if (lattice_conn* conn = lattice_connect(peer.world, "10.0.0.1:27015", token, bytes)) peer.conn = conn;
    for (int i = 0; i < 60 && peer.conn != nullptr && peer.server_conn == nullptr && !peer.paused; ++i)
      step();
  }
  lattice_netsim* net() const { return net_; }
  uint32_t tick() const { return lattice_world_next_tick(server); }

  /// Sends `body` from `world` over `conn` as if the library had made it.
  void inject(lattice_world* world, lattice_conn* conn, uint32_t channel, reliability::MessageFlags flags,
              std::span<const uint8_t> body) {
    const char thread = 0;
    abi::WorldInstance* instance = nullptr;
    if (conn == nullptr || abi::enter_world(world, &thread, &instance) != abi::Entry::kEntered) return;
    if (fragment::FragmentingEndpoint* endpoint = instance->world->endpoint()) {
      const abi::ConnectionRef at = abi::connection_of(conn);
      static_cast<void>(
          endpoint->send({at.slot, at.generation}, static_cast<wire::Channel>(channel), flags, body));
    }
    abi::leave_world(world);
  }
  /// All refusals of a world, of whatever kind.
  static uint64_t refusals(lattice_world* world) {
    uint64_t sum = 0;
    uint64_t value = 0;
    for (uint32_t i = 0; lattice_world_refusal(world, i, &value) != nullptr; ++i) sum += value;
    return sum;
  }
  static std::vector<lattice_netid> objects(lattice_world* world) {
    std::vector<lattice_netid> ids;
    for (const uint32_t type : {test::kPawnType, test::kCrateType, test::kNoteType}) {
      std::array<lattice_netid, 64> some;
      const size_t count = lattice_objects(world, type, some.data(), some.size());
      ids.insert(ids.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// Whether the client holds exactly the server's objects, with their states.
  bool equal(const Peer& peer) const {
    const std::vector<lattice_netid> ids = objects(server);
    if (ids != objects(peer.world)) return false;
    for (const lattice_netid id : ids) {
      lattice_object_info info;
      lattice_object_info_init(&info);
      require(lattice_object_get_info(server, id, &info) == LATTICE_OK);
      const size_t bytes = info.type_id == test::kNoteType ? sizeof(test::Note) : sizeof(test::Body);
      std::array<uint8_t, sizeof(test::Note)> ours;
      std::array<uint8_t, sizeof(test::Note)> theirs;
      uint32_t at = 0;
      if (lattice_object_confirmed(server, id, 0, ours.data(), bytes, &at) != bytes ||
          lattice_object_confirmed(peer.world, id, 0, theirs.data(), bytes, &at) != bytes ||
          !std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(bytes), theirs.begin())) {
        return false;
      }
    }
    return true;
  }

  lattice_world* server = nullptr;
  std::array<Peer, kClients> clients;
  uint32_t hidden = 0;  // from client 0, by id modulo 32; with interest
  uint64_t calls = 0;   // RPCs that a client heard

 private:
  lattice_world_config base(const char* address) {
    lattice_world_config config;
    lattice_world_config_init(&config);
    config.tick_rate_hz = options_.tick_rate_hz;
    config.max_objects = kMaxObjects;
    config.bind_address = address;
    config.netsim = net_;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = net_;
    config.unix_seconds = [](void*) { return uint64_t{1'800'000'000}; };
    return config;
  }
  lattice_world* make(const lattice_world_config& config, lattice_role role) {
    lattice_role_context context;
    lattice_role_context_init(&context, role);
    lattice_world* world = lattice_world_create(&config, &context);
    require(world != nullptr);
    test::register_bodies(world);
    lattice_member_desc member;
    lattice_member_desc_init(&member);
    member.name = "x";
    member.type = LATTICE_WIRE_FLOAT;
    member.quant[0] = {-1, 1, 1.0 / 64};
    lattice_struct_desc structure;
    lattice_struct_desc_init(&structure);
    structure.name = "Command";
    structure.host_bytes = sizeof(Command);
    structure.host_align = alignof(Command);
    structure.members = &member;
    structure.member_count = 1;
    lattice_input_desc input;
    lattice_input_desc_init(&input);
    input.structure = &structure;
    require(lattice_register_input(world, &input) == LATTICE_OK);
    return world;
  }
  static void count(uint32_t* next, const void* data, size_t bytes) {
    if (bytes == sizeof *next && std::memcmp(data, next, sizeof *next) == 0) ++*next;
  }
  void listen(Peer& peer) {
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_disconnected = [](void* ctx, lattice_conn*, int reason) {
      auto& self = *static_cast<Peer*>(ctx);
      self.conn = nullptr;
      self.reason = reason;
      ++self.ends;
    };
    callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context*) {
      lattice_netid ids[64];
      const size_t count = lattice_simulated_objects(world, test::kPawnType, ids, 64);
      Command command{};
      lattice_get_input(world, lattice_local_peer(world), &command, sizeof command);
      for (size_t i = 0; i < count; ++i) {
        if (auto* body = static_cast<test::Body*>(lattice_object_state(world, ids[i], 0)))
          body->x += command.x;
      }
      static_cast<void>(ctx);
    };
    callbacks.on_message = [](void* ctx, lattice_conn*, lattice_channel, const void* data, size_t bytes) {
      count(&static_cast<Peer*>(ctx)->heard, data, bytes);
    };
    callbacks.on_rpc = [](void* ctx, lattice_netid, uint16_t, const void*, size_t) {
      ++static_cast<Peer*>(ctx)->rig->calls;
    };
    require(lattice_set_callbacks(peer.world, &callbacks, &peer) == LATTICE_OK);
  }
  void joined(lattice_conn* conn) {
    lattice_conn_info info;
    lattice_conn_info_init(&info);
    require(lattice_conn_get_info(conn, &info) == LATTICE_OK);
    for (Peer& peer : clients) {
      const char* address = &peer == &clients[0] ? "10.0.0.2" : "10.0.0.3";
      if (std::string(info.remote_address).rfind(address, 0) == 0)
        peer.server_conn = conn, peer.id = info.peer_id;
    }
  }

  RigOptions options_;
  lattice_netsim* net_ = nullptr;
};

}  // namespace lattice::fuzz
