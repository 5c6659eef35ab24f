// The processes of the demo: one server, clients A and B, the bots, the crowd, and the folder they share.
#pragma once

#include <string>
#include <vector>

#include "child.h"
#include "watch.h"

namespace app {

struct CastConfig {
  uint32_t bots = 8;              // one process each
  uint32_t crowd = 0;             // further bots, all in one process
  bool players_are_bots = false;  // headless: A and B play by themselves
  uint32_t report_rate_hz = 30;   // of the server, A and B
  std::string log_level = "warning";
  std::string capture;             // the file to which the server writes its datagrams, or ""
  std::string first_client_lines;  // commands that A and B obey from their first datagram on
};

class Cast {
 public:
  Cast() = default;
  /// Ends the processes that still run and removes the folder.
  ~Cast();

  /// Starts everything. Returns "", or one sentence of cause and one of action.
  std::string start(const CastConfig& config);
  /// Hands the lines that the server and the clients have printed to `watch`.
  void listen(Watch& watch);
  /// Starts the crowd, if the configuration names one. It comes after A and B, so that these are among the
  /// first players, of whom the server tells everything. Returns as start() does.
  std::string start_crowd();
  void command(size_t client, const std::string& line) { players_[client].send_line(line); }
  void command_server(const std::string& line) { server_.send_line(line); }
  /// Returns "" while all processes run, else a sentence that says which one ended.
  std::string missing();
  /// Asks the clients to leave and waits for them, up to 1.5 s in all. Then does the same with the server.
  /// Kills what still runs.
  void end();

 private:
  std::string start_server(const CastConfig& config);
  std::string start_clients(const CastConfig& config);

  CastConfig config_;
  std::string data_dir_;
  Child server_;
  Child players_[kWatchedClients];
  std::vector<Child> bots_;
  std::vector<Child> crowd_;  // one process or none
  bool ended_ = true;
};

}  // namespace app
