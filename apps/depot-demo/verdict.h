// What a headless run says in the end: one JSON object of measurements, and which targets were missed.
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

/// One client between two moments.
struct ClientRun {
  ClientCounters before, after;
  ErrorSummary errors;
};

struct HeadlessRun {
  std::string profile;
  double seconds = 0;
  double connect_rtt_ms = 0;  // the round trip the link was set to while connecting
  uint32_t bots = 0;
  uint32_t attempts = 0;  // the last is what counts; earlier ones fell into stalls of the machine
  ClientRun clients[kWatchedClients];
  ServerCounters server_before, server_after;
};

/// How often the machine kept the server, A or B from running for 50 ms or more. They spoil a run.
uint64_t stalls(const HeadlessRun& run);
std::vector<Target> judge(const HeadlessRun& run);
std::string describe(const HeadlessRun& run, const std::vector<Target>& targets);
/// The same as a readable table.
std::string describe_as_text(const HeadlessRun& run, const std::vector<Target>& targets);

}  // namespace app
