// An authority and its clients, as sessions without the C interface, on a simulated network in virtual time.
// One type, a predicted ball that its owner pushes; the game is what the test puts into the functions of
// Game.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/crypto/nonce_ledger.h"
#include "transport/crypto/repeatable_entropy.h"
#include "transport/crypto/token_signature.h"
#include "transport/socket/simulated_network.h"
#include "world/session.h"

namespace lattice::world::test {

inline constexpr uint32_t kBallType = 3;
inline constexpr uint16_t kX = 0;  // its member
inline constexpr uint64_t kUnixS = 1'800'000'000;

inline constexpr uint64_t kPlacedBall = 1;  // its key, and its id
inline constexpr uint16_t kKick = 1;        // from an owner to the server
inline constexpr uint16_t kCheer = 2;       // from the server to all

struct Ball {
  int32_t x;
};
struct Push {
  int32_t by;
};

/// The structure of one 32-bit number.
inline lattice_struct_desc one_number(const char* name, lattice_member_desc* member) {
  lattice_member_desc_init(member);
  member->name = "x";
  member->type = LATTICE_WIRE_INT32;
  lattice_struct_desc structure;
  lattice_struct_desc_init(&structure);
  structure.name = name;
  structure.host_bytes = sizeof(int32_t);
  structure.host_align = alignof(int32_t);
  structure.members = member;
  structure.member_count = 1;
  return structure;
}

inline void register_ball(Schema& schema) {
  lattice_member_desc member;
  const lattice_struct_desc structure = one_number("Ball", &member);
  lattice_rpc_desc rpcs[2];
  for (lattice_rpc_desc& rpc : rpcs) {
    lattice_rpc_desc_init(&rpc);
    rpc.channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
  }
  rpcs[0].rpc_id = kKick;
  rpcs[0].name = "kick";
  rpcs[0].target = LATTICE_RPC_TO_SERVER;
  rpcs[0].owner_only = 1;
  rpcs[1].rpc_id = kCheer;
  rpcs[1].name = "cheer";
  rpcs[1].target = LATTICE_RPC_TO_ALL;
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &structure;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.type_id = kBallType;
  type.name = "Ball";
  type.flags = LATTICE_TYPE_PREDICTED;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  type.rpcs = rpcs;
  type.rpc_count = 2;
  std::string error;
  ASSERT_TRUE(schema.add_type(type, &error)) << error;
}

inline void register_push(Schema& schema) {
  lattice_member_desc member;
  const lattice_struct_desc structure = one_number("Push", &member);
  lattice_input_desc input;
  lattice_input_desc_init(&input);
  input.structure = &structure;
  std::string error;
  ASSERT_TRUE(schema.set_input(input, &error)) << error;
}

/// The game of one side. What has no function here does nothing.
class Game : public Observer, private transfer::TransferHandler {
 public:
  std::function<void(Tick, bool resimulating)> step;
  std::function<int32_t(Tick)> push;
  std::function<void(uint64_t network_id, uint16_t rpc_id)> called;
  std::function<bool(uint64_t network_id)> relevant;

  void on_tick(Tick tick, bool resimulating) override {
    if (step) step(tick, resimulating);
  }
  void on_connect_refused(const connection::RefusedClient&) override {}
  void on_path_moved(world::ConnectionHandle, const base::PathId&, const base::PathId&) override {}
  void on_connected(ConnectionHandle, const reliability::ConnectedInfo&) override {}
  void on_disconnected(ConnectionHandle, connection::DisconnectReason, uint64_t, std::string_view) override {}
  void on_loaded(ConnectionHandle) override {}
  void on_spawn(uint64_t, uint32_t) override {}
  void on_despawn(uint64_t, replication::DespawnReason) override {}
  void on_rpc(uint64_t network_id, uint16_t rpc_id, const void*, size_t) override {
    if (called) called(network_id, rpc_id);
  }
  void on_authority_changed(uint64_t, uint64_t) override {}
  void on_sample_input(Tick tick, void* input, size_t) override {
    if (push) static_cast<Push*>(input)->by = push(tick);
  }
  void on_message(ConnectionHandle, uint8_t, std::span<const uint8_t>) override {}
  void on_receipt(ConnectionHandle, uint32_t, bool) override {}
  uint16_t on_admit(const Admission&) override { return 0; }
  void on_resync(Tick, Tick) override {}
  void on_silence(uint64_t) override {}
  bool on_relevant(ConnectionHandle, uint64_t network_id) override {
    return !relevant || relevant(network_id);
  }
  void on_value_clamped(uint64_t, uint16_t, Tick) override {}
  void on_argument_clamped(std::optional<uint16_t>, std::string_view) override {}
  transfer::TransferHandler& transfer_handler() override { return *this; }

