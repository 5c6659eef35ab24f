// Two players, one square each. Your own square moves at once, however far the server is: it is predicted.
// In one terminal: predicted-square host. In another: predicted-square join.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <lattice/lattice.hpp>

constexpr const char* kAddress = "127.0.0.1:27015";
constexpr int kColumns = 64, kRows = 20;
volatile std::sig_atomic_t signalled = 0;
//! [types]
LATTICE_NETWORKED(Square, (position, vec2, BOUNDS(0, 64, 1.0 / 64), POSITION))
LATTICE_NETWORKED(Keys, (right, int8), (down, int8))
constexpr lattice::Type<Square> kSquare{.id = 1, .name = "Square", .flags = LATTICE_TYPE_PREDICTED};
//! [types]
// One world and the rules of the game. The server and both clients run the same code.
struct Game {
  lattice::World world;
  lattice::Connection server;  // a client's connection
  Keys keys;                   // the keys that the player holds down
  int end_reason = 0;          // why the connection ended
  bool start(lattice_role role, const char* bind = nullptr, const lattice::Netsim* network = nullptr) {
    lattice::WorldConfig config;
    config.bind_address = role == LATTICE_ROLE_DEDICATED ? kAddress : bind;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    if (network != nullptr) network->attach(config);
    world = lattice::World::create(config, role);
    const bool ready = world && world.add(kSquare) == LATTICE_OK && world.add_input<Keys>() == LATTICE_OK &&
                       world.set_callbacks(*this) == LATTICE_OK &&
                       (role == LATTICE_ROLE_DEDICATED || (server = world.connect_for_development(kAddress)));
    if (!ready) std::fprintf(stderr, "%s\n", lattice_last_error());
    return ready;
  }
  //! [rules]
  void on_sample_input(uint32_t, Keys& input) { input = keys; }
  void on_tick(const lattice_tick_context& tick) {
    world.each_simulated(kSquare, [&](lattice_netid id, Square& square) {
      Keys held;
      world.get_input(world.info(id).owner, held);
      const float step = 16.0f * float(tick.dt_s);
      square.position.x = std::clamp(square.position.x + step * held.right, 0.0f, kColumns - 2.0f);
      square.position.y = std::clamp(square.position.y + step * held.down, 0.0f, kRows - 1.0f);
    });
  }
  //! [rules]
  void on_connected(lattice::Connection conn) {
    if (!server) world.spawn(kSquare, conn.info().peer_id);
  }
  void on_disconnected(lattice::Connection conn, int reason) {
    end_reason = reason;
    world.each(kSquare, [&](lattice_netid id, const Square&) {
      if (!server && world.info(id).owner == conn.info().peer_id) world.despawn(id);
    });
  }
  void close() {  // tells the players that this server ends: otherwise they would wait for a timeout
    const auto leave = [](lattice::Connection conn) { conn.disconnect(LATTICE_DISCONNECT_HOST_LEFT, ""); };
    world.each(kSquare,
               [&](lattice_netid id, const Square&) { leave(world.connection_of(world.info(id).owner)); });
    for (int ms = 0; ms < 200; ms += 10, poll(nullptr, 0, 10)) world.pump();
  }
};

// The terminal's second screen, without echo, line editing and cursor. Destruction restores the first screen.
struct Terminal {
  termios before{};
  Terminal() {
    tcgetattr(STDIN_FILENO, &before);
    termios raw = before;
    raw.c_lflag &= tcflag_t(~(ICANON | ECHO));
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    std::fputs("\x1b[?1049h\x1b[?25l", stdout);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int) { signalled = 1; });
  }
  ~Terminal() {
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
  static char wait_for_key() {  // waits at most 10 ms; 0: no key; 'q' also after a signal or the end of input
    char key = 0;
    pollfd in{STDIN_FILENO, POLLIN, 0};
    return (poll(&in, 1, 10) > 0 && read(STDIN_FILENO, &key, 1) != 1) || signalled ? 'q' : key;
  }
};

void draw(const lattice::World& world) {
  std::string field;
  for (int y = 0; y < kRows; ++y) field += std::string(kColumns, '.') + '\n';
  //! [draw]
  world.begin_frame();
  world.each(kSquare, [&](lattice_netid id, const Square&) {
    const char* shape = world.info(id).owner == world.local_peer() ? "##" : "[]";
    if (const auto seen = world.view<Square>(id))
      field.replace(size_t(seen->position.y) * (kColumns + 1) + size_t(seen->position.x), 2, shape);
  });
  //! [draw]
  const unsigned corrections = unsigned(world.stats().rollbacks);
  std::printf("\x1b[H%sw a s d: move   space: stop   q: end   corrections: %u\n", field.c_str(), corrections);
}

bool play(bool hosting) {
  Game server, player;
  if ((hosting && !server.start(LATTICE_ROLE_DEDICATED)) || !player.start(LATTICE_ROLE_CLIENT)) return false;
  for (const Terminal terminal; player.end_reason == 0;) {
    const char key = Terminal::wait_for_key();
    if (key == 'q') player.server.disconnect();
    if (key != 0) player.keys = {int8_t((key == 'd') - (key == 'a')), int8_t((key == 's') - (key == 'w'))};
    if (hosting) server.world.pump();
    player.world.pump();
    draw(player.world);
  }
  if (hosting) server.close();
  std::printf("The connection ended: %s\n", lattice_disconnect_reason_name(player.end_reason));
  return player.end_reason == LATTICE_DISCONNECT_REQUESTED;
}

// The same game on a simulated network with a round trip of 100 ms: every run is the same.
bool selftest() {
  const lattice::Netsim network(1);
  lattice::Impairment link;
  link.delay_ms = 50;
  Game server, one, two;
  network.set_impairment(link);
  if (!server.start(LATTICE_ROLE_DEDICATED, nullptr, &network) ||
      !one.start(LATTICE_ROLE_CLIENT, "10.0.0.1:1", &network) ||
      !two.start(LATTICE_ROLE_CLIENT, "10.0.0.2:1", &network))
    return false;
  const auto run = [&](int ms, int8_t right) {
    for (one.keys.right = right; ms > 0; ms -= 4, network.advance(4'000'000))
      for (const Game* game : {&server, &one, &two}) game->world.pump();
  };
  run(2000, 0);
  run(40, 1);
  bool at_once = false;  // 40 ms later no datagram has even reached the server
  one.world.each(kSquare, [&](lattice_netid, const Square& square) { at_once |= square.position.x > 0; });
  run(1000, 0);
  const uint64_t truth = server.world.state_hash();
  return at_once && one.world.state_hash() == truth && two.world.state_hash() == truth;
}

int main(int argc, char** argv) {
  const std::string role = argc == 2 ? argv[1] : "";
  const bool is_known = role == "host" || role == "join" || role == "--selftest";
  if (!is_known) std::fprintf(stderr, "Usage: predicted-square host|join|--selftest\n");
  return is_known && (role == "--selftest" ? selftest() : play(role == "host")) ? 0 : 1;
}
