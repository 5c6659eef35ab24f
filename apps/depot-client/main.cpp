// depot-client: plays Depot, for a person (--control stdio), as a bot (--bot), or as a crowd (--count N).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "client.h"
#include "control.h"
#include "exit_code.h"
#include "frame_pacer.h"
#include "impairment_setting.h"
#include "log.h"
#include "process.h"
#include "record_writer.h"
#include "report.h"
#include "settings.h"

namespace app {
namespace {

constexpr uint64_t kCrowdPollIntervalNs = 8'000'000;
constexpr size_t kControlLineBytes = 4096;
// Reports also go out while no ticks run, as before the connection is up.
constexpr uint64_t kMaxReportIntervalNs = 50'000'000;
// The clients of a crowd join one by one: a server holds only a few half-open handshakes per network (H-11).
constexpr uint64_t kJoinIntervalNs = 20'000'000;

constexpr SettingSpec kSettings[] = {
    {"server", SettingKind::kText, "HOST:PORT", "",
     "the server; without it, what server.json in --data-dir says"},
    {"data_dir", SettingKind::kText, "DIR", "lattice-data",
     "the server's folder: its issuer key signs our token"},
    {"token_command", SettingKind::kText, "CMD", "", "prints a base64 token; {client_key} is replaced"},
    {"token_stdin", SettingKind::kSwitch, "", "", "print our key, read the token from stdin", 0, 0,
     SettingScope::kCommandLine},
    {"bot", SettingKind::kSwitch, "", "", "play by itself", 0, 0, SettingScope::kCommandLine},
    {"seed", SettingKind::kInteger, "N", "1", "of the bot", 0, 9e15},
    {"count", SettingKind::kInteger, "N", "1", "run this many bots in one process", 1, 4096,
     SettingScope::kCommandLine},
    {"seconds", SettingKind::kNumber, "S", "0", "leave after this long; 0: stay", 0, 1e6,
     SettingScope::kCommandLine},
    {"control", SettingKind::kText, "HOW", "", "'stdio': JSON commands on stdin, JSON reports on stdout", 0,
     0, SettingScope::kCommandLine},
    {"report_rate", SettingKind::kInteger, "HZ", "30", "reports per second under --control", 1, 240,
     SettingScope::kCommandLine},
    {"impairment", SettingKind::kText, "PRESET", "", "make our own link bad (demo, wifi-busy, ...)"},
    {"tick_rate", SettingKind::kInteger, "HZ", "60", "must be the server's", 1, 240},
    {"log_level", SettingKind::kText, "LEVEL", "info", "error, warning, info or debug"},
};

constexpr ProgramSpec kProgram = {
    .name = "depot-client",
    .summary = "Plays Depot on a lattice-gameserver.",
    .usage = "depot-client [options]",
    .examples =
        "  depot-client --bot                          a bot on the server of ./lattice-data\n"
        "  depot-client --count 64 --seconds 10        64 bots for ten seconds\n"
        "  depot-client --control stdio                played by whoever writes JSON to it\n"
        "  depot-client --server host:27015 --token-command 'fetch-token {client_key}'\n",
    .notes =
        "Exit codes: 0 ended as asked, 1 refused or broken off, 2 command line, 5 no answer,\n"
        "6 the server runs another version or schema.\n",
    .settings = kSettings,
    .has_config_file = false,
};

/// One run of the program: its settings and its clients.
class Program {
 public:
  explicit Program(const Settings& settings) : settings_(settings) {}

  int run() {
    const auto count = static_cast<size_t>(settings_.integer("count"));
    for (size_t i = 0; i < count; ++i) {
      if (const int exit = add_client(i); exit != kExitOk) return exit;
    }
    if (settings_.text("control") == "stdio") attach_control();
    if (const int exit = loop(); exit != kExitOk) return exit;
    say_goodbye();
    return exit_code();
  }

 private:
  int add_client(size_t i) {
    ClientConfig config;
    config.tokens.data_dir = settings_.text("data_dir");
    config.tokens.token_command = settings_.text("token_command");
    config.tokens.from_stdin = settings_.is_on("token_stdin");
    config.server = settings_.text("server");
    if (config.server.empty()) {
      ServerNote note;
      if (const std::string problem = read_server_note(config.tokens.data_dir, note); !problem.empty()) {
        log_line(LATTICE_LOG_ERROR, "client", problem);
        return kExitUnreachable;
      }
      config.server = note.address;
      // A server that listens on every address is reached on this machine at the loopback address.
      if (config.server.starts_with("0.0.0.0:")) config.server.replace(0, 7, "127.0.0.1");
      if (config.server.starts_with("[::]:")) config.server.replace(0, 4, "[::1]");
    }
    config.tick_rate_hz = static_cast<uint32_t>(settings_.integer("tick_rate"));
    config.seed = static_cast<uint64_t>(settings_.integer("seed")) + i;
    config.is_bot = settings_.is_on("bot") || settings_.integer("count") > 1;
    if (settings_.integer("count") > 1) config.bot_habit = depot::BotHabit::kWanderer;
    auto client = std::make_unique<Client>();
    if (const int exit = client->start(config); exit != kExitOk) return exit;
    if (const std::string& preset = settings_.text("impairment"); !preset.empty()) {
      client->impair_by_preset(preset);
    }
    clients_.push_back(std::move(client));
    return kExitOk;
  }

