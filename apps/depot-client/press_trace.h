// The times that this client knows of a key press on its way to the screens: when the key went down, when the
// press was sampled, when prediction drew it here, and when each state of a player's pawn came and was drawn.
//
// All times are Unix milliseconds: the processes of the demo share one clock. The demo joins the parts
// (press_join.h). "Drawn" is the moment from which the picture contains the whole of a tick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "game.h"
#include "json_writer.h"

namespace app {

class PressTrace {
 public:
  /// A key went down at `pressed_ms`; the next input command holds it.
  void pressed(uint32_t press_id, double pressed_ms);
  /// The input command of `tick` was filled: sends markers with the command and its repetitions.
  void sampled(lattice_conn* conn, uint32_t tick);
  /// A tick was simulated. From now on, prediction draws the whole of the tick before it.
  void ticked(uint32_t tick, bool is_predicting);

  /// Call after each pump. `drawn_tick` is the server tick at which other players' objects are drawn.
  void watch(depot::Game& game, double drawn_tick);

  /// Writes "press":{…} when there was a press, and "seen":[[pawn, tick, heard_ms, drawn_ms], …]: the states
  /// drawn since the last call.
  void write(JsonWriter& json);
  /// The newest tick of which a state of any player's pawn came.
  uint32_t newest_heard_tick() const { return newest_heard_tick_; }

 private:
  /// The newest inputs travel again in each packet. The marker does the same for so many ticks.
  static constexpr uint32_t kMarkerTicks = 16;
  static constexpr size_t kMaxPawns = 4;
  static constexpr size_t kMaxSeen = 256;

  struct Press {
    uint32_t id = 0;
    uint32_t tick = 0;  // of the first input command that holds it
    double pressed_ms = 0, heard_ms = 0, sampled_ms = 0, predicted_ms = 0;
  };
  struct Seen {
    lattice_netid pawn;
    uint32_t tick;
    double heard_ms, drawn_ms;  // drawn_ms is 0 until the state is drawn
  };

  bool note_heard(lattice_netid pawn, uint32_t tick);

  Press press_;
  bool is_waiting_ = false;  // true until an input command holds the press
  uint32_t markers_left_ = 0;
  uint32_t newest_heard_tick_ = 0;
  std::array<Seen, kMaxPawns> newest_{};
  std::vector<Seen> seen_;
};

}  // namespace app
