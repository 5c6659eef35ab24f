// What the server tells whoever watches it, 30 times a second, one JSON object per line:
//
//   {"telemetry":1, "t":ms, "tick", "tick_p50_ms", "tick_p99_ms", "late_inputs", "players", "objects":[…],
//    "inputs":{"received","late","repeated","defaulted"},
//    "peers":[{"peer","pawn","bot","fresh","repeated","missing"}],
//    "stalls", "longest_stall_ms",                   times the machine kept the process waiting 50 ms or more
//    "truth":[[tick, pawn, x, y, disturbed], …]}      every pawn at every tick since the last line
//
// "disturbed" is 1 in the tick another pawn or a projectile moved the pawn: what no client can foresee.
#pragma once

#include <cstdint>
#include <vector>

#include "json_writer.h"
#include "process.h"
#include "server.h"

namespace app {

class Telemetry final : private Server::TickWatcher {
 public:
  Telemetry(Server& server, int fd);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  /// Writes a line. False when nobody reads any more.
  bool write();

 private:
  struct Sighting {
    uint32_t tick;
    lattice_netid pawn;
    depot::Vec2 position;
    bool disturbed;
  };
  static constexpr size_t kMaxSightings = 16384;

  void ticked(uint32_t tick) override;
  void write_truth();

  Server& server_;
  LineWriter out_;
  JsonWriter json_;
  std::vector<Sighting> sightings_;
};

}  // namespace app
