// replication: what a world costs that tells many players about many objects. Scenes with processor time run
// a server process alone on one processor and its load on another, over UDP on loopback; the others run in
// virtual time (replication_sim.h). bench/README.md says what each metric is.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "child.h"
#include "registry.h"
#include "replication_interest.h"
#include "replication_run.h"
#include "replication_search.h"
#include "replication_virtual.h"

namespace bench {
namespace {

constexpr double kMostTickMs = 16, kMostPercent = 90;
constexpr double kSnapshotRateHz = 30, kTickRateHz = 60;
/// A server that told the witness less often than this did not do the work of the scene.
constexpr double kLeastUpdatesHz = 0.95 * kSnapshotRateHz;
constexpr double kLeastInputsHz = 0.95 * kTickRateHz;
constexpr uint32_t kCapBytesPerS = 64'000;

/// How much of everything: enough to mean something, or just enough to see that it runs.
struct Amounts {
  uint32_t first_crowd = 400, least_crowd = 16, most_crowd = 4000;
  double search_window_s = 3, search_warmup_s = 1.5;
  uint32_t crowd = 256, capped = 800, half = 256, set = 200, resting = 10'000, spectators = 100;
};
constexpr Amounts kQuickAmounts = {4, 4, 4, 0.5, 0.2, 8, 8, 4, 16, 100, 4};

std::string text(uint32_t value) {
  return std::to_string(value);
}

class Replication {
 public:
  Replication(const Options& options, Report& report, const ReplicationPlan& plan)
      : options_(options),
        report_(report),
        plan_(plan),
        amounts_(options.quick ? kQuickAmounts : Amounts{}),
        search_(amounts_.first_crowd, amounts_.least_crowd, amounts_.most_crowd),
        interest_scenes_(plan, options.quick, report) {}

  std::string repetition(uint32_t number) {
    for (const auto part :
         {&Replication::crowd_players, &Replication::crowd, &Replication::uneven, &Replication::real_clients,
          &Replication::capped, &Replication::double_clients, &Replication::resting}) {
      if (std::string problem = (this->*part)(); !problem.empty()) return problem;
    }
    if (std::string problem = interest_scenes_.repetition(); !problem.empty()) return problem;
    std::fprintf(stderr, "replication: scenes in virtual time\n");
    return measure_virtual_scenes(plan_, options_.quick, number, report_);
  }

 private:
  static void tell(const char* what, uint32_t clients) {
    std::fprintf(stderr, "replication: %s, %u clients\n", what, clients);
  }

  /// Whether one processor carries a crowd of `clients`.
  bool carries(uint32_t clients) {
    ReplicationPlan plan = plan_;
    plan.window_s = amounts_.search_window_s, plan.warmup_s = amounts_.search_warmup_s;
    SceneResult r = run_scene(plan, {.clients = clients});
    const double updates_hz = r.load["witness_updates_hz"], inputs_hz = r.server["inputs_per_s"] / clients;
    const bool good = r.problem.empty() && r.server["tick_p99_ms"] < kMostTickMs &&
                      r.server_percent <= kMostPercent && updates_hz >= kLeastUpdatesHz &&
                      r.server["snapshots_per_s"] / clients >= kLeastUpdatesHz && inputs_hz >= kLeastInputsHz;
    std::fprintf(stderr,
                 "replication: %u players: %s  tick p99 %.1f ms, server %.0f %%, load %.0f %%, "
                 "updates %.1f/s, inputs %.1f/s %s\n",
                 clients, good ? "yes" : "no", r.server["tick_p99_ms"], r.server_percent, r.load_percent,
                 updates_hz, inputs_hz, r.problem.c_str());
    if (good) load_percent_ = r.load_percent;
    return good;
  }

  std::string crowd_players() {
    const double players = search_.largest([&](uint32_t clients) { return carries(clients); });
    report_.metric("crowd_players_per_core", players);
    report_.metric("crowd_players_load_percent", load_percent_);
    return "";
  }

