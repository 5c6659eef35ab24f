// The measurements of the transport bench, one function per workload: each starts a server and its load on
// processors of their own, measures one window, and ends both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registry.h"

namespace bench {

/// The parameters of every run.
struct TransportPlan {
  std::string program;  // transport-end
  int server_cpu = 0;
  int load_cpu = 0;
  std::vector<int> cpus;  // all that may be used
  const Options* options = nullptr;
};

/// `problem` is "" or one sentence of cause and one of action; then the numbers mean nothing.
struct GameResult {
  std::string problem;
  double server_us_per_client_s = 0;
  double delivered_percent = 0;  // of both directions, the worse one
  double ticks_missed = 0;
  double rss_kb = 0;
  double pump_p50_us = 0;  // wall time of the server's ticks that send states, the median
};
GameResult run_game(const TransportPlan& plan, const std::string& contender, uint32_t clients);

struct MemoryResult {
  std::string problem;
  double kb_per_connection = 0;
};
/// Resident memory of two servers of the game shape, with `many` clients less with `few`.
MemoryResult run_playing(const TransportPlan& plan, const std::string& contender, uint32_t few,
                         uint32_t many);

struct BulkResult {
  std::string problem;
  double cpu_s_per_million = 0;  // both sides
  double messages_per_s = 0;
  double delivered_percent = 0;
};
BulkResult run_bulk(const TransportPlan& plan, const std::string& contender, bool reliable, uint64_t count);

struct PingResult {
  std::string problem;
  double p50_us = 0, p99_us = 0;
};
PingResult run_ping(const TransportPlan& plan, const std::string& contender, uint64_t rounds);

struct ConnectResult {
  std::string problem;
  double server_us = 0;  // per connection made and ended
  double curves_us = 0;  // of two X25519 and one Ed25519 in the server's process, just before and after
  double per_s = 0;
};
ConnectResult run_connect(const TransportPlan& plan, const std::string& contender, uint64_t count);

struct IdleResult {
  std::string problem;
  double kb = 0, cpu_us_per_s = 0;  // per connection
};
IdleResult run_idle(const TransportPlan& plan, uint32_t connections);

struct FloodResult {
  std::string problem;
  double ticks_missed = 0, loss_percent = 0, answer_bytes_ratio = 0, us_per_packet = 0;
  double packets_per_s = 0, answered_percent = 0, rss_growth_kb = 0, server_busy_percent = 0;
};
/// `players` play, and after a quiet window of the same length a second process floods at `rate`.
FloodResult run_flood(const TransportPlan& plan, uint32_t players, double rate);

}  // namespace bench
