// What a client's processor does: decoding and applying snapshots, and rolling back. A server and a client in
// one thread and in virtual time; only the client's pumps are timed.
#include <algorithm>
#include <array>
#include <cstdio>

#include "replication/processes.h"
#include "replication/virtual_pair.h"

namespace bench {
namespace {

constexpr double kLoadTimeoutS = 60;
constexpr double kWarmUpS = 3;
constexpr size_t kMessageBytes = 1100;

LATTICE_NETWORKED(Crewman, (a, int32, RANGED(0, 1000)), (b, int32, RANGED(0, 1000)),
                  (c, int32, RANGED(0, 1000)), (d, int32, RANGED(0, 1000)), (e, int32, RANGED(0, 1000)),
                  (f, int32, RANGED(0, 1000)), (g, int32, RANGED(0, 1000)), (h, int32, RANGED(0, 1000)),
                  (i, int32, RANGED(0, 1000)), (j, int32, RANGED(0, 1000)))
constexpr lattice::Type<Crewman> kCrew{.id = 7, .name = "Crew", .flags = LATTICE_TYPE_PREDICTED};
constexpr uint32_t kChangeEveryTicks = 30;
constexpr double kRollbackOneWayMs = 65;  // the client then is nine ticks ahead of what it hears

bool add_crew(const lattice::World& world) {
  return world.add(kCrew) == LATTICE_OK && world.add_input<Keys>() == LATTICE_OK;
}

struct ReceiveCost {
  double receive_ns = 0, bytes = 0, snapshots = 0, allocations_per_tick = 0;
};

/// The client's receiving while `objects` walk.
bool measure_walk(uint32_t objects, double seconds, ReceiveCost* out) {
  VirtualPair pair;
  if (!pair.start({})) return false;
  std::vector<lattice_netid> ids;
  for (uint32_t i = 0; i < objects; ++i) {
    ids.push_back(pair.server().spawn(kThing));
    *pair.server().state<Walker>(ids.back()) = start_of(ids.back());
  }
  pair.server_tick = [&](uint32_t tick) {
    for (const lattice_netid id : ids) step(*pair.server().state<Walker>(id), id, tick);
  };
  if (!pair.connect() || !pair.run_until(kLoadTimeoutS, [&] { return pair.client_objects() == objects; })) {
    return false;
  }
  pair.run_s(kWarmUpS);
  pair.forget_costs();
  const lattice_world_stats before = pair.client().stats();
  pair.run_s(seconds);
  const lattice_world_stats after = pair.client().stats();
  out->receive_ns = static_cast<double>(pair.client_cost().receive_ns);
  out->bytes = static_cast<double>(after.bytes_received - before.bytes_received);
  out->snapshots = static_cast<double>(after.snapshots_applied - before.snapshots_applied);
  out->allocations_per_tick = static_cast<double>(pair.client_cost().allocations) /
                              static_cast<double>(std::max<uint64_t>(pair.client_cost().ticks, 1));
  return true;
}

/// The client's receiving while plain messages come in packets as full.
bool measure_messages(double seconds, ReceiveCost* out) {
  VirtualPair pair;
  if (!pair.start({}) || !pair.connect()) return false;
  if (!pair.run_until(kLoadTimeoutS, [&] { return pair.connected() && pair.client_peer() != 0; }))
    return false;
  std::array<uint8_t, kMessageBytes> body{};
  pair.server_tick = [&](uint32_t tick) {
    const lattice::Connection client = pair.server().connection_of(pair.client_peer());
    for (int i = 0; i < 2 && tick % 2 == 0; ++i) {
      lattice_send(client, LATTICE_CHANNEL_UNRELIABLE, body.data(), body.size());
    }
  };
  pair.run_s(kWarmUpS);
  pair.forget_costs();
  const uint64_t before = pair.client().stats().bytes_received;
  pair.run_s(seconds);
  out->receive_ns = static_cast<double>(pair.client_cost().receive_ns);
  out->bytes = static_cast<double>(pair.client().stats().bytes_received - before);
  return true;
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The longest pump after each change of all objects, when the client predicts the change and when not.
struct ChangeCost {
  double pump_us = 0, resimulated_ticks = 0, rollbacks = 0;
};

bool measure_changes(uint32_t objects, double seconds, bool predicts, ChangeCost* out) {
  VirtualPair pair;
  if (!pair.start({.one_way_ms = kRollbackOneWayMs, .add_types = add_crew}) || !pair.connect()) return false;
  if (!pair.run_until(kLoadTimeoutS, [&] { return pair.connected() && pair.client_peer() != 0; }))
    return false;
  std::vector<lattice_netid> ids;
  for (uint32_t i = 0; i < objects; ++i) ids.push_back(pair.server().spawn(kCrew, pair.client_peer()));
  const auto change = [&](const lattice::World& world, uint32_t tick) {
    for (const lattice_netid id : ids) {
      if (tick % kChangeEveryTicks != 0) break;
      if (Crewman* member = world.state<Crewman>(id))
        member->a = static_cast<int32_t>(tick / kChangeEveryTicks % 1000);
    }
  };
  pair.server_tick = [&](uint32_t tick) { change(pair.server(), tick); };
  if (predicts) pair.client_tick = [&](uint32_t tick) { change(pair.client(), tick); };
  if (!pair.run_until(kLoadTimeoutS, [&] { return pair.client_objects() == objects; })) return false;
  pair.run_s(kWarmUpS);
  const lattice_world_stats before = pair.client().stats();
  std::vector<double> longest_us;
  const double began_s = pair.now_s();
  double newest_us = 0;
  uint32_t seen_tick = 0;
  while (pair.now_s() - began_s < seconds) {
    pair.pump();
    newest_us = std::max(newest_us, static_cast<double>(pair.client_cost().last_ns) / 1e3);
    // From the middle between two changes to the next middle.
    const uint32_t tick = pair.server().stats().tick;
    if (tick == seen_tick || tick % kChangeEveryTicks != kChangeEveryTicks - 1) continue;
    seen_tick = tick, longest_us.push_back(newest_us), newest_us = 0;
  }
  const lattice_world_stats after = pair.client().stats();
  out->pump_us = median(longest_us);
  out->rollbacks = static_cast<double>(after.rollbacks - before.rollbacks);
  out->resimulated_ticks = static_cast<double>(after.resimulated_ticks - before.resimulated_ticks);
  return true;
}

}  // namespace

int run_decode(const EndArguments& arguments) {
  ReceiveCost walk, messages;
  if (!measure_walk(arguments.objects, arguments.seconds, &walk) ||
      !measure_messages(arguments.seconds, &messages)) {
    return 1;
  }
  const double entries = walk.snapshots * arguments.objects;
  if (entries == 0 || messages.bytes == 0) return 1;
  say("receive_ns_per_entry", walk.receive_ns / entries);
  say("decode_ns_per_entry", (walk.receive_ns - messages.receive_ns * walk.bytes / messages.bytes) / entries);
  say("allocations_per_tick", walk.allocations_per_tick);
  say("done", 1);
  return 0;
}

int run_rollback(const EndArguments& arguments) {
  ChangeCost predicted, corrected;
  if (!measure_changes(arguments.objects, arguments.seconds, true, &predicted) ||
      !measure_changes(arguments.objects, arguments.seconds, false, &corrected) || corrected.rollbacks == 0) {
    return 1;
  }
  const double ticks = corrected.resimulated_ticks / corrected.rollbacks;
  say("ticks", ticks), say("predicted_rollbacks", predicted.rollbacks);
  say("predicted_pump_us", predicted.pump_us), say("corrected_pump_us", corrected.pump_us);
  say("rollback9_us", (corrected.pump_us - predicted.pump_us) * 9 / ticks);
  say("done", 1);
  return 0;
}

}  // namespace bench