  std::string crowd() {
    tell("crowd and its floor", amounts_.crowd);
    SceneResult r = run_scene(plan_, {.clients = amounts_.crowd, .with_floor = options_.with_floor});
    if (!r.problem.empty()) return r.problem;
    const double clients = amounts_.crowd;
    report_.metric("crowd256_server_percent", r.server_percent);
    report_.metric("crowd256_load_percent", r.load_percent);
    report_.metric("crowd256_us_per_client_s", r.server_percent * 1e4 / clients);
    report_.metric("crowd256_tick_p50_ms", r.server["tick_p50_ms"]);
    report_.metric("crowd256_tick_p99_ms", r.server["tick_p99_ms"]);
    report_.metric("crowd256_updates_hz", r.load["witness_updates_hz"]);
    report_.metric("crowd256_down_bytes_per_client_s", r.down_per_s * r.down_bytes / clients);
    report_.metric("crowd256_down_datagrams_per_client_s", r.down_per_s / clients);
    report_.metric("crowd256_generator_inputs_per_client_s", r.server["inputs_per_s"] / clients);
    const double bits = 8 * r.server["snapshot_bytes_per_s"] / (r.server["snapshots_per_s"] * clients);
    report_.metric("crowd256_snapshot_bits_per_entry", bits);
    report_.metric("entry_overhead_bits", bits - r.server["changed_bits"]);
    phases(r);
    report_.metric("allocations_per_tick", r.server["allocations_per_tick"]);
    if (!options_.with_floor) return "";
    report_.metric("crowd256_floor_percent", r.floor_percent);
    report_.metric("crowd256_floor_datagrams_ratio", r.floor_down_per_s / r.down_per_s);
    if (r.floor_percent > 0) report_.ratio("crowd256_vs_floor", r.server_percent / r.floor_percent);
    return "";
  }

  /// Where the server's time goes, as far as it can be seen from outside the library.
  void phases(SceneResult& r) {
    report_.metric("crowd256_phase_receive_call_percent", r.receive_call_percent);
    report_.metric("crowd256_phase_receive_rest_percent",
                   r.server["receive_percent"] - r.receive_call_percent);
    report_.metric("crowd256_phase_game_percent", r.server["game_percent"]);
    report_.metric("crowd256_phase_record_percent", r.server["record_percent"]);
    report_.metric("crowd256_phase_plan_to_seal_percent", r.server["send_percent"] - r.send_call_percent);
    report_.metric("crowd256_phase_send_call_percent", r.send_call_percent);
  }

  std::string uneven() {
    tell("uneven crowd", amounts_.crowd);
    SceneResult r = run_scene(plan_, {.clients = amounts_.crowd, .load_words = {"--uneven"}});
    if (!r.problem.empty()) return r.problem;
    report_.metric("crowd256_uneven_server_percent", r.server_percent);
    report_.metric("crowd256_uneven_tick_p99_ms", r.server["tick_p99_ms"]);
    report_.metric("crowd256_uneven_updates_hz", r.load["witness_updates_hz"]);
    report_.metric("crowd256_uneven_snapshot_bits_per_entry",
                   8 * r.server["snapshot_bytes_per_s"] / (r.server["snapshots_per_s"] * amounts_.crowd));
    return "";
  }

  std::string real_clients() {
    tell("crowd of real clients", amounts_.crowd);
    SceneResult r = run_scene(plan_, {.clients = amounts_.crowd, .load = "worlds"});
    // Clients that starve may lose their connection: that is a result, not a failure.
    report_.metric("crowd256_inputs_per_client_s", r.server["inputs_per_s"] / amounts_.crowd);
    report_.metric("crowd256_real_clients_load_percent", r.load_percent);
    return "";
  }

  std::string capped() {
    tell("capped crowd", amounts_.capped);
    SceneResult r =
        run_scene(plan_, {.clients = amounts_.capped, .server_words = {"--cap", text(kCapBytesPerS)}});
    if (!r.problem.empty()) return r.problem;
    report_.metric("crowd800_capped_core_percent", r.server_percent);
    report_.metric("crowd800_capped_tick_p99_ms", r.server["tick_p99_ms"]);
    report_.metric("crowd800_capped_bytes_per_client_s", r.down_per_s * r.down_bytes / amounts_.capped);
    report_.metric("crowd800_capped_updates_hz", r.load["witness_updates_hz"]);
    report_.metric("crowd800_capped_worst_age_ticks", r.load["witness_worst_age_ticks"]);
    return "";
  }