  void attach_control() {
    Client& client = *clients_.front();
    set_nonblocking(STDIN_FILENO);
    client.keep_predictions(true);
    control_.emplace(client);
    report_.emplace(client);
    // Takes the commands that wait already. An impairment among them then holds from the first datagram.
    read_commands();
  }

  /// Returns false when stdin has ended or a command asks the program to quit.
  bool read_commands() {
    std::vector<std::string> lines;
    const bool open = reader_.read(STDIN_FILENO, lines);
    for (const std::string& line : lines) control_->handle(line);
    return open && !control_->quit_requested();
  }

  bool anyone_left() const {
    return std::ranges::any_of(clients_, [](const auto& c) { return c->state() != Client::State::kEnded; });
  }

  /// Connects the clients that are due to join. Returns kExitOk, or the exit code of a client that could not
  /// start to connect.
  int join() {
    while (joined_ < clients_.size() && join_due_.due(monotonic_ns())) {
      if (const int exit = clients_[joined_++]->connect(); exit != kExitOk) return exit;
    }
    return kExitOk;
  }

  int loop() {
    const double seconds = settings_.number("seconds");
    const uint64_t end_ns = seconds > 0 ? monotonic_ns() + static_cast<uint64_t>(seconds * 1e9) : UINT64_MAX;
    const uint64_t poll_ns = clients_.size() > 1 ? kCrowdPollIntervalNs : kPollIntervalNs;
    while (!stop_requested() && monotonic_ns() < end_ns && anyone_left()) {
      if (const int exit = join(); exit != kExitOk) return exit;
      uint64_t wait_ns = poll_ns;
      for (auto& client : clients_) {
        ticks_since_report_ += client->pump();
        wait_ns = std::min(wait_ns, std::max<uint64_t>(client->time_to_tick_ns(), 500'000));
      }
      if (control_) {
        if (!read_commands()) break;
        const uint64_t now_ns = monotonic_ns();
        if (report_is_due(now_ns))
          writer_.write_line(report_->line(now_ns, control_->ignored_lines(), stall_watch_));
        writer_.flush();
      }
      log_catch_up();
      const uint64_t wake_ns = monotonic_ns() + wait_ns;
      sleep_or_readable(control_ ? STDIN_FILENO : -1, wait_ns);
      stall_watch_.slept(wake_ns, monotonic_ns());
    }
    return kExitOk;
  }

  /// A report is due right after a tick, so that it is as fresh as possible, and at the latest
  /// kMaxReportIntervalNs after the last report.
  bool report_is_due(uint64_t now_ns) {
    const auto tick_rate = static_cast<uint32_t>(settings_.integer("tick_rate"));
    const auto report_rate = static_cast<uint32_t>(settings_.integer("report_rate"));
    const bool is_due = ticks_since_report_ >= std::max(1u, tick_rate / report_rate) ||
                        now_ns - reported_ns_ >= kMaxReportIntervalNs;
    if (!is_due) return false;
    ticks_since_report_ = 0;
    reported_ns_ = now_ns;
    return true;
  }

  void say_goodbye() {
    if (!anyone_left()) return;
    for (auto& client : clients_) client->leave();
    // This side has ended at once, but a goodbye may be lost: it is repeated until the server answers.
    const auto is_leaving = [](const auto& client) { return client->is_leaving(); };
    for (;;) {
      for (auto& client : clients_) client->pump();
      if (std::ranges::none_of(clients_, is_leaving)) return;
      sleep_ns(5'000'000);
    }
  }

  int exit_code() const {
    for (const auto& client : clients_) {
      if (client->exit_code() != kExitOk) return client->exit_code();
    }
    return kExitOk;
  }

  const Settings& settings_;
  std::vector<std::unique_ptr<Client>> clients_;
  size_t joined_ = 0;
  Every join_due_{kJoinIntervalNs};
  std::optional<Control> control_;
  std::optional<Report> report_;
  uint32_t ticks_since_report_ = 0;
  uint64_t reported_ns_ = 0;
  StallWatch stall_watch_;
  LineReader reader_{kControlLineBytes};
  RecordWriter writer_{STDOUT_FILENO};
};

int check(const Settings& settings) {
  if (!log_level_by_name(settings.text("log_level"))) {
    return usage_error(kProgram, "'" + settings.text("log_level") +
                                     "' is not a log level; give error, warning, info or debug.");
  }
  if (const std::string& how = settings.text("control"); !how.empty() && how != "stdio") {
    return usage_error(kProgram, "'" + how + "' is not a kind of control; give 'stdio'.");
  }
  if (!settings.text("control").empty() && settings.integer("count") > 1) {
    return usage_error(kProgram, "--control is for one client; leave out --count.");
  }
  if (const std::string problem = check_preset(settings.text("impairment")); !problem.empty()) {
    return usage_error(kProgram, problem);
  }
  return kExitOk;
}

int run(int argc, char** argv) {
  Settings settings;
  if (const auto exit = settings.load(kProgram, argc, argv)) return *exit;
  if (const int exit = check(settings); exit != kExitOk) return exit;
  set_log_level(*log_level_by_name(settings.text("log_level")));
  catch_stop_signals();
  say_when_out_of_memory();
  die_with_parent();
  if (!log_while_waiting_for_entropy()) return kExitInterrupted;
  return Program(settings).run();
}

}  // namespace
}  // namespace app

int main(int argc, char** argv) {
  app::open_standard_descriptors();
  return app::run(argc, argv);
}
