// Calls of an authority on objects that came after a client's set was made last. Whether the client gets such
// an object shows when its set is made again: then the call leaves, or is dropped. So a call right after a
// spawn reaches those who get the object (D-35).
//
// Bounded for each client: beyond kMostCalls the oldest one is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lattice/schema.h"
#include "world/observer.h"

namespace lattice::world {

class HeldCalls {
 public:
  static constexpr size_t kMostCalls = 64;

  struct Call {
    ConnectionHandle to;
    uint64_t network_id = 0;
    lattice_channel channel = LATTICE_CHANNEL_UNRELIABLE;
    std::vector<uint8_t> body;
  };

  bool empty() const { return calls_.empty(); }
  /// True while a call on the object waits for the client: further ones wait behind it.
  bool holds(ConnectionHandle to, uint64_t network_id) const;
  void hold(ConnectionHandle to, uint64_t network_id, lattice_channel channel, std::span<const uint8_t> body);
  /// Calls `settle(call)` for each call, in the order in which they were made, and forgets those for which
  /// it is true.
  template <class Settle>
  void settle(Settle settle) {
    std::erase_if(calls_, settle);
  }

 private:
  std::vector<Call> calls_;
};

}  // namespace lattice::world
