// One simulated network behind a handle.
#pragma once

#include <vector>

#include "abi/development_tokens.h"
#include "transport/socket/simulated_network.h"

namespace lattice::abi {

struct NetsimInstance {
  explicit NetsimInstance(const socket::SimulatedNetworkConfig& config) : network(config) {}
  socket::SimulatedNetwork network;
  std::vector<SimulatedDevelopmentKey> development_keys;
  uint64_t now_ns = 0;
  uint32_t worlds = 0;  // worlds attached now; they borrow `network`
};

}  // namespace lattice::abi
