// The bench of hostile players: what one player with a valid token costs the others. A server, an honest
// player, and attackers who send all that they can think of.
#include <algorithm>
#include <cstdio>

#include "hostile/attacks.h"
#include "process.h"
#include "registry.h"

namespace bench {
namespace {

constexpr double kStartS = 20, kReportS = 5;
constexpr uint32_t kPlaces = 64;
constexpr double kNearlyAll = 1.05, kMostBackS = 30;
constexpr double kTickRateHz = 60;

struct Plan {
  std::string program;
  int server_cpu = 0, load_cpu = 0;
  double window_s = 3;
};
struct Case {
  std::string_view attack;
  uint32_t attackers = 1;
  double datagrams_per_s = 2000;  // of each
};
struct Window {
  double gap_p99_ms = 0, gap_max_ms = 0, messages_lost = 0, ticks_missed = 0, server_ms = 0, live_kb = 0;
  double connections = 0, connected = 0, datagrams = 0;
};
struct CaseResult {
  std::string problem;
  Window before, quiet, attack, after;
  double back_s = 0;  // after the attack, until its memory was back
};

std::string number(double value) {
  return json_number(value);
}

class Scene {
 public:
  explicit Scene(const Plan& plan) : plan_(plan) {}

  CaseResult run(const Case& c) {
    CaseResult result;
    const std::string& program = plan_.program;
    if (!server_.start({program, "serve", "--clients", std::to_string(kPlaces), "--objects", "200",
                        "--moving-percent", "50"},
                       plan_.server_cpu) ||
        !server_.await("port", kStartS)) {
      result.problem = "the server did not start. Run replication-end of the build folder by hand.";
      return result;
    }
    const std::string port = number(server_.said("port"));
    if (!honest_.start({program, "play", "--port", port}, plan_.load_cpu) ||
        !honest_.await("ready", kStartS)) {
      result.problem = "the honest player did not connect. Run replication-end of the build folder by hand.";
      return result;
    }
    sleep_s(plan_.window_s / 3);
    result.before = window(plan_.window_s / 3, false);
    if (!hostile_.start({program, "attack", "--port", port, "--attack", std::string(c.attack), "--clients",
                         std::to_string(c.attackers), "--up-per-s", number(c.datagrams_per_s)},
                        plan_.load_cpu) ||
        !hostile_.await("ready", kStartS)) {
      result.problem = "the attackers did not connect. Run replication-end of the build folder by hand.";
      return result;
    }
    sleep_s(plan_.window_s / 3);
    result.quiet = window(plan_.window_s, false);
    result.attack = window(plan_.window_s, true);
    hostile_.finish();
    // Memory goes back when nobody needed it for a while.
    do {
      result.after = window(1, false), ++result.back_s;
    } while (result.after.live_kb > kNearlyAll * result.before.live_kb && result.back_s < kMostBackS);
    honest_.finish(), server_.finish();
    if (!told_) result.problem = "a process is stuck. The machine may be too busy.";
    return result;
  }

 private:
  Window window(double seconds, bool with_attack) {
    const double cpu_ms = server_.child().cpu_ms();
    server_.go(), honest_.go();
    if (with_attack) hostile_.go();
    sleep_s(seconds);
    if (with_attack) hostile_.go();
    const double server_ms = server_.child().cpu_ms() - cpu_ms;
    sleep_s(with_attack ? 0.3 : 0);  // the last messages arrive
    server_.go(), honest_.go();
    told_ = told_ && server_.await("window_s", kReportS) && honest_.await("connected", kReportS) &&
            (!with_attack || hostile_.await("datagrams", kReportS));
    Window w;
    w.gap_p99_ms = honest_.said("gap_p99_ms"), w.gap_max_ms = honest_.said("gap_max_ms");
    w.messages_lost = honest_.said("messages_lost");
    w.connected = honest_.said("connected");
    w.ticks_missed =
        std::max(0.0, (kTickRateHz - server_.said("ticks_per_s")) * server_.said("window_s") - 1);
    w.server_ms = server_ms, w.live_kb = server_.said("live_kb");
    w.connections = server_.said("connections"), w.datagrams = hostile_.said("datagrams");
    return w;
  }

