// transport: all transport measurements in one run. Every contender does the same work in its own process,
// with server and load on separate processors. Contenders alternate inside a repetition, so that a
// disturbance of the machine affects all of them, and ratios are formed per repetition.
//
// A ratio or metric that needs ENet is left out when ENet was not there at configure time.
#include <sched.h>

#include <cstdio>
#include <map>

#include "child.h"
#include "registry.h"
#include "transport/crypto/packet_key.h"
#include "transport_link.h"
#include "transport_run.h"

namespace bench {
namespace {

constexpr const char* kLattice = "lattice";
constexpr const char* kTwoThreads = "lattice-two-threads";
constexpr const char* kThroughC = "lattice-c";
constexpr const char* kFloor = "udp-aead";
constexpr const char* kAesFloor = "udp-aes";
constexpr const char* kPlain = "udp";
constexpr const char* kBulkFloor = "udp-aead-runs";
constexpr const char* kBulkAesFloor = "udp-aes-runs";
constexpr const char* kEnet = "enet";
constexpr double kFloodPerS = 100'000;
constexpr double kUnlimitedPerS = 1e9;  // as many as one processor can send
constexpr uint32_t kFloodPlayers = 64;

/// How much of everything: enough to mean something, or just enough to see that it runs.
struct Amounts {
  uint64_t bulk_messages = 1'000'000;
  uint64_t ping_rounds = 50'000;
  uint64_t connections = 2000;
  uint32_t idle_connections = 10'000;
  double lossy_s = 120;
};
constexpr Amounts kQuickAmounts = {20'000, 500, 50, 200, 5};

std::string named(const std::string& prefix, const std::string& contender, const char* suffix) {
  if (contender == kLattice) return prefix + suffix;
  return prefix + "_" + (contender == kThroughC ? "abi" : contender) + suffix;
}

class Transport {
 public:
  Transport(const Options& options, Report& report, const TransportPlan& plan)
      : options_(options),
        report_(report),
        plan_(plan),
        amounts_(options.quick ? kQuickAmounts : Amounts{}) {}

  std::string repetition(uint32_t number) {
    for (const uint32_t clients : options_.clients) {
      if (std::string problem = game(clients); !problem.empty()) return problem;
    }
    for (const auto part :
         {&Transport::bulk_reliable, &Transport::bulk_unreliable, &Transport::ping, &Transport::connect,
          &Transport::playing, &Transport::idle, &Transport::flood, &Transport::threads}) {
      if (std::string problem = (this->*part)(); !problem.empty()) return problem;
    }
    return links(number);
  }

 private:
  static std::vector<std::string> everyone() {
    if (LATTICE_BENCH_HAS_ENET) return {kLattice, kThroughC, kFloor, kEnet, kPlain};
    return {kLattice, kThroughC, kFloor, kPlain};
  }

  /// The library uses AES-256-GCM where the processor has it, and the AES floor is its measure there.
  static bool has_aes() { return lattice::crypto::has_aes256gcm(); }

  std::string game(uint32_t clients) {
    const std::string prefix = "game" + std::to_string(clients);
    std::map<std::string, double> cost;
    std::vector<std::string> contenders = everyone();
    if (has_aes()) contenders.push_back(kAesFloor);
    for (const std::string& who : contenders) {
      tell(prefix, who);
      const GameResult result = run_game(plan_, who, clients);
      if (!result.problem.empty()) return result.problem;
      cost[who] = result.server_us_per_client_s;
      report_.metric(named(prefix, who, "_server_us_per_client_s"), result.server_us_per_client_s);
      report_.metric(named(prefix, who, "_delivered_percent"), result.delivered_percent);
      report_.metric(named(prefix, who, "_rss_mb"), result.rss_kb / 1024);
    }
    report_.ratio(prefix + "_vs_floor", cost[kLattice] / cost[kFloor]);
    report_.ratio(prefix + "_vs_udp", cost[kLattice] / cost[kPlain]);
    if (cost.contains(kAesFloor)) report_.ratio(prefix + "_vs_aes_floor", cost[kLattice] / cost[kAesFloor]);
    report_.ratio(prefix + "_abi_vs_endpoint", cost[kThroughC] / cost[kLattice]);
    if (cost.contains(kEnet)) report_.ratio(prefix + "_vs_enet", cost[kLattice] / cost[kEnet]);
    return "";
  }

  std::string bulk(bool reliable, std::map<std::string, BulkResult>& results) {
    const std::string prefix = reliable ? "bulk_reliable" : "bulk_unreliable";
    std::vector<std::string> contenders = everyone();
    contenders.push_back(kBulkFloor);
    if (has_aes()) contenders.push_back(kBulkAesFloor);
    const std::string floor = contenders.back();
    for (const std::string& who : contenders) {
      tell(prefix, who);
      BulkResult& result = results[who] = run_bulk(plan_, who, reliable, amounts_.bulk_messages);
      if (!result.problem.empty()) return result.problem;
      report_.metric(named(prefix, who, "_cpu_s_per_million"), result.cpu_s_per_million);
      report_.metric(named(prefix, who, "_msgs_per_s"), result.messages_per_s);
      if (!reliable) report_.metric(named(prefix, who, "_delivered_percent"), result.delivered_percent);
    }
    report_.ratio(prefix + "_cpu_vs_floor",
                  results[kLattice].cpu_s_per_million / results[floor].cpu_s_per_million);
    report_.ratio(prefix + "_abi_msgs_vs_endpoint",
                  results[kThroughC].messages_per_s / results[kLattice].messages_per_s);
    return "";
  }

  std::string bulk_reliable() {
    std::map<std::string, BulkResult> results;
    if (std::string problem = bulk(true, results); !problem.empty() || !results.contains(kEnet)) {
      return problem;
    }
    report_.ratio("bulk_reliable_msgs_vs_enet",
                  results[kLattice].messages_per_s / results[kEnet].messages_per_s);
    return "";
  }

  std::string bulk_unreliable() {
    std::map<std::string, BulkResult> results;
    if (std::string problem = bulk(false, results); !problem.empty() || !results.contains(kEnet)) {
      return problem;
    }
    report_.ratio("bulk_unreliable_cpu_vs_enet",
                  results[kLattice].cpu_s_per_million / results[kEnet].cpu_s_per_million);
    return "";
  }

  std::string ping() {
    std::map<std::string, PingResult> results;
    for (const std::string& who : everyone()) {
      tell("ping", who);
      PingResult& result = results[who] = run_ping(plan_, who, amounts_.ping_rounds);
      if (!result.problem.empty()) return result.problem;
      report_.metric(named("ping", who, "_p50_us"), result.p50_us);
      report_.metric(named("ping", who, "_p99_us"), result.p99_us);
    }
    report_.metric("ping_p50_over_floor_us", results[kLattice].p50_us - results[kFloor].p50_us);
    report_.metric("ping_p99_over_floor_us", results[kLattice].p99_us - results[kFloor].p99_us);
    return "";
  }

  std::string connect() {
    for (const std::string& who : everyone()) {
      if (who == kFloor || who == kPlain || who == kThroughC) continue;
      tell("connect", who);
      const ConnectResult result = run_connect(plan_, who, amounts_.connections);
      if (!result.problem.empty()) return result.problem;
      report_.metric(who == kLattice ? "connect_server_us" : "connect_" + who + "_server_us",
                     result.server_us);
      report_.metric(who == kLattice ? "connects_per_s" : "connects_" + who + "_per_s", result.per_s);
      if (who != kLattice) continue;
      report_.metric("connect_curves_us", result.curves_us);
      report_.ratio("connect_vs_curves", result.server_us / result.curves_us);
    }
    return "";
  }

  std::string playing() {
    for (const char* who : {kLattice, kThroughC}) {
      tell("playing", who);
      const MemoryResult result =
          run_playing(plan_, who, options_.quick ? 8 : 100, options_.quick ? 16 : 250);
      if (!result.problem.empty()) return result.problem;
      report_.metric(named("playing_connection", who, "_kb"), result.kb_per_connection);
    }
    return "";
  }

  std::string idle() {
    tell("idle", kLattice);
    const IdleResult result = run_idle(plan_, amounts_.idle_connections);
    if (!result.problem.empty()) return result.problem;
    report_.metric("idle_connection_kb", result.kb);
    report_.metric("idle_connection_cpu_us_per_s", result.cpu_us_per_s);
    return "";
  }

  std::string flood() {
    struct Flood {
      const char* name;
      double per_s;
    };
    for (const Flood& flood : {Flood{"flood", kFloodPerS}, Flood{"flood_fullest", kUnlimitedPerS}}) {
      tell(flood.name, kLattice);
      const FloodResult result = run_flood(plan_, options_.quick ? 8 : kFloodPlayers, flood.per_s);
      if (!result.problem.empty()) return result.problem;
      const std::string name = flood.name;
      report_.metric(name + "_ticks_missed", result.ticks_missed);
      report_.metric(name + "_loss_percent", result.loss_percent);
      report_.metric(name + "_answer_bytes_ratio", result.answer_bytes_ratio);
      report_.metric(name + "_us_per_packet", result.us_per_packet);
      report_.metric(name + "_packets_per_s", result.packets_per_s);
      report_.metric(name + "_answered_percent", result.answered_percent);
      report_.metric(name + "_server_busy_percent", result.server_busy_percent);
      report_.metric(name + "_rss_growth_kb", result.rss_growth_kb);
    }
    return "";
  }

  /// One thread and two, both on every processor there is; the load shares them.
  std::string threads() {
    TransportPlan everywhere = plan_;
    everywhere.server_cpu = everywhere.load_cpu = -1;
    pin_self(plan_.cpus);
    const uint32_t clients = options_.clients.back();
    const std::string prefix = "game" + std::to_string(clients);
    std::map<std::string, double> pump_us;
    for (const char* who : {kLattice, kTwoThreads}) {
      tell(prefix, who);
      const GameResult result = run_game(everywhere, who, clients);
      if (!result.problem.empty()) return result.problem;
      pump_us[who] = result.pump_p50_us;
    }
    pin_self(plan_.load_cpu);
    report_.metric(prefix + "_one_thread_pump_p50_us", pump_us[kLattice]);
    report_.metric(prefix + "_two_threads_pump_p50_us", pump_us[kTwoThreads]);
    report_.ratio(prefix + "_two_threads_vs_one", pump_us[kTwoThreads] / pump_us[kLattice]);
    return "";
  }

  /// In virtual time; each repetition is another seed.
  std::string links(uint32_t seed) {
    tell("links", "simulated");
    struct Lossy {
      const char* name;
      double jitter_ms, loss;
    };
    for (const Lossy& link : {Lossy{"lossy2", 0, 0.02}, Lossy{"lossy10", 0, 0.10},
                              Lossy{"lossy2_jittered", 2, 0.02}, Lossy{"lossy10_jittered", 2, 0.10}}) {
      const LatencyResult result = run_lossy_link(link.jitter_ms, link.loss, amounts_.lossy_s, seed);
      if (!result.all_came) return "messages never came over the lossy link. This is a bug.";
      const std::string name = link.name;
      report_.metric(name + "_p50_ms", result.p50_ms);
      report_.metric(name + "_p99_ms", result.p99_ms);
      report_.metric(name + "_max_ms", result.max_ms);
      report_.metric(name + "_bytes_ratio", result.bytes_ratio);
    }
    const TransferResult loss = run_transfer(50, 0.01, 0, seed);
    report_.metric("transfer_loss_kb_per_s", loss.kb_per_s);
    report_.metric("transfer_loss_bytes_ratio", loss.bytes_ratio);
    const TransferResult narrow = run_transfer(20, 0, 10'000'000, seed);
    report_.metric("transfer_narrow_kb_per_s", narrow.kb_per_s);
    report_.metric("transfer_narrow_bytes_ratio", narrow.bytes_ratio);
    report_.metric("transfer_narrow_queue_ms", narrow.queue_p95_ms);
    return loss.all_came && narrow.all_came ? "" : "a transfer did not finish. This is a bug.";
  }

  static void tell(const std::string& what, const std::string& who) {
    std::fprintf(stderr, "transport: %s %s\n", what.c_str(), who.c_str());
  }

  const Options& options_;
  Report& report_;
  const TransportPlan& plan_;
  Amounts amounts_;
};

}  // namespace

std::string run_transport(const Options& options, Report& report) {
  const std::vector<int> cpus = allowed_cpus();
  TransportPlan plan;
  plan.program = build_folder() + "/bench/transport-end";
  plan.server_cpu = cpus.back();
  plan.load_cpu = cpus.front();
  plan.cpus = cpus;
  plan.options = &options;
  report.workload("game", "each client 64 B up at 60 Hz, 1000 B down at 30 Hz, one 64 B reliable per second");
  report.workload("floor", "udp-aead: recvmmsg/sendmmsg, packed to 1200 B, libsodium ChaCha20-Poly1305");
  report.workload("aes floor", "udp-aes: the same with AES-256-GCM, where the processor has it");
  report.workload("lattice", "reliability::Endpoint over UDP; default configuration, no per-range limits");
  report.workload("enet", LATTICE_BENCH_HAS_ENET ? "Debian's, unencrypted" : "not measured");
  if (!LATTICE_BENCH_HAS_ENET) {
    std::fprintf(stderr,
                 "ENet is not measured: it was not installed when this was built (Debian: libenet-dev).\n");
  }
  report.workload("links", "simulated network, virtual time, pumped at 1 kHz");
  report.workload("warmup_s", options.warmup_s);
  report.workload("window_s", options.seconds);
  report.workload("repetitions", options.repetitions);
  report.workload("scheduler", sched_getscheduler(0) == SCHED_OTHER ? "ordinary" : "real-time");
  report.workload("server_cpu", plan.server_cpu);
  report.workload("load_cpu", plan.load_cpu);
  pin_self(plan.load_cpu);  // we must not take time from the server
  Transport transport(options, report, plan);
  for (uint32_t i = 1; i <= options.repetitions; ++i) {
    std::fprintf(stderr, "transport: repetition %u of %u\n", i, options.repetitions);
    if (std::string problem = transport.repetition(i); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace bench
