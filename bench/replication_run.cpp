#include "replication_run.h"

#include "process.h"

namespace bench {
namespace {

constexpr double kStartS = 20;
constexpr double kReadyS = 60;
constexpr double kReportS = 5;
constexpr int kTraceDescriptor = 10;
/// Of the servers and the floor, as deploy/ starts a server.
constexpr const char* kLargePages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";

using Words = std::vector<std::string>;

std::string number(double value) {
  return json_number(value);
}

ChildPlan child_plan(const ReplicationPlan& plan, const char* role, uint32_t clients, const Words& more,
                     int cpu) {
  ChildPlan child;
  child.arguments = {plan.program, role, "--clients", std::to_string(clients)};
  child.arguments.insert(child.arguments.end(), more.begin(), more.end());
  child.cpu = cpu;
  return child;
}

/// Processor time of both sides, and the traffic of the server, over a window.
class Window {
 public:
  Window(Process& server, Process& load, const UdpCounter& counter)
      : server_(server),
        load_(load),
        counter_(counter),
        began_ns_(monotonic_ns()),
        server_ms_(server.child().cpu_ms()),
        load_ms_(load.child().cpu_ms()),
        traffic_(counter.read()) {}

  void close(SceneResult* result) const {
    const double s = static_cast<double>(monotonic_ns() - began_ns_) / 1e9;
    result->server_percent = (server_.child().cpu_ms() - server_ms_) / s / 10;
    result->load_percent = (load_.child().cpu_ms() - load_ms_) / s / 10;
    const UdpTraffic now = counter_.read();
    const auto since = [](uint64_t before, uint64_t after) { return static_cast<double>(after - before); };
    const auto mean = [](double bytes, double count) { return count > 0 ? bytes / count : 0; };
    const double up = since(traffic_.received_datagrams, now.received_datagrams);
    const double down = since(traffic_.sent_datagrams, now.sent_datagrams);
    result->up_per_s = up / s, result->down_per_s = down / s;
    result->up_bytes = mean(since(traffic_.received_bytes, now.received_bytes), up);
    result->down_bytes = mean(since(traffic_.sent_bytes, now.sent_bytes), down);
    result->send_call_percent = since(traffic_.send_ns, now.send_ns) / s / 1e7;
    result->receive_call_percent = since(traffic_.receive_ns, now.receive_ns) / s / 1e7;
  }

 private:
  Process& server_;
  Process& load_;
  const UdpCounter& counter_;
  uint64_t began_ns_;
  double server_ms_, load_ms_;
  UdpTraffic traffic_;
};

/// Sends the recorded traffic again, without a game.
void run_floor(const ReplicationPlan& plan, const Scene& scene, const UdpCounter& recorded,
               SceneResult* result) {
  Process server, load;
  UdpCounter counter;
  ChildPlan serve = child_plan(
      plan, "serve-floor", scene.clients,
      {"--trace-fd", std::to_string(kTraceDescriptor), "--seconds", number(plan.window_s)}, plan.server_cpu);
  serve.descriptors.emplace_back(recorded.descriptor(), kTraceDescriptor);
  serve.environment.emplace_back(kLargePages);
  counter.attach(serve, plan.counter);
  if (!server.start(serve) || !server.await("port", kStartS)) {
    result->problem = "the floor did not start. Run replication-end of the build folder by hand.";
    return;
  }
  const Words words = {"--port",     number(server.said("port")),
                       "--up-per-s", number(result->up_per_s / scene.clients),
                       "--up-bytes", number(result->up_bytes)};
  if (!load.start(child_plan(plan, "load-floor", scene.clients, words, plan.load_cpu)) ||
      !load.await("ready", kReadyS)) {
    result->problem = "the load of the floor did not start. Check ulimit -n.";
    return;
  }
  sleep_s(1);
  SceneResult floor;
  const Window window(server, load, counter);
  sleep_s(plan.window_s);
  window.close(&floor);
  load.finish(), server.finish();
  result->floor_percent = floor.server_percent;
  result->floor_down_per_s = floor.down_per_s, result->floor_down_bytes = floor.down_bytes;
  if (server.said("failed") != 0)
    result->problem = "the floor could not open what its clients sent. This is a bug.";
}

}  // namespace

SceneResult run_scene(const ReplicationPlan& plan, const Scene& scene) {
  SceneResult result;
  Process server, load;
  UdpCounter counter;
  ChildPlan serve = child_plan(plan, "serve", scene.clients, scene.server_words, plan.server_cpu);
  serve.environment.emplace_back(kLargePages);
  counter.attach(serve, plan.counter);
  if (!server.start(serve) || !server.await("port", kStartS)) {
    result.problem = "the server did not start. Run replication-end of the build folder by hand.";
    return result;
  }
  Words words = scene.load_words;
  words.insert(words.end(), {"--port", number(server.said("port"))});
  if (!load.start(child_plan(plan, scene.load, scene.clients, words, plan.load_cpu)) ||
      !load.await("ready", kReadyS)) {
    result.problem = "the clients did not connect. Run replication-end of the build folder by hand.";
    return result;
  }
  sleep_s(plan.warmup_s);
  server.go(), load.go();
  const Window window(server, load, counter);
  if (scene.with_floor) counter.trace(true);
  sleep_s(plan.window_s);
  window.close(&result);
  counter.trace(false);
  result.server_rss_kb = server.child().rss_kb();
  server.go(), load.go();
  const bool told = server.await("window_s", kReportS) && load.await("load_late", kReportS);
  load.finish(), server.finish();
  result.server = server.all_said(), result.load = load.all_said();
  if (!told || result.server["connections"] != scene.clients) {
    result.problem = "clients were lost, or a process is stuck. The machine may be too busy.";
    return result;
  }
  if (scene.with_floor) run_floor(plan, scene, counter, &result);
  return result;
}

}  // namespace bench
