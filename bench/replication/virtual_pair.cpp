#include "replication/virtual_pair.h"

#include <cstdio>

namespace bench {
namespace {

using lattice::platform::monotonic_ns;

constexpr const char* kServer = "10.0.0.1:7000";
constexpr const char* kClient = "10.0.0.2:7000";

}  // namespace

void VirtualPair::Side::pump() {
  const uint64_t allocations = lattice::test::allocation_count(), began_ns = monotonic_ns();
  world.recv();
  const uint64_t received_ns = monotonic_ns();
  for (uint32_t due = world.ticks_due(); due > 0; --due) world.tick(world.next_tick()), ++cost.ticks;
  world.send();
  const uint64_t ended_ns = monotonic_ns();
  cost.receive_ns += received_ns - began_ns;
  cost.last_ns = ended_ns - began_ns;
  cost.pump_ns += cost.last_ns;
  cost.longest_ns = std::max(cost.longest_ns, cost.last_ns);
  cost.allocations += lattice::test::allocation_count() - allocations;
}

bool VirtualPair::make(Side& side, const VirtualConfig& settings, bool is_server) {
  lattice::WorldConfig config;
  network_->attach(config);
  config.bind_address = is_server ? kServer : kClient;
  config.tick_rate_hz = kTickRateHz;
  config.snapshot_rate_hz = kSnapshotRateHz;
  config.max_objects = settings.max_objects;
  config.congestion_mode = LATTICE_CONGESTION_NONE;
  config.max_send_bytes_per_s = is_server ? settings.cap_bytes_per_s : 0;
  config.development_tokens = is_server;
  side.pair = this, side.is_server = is_server;
  side.world = lattice::World::create(config, is_server ? LATTICE_ROLE_DEDICATED : LATTICE_ROLE_CLIENT);
  return side.world && settings.add_types(side.world) && side.world.set_callbacks(side) == LATTICE_OK;
}

bool VirtualPair::start(const VirtualConfig& config) {
  network_ = std::make_unique<lattice::Netsim>(config.seed);
  lattice::Impairment link;
  link.delay_ms = config.one_way_ms;
  link.loss_percent = config.loss_percent;
  const bool ready = *network_ && network_->set_impairment(link) == LATTICE_OK &&
                     make(server_, config, true) && make(client_, config, false);
  if (!ready) std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
  return ready;
}

bool VirtualPair::connect() {
  const bool connecting = static_cast<bool>(client_.world.connect_for_development(kServer));
  if (!connecting) std::fprintf(stderr, "replication-end: %s\n", lattice_last_error());
  return connecting;
}

void VirtualPair::pump() {
  server_.pump();
  client_.pump();
  network_->advance(kPumpNs);
}

}  // namespace bench
