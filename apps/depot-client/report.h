// What a client under --control stdio tells, --report-rate times a second, one JSON object per line: the
// members the page shows (connection.js documents them) and some more for whoever measures:
//
//   "own":[[tick, x, y, disturbed], …]   where the own pawn was predicted at each tick since the last line
//   "press":{…}, "seen":[…]              key presses on their way (press_trace.h)
//   "drawn_tick"                         the server tick that others are drawn at
//   "totals":{…}                         counters since the start, and "connect_ms"
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "client.h"
#include "frame_pacer.h"
#include "json_writer.h"

namespace app {

class Report {
 public:
  explicit Report(Client& client) : client_(client) {}
  /// The next line, without its newline. Valid until the next call.
  const std::string& line(uint64_t now_ns, uint64_t ignored_lines, const StallWatch& stalls);

 private:
  /// Traffic counters at a moment, for rates over the last second.
  struct Traffic {
    uint64_t at_ns;
    uint64_t packets_sent, packets_received, bytes_sent, bytes_received;
  };
  void write_rates(uint64_t now_ns, const lattice_conn_stats& connection);
  void write_switches();
  void write_predictions();
  void write_totals(const lattice_world_stats& stats, const lattice_conn_stats& connection,
                    uint64_t ignored_lines, const StallWatch& stalls);

  Client& client_;
  JsonWriter json_;
  std::deque<Traffic> traffic_;
};

}  // namespace app
