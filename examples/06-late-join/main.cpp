// Joining late: a world of 2000 objects has been running for a while when a client connects. Objects arrive
// as fast as the link carries them, highest priority first. The client shows its progress and knows when it
// has all objects.
#include <cstdio>

#include <lattice/lattice.hpp>

constexpr const char* kAddress = "10.0.0.1:27015";
constexpr uint32_t kTrees = 2000;

LATTICE_NETWORKED(Tree, (position, vec2, BOUNDS(0, 1024, 1.0 / 16), POSITION),
                  (height, float, BOUNDS(0, 32, 1.0 / 16)))
constexpr lattice::Type<Tree> kTree{.id = 1, .name = "Tree"};

struct Side {
  lattice::World world;
  lattice::Connection conn;
  uint32_t here = 0;  // on a client: the trees that have arrived

  bool start(lattice_role role, const char* address, const lattice::Netsim& network) {
    lattice::WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    network.attach(config);
    world = lattice::World::create(config, role);
    return world && world.add(kTree) == LATTICE_OK && world.set_callbacks(*this) == LATTICE_OK;
  }
  bool plant() const {
    for (uint32_t i = 0; i < kTrees; ++i) {
      const lattice_netid id = world.spawn(kTree);
      if (id == 0) return false;
      *world.state<Tree>(id) = {.position = {float(i % 50) * 20, float(i / 50) * 20},
                                .height = float(i % 13) + 2};
    }
    return true;
  }

  void on_connected(lattice::Connection peer) { conn = peer; }
  void on_spawn(lattice_netid, uint32_t) { ++here; }
  void on_despawn(lattice_netid) { --here; }
};

int main() {
  const lattice::Netsim network(1);
  lattice::Impairment link;
  link.delay_ms = 30;
  link.loss_percent = 1;
  link.rate_kbit_per_s = 1000;
  Side server, client;
  const auto run = [&](uint64_t ms) {
    for (const uint64_t until_ns = network.now_ns() + ms * 1'000'000; network.now_ns() < until_ns;) {
      server.world.pump();
      if (client.world) client.world.pump();
      network.advance(4'000'000);
    }
  };
  bool good = network.set_impairment(link) == LATTICE_OK &&
              server.start(LATTICE_ROLE_DEDICATED, kAddress, network) && server.plant();
  if (good) run(5000);
  good = good && client.start(LATTICE_ROLE_CLIENT, "10.0.0.2:1", network) &&
         client.world.connect_for_development(kAddress);
  if (!good) {
    std::fprintf(stderr, "%s\n", lattice_last_error());
    return 1;
  }
  //! [loaded]
  // Both sides know how far the client has come. When it has everything, the player may move.
  lattice_conn_info info{};
  for (int ms = 0; info.is_loaded == 0 && ms < 60000; ms += 100) {
    run(100);
    if (client.conn) info = client.conn.info();
    std::printf("%5d ms: %4u of %u trees%s\n", ms + 100, info.join_objects_received, info.join_objects,
                info.is_loaded != 0 ? ", loaded" : "");
  }
  //! [loaded]
  const bool same = client.world.state_hash() == server.world.state_hash();
  return info.is_loaded != 0 && same && client.here == kTrees && info.join_objects == kTrees ? 0 : 1;
}
