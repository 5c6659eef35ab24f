#include "replication_interest.h"

#include <algorithm>
#include <cstdio>

namespace bench {
namespace {

constexpr double kMostTickMs = 16, kMostPercent = 90;
constexpr double kOpenSnapshotRateHz = 20, kSnapshotRateHz = 30, kInputsHz = 60, kMovingPercent = 10;
/// A server that did less than this did not do the work of the scene.
constexpr double kLeast = 0.95;
/// Objects stand at random, and leave later than they come.
constexpr double kLeastOfSet = 0.5, kMostOfSet = 1.7;

std::string text(double value) {
  return std::to_string(static_cast<uint32_t>(value));
}

void tell(const char* what, uint32_t clients) {
  std::fprintf(stderr, "replication: %s, %u clients\n", what, clients);
}

/// Of a scene whose clients have far more or fewer objects than they should, the numbers mean nothing.
void check_set(double least, double most, SceneResult& r) {
  const double in_set = r.server["objects_in_set"];
  if (!r.problem.empty() || (in_set >= least && in_set <= most)) return;
  r.problem = "clients have " + std::to_string(in_set) + " objects, and should have " +
              std::to_string(least) + " to " + std::to_string(most) +
              ". This is a bug of the library or of the bench.";
}

}  // namespace

const InterestScenes::Amounts InterestScenes::kAmounts = {.first_clients = 1000,
                                                          .least_clients = 16,
                                                          .most_clients = 12'000,
                                                          .objects = 10'000,
                                                          .in_set = 200,
                                                          .few_clients = 64,
                                                          .more_clients = 256,
                                                          .resting = 100'000,
                                                          .resting_in_set = 500,
                                                          .spectators = 100,
                                                          .rooms = 100,
                                                          .room_players = 20,
                                                          .search_window_s = 3,
                                                          .search_warmup_s = 1.5};
const InterestScenes::Amounts InterestScenes::kQuickAmounts = {.first_clients = 4,
                                                               .least_clients = 4,
                                                               .most_clients = 4,
                                                               .objects = 400,
                                                               .in_set = 20,
                                                               .few_clients = 4,
                                                               .more_clients = 8,
                                                               .resting = 400,
                                                               .resting_in_set = 20,
                                                               .spectators = 4,
                                                               .rooms = 3,
                                                               .room_players = 2,
                                                               .search_window_s = 0.5,
                                                               .search_warmup_s = 0.2};

InterestScenes::InterestScenes(const ReplicationPlan& plan, bool quick, Report& report)
    : plan_(plan),
      report_(report),
      amounts_(quick ? kQuickAmounts : kAmounts),
      search_(amounts_.first_clients, amounts_.least_clients, amounts_.most_clients) {}

std::string InterestScenes::repetition() {
  for (const auto part : {&InterestScenes::open_clients, &InterestScenes::state_per_client,
                          &InterestScenes::resting, &InterestScenes::rooms}) {
    if (std::string problem = (this->*part)(); !problem.empty()) return problem;
  }
  return "";
}

SceneResult InterestScenes::open_world(uint32_t clients, double warmup_s, double window_s) const {
  ReplicationPlan plan = plan_;
  plan.warmup_s = warmup_s, plan.window_s = window_s;
  SceneResult r =
      run_scene(plan, {.clients = clients,
                       .server_words = {"--spectators", "--objects", text(amounts_.objects),
                                        "--moving-percent", text(kMovingPercent), "--in-set",
                                        text(amounts_.in_set), "--snapshot-rate", text(kOpenSnapshotRateHz)},
                       .load_words = {"--datagram-ticks", "2"}});
  check_set(kLeastOfSet * amounts_.in_set, kMostOfSet * amounts_.in_set, r);
  return r;
}

/// Whether one processor carries an open world of `clients`.
bool InterestScenes::carries(uint32_t clients) {
  SceneResult r = open_world(clients, amounts_.search_warmup_s, amounts_.search_window_s);
  const double updates_hz = r.load["witness_moving_updates_hz"],
               inputs_hz = r.server["inputs_per_s"] / clients;
  const double snapshots_hz = r.server["snapshots_per_s"] / clients;
  const bool good = r.problem.empty() && r.server["tick_p99_ms"] < kMostTickMs &&
                    r.server_percent <= kMostPercent && snapshots_hz >= kLeast * kOpenSnapshotRateHz &&
                    updates_hz >= kLeast * kOpenSnapshotRateHz && inputs_hz >= kLeast * kInputsHz;
  std::fprintf(
      stderr,
      "replication: open world of %u: %s  tick p99 %.1f ms, server %.0f %%, load %.0f %%, in set %.0f, "
      "snapshots %.1f/s, updates %.1f/s, inputs %.1f/s %s\n",
      clients, good ? "yes" : "no", r.server["tick_p99_ms"], r.server_percent, r.load_percent,
      r.server["objects_in_set"], snapshots_hz, updates_hz, inputs_hz, r.problem.c_str());
  if (good) carried_ = r;
  return good;
}

std::string InterestScenes::open_clients() {
  carried_ = {};
  const double clients = search_.largest([&](uint32_t count) { return carries(count); });
  report_.metric("open_clients_per_core", clients);
  if (clients == 0) return "";
  report_.metric("open_clients_load_percent", carried_.load_percent);
  report_.metric("open_clients_us_per_client_s", carried_.server_percent * 1e4 / clients);
  report_.metric("open_clients_tick_p99_ms", carried_.server["tick_p99_ms"]);
  report_.metric("open_clients_objects_in_set", carried_.server["objects_in_set"]);
  report_.metric("open_clients_moving_updates_hz", carried_.load["witness_moving_updates_hz"]);
  report_.metric("open_clients_up_datagrams_per_client_s", carried_.up_per_s / clients);
  report_.metric("open_clients_down_datagrams_per_client_s", carried_.down_per_s / clients);
  report_.metric("open_clients_down_bytes_per_client_s", carried_.down_per_s * carried_.down_bytes / clients);
  report_.metric("open_clients_allocations_per_tick", carried_.server["allocations_per_tick"]);
  return "";
}

/// By the difference of two crowds, so that what all clients share does not count.
std::string InterestScenes::state_per_client() {
  double live_kb[2] = {};
  const uint32_t clients[2] = {amounts_.few_clients, amounts_.more_clients};
  for (const bool more : {false, true}) {
    tell("state of an open world", clients[more]);
    SceneResult r = open_world(clients[more], plan_.warmup_s, amounts_.search_window_s);
    if (!r.problem.empty()) return r.problem;
    live_kb[more] = r.server["live_kb"] - r.server["empty_live_kb"];
  }
  report_.metric("state_per_client_kb", (live_kb[1] - live_kb[0]) / (clients[1] - clients[0]));
  return "";
}

std::string InterestScenes::resting() {
  double percent[2] = {};
  for (const bool with_objects : {false, true}) {
    tell(with_objects ? "resting objects around" : "nothing around", amounts_.spectators);
    SceneResult r = run_scene(
        plan_, {.clients = amounts_.spectators,
                .server_words = {"--spectators", "--objects", text(with_objects ? amounts_.resting : 0),
                                 "--in-set", text(amounts_.resting_in_set)},
                .load_words = {"--no-inputs"}});
    if (with_objects)
      check_set(kLeastOfSet * amounts_.resting_in_set, kMostOfSet * amounts_.resting_in_set, r);
    if (!r.problem.empty()) return r.problem;
    percent[with_objects] = r.server_percent;
    if (!with_objects) continue;
    report_.metric("static_core_percent", percent[1] - percent[0]);
    report_.metric("static_without_objects_percent", percent[0]);
    report_.metric("static_objects_in_set", r.server["objects_in_set"]);
    report_.metric("static_datagrams_per_client_s", r.down_per_s / amounts_.spectators);
  }
  return "";
}

/// One room first and last, because a processor that becomes faster or slower must not count.
std::string InterestScenes::rooms() {
  double one_percent = 0;
  SceneResult all;
  for (const uint32_t rooms : {1u, amounts_.rooms, 1u}) {
    const uint32_t clients = rooms * amounts_.room_players;
    tell(rooms == 1 ? "one room" : "rooms", clients);
    SceneResult r = run_scene(plan_, {.clients = clients,
                                      .server_words = {"--room-players", text(amounts_.room_players)},
                                      .load_words = {"--datagram-ticks", "2"}});
    check_set(amounts_.room_players, amounts_.room_players, r);
    if (!r.problem.empty()) return r.problem;
    if (rooms == 1) {
      one_percent += r.server_percent / 2;
    } else {
      all = r;
    }
  }
  const double clients = amounts_.rooms * amounts_.room_players;
  report_.metric("rooms_server_percent", all.server_percent);
  report_.metric("rooms_load_percent", all.load_percent);
  report_.metric("rooms_single_room_percent", one_percent);
  report_.metric("rooms_objects_in_set", all.server["objects_in_set"]);
  report_.metric("rooms_updates_hz", all.load["witness_updates_hz"]);
  report_.metric("rooms_inputs_per_client_s", all.server["inputs_per_s"] / clients);
  report_.metric("rooms_snapshots_hz", all.server["snapshots_per_s"] / clients);
  // A server that leaves work out costs too little.
  if (all.server["snapshots_per_s"] >= kLeast * kSnapshotRateHz * clients)
    report_.ratio("rooms_vs_sum", all.server_percent / (one_percent * amounts_.rooms));
  return "";
}

}  // namespace bench
