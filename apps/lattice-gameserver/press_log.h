// When a player's key press arrived at the server, and in which tick it took effect. Times are Unix
// milliseconds. A client's marker (press_marker.h) names the tick of the first input command with the press.
// The press takes effect in the first tick from that one on for which the player's own command had arrived.
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
  /// Call after each tick.
  void ticked(uint32_t tick, std::span<const depot::Player> players);
  /// Writes "presses":[{"peer","id","arrived_ms","applied_tick","applied_ms"}]: the presses that took effect
  /// since the last call.
  void write(JsonWriter& json);

 private:
  /// One press is kept for each player; a newer press replaces it. Players beyond this number are not
  /// followed: the demo has fewer.
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