 private:
  void on_offer(ConnectionHandle, transfer::TransferId, uint64_t, std::span<const uint8_t>) override {}
  bool read(ConnectionHandle, transfer::TransferId, uint64_t, std::span<uint8_t>) override { return false; }
  bool write(ConnectionHandle, transfer::TransferId, uint64_t, std::span<const uint8_t>) override {
    return false;
  }
  void on_progress(ConnectionHandle, transfer::TransferId, uint64_t, uint64_t) override {}
  void on_end(ConnectionHandle, transfer::TransferId, transfer::TransferEnding) override {}
};

class SessionRig {
 public:
  struct Client {
    Game game;
    std::unique_ptr<Session> world;
    ConnectionHandle connection;
  };

  struct Options {
    bool has_player = false;  // the authority: as a listen-server has
    size_t client_count = 1;
    bool has_input = false;
    bool has_interest = false;
    Tick newest_tick = 0;     // of the authority, before its first
    bool has_placed = false;  // both sides place a ball, under kPlacedBall
  };

  SessionRig() : SessionRig(Options{}) {}
  explicit SessionRig(const Options& options) : options_(options) {
    crypto::nonce_ledger_clear();  // every rig makes the same keys
    crypto::RepeatableEntropy entropy(5);
    issuer_ = crypto::SigningKeyPair::generate(entropy);
    WorldConfig config = base(1);
    config.has_player = options.has_player;
    config.interest.enabled = options.has_interest;
    config.newest_tick = options.newest_tick;
    config.issuers = {issuer_.public_key()};
    authority = std::make_unique<Session>(config, network.attach(kServer), game);
    set_up(*authority);
    authority->receive(now());
    for (size_t i = 0; i < options.client_count; ++i) add_client(i);
  }

  bool connect() {
    for (const auto& client : clients) {
      if (!begin_connect(*client)) return false;
    }
    for (int i = 0; i < 1000; ++i) {
      pump();
      if (is_connected()) return true;
    }
    return false;
  }
  void pump(int times = 1) {
    for (; times > 0; --times) {
      now_ns += 1'000'000'000 / 60;
      pump(*authority);
      for (const auto& client : clients) pump(*client->world);
    }
  }
  void pump(Session& world) {
    world.receive(now());
    for (uint32_t due = world.ticks_due(now()); due > 0; --due) world.tick(world.next_tick(), now());
    world.send(now());
  }
  Now now() const { return {now_ns, kUnixS + now_ns / 1'000'000'000}; }
  Session& client() { return *clients[0]->world; }

  static Ball* ball(Session& world, uint64_t id) {
    return static_cast<Ball*>(world.object_state(world.objects().find(id), 0));
  }
  static int32_t x(Session& world, uint64_t id) {
    const uint32_t slot = world.objects().find(id);
    return slot == replication::kNoSlot ? -1 : static_cast<const Ball*>(world.read_state(slot, 0))->x;
  }
  static OpResult set_x(Session& world, uint64_t id, int32_t x) {
    return world.set_prop(id, kX, &x, sizeof x);
  }

  uint64_t now_ns = 1'000'000'000;
  socket::SimulatedNetwork network{{.seed = 3}};
  Game game;
  std::unique_ptr<Session> authority;
  std::vector<std::unique_ptr<Client>> clients;

 private:
  static inline const base::PathId kServer = base::ipv4_path(10, 0, 0, 1, 27015);

  static WorldConfig base(uint64_t seed) {
    WorldConfig config;
    config.seed = seed;
    config.repeatable_entropy = seed;
    config.max_objects = 64;
    config.max_connections = 4;
    config.created_unix_s = kUnixS;
    return config;
  }
  void set_up(Session& world) const {
    register_ball(world.schema());
    if (options_.has_input) register_push(world.schema());
    if (!options_.has_placed) return;
    const Ball ball{7};
    const void* state[] = {&ball};
    ASSERT_EQ(world.place(kPlacedBall, kBallType, state), Session::PlaceResult::kOk);
  }
  void add_client(size_t index) {
    auto client = std::make_unique<Client>();
    WorldConfig config = base(10 + index);
    config.listens = false;
    config.connects = config.has_player = true;
    client->world = std::make_unique<Session>(
        config, network.attach(base::ipv4_path(10, 0, 1, 1, static_cast<uint16_t>(1000 + index))),
        client->game);
    set_up(*client->world);
    clients.push_back(std::move(client));
  }
  bool begin_connect(Client& client) {
    wire::TokenFields fields;
    fields.token_id[0] = ++token_;
    fields.issued_s = kUnixS;
    fields.expires_s = kUnixS + 600;
    fields.aud = authority->public_key();
    fields.cnf = client.world->new_client_key();
    std::vector<uint8_t> token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, issuer_, token));
    const char* error = "";
    const OpResult begun = client.world->connect(kServer, token, &client.connection, &error);
    EXPECT_EQ(begun, OpResult::kOk) << error;
    return begun == OpResult::kOk;
  }
  bool is_connected() const {
    for (const auto& client : clients) {
      if (client->world->local_peer() == 0 || client->world->next_tick() == 0) return false;
    }
    return true;
  }
  Options options_;
  crypto::SigningKeyPair issuer_;
  uint8_t token_ = 0;
};

}  // namespace lattice::world::test
