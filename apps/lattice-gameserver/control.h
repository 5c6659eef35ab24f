// Commands for the server under --control stdio, one JSON object per line. They make a client mispredict.
//
//   {"shove":{"peer":2}}      the server knocks that player's pawn aside
//   {"disagree":{"peer":2}}   the server does not carry out that player's next steps
//
// Malformed lines are ignored and counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "game_server.h"

namespace app {

class Control {
 public:
  explicit Control(depot::GameServer& game) : game_(game) {}
  void handle(std::string_view line);
  uint64_t ignored_lines() const { return ignored_lines_; }

 private:
  depot::GameServer& game_;
  uint64_t ignored_lines_ = 0;
};

}  // namespace app
