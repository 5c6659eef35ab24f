// lattice-gameserver: hosts Depot through the public ABI (§18, dedicated role).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control.h"
#include "exit_code.h"
#include "frame_pacer.h"
#include "impairment_setting.h"
#include "log.h"
#include "process.h"
#include "server.h"
#include "settings.h"
#include "telemetry.h"

namespace app {
namespace {

constexpr SettingSpec kSettings[] = {
    {"bind", SettingKind::kText, "ADDRESS", "0.0.0.0:27015",
     "UDP address to listen on; port 0: any free one"},
    {"tick_rate", SettingKind::kInteger, "HZ", "60", "simulation steps per second", 1, 240},
    {"snapshot_rate", SettingKind::kInteger, "HZ", "30", "snapshots per second, at most the tick rate", 1,
     240},
    {"max_players", SettingKind::kInteger, "N", "64", "players at a time", 1, 1024},
    {"connects_per_s", SettingKind::kInteger, "N", "100",
     "handshakes per second from one address range; many bots on one host need more", 1, 100000},
    {"parcels", SettingKind::kInteger, "N", "10000", "parcels in the hall, a tenth of them on belts", 0,
     10000},
    {"client_bytes_per_s", SettingKind::kInteger, "N", "64000",
     "most bytes of UDP payload per second to each client; 0: no ceiling", 0, 4e9},
    {"data_dir", SettingKind::kText, "DIR", "lattice-data", "holds the issuer key; server.json appears here"},
    {"server_key", SettingKind::kText, "FILE", "",
     "this server's identity, kept over restarts [DATA_DIR/server.key if it is there]"},
    {"seed", SettingKind::kInteger, "N", "1", "for everything random that is not a key", 0, 9e15},
    {"impairment", SettingKind::kText, "PRESET", "",
     "make this server's own link bad (demo, wifi-busy, ...)"},
    {"capture", SettingKind::kText, "FILE", "",
     "write every datagram, decrypted, as pcapng; needs a build with LATTICE_CAPTURE"},
    {"telemetry", SettingKind::kText, "WHERE", "", "'stdout': JSON lines"},
    {"telemetry_rate", SettingKind::kInteger, "HZ", "30", "lines per second, at most the tick rate", 1, 240},
    {"control", SettingKind::kText, "HOW", "", "'stdio': JSON commands on stdin (for demonstrations)", 0, 0,
     SettingScope::kCommandLine},
    {"telemetry_fd", SettingKind::kInteger, "N", "-1", "the same on an inherited descriptor", -1, 1023},
    {"telemetry_detail", SettingKind::kText, "WHAT", "scene",
     "'scene': every object and player too; 'players': no objects; 'server': tick times and counters only"},
    {"log_level", SettingKind::kText, "LEVEL", "info", "error, warning, info or debug"},
};

constexpr ProgramSpec kProgram = {
    .name = "lattice-gameserver",
    .summary = "Hosts a Depot session over encrypted UDP.",
    .usage = "lattice-gameserver [options]",
    .examples =
        "  lattice-gameserver                          listen on port 27015\n"
        "  lattice-gameserver --bind 127.0.0.1:0       this machine only, any free port\n"
        "  lattice-gameserver --config server.toml --print-config\n"
        "  depot-client --data-dir lattice-data --bot  join it with a bot\n",
    .notes =
        "The first start makes a development issuer in the data folder: issuer.key signs connect tokens.\n"
        "Ctrl-C tells every client goodbye; a second Ctrl-C ends at once.\n"
        "Exit codes: 0 ended as asked, 1 a disk did not take all of a capture or the log, 2 command line,\n"
        "3 configuration, 4 a port or the data folder is taken, or a permission is missing.\n",
    .settings = kSettings,
    .has_config_file = true,
};

int config_error(const Settings& settings, const char* key, const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", settings.origin(key).c_str(), sentence.c_str());
  return settings.origin(key).starts_with("--") ? kExitUsage : kExitConfig;
}

std::optional<TelemetryDetail> detail_by_name(const std::string& name) {
  if (name == "scene") return TelemetryDetail::kScene;
  if (name == "players") return TelemetryDetail::kPlayers;
  if (name == "server") return TelemetryDetail::kServer;
  return std::nullopt;
}

int check(const Settings& settings) {
  if (!log_level_by_name(settings.text("log_level"))) {
    return config_error(
        settings, "log_level",
        "'" + settings.text("log_level") + "' is not a log level. Give error, warning, info or debug.");
  }
  if (settings.integer("snapshot_rate") > settings.integer("tick_rate")) {
    return config_error(settings, "snapshot_rate",
                        "snapshot_rate " + settings.text("snapshot_rate") + " is above tick_rate " +
                            settings.text("tick_rate") + ". Give at most the tick rate.");
  }
  if (const std::string problem = check_preset(settings.text("impairment")); !problem.empty()) {
    return config_error(settings, "impairment", problem);
  }
  if (const std::string& where = settings.text("telemetry"); !where.empty() && where != "stdout") {
    return config_error(settings, "telemetry",
                        "'" + where + "' is not a place for telemetry. Give 'stdout'.");
  }
  if (const std::string& how = settings.text("control"); !how.empty() && how != "stdio") {
    return config_error(settings, "control", "'" + how + "' is not a kind of control. Give 'stdio'.");
  }
  if (const int64_t fd = settings.integer("telemetry_fd");
      fd >= 0 && fcntl(static_cast<int>(fd), F_GETFD) < 0) {
    return config_error(settings, "telemetry_fd",
                        "descriptor " + std::to_string(fd) + " is not open. Open it, as with " +
                            std::to_string(fd) + ">FILE in a shell, or leave the setting out.");
  }
  if (const std::string& detail = settings.text("telemetry_detail"); !detail_by_name(detail)) {
    return config_error(settings, "telemetry_detail",
                        "'" + detail + "' is no telemetry detail. Give 'scene', 'players' or 'server'.");
  }
  return kExitOk;
}

int telemetry_descriptor(const Settings& settings) {
  if (settings.text("telemetry") == "stdout") return STDOUT_FILENO;
  return static_cast<int>(settings.integer("telemetry_fd"));
}

/// Commands from stdin, until stdin ends.
class Commands {
 public:
  Commands(depot::GameServer& game, Questions& questions) : control_(game, questions) {
    set_nonblocking(STDIN_FILENO);
  }
  void take() {
    lines_.clear();
    if (is_open_) is_open_ = reader_.read(STDIN_FILENO, lines_);
    for (const std::string& line : lines_) control_.handle(line);
  }

