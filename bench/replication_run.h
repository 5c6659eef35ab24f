// One run of a scene of the replication bench: a server process and a load process on processors of their
// own, one measured window.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "registry.h"

namespace bench {

struct ReplicationPlan {
  std::string program;  // replication-end
  std::string counter;  // udp-counter.so
  int server_cpu = 0;
  int load_cpu = 0;
  double warmup_s = 2;
  double window_s = 4;
};

struct Scene {
  uint32_t clients = 1;
  std::vector<std::string> server_words = {};  // arguments of the server
  std::vector<std::string> load_words = {};    // arguments of the load
  const char* load = "load";                   // or "worlds"
  bool with_floor = false;
};

/// `problem` is "" or one sentence of cause and one of action; then the numbers mean nothing.
struct SceneResult {
  std::string problem;
  std::map<std::string, double> server, load;              // what the processes said of the window
  double server_percent = 0, load_percent = 0;             // of a processor
  double send_call_percent = 0, receive_call_percent = 0;  // wall time in sendmmsg and recvmmsg
  double up_per_s = 0, up_bytes = 0;  // datagrams that reached the server, and their mean size
  double down_per_s = 0, down_bytes = 0, runs_per_s = 0;  // datagrams to the clients
  double server_rss_kb = 0;
  double floor_percent = 0;  // with_floor: processor time of the floor
  double floor_down_per_s = 0, floor_down_bytes = 0;
};

SceneResult run_scene(const ReplicationPlan& plan, const Scene& scene);

}  // namespace bench
