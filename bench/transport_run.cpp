#include "transport_run.h"

#include <algorithm>

#include "process.h"

namespace bench {
namespace {

constexpr double kStartS = 10;
constexpr double kReadyS = 60;
constexpr double kDoneS = 90;
/// Room for connections that ended and are still in their grace; ENet takes at most 4095.
constexpr uint32_t kConnectSlots = 4000;

using Words = std::vector<std::string>;

/// A server and its load, from nothing to ready.
class Pair {
 public:
  Pair(const TransportPlan& plan, std::string contender, std::string workload)
      : plan_(plan), contender_(std::move(contender)), workload_(std::move(workload)) {}

  std::string start(const Words& server_words, const Words& load_words) {
    if (!server.start(command("serve", server_words), plan_.server_cpu) || !server.await("port", kStartS)) {
      return "the " + contender_ + " server did not start. Run transport-end of the build folder by hand.";
    }
    Words words = load_words;
    words.insert(words.end(), {"--port", number(server.said("port"))});
    if (!load.start(command("load", words), plan_.load_cpu) || !load.await("ready", kReadyS)) {
      return "the " + contender_ + " clients did not connect. Run transport-end of the build folder by hand.";
    }
    return "";
  }
  std::string await_done() {
    return load.await("done", kDoneS) ? "" : contender_ + " did not finish " + workload_ + ". Is it busy?";
  }
  void finish() {
    load.finish();
    server.finish();
  }

  static std::string number(double value) { return std::to_string(static_cast<uint64_t>(value)); }

  Process server, load;

 private:
  Words command(const char* side, const Words& words) const {
    Words all = {plan_.program, side, workload_, contender_};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  const TransportPlan& plan_;
  std::string contender_, workload_;
};

/// Processor milliseconds and seconds of wall time between construction and each question.
class Window {
 public:
  explicit Window(Child& child) : child_(child), began_ns_(monotonic_ns()), began_ms_(child.cpu_ms()) {}
  double cpu_us() const { return (child_.cpu_ms() - began_ms_) * 1000; }
  double seconds() const { return static_cast<double>(monotonic_ns() - began_ns_) / 1e9; }

