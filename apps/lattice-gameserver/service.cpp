#include "service.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include "exit_code.h"
#include "hex_list.h"
#include "key_file.h"
#include "log.h"
#include "process.h"
#include "text_codec.h"

namespace app {
namespace {

constexpr size_t kMostIssuers = 2;
constexpr size_t kMostTokenBytes = 256;
constexpr size_t kMostTokenFileBytes = 4096;
// Settings that a running server takes over. A change of another needs a restart, and that is said.
constexpr const char* kChangeable[] = {"log_level", "admission_list", "issuer_keys"};

TelemetryDetail detail_of(const std::string& name) {
  if (name == "players") return TelemetryDetail::kPlayers;
  return name == "server" ? TelemetryDetail::kServer : TelemetryDetail::kScene;
}

int telemetry_descriptor(const Settings& settings) {
  if (settings.text("telemetry") == "stdout") return STDOUT_FILENO;
  return static_cast<int>(settings.integer("telemetry_fd"));
}

/// Reads the token of the admin port: the first line of its file. Returns "", or what is wrong.
std::string read_token(const std::string& path, std::string& out) {
  if (path.empty()) return "";
  std::string problem = check_private_file(path);
  if (problem.empty()) problem = read_file(path, kMostTokenFileBytes, out);
  if (!problem.empty()) return problem;
  out = out.substr(0, out.find_first_of("\r\n"));
  if (out.size() >= 16 && out.size() <= kMostTokenBytes) return "";
  return path +
         " does not begin with a line of 16 to 256 characters. Write a token there, as with 'openssl "
         "rand -hex 32'.";
}

/// The first digits of each key, by which a person tells them apart.
std::string issuer_names(const std::vector<Key>& keys) {
  std::string out;
  for (const Key& key : keys) out += (out.empty() ? "" : ", ") + to_hex(key).substr(0, 16);
  return out.empty() ? "development" : out;
}

}  // namespace

std::string read_changeable(const Settings& settings, Changeable& out) {
  out.log_level = *log_level_by_name(settings.text("log_level"));
  if (const std::string& path = settings.text("admission_list"); !path.empty()) {
    std::vector<PlayerId> players;
    if (std::string problem = read_hex_list(path, players); !problem.empty()) return problem;
    std::ranges::sort(players);
    out.admission.players = std::make_shared<const std::vector<PlayerId>>(std::move(players));
  }
  if (const std::string& path = settings.text("issuer_keys"); !path.empty()) {
    if (std::string problem = read_hex_list(path, out.admission.issuers); !problem.empty()) return problem;
    if (out.admission.issuers.empty() || out.admission.issuers.size() > kMostIssuers) {
      return path + " holds " + std::to_string(out.admission.issuers.size()) +
             " keys. Give 1 or 2 public keys of issuers.";
    }
    if (out.admission.issuers.size() == 2 && out.admission.issuers[0] == out.admission.issuers[1]) {
      return path + " holds the same key twice. Give two different keys, or one.";
    }
  }
  return "";
}

/// Commands from stdin, until stdin ends.
class Service::Commands {
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

Service::Service(Server& server, const Settings& settings, ReadSettings read_settings)
    : server_(server), settings_(settings), read_settings_(std::move(read_settings)) {}

Service::~Service() = default;

int Service::start() {
  if (const int fd = telemetry_descriptor(settings_); fd >= 0) {
    telemetry_ =
        std::make_unique<Telemetry>(server_, fd, detail_of(settings_.text("telemetry_detail")), questions_);
  }
  if (settings_.text("control") == "stdio") {
    commands_ = std::make_unique<Commands>(server_.game(), questions_);
  }
  const std::string& address = settings_.text("admin");
  if (address != "off") {
    std::string token;
    std::string problem = read_token(settings_.text("admin_token_file"), token);
    if (problem.empty()) problem = AdminServer::check(address, token);
    const int exit = problem.empty() ? kExitPort : kExitConfig;
    if (problem.empty()) problem = admin_.emplace().start(address, token, settings_.to_json());
    if (!problem.empty()) {
      log_line(LATTICE_LOG_ERROR, "admin", problem);
      return exit;
    }
    log_line(LATTICE_LOG_INFO, "admin", "listening", {{"address", admin_->address()}});
    admin_->set_ready(true, "");
  }
  if (std::string problem = server_.tell_where(admin_ ? admin_->address() : ""); !problem.empty()) {
    const int exit = exit_for(errno);
    log_line(LATTICE_LOG_ERROR, "server", problem);
    return exit;
  }
  manager_.tell("READY=1\nSTATUS=listening on " + server_.address());
  return kExitOk;
}

// Files may be long, or on a disk that is slow, and play goes on meanwhile.
void Service::begin_reload() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the thread that does the work
  reading_ = std::async(std::launch::async, [read = read_settings_] {
    Reading out;
    out.problem = read(out.settings);
    if (out.problem.empty()) out.problem = read_changeable(out.settings, out.changeable);
    return out;
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Service::end_reload() {
  Reading reading = reading_.get();
  const Settings& settings = reading.settings;
  const Admission& admission = reading.changeable.admission;
  std::string problem = reading.problem;
  if (problem.empty()) problem = server_.admit_by(admission);
  figures_.config_reloaded(problem.empty());
  if (!problem.empty()) {
    log_line(LATTICE_LOG_ERROR, "config", "not read again, and all stays as it was: " + problem);
    return;
  }
  set_log_level(reading.changeable.log_level);
  std::string others;
  for (const std::string& key : settings.keys()) {
    if (std::ranges::find(kChangeable, key) != std::end(kChangeable)) continue;
    if (settings.text(key) != settings_.text(key)) others += (others.empty() ? "" : ", ") + key;
  }
  log_line(LATTICE_LOG_INFO, "config", "read again",
           {{"log_level", settings.text("log_level")},
            {"admission_list", settings.text("admission_list")},
            {"admitted", admission.players ? std::to_string(admission.players->size()) : "everybody"},
            {"issuer_keys", settings.text("issuer_keys")},
            {"issuers", issuer_names(admission.issuers)}});
  if (!others.empty()) {
    log_line(LATTICE_LOG_WARNING, "config", "changes that need a restart", {{"settings", others}});
  }
  if (admin_) admin_->set_config(settings.to_json());
}

void Service::log_statistics() {
  const lattice_world_stats stats = server_.stats();
  const TickTimer::Percentiles tick_time = server_.tick_timer().percentiles();
  log_line(LATTICE_LOG_INFO, "statistics", "server",
           {{"tick", stats.tick},
            {"players", server_.game().players().size()},
            {"joins", server_.joins()},
            {"objects", stats.objects},
            {"tick_p50_ms", tick_time.p50_ms},
            {"tick_p99_ms", tick_time.p99_ms},
            {"bytes_sent", stats.bytes_sent},
            {"bytes_received", stats.bytes_received},
            {"inputs_late", stats.inputs_late},
            {"stalls", server_.stall_watch().stalls()}});
  server_.game().world().each_refusal([](const char* name, uint64_t count) {
    if (count != 0) log_line(LATTICE_LOG_INFO, "statistics", "refused", {{"reason", name}, {"count", count}});
  });
  server_.log_connections();
}

void Service::answer_signals() {
  const bool is_reading = reading_.valid();
  if (!is_reading && take_reload_request()) begin_reload();
  if (is_reading && reading_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) end_reload();
  if (take_dump_request()) log_statistics();
}

void Service::begin_drain(uint64_t now_ns) {
  const uint64_t seconds = static_cast<uint64_t>(settings_.integer("drain_s"));
  drain_until_ns_ = now_ns + seconds * 1'000'000'000;
  server_.set_closed(true);
  if (admin_) admin_->set_ready(false, "it drains");
  manager_.tell("STOPPING=1\nSTATUS=draining");
  if (seconds != 0) {
    log_line(LATTICE_LOG_INFO, "server", "draining: nobody is let in any more",
             {{"players", server_.game().players().size()}, {"seconds", seconds}});
  }
}

bool Service::goes_on(uint64_t now_ns) {
  if (!stop_requested()) return true;
  if (!drain_until_ns_) begin_drain(now_ns);
  return stop_requests() < 2 && now_ns < *drain_until_ns_ && !server_.game().players().empty();
}

void Service::publish(uint64_t now_ns) {
  manager_.beat(now_ns);
  if (admin_) admin_->beat(now_ns);
  if (!second_due_.due(now_ns)) return;
  connections_.look(server_);
  if (!admin_) return;
  figures_.sample(server_);
  if (telemetry_) figures_.telemetry_lost(telemetry_->lost_lines());
  admin_->publish(figures_.collect(server_, drain_until_ns_.has_value()));
}

void Service::run() {
  const auto tick_rate = static_cast<uint32_t>(settings_.integer("tick_rate"));
  const auto ticks_per_line =
      std::max(1u, tick_rate / static_cast<uint32_t>(settings_.integer("telemetry_rate")));
  uint32_t ticks = 0;
  while (goes_on(monotonic_ns())) {
    answer_signals();
    if (commands_) commands_->take();
    const uint32_t ran = server_.pump();
    ticks += ran;
    if (ran != 0) figures_.ticks_ran(ran, server_.last_tick_s(), 1.0 / tick_rate);
    log_catch_up();
    if (telemetry_ && ticks >= ticks_per_line) {
      ticks = 0;
      telemetry_->write();
    }
    publish(monotonic_ns());
    const uint64_t wake_ns = monotonic_ns() + std::min(server_.time_to_tick_ns(), kPollIntervalNs);
    sleep_until_ns(wake_ns);
    server_.stall_watch().slept(wake_ns, monotonic_ns());
  }
}

}  // namespace app
