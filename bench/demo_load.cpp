// demo-load: what a Depot server costs per client. A real server process and a process of N bot worlds, over
// UDP on loopback, each on a processor of its own; then, at the same datagram rates and sizes, the floor in
// the server's place (floor_udp.cpp). One repetition: connect all, warm up, measure one window.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "child.h"
#include "line_pipe.h"
#include "registry.h"

namespace bench {
namespace {

constexpr double kTickRateHz = 60;
constexpr double kSnapshotRateHz = 30;
constexpr double kConnectTimeoutS = 30;
constexpr double kSettleS = 0.5;
constexpr int kTelemetryDescriptor = 8;
constexpr uint32_t kConnectsPerS = 2000;  // all bots come from one address range

/// A folder of our own under /tmp, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::array<char, 32> name = {"/tmp/lattice-bench-XXXXXX"};
    if (mkdtemp(name.data()) != nullptr) path_ = name.data();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The beginning of one telemetry line of lattice-gameserver.
struct Telemetry {
  double t_ms = 0, tick = 0, tick_p50_ms = 0, tick_p99_ms = 0, late_inputs = 0, players = 0;
};

double number_after(const std::string& line, const char* name) {
  const std::string key = std::string("\"") + name + "\":";
  const size_t at = line.find(key);
  return at == std::string::npos ? 0 : std::strtod(line.c_str() + at + key.size(), nullptr);
}

Telemetry parse_telemetry(const std::string& line) {
  return {number_after(line, "t"),           number_after(line, "tick"),
          number_after(line, "tick_p50_ms"), number_after(line, "tick_p99_ms"),
          number_after(line, "late_inputs"), number_after(line, "players")};
}

/// A server and a load process, from nothing to everyone connected.
struct Session {
  ScratchFolder scratch;
  LinePipe telemetry, load_log;
  UdpCounter counter;
  Child server, load;
  double idle_rss_kb = 0;
  uint32_t lost_clients = 0;

  std::string start(const std::string& build, uint32_t clients, int server_cpu, int load_cpu) {
    if (std::string problem = start_server(build, clients, server_cpu); !problem.empty()) return problem;
    sleep_s(kSettleS);
    idle_rss_kb = server.rss_kb();
    return start_load(build, clients, load_cpu);
  }

  /// "" when both processes still run and no client was disconnected since start().
  std::string check() {
    load_log.read_for(0.01, [&](const std::string& line) { return note(line), false; });
    if (!server.running()) return "the server ended early. Run it by hand to see why.";
    if (lost_clients != 0 || !load.running()) {
      return std::to_string(lost_clients) + " clients lost their connection. The machine may be too busy.";
    }
    return "";
  }

 private:
  std::string start_server(const std::string& build, uint32_t clients, int cpu) {
    ChildPlan plan;
    plan.arguments = {build + "/apps/lattice-gameserver/lattice-gameserver",
                      "--bind",
                      "127.0.0.1:0",
                      "--max-players",
                      std::to_string(clients),
                      "--tick-rate",
                      std::to_string(static_cast<int>(kTickRateHz)),
                      "--snapshot-rate",
                      std::to_string(static_cast<int>(kSnapshotRateHz)),
                      "--connects-per-s",
                      std::to_string(kConnectsPerS),
                      "--data-dir",
                      scratch.path(),
                      "--log-level",
                      "error",
                      "--telemetry-detail",
                      "server",
                      "--telemetry-fd",
                      std::to_string(kTelemetryDescriptor)};
    plan.cpu = cpu;
    plan.descriptors.emplace_back(telemetry.writer(), kTelemetryDescriptor);
    counter.attach(plan, build + "/bench/udp-counter.so");
    if (scratch.path().empty() || !server.start(plan))
      return "cannot start a process. Check /tmp and ulimit -u.";
    telemetry.close_writer();
    // The server leaves a note once it listens.
    for (int i = 0; i < 200 && server.running(); ++i) {
      if (std::filesystem::exists(scratch.path() + "/server.json")) return "";
      sleep_s(0.05);
    }
    return "the server did not start. Run " + plan.arguments[0] + " by hand.";
  }

  std::string start_load(const std::string& build, uint32_t clients, int cpu) {
    ChildPlan plan;
    plan.cpu = cpu;
    plan.descriptors.emplace_back(load_log.writer(), STDERR_FILENO);
    plan.arguments = {build + "/apps/depot-client/depot-client",
                      "--bot",
                      "--count",
                      std::to_string(clients),
                      "--data-dir",
                      scratch.path(),
                      "--log-level",
                      "info"};
    if (!load.start(plan)) return "cannot start a process. Check ulimit -u.";
    load_log.close_writer();
    load_log.read_for(kConnectTimeoutS,
                      [&](const std::string& line) { return note(line), connected_ == clients; });
    if (connected_ == clients) return "";
    return "only " + std::to_string(connected_) + " of " + std::to_string(clients) +
           " clients connected. Run " + plan.arguments[0] + " by hand.";
  }

