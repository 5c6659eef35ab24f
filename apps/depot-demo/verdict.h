// The result of a headless run: one JSON object with measurements and with the targets that were missed.
#pragma once

#include <string>
#include <vector>

#include "watch.h"

namespace app {

struct Target {
  std::string name;
  double value = 0;
  double limit = 0;
  bool met = true;  // value <= limit
};

/// What one client did between two moments.
struct ClientRun {
  ClientCounters before, after;
  ErrorSummary errors;
};

struct HeadlessRun {
  std::string profile;
  double seconds = 0;
  double connect_rtt_ms = 0;  // the round trip of the link while connecting, as it was set
  uint32_t bots = 0;
  uint32_t attempts = 0;  // the last attempt counts; stalls of the machine spoilt the earlier ones
  ClientRun clients[kWatchedClients];
  ServerCounters server_before, server_after;
};

/// How often the machine kept the server, A or B from running for 50 ms or more. Stalls spoil a run.
uint64_t stalls(const HeadlessRun& run);
std::vector<Target> judge(const HeadlessRun& run);
std::string describe(const HeadlessRun& run, const std::vector<Target>& targets);
/// The same result as a readable table.
std::string describe_as_text(const HeadlessRun& run, const std::vector<Target>& targets);

}  // namespace app
