// The reports of a client under --control stdio: --report-rate times a second, one JSON object per line. A
// report has the members that the page shows (connection.js documents them), and some more for measuring:
//
//   "parcels":[id, x, y, …]               twenty times a second: the parcels that the client has, x and y in
//                                         centimetres
//   "types":[{"name","objects","bits"}]   what the client has and received of each type, twice a second
//   "own":[[tick, x, y, disturbed], …]   the predicted position of the own pawn, each tick since the last
//   line "press":{…}, "seen":[…]              key presses on their way (press_trace.h) "drawn_tick" the
//   server tick at which other players' objects are drawn "totals":{…}                         counters since
//   the start, and "connect_ms"
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
  /// Makes the next line, without its newline. The line is valid until the next call.
  const std::string& line(uint64_t now_ns, uint64_t ignored_lines, const StallWatch& stalls);

 private:
  /// Traffic counters at one moment. Two of them give the rates of the last second.
  struct Traffic {
    uint64_t at_ns;
    uint64_t packets_sent, packets_received, bytes_sent, bytes_received;
  };
  void write_rates(uint64_t now_ns, const lattice_conn_stats& connection);
  void write_switches();
  void write_sights();
  void write_types();
  void write_predictions();
  void write_totals(const lattice_world_stats& stats, const lattice_conn_stats& connection,
                    uint64_t ignored_lines, const StallWatch& stalls);

  Client& client_;
  JsonWriter json_;
  std::deque<Traffic> traffic_;
  Every parcels_due_{50'000'000};
  Every types_due_{500'000'000};
};

}  // namespace app