  /// Counts what the clients log about themselves.
  void note(const std::string& line) {
    if (line.find("\"cat\":\"client\"") == std::string::npos) return;
    if (line.find("\"msg\":\"connected\"") != std::string::npos) ++connected_;
    if (line.find("\"msg\":\"disconnected\"") != std::string::npos) ++lost_clients;
  }

  uint32_t connected_ = 0;
};

/// Processor time and traffic of a window, per client and second.
struct Usage {
  double server_cpu_ms = 0, load_cpu_percent = 0;
  double up_datagrams = 0, up_bytes = 0, down_datagrams = 0, down_bytes = 0;
};

/// `wait` passes about `seconds`.
template <class Wait>
Usage measure(const Child& server, const Child& load, const UdpCounter& counter, uint32_t clients,
              const Wait& wait) {
  const uint64_t began_ns = monotonic_ns();
  const double server_ms = server.cpu_ms(), load_ms = load.cpu_ms();
  const UdpTraffic before = counter.read();
  wait();
  const UdpTraffic after = counter.read();
  const double server_used_ms = server.cpu_ms() - server_ms, load_used_ms = load.cpu_ms() - load_ms;
  const double elapsed_s = static_cast<double>(monotonic_ns() - began_ns) / 1e9;
  const auto each = [&](uint64_t from, uint64_t to) {
    return static_cast<double>(to - from) / clients / elapsed_s;
  };
  return {.server_cpu_ms = server_used_ms / clients / elapsed_s,
          .load_cpu_percent = load_used_ms / elapsed_s / 10.0,
          .up_datagrams = each(before.received_datagrams, after.received_datagrams),
          .up_bytes = each(before.received_bytes, after.received_bytes),
          .down_datagrams = each(before.sent_datagrams, after.sent_datagrams),
          .down_bytes = each(before.sent_bytes, after.sent_bytes)};
}

/// One repetition at one size.
class Run {
 public:
  Run(const Options& options, uint32_t clients, Report& report)
      : options_(options), clients_(clients), report_(report), build_(build_folder()) {
    const std::vector<int> cpus = allowed_cpus();
    load_cpu_ = cpus.front();
    server_cpu_ = cpus.back();
  }

  /// The game: a window of it after everyone is connected and the warm-up is over.
  std::string play() {
    Session session;
    if (std::string problem = session.start(build_, clients_, server_cpu_, load_cpu_); !problem.empty()) {
      return problem;
    }
    Telemetry latest;
    const auto keep = [&](const std::string& line) { return latest = parse_telemetry(line), false; };
    session.telemetry.read_for(options_.warmup_s, keep);
    const Telemetry before = latest;
    usage_ = measure(session.server, session.load, session.counter, clients_,
                     [&] { session.telemetry.read_for(options_.seconds, keep); });
    const double rss_kb = session.server.rss_kb();
    if (std::string problem = session.check(); !problem.empty()) return problem;
    tell_ticks(before, latest);
    tell_usage();
    metric("rss_per_connection_kb", (rss_kb - session.idle_rss_kb) / clients_);
    metric("rss_idle_kb", session.idle_rss_kb);
    return "";
  }

  /// The same traffic as play() saw, without a game.
  std::string floor() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return "cannot make a pipe. Check ulimit -n.";
    ChildPlan plan = floor_plan("serve", usage_.down_datagrams, usage_.down_bytes);
    plan.cpu = server_cpu_;
    plan.descriptors.emplace_back(ends[1], STDOUT_FILENO);
    UdpCounter counter;
    counter.attach(plan, build_ + "/bench/udp-counter.so");
    Child server, load;
    const bool started = server.start(plan);
    close(ends[1]);
    std::array<char, 16> port{};
    const ssize_t got = started ? ::read(ends[0], port.data(), port.size() - 1) : 0;
    close(ends[0]);
    if (got <= 0) return "the floor did not start. Run bench/floor-udp of the build folder by hand.";
    ChildPlan load_plan = floor_plan("load", usage_.up_datagrams, usage_.up_bytes);
    load_plan.arguments.insert(load_plan.arguments.end(), {"--port", std::to_string(std::atoi(port.data()))});
    load_plan.cpu = load_cpu_;
    load.start(load_plan);
    sleep_s(std::min(options_.warmup_s, 1.0));
    const Usage floor = measure(server, load, counter, clients_, [&] { sleep_s(options_.seconds); });
    if (!server.running() || !load.running()) return "the floor ended early. Run bench/floor-udp by hand.";
    report_.metric(name("floor", "server_cpu_ms_per_client_s"), floor.server_cpu_ms);
    report_.metric(name("floor", "up_bytes_per_client_s"), floor.up_bytes);
    report_.metric(name("floor", "down_bytes_per_client_s"), floor.down_bytes);
    if (floor.server_cpu_ms > 0) {
      report_.ratio(name("game", "vs_floor"), usage_.server_cpu_ms / floor.server_cpu_ms);
    }
    return "";
  }

