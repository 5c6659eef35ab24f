// A small game on the public C interface, and a harness that runs a server and its clients over one seeded
// network in virtual time. The game is plain enough to check every state against the server's own record:
// predicted movers driven by inputs, drifting props, and messages numbered on every channel.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "lattice/lattice.h"

namespace lattice::test {

inline constexpr uint32_t kMoverType = 1;
inline constexpr uint32_t kPropType = 2;
inline constexpr uint16_t kRpcPoke = 1;  // client to server, reliable ordered
inline constexpr uint16_t kRpcTell = 2;  // server to all, reliable ordered

struct Input {
  float x;
  float y;
  uint8_t jump;
};

struct MoverState {
  float x, y;    // position
  float vx, vy;  // velocity
  uint32_t steps;
  uint8_t jumping;
};

struct PropState {
  float x, y;
  float vx, vy;
  int32_t heat;
  char label[13];
};

struct NumberArgs {
  uint32_t number;
};

struct ArenaConfig {
  uint64_t seed = 1;
  uint32_t clients = 8;
  uint32_t props = 24;
  lattice_impairment impairment;
  bool churn = true;    // props spawn and despawn, clients leave and come back
  bool traffic = true;  // numbered messages and RPCs
  uint64_t schema_salt = 0;
  // Of the server, as in lattice_world_config.
  uint32_t worker_count = 1;
  lattice_enqueue_tasks_fn enqueue_tasks = nullptr;
  lattice_finish_tasks_fn finish_tasks = nullptr;
  void* tasks_ctx = nullptr;
  /// Changes the configuration of the server (player -1) or of one player, before its world is made.
  std::function<void(int player, lattice_world_config*)> adjust;
};

class Player;  // one client's world with the game in it

class Arena {
 public:
  explicit Arena(const ArenaConfig& config);
  ~Arena();

  /// Runs `seconds` of virtual time in steps of about 1/240 s; each world pumps at its own phase.
  void run(double seconds);
  /// Stops churn, inputs and traffic, makes the network perfect, and runs until everything settled.
  void settle();
  void set_impairment(const lattice_impairment& impairment);

  lattice_netsim* netsim() const { return netsim_; }
  lattice_world* server() const { return server_; }
  size_t client_count() const { return players_.size(); }
  lattice_world* client(size_t index) const;
  bool connected(size_t index) const;
  void disconnect(size_t index);
  void connect(size_t index);
  /// The player's connection as that side sees it, and as the server does.
  lattice_conn_stats client_stats(size_t index) const;
  lattice_conn_stats server_stats(size_t index) const;
  uint64_t hash_of(lattice_world* world) const { return lattice_world_state_hash(world); }
  /// All failures, one line each; empty if the run was correct.
  const std::vector<std::string>& violations() const { return violations_; }
  void violation(const std::string& text);

  uint64_t now() const { return lattice_netsim_now(netsim_); }
  const ArenaConfig& config() const { return config_; }
  /// Messages delivered in order so far, all players, all channels.
  uint64_t delivered() const { return delivered_; }
  uint64_t states_checked() const { return states_checked_; }
  /// Heap allocations inside lattice_world_* pump calls since the last call.
  uint64_t take_pump_allocations();

 private:
  friend class Player;
  struct Peer;  // what the server keeps per player

  void make_server();
  void step();
  void server_traffic();
  void server_churn();
  void record_truth(uint32_t tick);
  static void on_server_tick(void* ctx, lattice_world* world, const lattice_tick_context* tick);
  static void on_server_connected(void* ctx, lattice_conn* conn);
  static void on_server_disconnected(void* ctx, lattice_conn* conn, int reason);
  static void on_server_rpc(void* ctx, lattice_netid id, uint16_t rpc, const void* args, size_t len);
  static void on_server_message(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                                size_t bytes);

  ArenaConfig config_;
  base::Random random_;
  lattice_netsim* netsim_ = nullptr;
  lattice_world* server_ = nullptr;
  std::array<uint8_t, 32> issuer_seed_{};
  std::array<uint8_t, 32> issuer_public_{};
  std::array<uint8_t, 32> server_key_{};
  std::vector<std::unique_ptr<Player>> players_;
  std::map<lattice_peer_id, std::unique_ptr<Peer>> peers_;
  std::vector<lattice_netid> props_;
  /// The server's own record: (tick, id) -> state bytes, for the last ticks.
  std::map<uint32_t, std::map<lattice_netid, std::vector<uint8_t>>> truth_;
  std::vector<std::string> violations_;
  bool moving_ = true;
  uint32_t last_server_tick_ = 0;
  uint64_t delivered_ = 0;
  uint64_t states_checked_ = 0;
  uint64_t pump_allocations_ = 0;
};

/// Registers the arena's types; `salt` changes the schema.
void register_arena(lattice_world* world, uint64_t salt);
/// One tick of the game: the same function on server and client.
void step_arena(lattice_world* world, const lattice_tick_context* tick, bool moving);

}  // namespace lattice::test
