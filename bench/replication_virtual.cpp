#include "replication_virtual.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "process.h"

namespace bench {
namespace {

constexpr double kPatienceS = 120;
constexpr uint32_t kStorms = 5;
/// All joins do the same work. The median is not that of one that another process interrupted.
constexpr size_t kJoins = 5;

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
  Process change, decode, rollback;
  if (!run(plan, "change", quick ? 20 : 1000, seconds, number, change)) return failed("change");
  report.metric("change1000_bytes", change.said("bytes"));
  report.metric("change1000_once_bytes", change.said("once_bytes"));
  report.ratio("change1000_bytes_ratio", change.said("bytes") / change.said("once_bytes"));

  const auto joins = [&](uint32_t objects) {
    std::map<std::string, std::vector<double>> said;
    for (size_t i = 0; i < kJoins; ++i) {
      Process join;
      if (!run(plan, "join", objects, seconds, number, join)) return said;
      for (const auto& [name, value] : join.all_said()) said[name].push_back(value);
    }
    for (auto& [name, values] : said) std::sort(values.begin(), values.end());
    return said;
  };
  auto join = joins(quick ? 100 : 10'000);
  if (join["done"].size() != kJoins) return failed("join");
  report.metric("join10k_s", join["loaded_s"][kJoins / 2]);
  report.metric("join10k_all_there_s", join["all_there_s"][kJoins / 2]);
  report.metric("join10k_server_longest_pump_ms", join["server_longest_pump_ms"][kJoins / 2]);
  report.metric("join10k_client_longest_pump_ms", join["client_longest_pump_ms"][kJoins / 2]);

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
