// Runs a server as a service: its loop, its telemetry, the admin port, and what signals ask of it.
//
//   SIGTERM, SIGINT   takes no more players, waits for those who are there for up to --drain-s, says goodbye;
//                     a second one says goodbye now, a third ends the process at once
//   SIGHUP            reads the settings again: log level, admission list, issuer keys
//   SIGUSR1           logs statistics
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "admin/admin_server.h"
#include "connection_watch.h"
#include "control.h"
#include "frame_pacer.h"
#include "questions.h"
#include "server.h"
#include "server_figures.h"
#include "settings.h"
#include "system_manager.h"
#include "telemetry.h"

namespace app {

/// What of the settings can change while the server runs, read and checked.
struct Changeable {
  lattice_log_level log_level = LATTICE_LOG_INFO;
  Admission admission;
};
/// Returns "", or a text that says what is wrong and what to do.
std::string read_changeable(const Settings& settings, Changeable& out);

class Service {
 public:
  /// Reads the settings again. Returns "", or what is wrong with them.
  using ReadSettings = std::function<std::string(Settings&)>;

  Service(Server& server, const Settings& settings, ReadSettings read_settings);
  ~Service();
  /// Opens the admin port. Returns the exit code; a reason is logged.
  int start();
  /// Returns when the server is to end.
  void run();

 private:
  class Commands;
  struct Reading {
    std::string problem;
    Settings settings;
    Changeable changeable;
  };

  void answer_signals();
  void begin_reload();
  void end_reload();
  void log_statistics();
  /// False once the server is to end.
  bool goes_on(uint64_t now_ns);
  void begin_drain(uint64_t now_ns);
  void publish(uint64_t now_ns);

  Server& server_;
  Settings settings_;
  ReadSettings read_settings_;
  SystemManager manager_;
  std::optional<AdminServer> admin_;
  ServerFigures figures_;
  ConnectionWatch connections_;
  Questions questions_;
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<Commands> commands_;
  Every second_due_{1'000'000'000};
  std::optional<uint64_t> drain_until_ns_;
  std::future<Reading> reading_;  // valid: the settings are being read again
};

}  // namespace app
