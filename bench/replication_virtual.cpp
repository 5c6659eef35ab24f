#include "replication_virtual.h"

#include <algorithm>

#include "process.h"

namespace bench {
namespace {

constexpr double kPatienceS = 120;
constexpr uint32_t kStorms = 5;

/// Runs one scene to its end on the processor of the server; false when it failed.
bool run(const ReplicationPlan& plan, const char* scene, uint32_t objects, double seconds, uint32_t seed,
         Process& process) {
  return process.start({plan.program, scene, "--objects", std::to_string(objects), "--seconds",
                        json_number(seconds), "--seed", std::to_string(seed)},
                       plan.server_cpu) &&
         process.await("done", kPatienceS);
}

}  // namespace

std::string measure_virtual_scenes(const ReplicationPlan& plan, bool quick, uint32_t number, Report& report) {
  const double seconds = quick ? 1 : 30;
  const auto failed = [](const char* scene) {
    return std::string("the scene '") + scene + "' failed. Run replication-end " + scene + " by hand.";
  };
  Process change, join, decode, rollback;
  if (!run(plan, "change", quick ? 20 : 1000, seconds, number, change)) return failed("change");
  report.metric("change1000_bytes", change.said("bytes"));
  report.metric("change1000_once_bytes", change.said("once_bytes"));
  report.ratio("change1000_bytes_ratio", change.said("bytes") / change.said("once_bytes"));

  if (!run(plan, "join", quick ? 100 : 10'000, seconds, number, join)) return failed("join");
  report.metric("join10k_s", join.said("loaded_s"));
  report.metric("join10k_all_there_s", join.said("all_there_s"));
  report.metric("join10k_server_longest_pump_ms", join.said("server_longest_pump_ms"));
  report.metric("join10k_client_longest_pump_ms", join.said("client_longest_pump_ms"));

  double worst_gap_ticks = 0, loaded_s = 0;
  for (uint32_t i = 0; i < (quick ? 1 : kStorms); ++i) {
    Process storm;
    if (!run(plan, "storm", quick ? 100 : 5000, seconds, number * kStorms + i, storm)) return failed("storm");
    worst_gap_ticks = std::max(worst_gap_ticks, storm.said("worst_gap_ticks"));
    loaded_s = std::max(loaded_s, storm.said("loaded_s"));
  }
  report.metric("storm_worst_gap_ticks", worst_gap_ticks);
  report.metric("storm_loaded_s", loaded_s);

  if (!run(plan, "decode", quick ? 16 : 256, seconds, number, decode)) return failed("decode");
  report.metric("decode_ns_per_entry", decode.said("decode_ns_per_entry"));
  report.metric("decode_with_transport_ns_per_entry", decode.said("receive_ns_per_entry"));
  report.metric("client_allocations_per_tick", decode.said("allocations_per_tick"));

  if (!run(plan, "rollback", quick ? 4 : 100, seconds, number, rollback)) return failed("rollback");
  report.metric("rollback9x100_us", rollback.said("rollback9_us"));
  report.metric("rollback9x100_ticks", rollback.said("ticks"));
  return "";
}

}  // namespace bench
