// The reports of the server to a watcher: --telemetry-rate times a second, one JSON object per line:
//
//   {"telemetry":1, "t":ms, "tick", "tick_p50_ms", "tick_p99_ms", "late_inputs", "players",
//    "inputs":{"received","late","repeated","defaulted"},
//    "stalls", "longest_stall_ms",                   times the machine kept the process waiting 50 ms or more
//   and, with TelemetryDetail::kScene,
//    "objects":[…], "peers":[{"peer","pawn","bot","fresh","repeated","missing"}],
//    "truth":[[tick, pawn, x, y, disturbed], …],      every player's pawn at every tick since the last line
//    "tick_times":[[tick, unix_ms], …],               when each of those ticks had been simulated
//    "presses":[…]}                                   key presses on their way (press_log.h)
//
// "disturbed" is 1 in a tick in which another pawn or a projectile moved the pawn: no client can foresee
// that.
#pragma once

#include <cstdint>
#include <vector>

#include "json_writer.h"
#include "press_log.h"
#include "process.h"
#include "server.h"

namespace app {

/// kServer costs the same for any number of players. The cost of kScene grows with their number, and the
/// reported tick times contain it.
enum class TelemetryDetail : uint8_t { kServer, kScene };

class Telemetry final : private Server::TickWatcher {
 public:
  Telemetry(Server& server, int fd, TelemetryDetail detail);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  /// Writes a line. Returns false when nobody reads any more.
  bool write();

 private:
  struct Sighting {
    uint32_t tick;
    lattice_netid pawn;
    depot::Vec2 position;
    bool disturbed;
  };
  struct TickDone {
    uint32_t tick;
    double unix_ms;
  };
  static constexpr size_t kMaxSightings = 16384;
  static constexpr size_t kMaxTicks = 1024;

  void ticked(uint32_t tick) override;
  void message(lattice_peer_id peer, std::span<const std::byte> bytes) override;
  void write_scene(uint32_t tick);
  void write_truth();
  void write_ticks();

  Server& server_;
  const TelemetryDetail detail_;
  LineWriter out_;
  JsonWriter json_;
  std::vector<Sighting> sightings_;
  std::vector<TickDone> ticks_;
  PressLog presses_;
};

}  // namespace app
