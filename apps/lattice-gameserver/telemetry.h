// The reports of the server to a watcher: --telemetry-rate times a second, one JSON object per line:
//
//   {"telemetry":1, "t":ms, "tick", "tick_p50_ms", "tick_p99_ms", "late_inputs", "players",
//    "inputs":{"received","late","repeated","defaulted"},
//    "missing",                                       lines before this one that nobody took
//    "stalls", "longest_stall_ms",                   times the machine kept the process waiting 50 ms or more
//    "joins", "alive",                                players that ever joined; objects of the world
//    "bytes_sent",                                    UDP payload to all clients, since the start
//    "refused":{name: count, …},                      refusal counters of the library that are not 0
//    "schema_differences":[text, …],                  what the newest client refused for its schema told
//    "cap":{"bytes_per_s","bucket_bytes",             most that each client may get; 0: no ceiling
//           "most_bytes_per_s","recent_bytes_per_s"}  what the busiest got in any second; of late
//   with TelemetryDetail::kPlayers also
//    "peers":[{"peer","pawn","bot","fresh","repeated","missing"}],
//    "truth":[[tick, pawn, x, y, disturbed], …],      every player's pawn at every tick since the last line
//    "tick_times":[[tick, unix_ms], …],               when each of those ticks had been simulated
//    "why":[…],                                       answers about objects (questions.h)
//    "presses":[…]                                    key presses on their way (press_log.h)
//   and with TelemetryDetail::kScene also
//    "objects":[…],
//    "riding":[id, x, y, …], "crowd":[id, x, y, …],   ten times a second: parcels on belts, further pawns
//    "resting":[id, x, y, …]}                         once a second: all other parcels; x and y in
//    centimetres
//
// The players that joined first are told of; of a crowd behind them only the places.
//
// "disturbed" is 1 in a tick in which another pawn or a projectile moved the pawn: no client can foresee
// that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frame_pacer.h"
#include "json_writer.h"
#include "press_log.h"
#include "questions.h"
#include "record_writer.h"
#include "server.h"

namespace app {

/// kServer costs the same for any number of players. The cost of the others grows with their number, and the
/// reported tick times contain it.
enum class TelemetryDetail : uint8_t { kServer, kPlayers, kScene };

class Telemetry final : private Server::TickWatcher {
 public:
  Telemetry(Server& server, int fd, TelemetryDetail detail, Questions& questions);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  /// Writes a line, unless nobody reads. When somebody reads again, it goes on: the log says how many lines
  /// are missing, and so does "missing" in the next lines.
  void write();
  uint64_t lost_lines() const { return out_.dropped(); }

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
  static constexpr size_t kMaxFollowed = 64;  // players of whom everything is told

  void ticked(uint32_t tick) override;
  void message(lattice_peer_id peer, std::span<const std::byte> bytes) override;
  bool is_read();
  void log_losses();
  void write_refused();
  void write_schema_differences();
  void write_cap();
  void write_players();
  void write_scene(uint32_t tick);
  std::span<const depot::Player> followed() const;
  void write_truth();
  void write_ticks();

  Server& server_;
  const TelemetryDetail detail_;
  RecordWriter out_;
  LossWatch losses_;
  JsonWriter json_;
  std::vector<Sighting> sightings_;
  std::vector<TickDone> ticks_;
  PressLog presses_;
  Questions& questions_;
  double recent_most_ = 0;  // of the last second
  Every recent_due_{1'000'000'000};
  Every places_due_{100'000'000};
  Every resting_due_{1'000'000'000};
};

}  // namespace app
