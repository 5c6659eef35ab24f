// Commands for the server under --control stdio, one JSON object per line. The first two make a client
// mispredict.
//
//   {"shove":{"peer":2}}      the server knocks that player's pawn aside
//   {"disagree":{"peer":2}}   the server does not carry out that player's next steps
//   {"why":{"peer":2,"id":7}}   why does that player's client have the object, or not? With "x" and "y"
//   instead of
//                               "id": the object nearest to that place. The answer is in the telemetry.
//
// Malformed lines are ignored and counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "game_server.h"
#include "questions.h"

namespace app {

class Control {
 public:
  Control(depot::GameServer& game, Questions& questions) : game_(game), questions_(questions) {}
  void handle(std::string_view line);
  uint64_t ignored_lines() const { return ignored_lines_; }

 private:
  depot::GameServer& game_;
  Questions& questions_;
  uint64_t ignored_lines_ = 0;
};

}  // namespace app
