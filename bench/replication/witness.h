// One real client world among the generators. It decodes everything, so it knows whether the server really
// told every client everything: how often each object it knows is brought up to date, and how stale objects
// get.
#pragma once

#include <string>
#include <vector>

#include "replication/scene.h"

namespace bench {

class Witness {
 public:
  /// Connects to the server on `port`; its datagrams to the server take kRoundTripMs. `index` makes its token
  /// different. False, and a line on standard error, when the world refuses.
  bool start(uint16_t port, uint32_t index, double loss_percent);
  /// Pumps the world, and looks at its objects once a tick while a window is open.
  void pump();
  /// Begins the window, or ends it with a report.
  void go(double now_s);

  bool is_connected() const { return connected_; }
  uint64_t schema_id() const { return world_.schema_id(); }
  /// The tick of the server whose snapshots reach this client now.
  double server_tick() const { return world_.stats().server_tick_estimate; }

  // Called by the world.
  void on_connected(lattice::Connection) { connected_ = true; }
  void on_disconnected(lattice::Connection, int) { connected_ = false; }
  void on_tick(const lattice_tick_context& tick);
  void on_sample_input(uint32_t tick, Keys& input) { input.buttons = static_cast<uint8_t>(tick & 1); }

 private:
  struct Seen {
    lattice_netid id;
    uint32_t tick;
    bool changed;  // since it came
  };
  void look();

  lattice::World world_;
  bool connected_ = false, open_ = false;
  double began_s_ = 0;
  lattice_world_stats before_{};
  uint64_t updates_ = 0, looks_ = 0, seen_objects_ = 0, seen_moving_ = 0;
  uint32_t worst_age_ticks_ = 0;
  std::vector<Seen> seen_, now_seen_;  // ascending by id
  std::vector<lattice_netid> ids_;
};

}  // namespace bench