 private:
  void tell_ticks(const Telemetry& before, const Telemetry& latest) {
    const double due_ticks = (latest.t_ms - before.t_ms) / 1000.0 * kTickRateHz;
    metric("connected_count", latest.players);
    metric("tick_p50_ms", latest.tick_p50_ms);
    metric("tick_p99_ms", latest.tick_p99_ms);
    // Below one and a half ticks the clock of the telemetry is to blame.
    const double missed_ticks = due_ticks - (latest.tick - before.tick);
    metric("missed_ticks", missed_ticks > 1.5 ? std::round(missed_ticks) : 0);
    metric("late_inputs_per_client_s",
           (latest.late_inputs - before.late_inputs) / clients_ / std::max(due_ticks / kTickRateHz, 1e-3));
  }

  void tell_usage() {
    if (usage_.up_datagrams < 0.9 * kTickRateHz) {
      std::fprintf(
          stderr,
          "demo-load: the bots sent %.1f of %.0f inputs per second. The load's processor is the bottleneck; "
          "what the server spends is too low by what did not arrive.\n",
          usage_.up_datagrams, kTickRateHz);
    }
    metric("server_cpu_ms_per_client_s", usage_.server_cpu_ms);
    metric("server_cpu_percent", usage_.server_cpu_ms * clients_ / 10.0);
    metric("load_cpu_percent", usage_.load_cpu_percent);
    metric("up_bytes_per_client_s", usage_.up_bytes);
    metric("down_bytes_per_client_s", usage_.down_bytes);
    metric("up_datagrams_per_client_s", usage_.up_datagrams);
    metric("down_datagrams_per_client_s", usage_.down_datagrams);
  }

  std::string name(const char* what, const char* metric) const {
    return what + std::to_string(clients_) + "_" + metric;
  }
  void metric(const char* what, double value) { report_.metric(name("game", what), value); }

  ChildPlan floor_plan(const char* mode, double datagrams, double bytes) const {
    ChildPlan plan;
    const double mean_bytes = datagrams > 0 ? bytes / datagrams : 0;
    plan.arguments = {build_ + "/bench/floor-udp",
                      mode,
                      "--clients",
                      std::to_string(clients_),
                      "--rate",
                      json_number(datagrams),
                      "--bytes",
                      json_number(std::round(mean_bytes))};
    return plan;
  }

  const Options& options_;
  uint32_t clients_;
  Report& report_;
  std::string build_;
  int load_cpu_ = 0;
  int server_cpu_ = 0;
  Usage usage_;
};

}  // namespace

std::string run_demo_load(const Options& options, Report& report) {
  signal(SIGPIPE, SIG_IGN);
  const std::vector<int> cpus = allowed_cpus();
  report.workload("game", "Depot, one server process, one process of N bots, UDP on loopback");
  report.workload("tick_rate_hz", kTickRateHz);
  report.workload("snapshot_rate_hz", kSnapshotRateHz);
  report.workload("warmup_s", options.warmup_s);
  report.workload("window_s", options.seconds);
  report.workload("repetitions", options.repetitions);
  // Real-time classes keep other work of a busy machine away from the numbers, so it must be said.
  report.workload("scheduler", sched_getscheduler(0) == SCHED_OTHER ? "ordinary" : "real-time");
  report.workload("server_cpu", cpus.back());
  report.workload("load_cpu", cpus.front());
  report.workload("floor", "same datagrams and mean sizes, ChaCha20-Poly1305, recvmmsg/sendmmsg; no game");
  pin_self(cpus.front());  // we must not take time from the server
  for (uint32_t repetition = 0; repetition < options.repetitions; ++repetition) {
    for (const uint32_t clients : options.clients) {
      std::fprintf(stderr, "demo-load: repetition %u of %u, %u clients\n", repetition + 1,
                   options.repetitions, clients);
      Run run(options, clients, report);
      if (std::string problem = run.play(); !problem.empty()) return problem;
      if (!options.with_floor) continue;
      if (std::string problem = run.floor(); !problem.empty()) return problem;
    }
  }
  return "";
}

}  // namespace bench
