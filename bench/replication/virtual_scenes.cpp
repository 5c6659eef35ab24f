// Scenes about bytes and virtual time: one change of many objects, a storm of spawns, a late join. They do
// not depend on the machine, but for the longest pump.
#include <algorithm>
#include <cstdio>

#include "replication/processes.h"
#include "replication/virtual_pair.h"

namespace bench {
namespace {

constexpr double kLoadTimeoutS = 60;
constexpr double kQuietS = 3;
constexpr uint32_t kMovers = 10;
constexpr uint32_t kJoinCap = 1'000'000, kStormCap = 64'000;
constexpr double kStormLossPercent = 10, kStormS = 20;

std::vector<lattice_netid> spawn(const lattice::World& world, uint32_t count) {
  std::vector<lattice_netid> ids;
  for (uint32_t i = 0; i < count; ++i) {
    const lattice_netid id = world.spawn(kThing);
    if (Walker* walker = id != 0 ? world.state<Walker>(id) : nullptr)
      *walker = start_of(id), ids.push_back(id);
  }
  return ids;
}

/// Bytes of snapshots, from one change of `count` objects until the server is quiet again, less what quiet
/// costs; below 0 when something failed.
double change_bytes(uint32_t count, double one_way_ms) {
  VirtualPair pair;
  if (!pair.start({.one_way_ms = one_way_ms})) return -1;
  const std::vector<lattice_netid> ids = spawn(pair.server(), count);
  if (!pair.connect() || !pair.run_until(kLoadTimeoutS, [&] { return pair.client_objects() == count; }))
    return -1;
  pair.run_s(kQuietS);
  uint64_t before = pair.server().stats().snapshot_bytes_sent;
  const auto since = [&] { return static_cast<double>(pair.server().stats().snapshot_bytes_sent - before); };
  pair.run_s(kQuietS);
  const double quiet = since();
  bool changes = true;
  pair.server_tick = [&](uint32_t tick) {
    for (const lattice_netid id : ids) {
      if (changes) step(*pair.server().state<Walker>(id), id, tick);
    }
    changes = false;
  };
  before = pair.server().stats().snapshot_bytes_sent;
  pair.run_s(kQuietS);
  return pair.server().state_hash() == pair.client().state_hash() ? since() - quiet : -1;
}

}  // namespace

int run_change(const EndArguments& arguments) {
  const double with_delay = change_bytes(arguments.objects, kRoundTripMs / 2);
  // Without delay every change is acknowledged before the next snapshot, so it is encoded once.
  const double once = change_bytes(arguments.objects, 0);
  if (with_delay <= 0 || once <= 0) return 1;
  say("bytes", with_delay), say("once_bytes", once), say("done", 1);
  return 0;
}

int run_storm(const EndArguments& arguments) {
  VirtualPair pair;
  if (!pair.start({.loss_percent = kStormLossPercent, .cap_bytes_per_s = kStormCap, .seed = arguments.seed}))
    return 1;
  const std::vector<lattice_netid> movers = spawn(pair.server(), kMovers);
  bool storms = false;
  pair.server_tick = [&](uint32_t tick) {
    for (const lattice_netid id : movers) step(*pair.server().state<Walker>(id), id, tick);
    if (storms) spawn(pair.server(), arguments.objects);
    storms = false;
  };
  if (!pair.connect() || !pair.run_until(kLoadTimeoutS, [&] { return pair.client_objects() == kMovers; }))
    return 1;
  pair.run_s(kQuietS);
  storms = true;
  uint32_t worst_ticks = 0;
  double loaded_s = 0;
  std::vector<uint32_t> seen;
  for (const lattice_netid id : movers) seen.push_back(pair.client().info(id).confirmed_tick);
  const double began_s = pair.now_s();
  while (pair.now_s() - began_s < kStormS) {
    pair.pump();
    for (size_t i = 0; i < movers.size(); ++i) {
      const uint32_t tick = pair.client().info(movers[i]).confirmed_tick;
      worst_ticks = std::max(worst_ticks, tick - seen[i]), seen[i] = tick;
    }
    if (loaded_s == 0 && pair.client_objects() == arguments.objects + kMovers)
      loaded_s = pair.now_s() - began_s;
  }
  if (!pair.connected()) return 1;
  say("worst_gap_ticks", worst_ticks), say("loaded_s", loaded_s), say("done", 1);
  return 0;
}

int run_join(const EndArguments& arguments) {
  VirtualPair pair;
  if (!pair.start({.cap_bytes_per_s = kJoinCap, .seed = arguments.seed})) return 1;
  spawn(pair.server(), arguments.objects);
  pair.run_s(kQuietS);
  pair.forget_costs();
  const double began_s = pair.now_s();
  if (!pair.connect() || !pair.run_until(kLoadTimeoutS, [&] { return pair.connected(); })) return 1;
  if (!pair.run_until(kLoadTimeoutS, [&] { return pair.client_objects() == arguments.objects; })) return 1;
  say("all_there_s", pair.now_s() - began_s);
  const auto is_loaded = [&] {
    return pair.server().connection_of(pair.client_peer()).info().is_loaded != 0;
  };
  if (!pair.run_until(kLoadTimeoutS, is_loaded)) return 1;
  say("loaded_s", pair.now_s() - began_s);
  say("server_longest_pump_ms", static_cast<double>(pair.server_cost().longest_ns) / 1e6);
  say("client_longest_pump_ms", static_cast<double>(pair.client_cost().longest_ns) / 1e6);
  say("done", 1);
  return 0;
}

}  // namespace bench
