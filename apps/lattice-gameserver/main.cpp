// lattice-gameserver: hosts Depot through the public ABI (§18, dedicated role).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "exit_code.h"
#include "impairment_setting.h"
#include "log.h"
#include "process.h"
#include "server.h"
#include "service.h"
#include "settings.h"
#include "text_codec.h"

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
    {"admission_list", SettingKind::kText, "FILE", "",
     "lets in these players only: their ids in hexadecimal, one in a line"},
    {"issuer_keys", SettingKind::kText, "FILE", "",
     "1 or 2 public keys of issuers whose tokens count, instead of DATA_DIR/issuer.key"},
    {"admin", SettingKind::kText, "ADDRESS", "127.0.0.1:0",
     "HTTP for operators: /live /ready /metrics /config; 'off': none"},
    {"admin_token_file", SettingKind::kText, "FILE", "",
     "the bearer token of the admin port, which it needs beyond loopback"},
    {"drain_s", SettingKind::kInteger, "S", "0",
     "how long a server that is asked to stop waits for its players to leave", 0, 86400},
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
        "Ctrl-C drains and says goodbye. SIGHUP reads settings again, SIGUSR1 logs statistics: "
        "docs/operate.md.\n"
        "Exit codes: 0 as asked, 1 a log or capture is not whole, 2 usage, 3 configuration, 4 port or folder "
        "taken.\n",
    .settings = kSettings,
    .has_config_file = true,
};

/// What is wrong with a setting, or "".
std::string problem_of(const Settings& settings, const char** key) {
  const auto is = [key](const char* name) { return *key = name; };
  if (!log_level_by_name(settings.text(is("log_level")))) {
    return "'" + settings.text("log_level") + "' is not a log level. Give error, warning, info or debug.";
  }
  if (settings.integer(is("snapshot_rate")) > settings.integer("tick_rate")) {
    return "snapshot_rate " + settings.text("snapshot_rate") + " is above tick_rate " +
           settings.text("tick_rate") + ". Give at most the tick rate.";
  }
  if (std::string problem = check_preset(settings.text(is("impairment"))); !problem.empty()) return problem;
  if (const std::string& where = settings.text(is("telemetry")); !where.empty() && where != "stdout") {
    return "'" + where + "' is not a place for telemetry. Give 'stdout'.";
  }
  if (const std::string& how = settings.text(is("control")); !how.empty() && how != "stdio") {
    return "'" + how + "' is not a kind of control. Give 'stdio'.";
  }
  if (const int64_t fd = settings.integer(is("telemetry_fd"));
      fd >= 0 && fcntl(static_cast<int>(fd), F_GETFD) < 0) {
    return "descriptor " + std::to_string(fd) + " is not open. Open it, as with " + std::to_string(fd) +
           ">FILE in a shell, or leave the setting out.";
  }
  if (const std::string& detail = settings.text(is("telemetry_detail"));
      detail != "scene" && detail != "players" && detail != "server") {
    return "'" + detail + "' is no telemetry detail. Give 'scene', 'players' or 'server'.";
  }
  return "";
}

/// "server.toml:3:1: …", or "" when all settings are right.
std::string check(const Settings& settings, int* exit) {
  const char* key = "";
  const std::string problem = problem_of(settings, &key);
  if (problem.empty()) return "";
  *exit = settings.origin(key).starts_with("--") ? kExitUsage : kExitConfig;
  return settings.origin(key) + ": " + problem;
}

int run(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kProgram, argc, argv)) return *exit;
  int wrong = kExitConfig;
  Changeable changeable;
  std::string problem = check(settings, &wrong);
  if (problem.empty()) problem = read_changeable(settings, changeable);
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", printable(problem).c_str());
    return wrong;
  }
  set_log_level(changeable.log_level);
  catch_stop_signals(settings.integer("drain_s") > 0 ? 2 : 1);
  catch_service_signals();
  say_when_out_of_memory();
  die_with_parent();
  if (!log_while_waiting_for_entropy()) return kExitInterrupted;

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
  config.admission = std::move(changeable.admission);

  Server server;
  if (const int exit = server.start(config); exit != kExitOk) return exit;
  Service service(server, settings, [argc, argv](Settings& again) {
    std::string what;
    int ignored = 0;
    const auto exit = again.load(kProgram, argc, argv, &what);
    return exit ? what : check(again, &ignored);
  });
  if (const int exit = service.start(); exit != kExitOk) return exit;
  service.run();
  return server.stop();
}

}  // namespace
}  // namespace app

int main(int argc, char** argv) {
  app::open_standard_descriptors();
  return app::run(argc, argv);
}
