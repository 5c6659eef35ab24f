// The cost of making a connection, and the cost of an idle connection.
#include <algorithm>
#include <vector>

#include "platform/clock.h"
#include "transport/end_lattice.h"
#include "transport/lattice_keys.h"
#include "transport/workloads.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;
using lattice::platform::process_cpu_ns;
using lattice::platform::sleep_until_ns;

constexpr size_t kOutstanding = 32;
constexpr uint32_t kMostAtOnce = 4000;
constexpr uint32_t kCurveRounds = 200;
constexpr uint64_t kWaitNs = 1'000'000;
constexpr uint64_t kTickNs = 1'000'000'000 / 60;
constexpr uint64_t kGiveUpNs = 60'000'000'000;
constexpr uint32_t kCrowdSockets = 16;

class Counter final : public EndEvents {
 public:
  void on_connected(uint32_t peer) override { ++connected, last = peer; }
  void on_disconnected(uint32_t) override { ++disconnected; }
  void on_message(uint32_t, std::span<const uint8_t>) override {}
  uint64_t connected = 0, disconnected = 0;
  uint32_t last = 0;
};

struct Attempt {
  std::unique_ptr<End> end;
  Counter events;
  bool ending = false;
};

}  // namespace

int serve_connect(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->serve(std::min(arguments.clients, kMostAtOnce));
  if (!end) return 1;
  // Before and after, because processors change their speed.
  double curves_us = curve_operations_us(kCurveRounds);
  say("port", end->port());
  Counter events;
  bool begun = false;
  uint64_t began_cpu_ns = 0, began_ns = 0;
  double cpu_s = 0, wall_s = 0;
  while (!should_end()) {
    // The clock starts before the pump that took the first datagram.
    if (!begun) began_cpu_ns = process_cpu_ns(), began_ns = monotonic_ns();
    const bool any = end->receive(events);
    end->flush();
    begun = begun || any;
    if (events.connected == arguments.count && cpu_s == 0 && arguments.count != 0) {
      cpu_s = static_cast<double>(process_cpu_ns() - began_cpu_ns) / 1e9;
      wall_s = static_cast<double>(monotonic_ns() - began_ns) / 1e9;
    }
    if (!any) end->wait(kWaitNs);
  }
  curves_us = (curves_us + curve_operations_us(kCurveRounds)) / 2;
  say("connected", static_cast<double>(events.connected));
  say("curves_us", curves_us);
  say("cpu_s", cpu_s);
  say("wall_s", wall_s);
  return 0;
}

int load_connect(const Arguments& arguments) {
  // Keys and tokens first: making them is a backend's work, not this side's while the clock runs.
  std::vector<Attempt> attempts(arguments.count);
  for (size_t i = 0; i < attempts.size(); ++i) {
    attempts[i].end = arguments.contender->connect(arguments.port, static_cast<uint32_t>(i));
    if (!attempts[i].end) return 1;
  }
  say("ready", 1);
  if (!wait_for_go()) return 1;
  size_t first = 0, next = 0;
  for (const uint64_t began_ns = monotonic_ns(); first < attempts.size();) {
    next = std::min(first + kOutstanding, attempts.size());
    for (size_t i = first; i < next; ++i) {
      Attempt& attempt = attempts[i];
      if (!attempt.end) continue;
      attempt.end->receive(attempt.events);
      if (attempt.events.connected != 0 && !attempt.ending) {
        attempt.ending = true;
        attempt.end->disconnect(attempt.events.last);
      }
      attempt.end->flush();
      if (attempt.ending) attempt.end.reset();
    }
    while (first < next && !attempts[first].end) ++first;
    if (monotonic_ns() - began_ns > kGiveUpNs) return 1;
  }
  say("done", 1);
  while (!should_end()) sleep_until_ns(monotonic_ns() + kWaitNs);
  return 0;
}

int serve_idle(const Arguments& arguments) {
  const std::unique_ptr<End> end = arguments.contender->serve(arguments.clients);
  if (!end) return 1;
  say("port", end->port());
  Counter events;
  for (uint64_t due_ns = monotonic_ns(); !should_end(); due_ns += kTickNs) {
    // While the crowd comes in, as fast as it comes.
    while (events.connected < arguments.clients && monotonic_ns() < due_ns) {
      end->receive(events);
      end->wait(due_ns - std::min(due_ns, monotonic_ns()));
    }
    sleep_until_ns(due_ns);
    end->receive(events);
    end->flush();
  }
  say("connected", static_cast<double>(events.connected));
  say("disconnected", static_cast<double>(events.disconnected));
  return 0;
}

int load_idle(const Arguments& arguments) {
  const uint32_t sockets = std::min(kCrowdSockets, arguments.clients);
  std::vector<std::unique_ptr<End>> crowd;
  for (uint32_t i = 0, first = 0; i < sockets; ++i) {
    const uint32_t count = arguments.clients / sockets + (i < arguments.clients % sockets ? 1 : 0);
    crowd.push_back(connect_lattice_crowd(arguments.port, first, count));
    if (!crowd.back()) return 1;
    first += count;
  }
  Counter events;
  bool told = false;
  const uint64_t began_ns = monotonic_ns();
  while (!should_end()) {
    for (const auto& end : crowd) {
      end->receive(events);
      end->flush();
    }
    if (events.disconnected != 0) return 1;
    const bool all_here = events.connected == arguments.clients;
    if (all_here && !told) {
      told = true;
      say("ready", 1);
    }
    if (all_here) sleep_until_ns(monotonic_ns() + kTickNs);
    if (!all_here && monotonic_ns() - began_ns > kGiveUpNs) return 1;
  }
  return 0;
}

}  // namespace bench
