#include "world/held_calls.h"

#include <algorithm>

namespace lattice::world {

bool HeldCalls::holds(ConnectionHandle to, uint64_t network_id) const {
  return std::any_of(calls_.begin(), calls_.end(),
                     [&](const Call& call) { return call.to == to && call.network_id == network_id; });
}

void HeldCalls::hold(ConnectionHandle to, uint64_t network_id, lattice_channel channel,
                     std::span<const uint8_t> body) {
  const auto is_same_client = [to](const Call& call) { return call.to == to; };
  if (static_cast<size_t>(std::count_if(calls_.begin(), calls_.end(), is_same_client)) == kMostCalls) {
    calls_.erase(std::find_if(calls_.begin(), calls_.end(), is_same_client));
  }
  calls_.push_back({to, network_id, channel, {body.begin(), body.end()}});
}

}  // namespace lattice::world
