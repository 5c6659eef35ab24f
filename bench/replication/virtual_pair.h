// A server and one client on a simulated network, in one thread and in virtual time: for what does not depend
// on two processors. Both are pumped every 4 ms of virtual time.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "allocation_counter.h"
#include "platform/clock.h"
#include "replication/scene.h"

namespace bench {

struct VirtualConfig {
  double one_way_ms = kRoundTripMs / 2;
  double loss_percent = 0;       // of each direction
  uint32_t cap_bytes_per_s = 0;  // of the server; 0: none
  uint32_t max_objects = 16384;
  uint64_t seed = 1;
  bool (*add_types)(const lattice::World&) = add_schema;
};

/// Wall time and heap allocations of one side's pumps.
struct PumpCost {
  uint64_t receive_ns = 0;  // in lattice_world_recv()
  uint64_t pump_ns = 0;
  uint64_t longest_ns = 0;
  uint64_t last_ns = 0;
  uint64_t allocations = 0;
  uint64_t ticks = 0;
};

class VirtualPair {
 public:
  static constexpr uint64_t kPumpNs = 4'000'000;

  /// False, and a line on standard error, when a world refuses.
  bool start(const VirtualConfig& config);
  /// Starts connecting the client.
  bool connect();
  /// Pumps both sides once, and moves time on.
  void pump();
  void run_s(double seconds) {
    for (const double until_s = now_s() + seconds; now_s() < until_s;) pump();
  }
  /// Pumps until `done`; false when it has not come true after `seconds`.
  bool run_until(double seconds, const std::function<bool()>& done) {
    for (const double until_s = now_s() + seconds; now_s() < until_s;) {
      if (done()) return true;
      pump();
    }
    return done();
  }
  double now_s() const { return static_cast<double>(lattice_netsim_now(network_->get())) / 1e9; }
  bool connected() const { return client_.connected; }
  size_t client_objects() const { return lattice_objects(client(), 0, nullptr, 0); }
  lattice_peer_id client_peer() const { return server_.peer; }
  void forget_costs() { server_.cost = client_.cost = {}; }

  const lattice::World& server() const { return server_.world; }
  const lattice::World& client() const { return client_.world; }
  const PumpCost& server_cost() const { return server_.cost; }
  const PumpCost& client_cost() const { return client_.cost; }

  /// What on_tick does at the server, and at the client for the objects it predicts.
  std::function<void(uint32_t tick)> server_tick, client_tick;

 private:
  struct Side {
    lattice::World world;
    VirtualPair* pair = nullptr;
    bool is_server = false, connected = false;
    lattice_peer_id peer = 0;  // of the client
    PumpCost cost;

    void on_connected(lattice::Connection conn) { connected = true, peer = conn.info().peer_id; }
    void on_disconnected(lattice::Connection, int) { connected = false; }
    void on_tick(const lattice_tick_context& tick) {
      const auto& rules = is_server ? pair->server_tick : pair->client_tick;
      if (rules) rules(tick.tick);
    }
    void pump();
  };
  bool make(Side& side, const VirtualConfig& config, bool is_server);

  std::unique_ptr<lattice::Netsim> network_;
  Side server_, client_;  // before the network in destruction
};

}  // namespace bench
