// Remote procedure calls: a client asks the server to do something to an object, and the server tells
// everybody the result. Here players write on a board. Arguments are networked structures.
#include <cstdio>
#include <string>
#include <vector>

#include <lattice/lattice.hpp>

constexpr const char* kAddress = "10.0.0.1:27015";

//! [types]
LATTICE_NETWORKED(Board, (lines, uint32))
LATTICE_NETWORKED(Write, (text, string, STRING(40)))
LATTICE_NETWORKED(Written, (player, uint64), (text, string, STRING(40)))
LATTICE_NETWORKED(Refused, (why, string, STRING(40)))

constexpr lattice::Type<Board> kBoard{.id = 1, .name = "Board"};
constexpr lattice::Rpc<Write> kWrite{.id = 1, .name = "write", .target = LATTICE_RPC_TO_SERVER};
constexpr lattice::Rpc<Written> kWritten{.id = 2, .name = "written", .target = LATTICE_RPC_TO_ALL};
constexpr lattice::Rpc<Refused> kRefused{.id = 3, .name = "refused", .target = LATTICE_RPC_TO_PEER};
//! [types]

struct Side {
  lattice::World world;
  std::vector<std::string> read;  // on a client: what the server told it

  bool start(lattice_role role, const char* address, const lattice::Netsim& network) {
    lattice::WorldConfig config;
    config.bind_address = address;
    config.development_tokens = role == LATTICE_ROLE_DEDICATED;
    network.attach(config);
    world = lattice::World::create(config, role);
    //! [register]
    return world && world.add(kBoard, kWrite, kWritten, kRefused) == LATTICE_OK &&
           world.set_callbacks(*this) == LATTICE_OK;
    //! [register]
  }

  //! [receive]
  void on_rpc(const lattice::Call& call) {
    if (const Write* write = call.as(kWrite)) {
      write_on_board(call.object, *write);
    } else if (const Written* written = call.as(kWritten)) {
      read.push_back("player " + std::to_string(written->player) + ": " + written->text.c_str());
    } else if (const Refused* refused = call.as(kRefused)) {
      read.push_back(std::string("refused: ") + refused->why.c_str());
    }
  }
  // The server trusts nobody: what a client asks for is checked here, and who asked comes from the library.
  void write_on_board(lattice_netid board, const Write& write) {
    const lattice_peer_id player = world.rpc_sender();
    if (write.text.view().empty()) {
      Refused refused;
      refused.why = "there is nothing to write";
      world.call_peer(board, kRefused, player, refused);
      return;
    }
    world.state<Board>(board)->lines += 1;
    Written written{.player = player};
    written.text = write.text.view();
    world.call(board, kWritten, written);
  }
  //! [receive]

  //! [call]
  void write(const char* text) {
    Write arguments;
    arguments.text = text;
    world.each(kBoard, [&](lattice_netid board, const Board&) { world.call(board, kWrite, arguments); });
  }
  //! [call]
};

int main() {
  const lattice::Netsim network(1);
  Side server, ann, ben;
  if (!server.start(LATTICE_ROLE_DEDICATED, kAddress, network) || server.world.spawn(kBoard) == 0 ||
      !ann.start(LATTICE_ROLE_CLIENT, "10.0.0.2:1", network) ||
      !ann.world.connect_for_development(kAddress) ||
      !ben.start(LATTICE_ROLE_CLIENT, "10.0.0.3:1", network) ||
      !ben.world.connect_for_development(kAddress)) {
    std::fprintf(stderr, "%s\n", lattice_last_error());
    return 1;
  }
  const auto run_until = [&](auto done) {
    const uint64_t limit_ns = network.now_ns() + 10'000'000'000;
    while (!done() && network.now_ns() < limit_ns) {
      for (const Side* side : {&server, &ann, &ben}) side->world.pump();
      network.advance(4'000'000);
    }
  };
  const auto boards = [](const Side& side) {
    int count = 0;
    side.world.each(kBoard, [&](lattice_netid, const Board&) { ++count; });
    return count;
  };
  run_until([&] { return boards(ann) == 1 && boards(ben) == 1; });
  ann.write("hello");
  run_until([&] { return ann.read.size() == 1 && ben.read.size() == 1; });
  ben.write("");
  run_until([&] { return ben.read.size() == 2; });

  for (const std::string& line : ann.read) std::printf("ann reads %s\n", line.c_str());
  for (const std::string& line : ben.read) std::printf("ben reads %s\n", line.c_str());
  const bool as_expected = ann.read.size() == 1 && ben.read.size() == 2 && ann.read[0] == ben.read[0];
  return as_expected ? 0 : 1;
}
