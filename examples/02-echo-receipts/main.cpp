// Receipts: the sender of an unreliable message learns whether the message arrived. Here a client counts to
// 100 over a link that loses a fifth of all datagrams, and sends a number again only when it was lost.
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>

#include <lattice/lattice.hpp>

constexpr const char* kAddress = "10.0.0.1:27015";
constexpr uint8_t kCount = 100;

// Sends every number back.
struct Server {
  lattice::World world;
  lattice::Connection client;
  std::set<uint8_t> unanswered;  // received, but the channel has not taken the answer yet

  void on_message(lattice::Connection from, lattice_channel, std::span<const uint8_t> message) {
    client = from;
    if (message.size() == 1) unanswered.insert(message[0]);
  }
  // The channel is reliable: an answer that it took needs no receipt. While it is full, answers wait.
  void on_tick(const lattice_tick_context&) {
    while (!unanswered.empty() &&
           client.send(LATTICE_CHANNEL_RELIABLE_ORDERED, {&*unanswered.begin(), 1}) == LATTICE_OK)
      unanswered.erase(unanswered.begin());
  }
};

struct Client {
  lattice::World world;
  lattice::Connection server;
  std::map<uint32_t, uint8_t> waiting;  // from receipt to the number that was sent
  std::set<uint8_t> unsaid;             // to be sent, or sent again, as soon as the channel takes them
  std::set<uint8_t> answered;
  uint8_t next = 0;
  int said = 0, lost = 0;

  //! [send]
  bool say(uint8_t number) {
    uint32_t receipt = 0;
    if (server.send_with_receipt(LATTICE_CHANNEL_UNRELIABLE, {&number, 1}, receipt) != LATTICE_OK)
      return false;
    waiting[receipt] = number;
    ++said;
    return true;
  }
  //! [send]
  //! [receipt]
  void on_receipt(lattice::Connection, uint32_t receipt, bool acked) {
    const uint8_t number = waiting[receipt];
    waiting.erase(receipt);
    if (acked) return;
    ++lost;
    unsaid.insert(number);  // this game needs every number; a game that needs only the newest would send that
  }
  //! [receipt]
  void on_connected(lattice::Connection conn) { server = conn; }
  void on_tick(const lattice_tick_context&) {
    if (!server) return;
    if (next < kCount) unsaid.insert(next++);
    while (!unsaid.empty() && say(*unsaid.begin())) unsaid.erase(unsaid.begin());
  }
  void on_message(lattice::Connection, lattice_channel, std::span<const uint8_t> message) {
    if (message.size() == 1) answered.insert(message[0]);
  }
};

// Sets up one side on the simulated network. A real program leaves out the network.
template <class Side>
bool start(Side& side, lattice_role role, const char* address, const lattice::Netsim& network) {
  lattice::WorldConfig config;
  config.bind_address = address;
  config.development_tokens = role == LATTICE_ROLE_DEDICATED;
  network.attach(config);
  side.world = lattice::World::create(config, role);
  return side.world && side.world.set_callbacks(side) == LATTICE_OK;
}

int main() {
  const lattice::Netsim network(1);
  lattice::Impairment link;
  link.delay_ms = 30;
  link.loss_percent = 20;
  Server server;
  Client client;
  if (network.set_impairment(link) != LATTICE_OK ||
      !start(server, LATTICE_ROLE_DEDICATED, kAddress, network) ||
      !start(client, LATTICE_ROLE_CLIENT, "10.0.0.2:1", network) ||
      !client.world.connect_for_development(kAddress)) {
    std::fprintf(stderr, "%s\n", lattice_last_error());
    return 1;
  }
  const uint64_t limit_ns = 30'000'000'000;
  while (network.now_ns() < limit_ns && (client.answered.size() < kCount || !client.waiting.empty())) {
    server.world.pump();
    client.world.pump();
    network.advance(4'000'000);
  }
  std::printf("%d numbers said, %d lost and said again, %zu of %d answered\n", client.said, client.lost,
              client.answered.size(), int(kCount));
  return client.answered.size() == kCount && client.lost > 0 ? 0 : 1;
}
