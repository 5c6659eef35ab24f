// Questions of the page about one object and one client, and the library's answers (lattice_conn_why()).
#pragma once

#include <string>
#include <vector>

#include "game_server.h"
#include "json_writer.h"

namespace app {

class Questions {
 public:
  /// Asks about an object by its id; with `object` 0, about the one nearest to `place`. Returns false when
  /// there is no such player, or when too many answers wait.
  bool ask(const depot::GameServer& game, lattice_peer_id peer, lattice_netid object, depot::Vec2 place);
  /// Writes "why":[{"peer","object","kind","text"}], the answers since the last call, if there are any.
  void write(JsonWriter& json);

 private:
  static constexpr size_t kMaxAnswers = 16;

  struct Answer {
    lattice_peer_id peer;
    lattice_netid object;
    const char* kind;
    std::string text;
  };
  std::vector<Answer> answers_;
};

}  // namespace app
