// The list of benches, and their options. One file per bench.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report.h"

namespace bench {

struct Options {
  uint32_t repetitions = 3;
  double seconds = 10;  // measured per window
  double warmup_s = 3;  // before the first window
  std::vector<uint32_t> clients = {64, 256};
  bool with_floor = true;
  bool quick = false;  // only see that it runs
  std::string traces;  // congestion: a folder of recorded links, or ""
  std::string data;    // snapshots: a recording of cubes, or ""
};

struct Bench {
  const char* name;
  const char* summary;
  /// Measures into `report`. "" or one sentence of cause and one of action.
  std::string (*run)(const Options& options, Report& report);
};

std::span<const Bench> benches();

std::string run_demo_load(const Options& options, Report& report);
std::string run_codec(const Options& options, Report& report);
std::string run_transport(const Options& options, Report& report);
std::string run_replication(const Options& options, Report& report);
std::string run_snapshots(const Options& options, Report& report);
std::string run_hostile(const Options& options, Report& report);
std::string run_serialize(const Options& options, Report& report);
std::string run_congestion(const Options& options, Report& report);

}  // namespace bench
