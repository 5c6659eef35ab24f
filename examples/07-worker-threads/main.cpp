// Worker threads: threads of the application build snapshots, and seal and open packets; nothing else
// changes. A server with 32 clients runs once with one worker and once with four; both runs send and receive
// the same.
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <lattice/lattice.hpp>

#include "thread_pool.h"

constexpr const char* kAddress = "10.0.0.1:27015";
constexpr int kClients = 32;

struct Server {
  lattice::World world;
  std::vector<lattice::Connection> clients;
  uint32_t heard = 0;

  void on_connected(lattice::Connection client) { clients.push_back(client); }
  void on_message(lattice::Connection, lattice_channel, std::span<const uint8_t>) { ++heard; }
  void on_tick(const lattice_tick_context& tick) {
    const std::array<uint8_t, 200> news = {uint8_t(tick.tick)};
    for (const lattice::Connection client : clients) client.send(LATTICE_CHANNEL_UNRELIABLE, news);
  }
};

struct Client {
  lattice::World world;
  lattice::Connection server;
  void on_connected(lattice::Connection conn) { server = conn; }
  void on_tick(const lattice_tick_context&) {
    if (server) server.send(LATTICE_CHANNEL_UNRELIABLE, "here");
  }
};

struct Outcome {
  uint64_t packets_sent = 0, bytes_sent = 0, packets_received = 0;
  uint32_t heard = 0;
  bool operator==(const Outcome&) const = default;
};

// A thread pool of the form that lattice_world_config asks for.
struct Pool {
  explicit Pool(uint32_t workers) : threads(thread_pool_create(workers)) {}
  ~Pool() { thread_pool_destroy(threads); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  thread_pool* threads;
};

// Prints why a call of the library failed, before the destruction of a world replaces the text.
bool failed() {
  std::fprintf(stderr, "%s\n", lattice_last_error());
  return false;
}

bool play(uint32_t workers, Outcome& outcome) {
  const Pool pool(workers);
  if (pool.threads == nullptr) {
    std::fprintf(stderr, "Cannot start %u threads.\n", workers);
    return false;
  }
  const lattice::Netsim network(1);
  Server server;
  std::array<Client, kClients> clients;

  //! [pool]
  lattice::WorldConfig config;
  config.worker_count = workers;
  config.enqueue_tasks = thread_pool_enqueue;
  config.finish_tasks = thread_pool_finish;
  config.tasks_ctx = pool.threads;
  //! [pool]
  config.bind_address = kAddress;
  config.development_tokens = 1;
  config.max_half_open_per_prefix = kClients;  // all clients come from one address range
  network.attach(config);
  server.world = lattice::World::create(config, LATTICE_ROLE_DEDICATED);
  if (!server.world || server.world.set_callbacks(server) != LATTICE_OK) return failed();
  for (int i = 0; i < kClients; ++i) {
    const std::string address = "10.0.0.2:" + std::to_string(1000 + i);
    lattice::WorldConfig own;
    own.bind_address = address.c_str();
    network.attach(own);
    clients[size_t(i)].world = lattice::World::create(own, LATTICE_ROLE_CLIENT);
    const Client& client = clients[size_t(i)];
    if (!client.world || client.world.set_callbacks(clients[size_t(i)]) != LATTICE_OK ||
        !client.world.connect_for_development(kAddress))
      return failed();
  }
  while (network.now_ns() < 3'000'000'000) {
    server.world.pump();
    for (const Client& client : clients) client.world.pump();
    network.advance(4'000'000);
  }
  const lattice_world_stats stats = server.world.stats();
  outcome = {stats.packets_sent, stats.bytes_sent, stats.packets_received, server.heard};
  std::printf("%u workers: %zu clients, %llu packets sent, %u messages heard\n", workers,
              server.clients.size(), static_cast<unsigned long long>(stats.packets_sent), server.heard);
  return server.clients.size() == kClients && server.heard > 0;
}

int main() {
  Outcome alone, together;
  if (!play(1, alone) || !play(4, together)) return 1;
  if (!(alone == together)) std::fprintf(stderr, "The outcomes differ.\n");
  return alone == together ? 0 : 1;
}
