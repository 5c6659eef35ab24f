// Calls of an authority on objects that came after a client's set was made last. Whether the client gets such
// an object shows when its set is made again: then the call leaves, or is dropped. So a call right after a
// spawn reaches those who get the object (D-35).
//
// Bounded for each client: beyond kMostCalls the oldest one is dropped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "lattice/schema.h"
#include "world/observer.h"

namespace lattice::world {

class HeldCalls {
 public:
  static constexpr size_t kMostCalls = 64;

  using Body = std::shared_ptr<const std::vector<uint8_t>>;  // of one call for many clients
  struct Call {
    uint64_t network_id = 0;
    lattice_channel channel = LATTICE_CHANNEL_UNRELIABLE;
    bool is_aligned = false;  // LATTICE_RPC_TICK_ALIGNED
    Body body;
  };

  /// True while a call on the object waits for the client: further ones wait behind it.
  bool holds(ConnectionHandle to, uint64_t network_id) const;
  /// False when that dropped an older call.
  bool hold(ConnectionHandle to, Call call);
  /// Calls `is_due(client)` for each client with calls, and then `settle(client, call)` for its calls, in the
  /// order in which they were made. Forgets those for which that is true. Where it is false, the further
  /// calls of the client on that object wait with that one.
  template <class IsDue, class Settle>
  void settle(IsDue is_due, Settle settle) {
    std::erase_if(waiting_, [&](uint32_t slot) {
      Client& client = clients_[slot];
      if (!is_due(client.to)) return false;
      blocked_.clear();
      std::erase_if(client.calls, [&](const Call& call) {
        if (std::find(blocked_.begin(), blocked_.end(), call.network_id) != blocked_.end()) return false;
        if (settle(client.to, call)) return true;
        blocked_.push_back(call.network_id);
        return false;
      });
      return client.calls.empty();
    });
  }
  void forget(ConnectionHandle to);

 private:
  struct Client {
    ConnectionHandle to;
    std::deque<Call> calls;
  };
  const Client* find(ConnectionHandle to) const;

  std::vector<Client> clients_;    // by connection slot
  std::vector<uint32_t> waiting_;  // connection slots of those with calls
  std::vector<uint64_t> blocked_;  // of settle(): objects with a call that stays
};

}  // namespace lattice::world
