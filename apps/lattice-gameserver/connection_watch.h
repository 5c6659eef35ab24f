// What a developer wants to know of connections while they last: debug lines about what changed in a second.
#pragma once

#include <cstdint>
#include <map>

#include "server.h"

namespace app {

class ConnectionWatch {
 public:
  /// Logs what changed since the last call: keys, largest datagram, congestion, address, objects of the join.
  /// Does nothing unless debug lines are logged. Call it once a second.
  void look(Server& server);

 private:
  struct Seen {
    uint32_t key_epoch = 0;
    uint32_t datagram_bytes = 0;
    uint32_t congestion_phase = 0;
    uint32_t is_loaded = 0;
    uint64_t messages_resent = 0;
    uint64_t packets_refused = 0;
    bool is_here = false;
  };
  std::map<lattice_peer_id, Seen> seen_;
};

}  // namespace app
