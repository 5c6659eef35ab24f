// What the demo knows: the newest reports of the server and of clients A and B, and the totals of them. It
// also turns a viewer's command into a line for the process that the command is for. Only watch.cpp parses
// JSON in the demo process.
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

/// The counters of one client at one moment. The difference of two says what happened between them.
struct ClientCounters {
  uint64_t packets_sent = 0, packets_received = 0, bytes_sent = 0, bytes_received = 0;
  uint64_t snapshots = 0, rollbacks = 0, resimulated_ticks = 0, hard_resets = 0, clock_resyncs = 0;
  uint64_t interpolation_samples = 0, interpolation_underruns = 0;
  uint64_t inputs_fresh = 0, inputs_repeated = 0, inputs_missing = 0;  // as the server used them
  double rtt_ms = 0, jitter_ms = 0, send_loss_pct = 0, receive_loss_pct = 0, connect_ms = 0;
  uint64_t stalls = 0;  // how often the machine kept the process waiting; below, the longest time
  double longest_stall_ms = 0;
};

struct ServerCounters {
  double tick_p50_ms = 0, tick_p99_ms = 0;
  uint64_t inputs_received = 0, inputs_late = 0;
  uint64_t players = 0;
  uint64_t bytes_sent = 0;        // to all clients
  uint64_t cap_bytes_per_s = 0;   // most that each client may get; 0: no ceiling
  uint64_t cap_bucket_bytes = 0;  // more than that in a single second
  double most_bytes_per_s = 0;    // that one client got in any second
  uint64_t stalls = 0;
  double longest_stall_ms = 0;
};

class Watch {
 public:
  Watch(double step_m, uint32_t settle_ticks);
  ~Watch();

  /// Takes one line of a child. A malformed line is counted and otherwise ignored.
  void server_line(std::string_view line);
  void client_line(size_t client, std::string_view line);

  bool connected(size_t client) const;
  const ClientCounters& client(size_t client) const;
  const ServerCounters& server() const;
  ErrorMeter& errors(size_t client);

  /// The next state message for the page: what has come since the last message, and how long ago each party
  /// was heard. "" while there is nothing new and the last message is fresh.
  std::string page_state();
  /// A new viewer reads: the next message holds the newest state of every party, and errors count from now
  /// on.
  void show_all_again();
  uint64_t malformed_lines() const;
  /// Makes the line for the server from a viewer's command about a client.
  std::string with_peer(const struct ViewerCommand& command) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A checked message of a viewer: the client it is for (an index of kClientNames) and the line to send.
/// parse_viewer_command() returns false when the message is not one of the page's commands.
struct ViewerCommand {
  size_t client = 0;
  std::string line;
  // A command about that client: `line` is its name and `arguments` a JSON object, and Watch::with_peer()
  // makes the line.
  bool is_for_server = false;
  std::string arguments;
};
bool parse_viewer_command(std::string_view text, ViewerCommand& out);

}  // namespace app
