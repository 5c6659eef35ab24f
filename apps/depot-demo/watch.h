// What the demo knows: the newest word of the server and of clients A and B, what they add up to, and the
// way of a viewer's command to its client. The only JSON parser of the demo process.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "error_meter.h"

namespace app {

inline constexpr size_t kWatchedClients = 2;
inline constexpr const char* kClientNames[kWatchedClients] = {"A", "B"};

/// Counters of one client at a moment; differences of two give what happened between them.
struct ClientCounters {
  uint64_t packets_sent = 0, packets_received = 0, bytes_sent = 0, bytes_received = 0;
  uint64_t snapshots = 0, rollbacks = 0, resimulated_ticks = 0, hard_resets = 0, clock_resyncs = 0;
  uint64_t interpolation_samples = 0, interpolation_underruns = 0;
  uint64_t inputs_fresh = 0, inputs_repeated = 0, inputs_missing = 0;  // as the server used them
  double rtt_ms = 0, jitter_ms = 0, send_loss_pct = 0, receive_loss_pct = 0, connect_ms = 0;
  uint64_t stalls = 0;  // times the machine kept the process waiting, and the longest
  double longest_stall_ms = 0;
};

struct ServerCounters {
  double tick_p50_ms = 0, tick_p99_ms = 0;
  uint64_t inputs_received = 0, inputs_late = 0;
  uint64_t players = 0;
  uint64_t stalls = 0;
  double longest_stall_ms = 0;
};

class Watch {
 public:
  Watch(double step_m, uint32_t settle_ticks);
  ~Watch();

  /// One line of a child. Malformed ones are counted and otherwise ignored.
  void server_line(std::string_view line);
  void client_line(size_t client, std::string_view line);

  bool connected(size_t client) const;
  const ClientCounters& client(size_t client) const;
  const ServerCounters& server() const;
  ErrorMeter& errors(size_t client);

  /// The next state message of the page: what has come since the last, and how long ago each party was heard;
  /// "" while there is nothing new and the last message is fresh.
  std::string page_state();
  /// The next message holds everything, errors from now on: somebody new reads.
  void show_all_again();
  uint64_t malformed_lines() const;
  /// The line for the server that a viewer's command about a client means.
  std::string with_peer(const struct ViewerCommand& command) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A viewer's message, checked: the client it is for (an index of kClientNames) and the line to send it, or
/// nothing at all when it is not one of the page's commands.
struct ViewerCommand {
  size_t client = 0;
  std::string line;
  bool is_for_server = false;  // about that client; `line` names it, Watch::with_peer() makes the line
};
bool parse_viewer_command(std::string_view text, ViewerCommand& out);

}  // namespace app
