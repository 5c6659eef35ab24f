// Why an object disappears at a client. Spec: D-42.
#pragma once

#include <cstdint>

namespace lattice::replication {

enum class DespawnReason : uint8_t {
  kDestroyed,     // the authority destroyed it
  kLeft,          // it lives on, outside of this client's set
  kSessionEnded,  // the connection ended
};

}  // namespace lattice::replication