 private:
  Child& child_;
  uint64_t began_ns_;
  double began_ms_;
};

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

}  // namespace

GameResult run_game(const TransportPlan& plan, const std::string& contender, uint32_t clients) {
  GameResult result;
  const Words words = {"--clients", std::to_string(clients)};
  Pair pair(plan, contender, "game");
  if (result.problem = pair.start(words, words); !result.problem.empty()) return result;
  sleep_s(plan.options->warmup_s);
  const Window window(pair.server.child());
  sleep_s(plan.options->seconds);
  result.server_us_per_client_s = window.cpu_us() / window.seconds() / clients;
  result.rss_kb = pair.server.child().rss_kb();
  pair.finish();
  result.ticks_missed = pair.server.said("ticks_missed");
  result.pump_p50_us = pair.server.said("pump_p50_us");
  result.delivered_percent =
      std::min(percent(pair.server.said("inputs_came"), pair.server.said("inputs_due")),
               percent(pair.load.said("states_came"), pair.load.said("states_due")));
  if (pair.server.said("clients_at_end") != clients && contender.starts_with("lattice")) {
    result.problem = "clients were lost during the game. The machine may be too busy.";
  }
  return result;
}

MemoryResult run_playing(const TransportPlan& plan, const std::string& contender, uint32_t few,
                         uint32_t many) {
  MemoryResult result;
  double kb[2] = {};
  for (const bool is_many : {false, true}) {
    const Words words = {"--clients", std::to_string(is_many ? many : few)};
    Pair pair(plan, contender, "game");
    if (result.problem = pair.start(words, words); !result.problem.empty()) return result;
    sleep_s(plan.options->warmup_s);
    kb[is_many] = pair.server.child().rss_kb();
    pair.finish();
  }
  result.kb_per_connection = (kb[1] - kb[0]) / (many - few);
  return result;
}

BulkResult run_bulk(const TransportPlan& plan, const std::string& contender, bool reliable, uint64_t count) {
  BulkResult result;
  Words words = {"--count", std::to_string(count)};
  if (!reliable) words.emplace_back("--unreliable");
  Pair pair(plan, contender, "bulk");
  if (result.problem = pair.start(words, words); !result.problem.empty()) return result;
  pair.load.go();
  if (result.problem = pair.await_done(); !result.problem.empty()) return result;
  pair.finish();
  const double came = pair.server.said("came");
  result.cpu_s_per_million = (pair.load.said("cpu_s") + pair.server.said("cpu_s")) / came * 1e6;
  result.messages_per_s = came / pair.load.said("wall_s");
  result.delivered_percent = percent(came, static_cast<double>(count));
  if (reliable && (pair.server.said("out_of_order") != 0 || came != static_cast<double>(count))) {
    result.problem = contender + " lost or reordered reliable messages. This is a bug.";
  }
  return result;
}

PingResult run_ping(const TransportPlan& plan, const std::string& contender, uint64_t rounds) {
  PingResult result;
  Pair pair(plan, contender, "ping");
  if (result.problem = pair.start({}, {"--count", std::to_string(rounds)}); !result.problem.empty()) {
    return result;
  }
  pair.load.go();
  if (result.problem = pair.await_done(); !result.problem.empty()) return result;
  pair.finish();
  result.p50_us = pair.load.said("p50_us");
  result.p99_us = pair.load.said("p99_us");
  return result;
}

ConnectResult run_connect(const TransportPlan& plan, const std::string& contender, uint64_t count) {
  ConnectResult result;
  const Words words = {"--count", std::to_string(count), "--clients", std::to_string(kConnectSlots)};
  Pair pair(plan, contender, "connect");
  if (result.problem = pair.start(words, words); !result.problem.empty()) return result;
  pair.load.go();
  if (result.problem = pair.await_done(); !result.problem.empty()) return result;
  sleep_s(0.1);
  pair.finish();
  if (pair.server.said("connected") != static_cast<double>(count)) {
    result.problem = "the " + contender + " server missed connections. Is the machine busy?";
    return result;
  }
  result.server_us = pair.server.said("cpu_s") / static_cast<double>(count) * 1e6;
  result.curves_us = pair.server.said("curves_us");
  result.per_s = static_cast<double>(count) / pair.server.said("wall_s");
  return result;
}

IdleResult run_idle(const TransportPlan& plan, uint32_t connections) {
  IdleResult result;
  Process empty;
  if (!empty.start({plan.program, "serve", "idle", "lattice", "--clients", std::to_string(connections)},
                   plan.server_cpu) ||
      !empty.await("port", kStartS)) {
    result.problem = "the idle server did not start. Run transport-end of the build folder by hand.";
    return result;
  }
  sleep_s(0.2);
  const double empty_kb = empty.child().rss_kb();
  empty.finish();
  const Words words = {"--clients", std::to_string(connections)};
  Pair pair(plan, "lattice", "idle");
  if (result.problem = pair.start(words, words); !result.problem.empty()) return result;
  sleep_s(plan.options->warmup_s);
  const Window window(pair.server.child());
  sleep_s(plan.options->seconds);
  result.cpu_us_per_s = window.cpu_us() / window.seconds() / connections;
  result.kb = (pair.server.child().rss_kb() - empty_kb) / connections;
  pair.finish();
  if (pair.server.said("disconnected") != 0) result.problem = "idle connections ended. Is the machine busy?";
  return result;
}

FloodResult run_flood(const TransportPlan& plan, uint32_t players, double rate) {
  FloodResult result;
  Words words = {"--clients", std::to_string(players)};
  Words server_words = words;
  server_words.emplace_back("--between");
  Pair pair(plan, "lattice", "game");
  if (result.problem = pair.start(server_words, words); !result.problem.empty()) return result;
  sleep_s(plan.options->warmup_s);
  const Window quiet(pair.server.child());
  sleep_s(plan.options->seconds);
  const double quiet_us_per_s = quiet.cpu_us() / quiet.seconds();
  const double quiet_kb = pair.server.child().rss_kb();

  const Window flooded(pair.server.child());
  Process flood;
  if (!flood.start({plan.program, "load", "flood", "lattice", "--rate", Pair::number(rate), "--port",
                    Pair::number(pair.server.said("port"))},
                   plan.load_cpu) ||
      !flood.await("ready", kStartS)) {
    result.problem = "the flood did not start. Run transport-end load flood by hand.";
    return result;
  }
  sleep_s(plan.options->seconds);
  flood.finish();
  const double sent = flood.said("sent");
  result.us_per_packet = (flooded.cpu_us() - quiet_us_per_s * flooded.seconds()) / sent;
  result.server_busy_percent = percent(flooded.cpu_us(), flooded.seconds() * 1e6);
  result.rss_growth_kb = pair.server.child().rss_kb() - quiet_kb;
  result.packets_per_s = flood.said("sent_per_s");
  result.answered_percent = percent(flood.said("answers"), sent);
  result.answer_bytes_ratio = flood.said("answer_bytes") / std::max(1.0, flood.said("sent_bytes"));
  pair.finish();
  result.ticks_missed = pair.server.said("ticks_missed");
  result.loss_percent =
      100 - std::min(percent(pair.server.said("inputs_came"), pair.server.said("inputs_due")),
                     percent(pair.load.said("states_came"), pair.load.said("states_due")));
  return result;
}

}  // namespace bench