  /// The smaller number first and last, because a processor that becomes faster or slower must not count.
  std::string double_clients() {
    double percent[2] = {};
    for (const uint32_t twice : {0u, 1u, 1u, 0u}) {
      const uint32_t clients = amounts_.half << twice;
      tell("the same set", clients);
      const SceneResult r = run_scene(
          plan_,
          {.clients = clients,
           .server_words = {"--spectators", "--objects", text(amounts_.set), "--moving-percent", "100"}});
      if (!r.problem.empty()) return r.problem;
      percent[twice] += r.server_percent / 2;
    }
    report_.metric("double_clients_256_percent", percent[0]);
    report_.metric("double_clients_512_percent", percent[1]);
    report_.ratio("double_clients_ratio", percent[1] / percent[0]);
    return "";
  }

  std::string resting() {
    double percent[2] = {};
    for (const bool with_objects : {false, true}) {
      tell(with_objects ? "resting objects" : "no objects", amounts_.spectators);
      SceneResult r = run_scene(
          plan_, {.clients = amounts_.spectators,
                  .server_words = {"--spectators", "--objects", text(with_objects ? amounts_.resting : 0)},
                  .load_words = {"--no-inputs"}});
      if (!r.problem.empty()) return r.problem;
      percent[with_objects] = r.server_percent;
      if (!with_objects) continue;
      report_.metric("all_resting10k_core_percent", percent[1] - percent[0]);
      report_.metric("all_resting10k_datagrams_per_client_s", r.down_per_s / amounts_.spectators);
      report_.metric("all_resting10k_state_per_client_kb",
                     (r.server["live_kb"] - r.server["empty_live_kb"]) / amounts_.spectators);
    }
    return "";
  }

  const Options& options_;
  Report& report_;
  const ReplicationPlan& plan_;
  Amounts amounts_;
  LargestCrowd search_;
  InterestScenes interest_scenes_;
  double load_percent_ = 0;  // of the largest crowd that was carried
};

}  // namespace

std::string run_replication(const Options& options, Report& report) {
  const std::vector<int> cpus = allowed_cpus();
  ReplicationPlan plan;
  plan.program = build_folder() + "/bench/replication-end";
  plan.counter = build_folder() + "/bench/udp-counter.so";
  plan.server_cpu = cpus.front();
  plan.load_cpu = cpus.back();
  plan.warmup_s = std::min(options.warmup_s, 3.0);
  plan.window_s = std::min(options.seconds, 5.0);
  report.workload("server",
                  "one world behind the C interface, one thread, one socket; 60 Hz ticks, 30 Hz snapshots; "
                  "servers and floor have their memory in large pages (glibc.malloc.hugetlb=1)");
  report.workload("load",
                  "generators that decrypt, acknowledge and send 60 inputs/s, and one real client world");
  report.workload("objects",
                  "a player each, all moving, all visible; 35 bits of position, 8 of yaw, 2 flags");
  report.workload("round_trip_ms", 100);
  report.workload("congestion", "none; capped scenes: 64,000 bytes/s a client");
  report.workload("floor",
                  "same datagrams, sizes and runs, same cipher and sink; receives, opens, seals, sends");
  report.workload("interest",
                  "open world: 10,000 objects, 10 % moving, some 200 in each set, 20 Hz snapshots, 60 "
                  "inputs/s in 30 datagrams; rooms: 100 of 20 players");
  report.workload("warmup_s", plan.warmup_s);
  report.workload("window_s", plan.window_s);
  report.workload("repetitions", options.repetitions);
  report.workload("scheduler", sched_getscheduler(0) == SCHED_OTHER ? "ordinary" : "real-time");
  report.workload("server_cpu", plan.server_cpu);
  report.workload("load_cpu", plan.load_cpu);
  pin_self(plan.load_cpu);  // we must not take time from the server
  Replication replication(options, report, plan);
  for (uint32_t i = 1; i <= options.repetitions; ++i) {
    std::fprintf(stderr, "replication: repetition %u of %u\n", i, options.repetitions);
    if (std::string problem = replication.repetition(i); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace bench