  const Plan& plan_;
  Process server_, honest_, hostile_;
  bool told_ = true;  // every process answered each time
};

class Hostile {
 public:
  Hostile(Report& report, const Plan& plan) : report_(report), plan_(plan) {}

  std::string run(const Case& c) {
    std::fprintf(stderr, "hostile: %s, %u attackers\n", std::string(c.attack).c_str(), c.attackers);
    CaseResult r = Scene(plan_).run(c);
    if (!r.problem.empty()) return r.problem;
    if (r.quiet.connected == 0) return "the honest player was lost before the attack. This is a bug.";
    const std::string name = std::string(c.attack) + (c.attackers == 1 ? "_one_" : "_many_");
    report_.metric(name + "gap_p99_ms", r.attack.gap_p99_ms);
    report_.metric(name + "gap_p99_quiet_ms", r.quiet.gap_p99_ms);
    report_.metric(name + "gap_max_ms", r.attack.gap_max_ms);
    report_.metric(name + "messages_lost", r.attack.messages_lost);
    report_.metric(name + "ticks_missed", r.attack.ticks_missed);
    report_.metric(name + "ended", r.quiet.connections - r.attack.connections);
    report_.metric(name + "server_percent", r.attack.server_ms / plan_.window_s / 10);
    report_.metric(name + "us_per_datagram",
                   1000 * (r.attack.server_ms - r.quiet.server_ms) / std::max(1.0, r.attack.datagrams));
    report_.metric(name + "datagrams_per_s", r.attack.datagrams / plan_.window_s);
    report_.metric(name + "memory_ratio", r.attack.live_kb / r.before.live_kb);
    const double memory_after = r.after.live_kb / r.before.live_kb;
    report_.metric(name + "memory_after_ratio", memory_after);
    report_.metric(name + "memory_back_s", r.back_s);
    // 5 ms more are no harm, whatever their ratio is.
    const double gap = std::max(
        1.0, r.attack.gap_p99_ms <= r.quiet.gap_p99_ms + 5 ? 1 : r.attack.gap_p99_ms / r.quiet.gap_p99_ms);
    worst_gap_ = std::max(worst_gap_, gap);
    worst_lost_ = std::max(worst_lost_, r.attack.messages_lost);
    worst_missed_ = std::max(worst_missed_, r.attack.ticks_missed);
    worst_memory_ = std::max(worst_memory_, memory_after);
    lost_honest_ += r.attack.connected == 0;
    return "";
  }
  void finish() {
    report_.ratio("hostile_gap_p99_ratio", worst_gap_);
    report_.metric("hostile_messages_lost", worst_lost_);
    report_.metric("hostile_ticks_missed", worst_missed_);
    report_.ratio("hostile_memory_after_ratio", worst_memory_);
    report_.metric("hostile_honest_players_lost", lost_honest_);
  }

 private:
  Report& report_;
  const Plan& plan_;
  double worst_gap_ = 1, worst_lost_ = 0, worst_missed_ = 0, worst_memory_ = 0, lost_honest_ = 0;
};

}  // namespace

std::string run_hostile(const Options& options, Report& report) {
  const std::vector<int> cpus = allowed_cpus();
  Plan plan;
  plan.program = build_folder() + "/bench/replication-end";
  plan.server_cpu = cpus.front(), plan.load_cpu = cpus.back();
  plan.window_s = std::min(options.seconds, 5.0);
  report.workload("server",
                  "replication-end: 200 objects, half of them moving, all visible; 60 Hz, 30 Hz snapshots");
  report.workload("honest",
                  "one client world, pumped every ms; 50 messages/s with receipts, half of them reliable");
  report.workload("one", "1 attacker, 2,000 datagrams/s");
  report.workload("many", "50 attackers, 100 datagrams/s each");
  report.workload("window_s", plan.window_s);
  report.workload("repetitions", options.repetitions);
  pin_self(plan.load_cpu);
  for (uint32_t i = 0; i < options.repetitions; ++i) {
    Hostile hostile(report, plan);
    for (const std::string_view attack : attack_names()) {
      if (options.quick && attack != "inputs" && attack != "held_fragments") continue;
      std::string problem = hostile.run({attack, 1, 2000});
      if (problem.empty() && !options.quick) problem = hostile.run({attack, 50, 100});
      if (!problem.empty()) return problem;
    }
    hostile.finish();
  }
  return "";
}

}  // namespace bench
