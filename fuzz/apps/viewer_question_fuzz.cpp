// A viewer's message on its way to the game server: parsed by the demo, completed with the peer id of the
// client it is about, then read as a command line by the server of a session with one player, peer 2. The
// bytes also go to the server as they are, because its commands come from outside (control.h).
//
// Must hold: a command is one line, what the server answers is one JSON line of bounded length, and the
// session goes on.
#include "json_writer.h"
#include "lattice-gameserver/control.h"
#include "unit/game-sim/session.h"
#include "viewer.h"

namespace {

using namespace app;
using namespace app::fuzz;

struct Host {
  Host() {
    for (int tries = 0; tries < 100 && !session.everyone_is_in(); ++tries) session.run_ms(50);
    require(session.everyone_is_in());
  }

  depot::test::SessionConfig config() {
    depot::test::SessionConfig out;
    out.clients = 1;
    out.parcels = 32;
    out.record = false;
    out.impairment = depot::test::perfect_link();
    return out;
  }
  depot::test::Session session{config()};
  Questions questions;
  Control control{session.server(), questions};
  Watch watch{1.0 / 512, 30};
  uint32_t handled = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Host host;
  if (size > kMessageBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ViewerCommand command;
  if (take_viewer_command(text, &command) && command.is_for_server) {
    const std::string line = host.watch.with_peer(command);
    require(line.find('\n') == std::string::npos);
    require(line.size() <= kMessageBytes);
    host.control.handle(line);
  }
  host.control.handle(text);
  JsonWriter json;
  json.begin_object();
  host.questions.write(json);
  json.end_object();
  require(json.text().find('\n') == std::string::npos);
  require(json.text().size() <= kMessageBytes);
  // Shoves and refused steps act in ticks. A tick costs more than many messages.
  if (++host.handled % 256 == 0) {
    host.session.run_ms(17);
    require(host.session.everyone_is_in());
  }
  return 0;
}
