// A viewer's message, as a browser sends it over the page's WebSocket, on its way to a client: parsed and
// reduced to known members by the demo, then read as a command line by a depot-client. The bytes also go to
// the client as they are, because a client's commands come from outside (control.h).
//
// Must hold: a command is one line, the client keeps what it is told within the documented ranges, and a
// command made from a message is one that the client can read.
#include <cmath>

#include "depot-client/control.h"
#include "lattice/lattice.h"
#include "viewer.h"

namespace {

using namespace app;
using namespace app::fuzz;

/// A client that is never pumped. Its world exists once, because commands only set switches in it.
struct Player {
  Player() { require(client.start({}) == 0); }
  Client client;
  Control control{client};
};

void check_link(const lattice_impairment& link) {
  for (const double ms : {link.delay_ms, link.jitter_ms, link.reorder_ms}) {
    require(std::isfinite(ms) && ms >= 0 && ms <= 60'000);
  }
  for (const double percent : {link.loss_percent, link.duplicate_percent, link.reorder_percent}) {
    require(std::isfinite(percent) && percent >= 0 && percent <= 100);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Player player;
  if (size > kMessageBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ViewerCommand command;
  if (take_viewer_command(text, &command) && !command.is_for_server) {
    // A number may be written longer than it came; at most seven members are numbers.
    require(command.line.size() <= size + 7 * 32);
    player.control.handle(command.line);
  }
  player.control.handle(text);
  for (const lattice_direction direction : {LATTICE_DIRECTION_SEND, LATTICE_DIRECTION_RECEIVE}) {
    check_link(player.client.impairment(direction));
  }
  return 0;
}
