// When a player's key press arrived at the server and in which tick it took effect. Times are Unix
// milliseconds. A client says by a marker (press_marker.h) which tick's input command is the first with the
// press; it takes effect in the first tick from there on that has a command of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "game_server.h"
#include "json_writer.h"
#include "press_marker.h"

namespace app {

class PressLog {
 public:
  void arrived(const depot::Player& player, const PressMarker& marker);
  /// After each tick.
  void ticked(uint32_t tick, std::span<const depot::Player> players);
  /// Writes "presses":[{"peer","id","arrived_ms","applied_tick","applied_ms"}], those applied since the last.
  void write(JsonWriter& json);

 private:
  /// One press a player; a newer one replaces it. More players than the demo has are not followed.
  static constexpr size_t kMaxPlayers = 4;

  struct Entry {
    lattice_peer_id peer = 0;
    PressMarker marker;
    uint64_t fresh_before = 0;  // the player's input commands used by then
    double arrived_ms = 0, applied_ms = 0;
    uint32_t applied_tick = 0;
    bool is_written = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace app