 private:
  static constexpr size_t kLineBytes = 4096;
  Control control_;
  LineReader reader_{kLineBytes};
  std::vector<std::string> lines_;
  bool is_open_ = true;
};

void serve(Server& server, const Settings& settings) {
  const TelemetryDetail detail = *detail_by_name(settings.text("telemetry_detail"));
  const int telemetry_fd = telemetry_descriptor(settings);
  Questions questions;
  std::unique_ptr<Telemetry> telemetry;
  if (telemetry_fd >= 0) {
    telemetry = std::make_unique<Telemetry>(server, telemetry_fd, detail, questions);
  }
  std::optional<Commands> commands;
  if (settings.text("control") == "stdio") commands.emplace(server.game(), questions);
  const auto ticks_per_line = static_cast<uint32_t>(
      std::max<int64_t>(1, settings.integer("tick_rate") / settings.integer("telemetry_rate")));
  uint32_t ticks = 0;
  while (!stop_requested()) {
    if (commands) commands->take();
    ticks += server.pump();
    log_catch_up();
    if (telemetry != nullptr && ticks >= ticks_per_line) {
      ticks = 0;
      telemetry->write();
    }
    const uint64_t wake_ns = monotonic_ns() + std::min(server.time_to_tick_ns(), kPollIntervalNs);
    sleep_until_ns(wake_ns);
    server.stall_watch().slept(wake_ns, monotonic_ns());
  }
}

int run(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kProgram, argc, argv)) return *exit;
  if (const int exit = check(settings); exit != kExitOk) return exit;
  set_log_level(*log_level_by_name(settings.text("log_level")));
  catch_stop_signals();
  die_with_parent();

  ServerConfig config;
  config.bind = settings.text("bind");
  config.tick_rate_hz = static_cast<uint32_t>(settings.integer("tick_rate"));
  config.snapshot_rate_hz = static_cast<uint32_t>(settings.integer("snapshot_rate"));
  config.max_players = static_cast<uint32_t>(settings.integer("max_players"));
  config.connects_per_s = static_cast<uint32_t>(settings.integer("connects_per_s"));
  config.parcels = static_cast<uint32_t>(settings.integer("parcels"));
  config.client_bytes_per_s = static_cast<uint32_t>(settings.integer("client_bytes_per_s"));
  config.seed = static_cast<uint64_t>(settings.integer("seed"));
  config.data_dir = settings.text("data_dir");
  config.server_key = settings.text("server_key");
  config.impairment = settings.text("impairment");
  config.capture = settings.text("capture");

  Server server;
  if (const int exit = server.start(config); exit != kExitOk) return exit;
  serve(server, settings);
  return server.stop();
}

}  // namespace
}  // namespace app

int main(int argc, char** argv) {
  return app::run(argc, argv);
}
