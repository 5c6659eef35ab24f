// Bad networks: plays the same ten seconds over one link after another, and prints what the statistics say.
//
//   bad-network                   every preset
//   bad-network satellite hotel   these presets
#include <cstdio>
#include <string_view>
#include <vector>

#include <lattice/lattice.hpp>

constexpr const char* kAddress = "10.0.0.1:27015";

LATTICE_NETWORKED(Runner, (position, vec2, BOUNDS(-512, 512, 1.0 / 64), POSITION))
LATTICE_NETWORKED(Stick, (right, int8))
constexpr lattice::Type<Runner> kRunner{.id = 1, .name = "Runner", .flags = LATTICE_TYPE_PREDICTED};

struct Side {
  lattice::World world;
  lattice::Connection conn;

  bool start(lattice_role role, const char* address, const lattice::Netsim& network) {
    lattice::WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    network.attach(config);
    world = lattice::World::create(config, role);
    return world && world.add(kRunner) == LATTICE_OK && world.add_input<Stick>() == LATTICE_OK &&
           world.set_callbacks(*this) == LATTICE_OK;
  }
  void on_connected(lattice::Connection peer) {
    conn = peer;
    if (world.local_peer() == 1) world.spawn(kRunner, peer.info().peer_id);
  }
  // The player runs right for half a second, then left. The server cannot know that before the input arrives.
  void on_sample_input(uint32_t tick, Stick& stick) { stick.right = tick / 30 % 2 == 0 ? 1 : -1; }
  void on_tick(const lattice_tick_context& tick) {
    world.each_simulated(kRunner, [&](lattice_netid id, Runner& runner) {
      Stick stick;
      world.get_input(world.info(id).owner, stick);
      runner.position.x += 8.0f * static_cast<float>(tick.dt_s) * stick.right;
    });
  }
};

//! [impair]
// A preset describes the link of a client: its way up and its way down.
bool impair(const lattice::World& client, const char* preset) {
  for (const lattice_direction direction : {LATTICE_DIRECTION_SEND, LATTICE_DIRECTION_RECEIVE}) {
    lattice::Impairment impairment;
    if (lattice_impairment_preset(preset, direction, &impairment) != LATTICE_OK) return false;
    if (client.set_impairment(direction, impairment) != LATTICE_OK) return false;
  }
  return true;
}
//! [impair]

//! [statistics]
void print(const char* preset, const Side& server, const Side& client) {
  const lattice_conn_stats link = client.conn.stats();
  const lattice_world_stats own = client.world.stats();
  const lattice_world_stats far = server.world.stats();
  std::printf("%-14s %7.0f %7.1f %6.1f %6.1f %8u %8llu %6llu %9llu\n", preset, link.rtt_ms, link.jitter_ms,
              link.send_loss_percent, link.receive_loss_percent, link.quality,
              static_cast<unsigned long long>(own.rollbacks),
              static_cast<unsigned long long>(far.inputs_late),
              static_cast<unsigned long long>(own.snapshots_applied));
}
//! [statistics]

// Plays ten seconds of virtual time over one link. True when the player is connected at the end.
bool play(const char* preset) {
  const lattice::Netsim network(1);
  Side server, client;
  if (!server.start(LATTICE_ROLE_DEDICATED, kAddress, network) ||
      !client.start(LATTICE_ROLE_CLIENT, "10.0.0.2:1", network) || !impair(client.world, preset) ||
      !client.world.connect_for_development(kAddress)) {
    std::fprintf(stderr, "%s: %s\n", preset, lattice_last_error());
    return false;
  }
  while (network.now_ns() < 10'000'000'000) {
    server.world.pump();
    client.world.pump();
    network.advance(4'000'000);
  }
  print(preset, server, client);
  return client.conn.info().is_connected != 0 && client.world.stats().snapshots_applied > 0;
}

int main(int argc, char** argv) {
  std::vector<const char*> presets(argv + 1, argv + argc);
  if (presets.empty() || std::string_view(presets[0]) == "--selftest") {
    presets.clear();
    for (uint32_t i = 0; lattice_impairment_preset_name(i) != nullptr; ++i)
      presets.push_back(lattice_impairment_preset_name(i));
  }
  std::printf("%-14s %7s %7s %6s %6s %8s %8s %6s %9s\n", "preset", "rtt ms", "jitter", "lost %", "down %",
              "quality", "rollback", "late", "snapshots");
  bool all_good = true;
  for (const char* preset : presets) all_good = play(preset) && all_good;
  return all_good ? 0 : 1;
}
