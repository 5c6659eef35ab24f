// The load of real clients: each is a world behind the C interface that decodes every snapshot, predicts its
// own player and sends its inputs. Each is pumped 60 times a second, as a game that draws 60 frames does, in
// four groups.
#include <memory>
#include <vector>

#include "platform/clock.h"
#include "replication/processes.h"
#include "replication/scene.h"
#include "replication/witness.h"

namespace bench {
namespace {

using lattice::platform::monotonic_ns;

constexpr uint32_t kPhases = 4;
constexpr uint64_t kPhaseNs = 1'000'000'000 / kTickRateHz / kPhases;
constexpr uint64_t kConnectTimeoutNs = 60'000'000'000;

}  // namespace

int load_worlds(const EndArguments& arguments) {
  std::vector<std::unique_ptr<Witness>> clients;
  for (uint32_t i = 0; i < arguments.clients; ++i) {
    clients.push_back(std::make_unique<Witness>());
    if (!clients.back()->start(arguments.port, i, 0)) return 1;
  }
  const uint64_t began_ns = monotonic_ns();
  uint64_t due_ns = began_ns, late = 0;
  bool ready = false, open = false;
  for (uint32_t phase = 0; !should_end(); ++phase) {
    due_ns += kPhaseNs;
    lattice::platform::sleep_until_ns(due_ns);
    const uint64_t now_ns = monotonic_ns();
    if (now_ns > due_ns + kPhaseNs) due_ns = now_ns, ++late;
    for (size_t i = phase % kPhases; i < clients.size(); i += kPhases) clients[i]->pump();
    if (!ready) {
      uint32_t here = 0;
      for (const auto& client : clients) here += client->is_connected();
      ready = here == arguments.clients;
      if (ready) say("ready", arguments.clients);
      if (now_ns - began_ns > kConnectTimeoutNs) return 1;
    }
    if (phase % kPhases != 0 || !take_go()) continue;
    open = !open;
    if (open) late = 0;
    clients.front()->go(static_cast<double>(now_ns) / 1e9);
    if (!open) say("load_late", static_cast<double>(late));
  }
  return 0;
}

}  // namespace bench
