#include "world/held_calls.h"

#include <algorithm>
#include <utility>

namespace lattice::world {

const HeldCalls::Client* HeldCalls::find(ConnectionHandle to) const {
  const bool is_known = to.slot < clients_.size() && clients_[to.slot].to == to;
  return is_known ? &clients_[to.slot] : nullptr;
}

bool HeldCalls::holds(ConnectionHandle to, uint64_t network_id) const {
  const Client* client = find(to);
  return client != nullptr && std::any_of(client->calls.begin(), client->calls.end(),
                                          [&](const Call& call) { return call.network_id == network_id; });
}

bool HeldCalls::hold(ConnectionHandle to, Call call) {
  if (to.slot >= clients_.size()) clients_.resize(size_t{to.slot} + 1);
  Client& client = clients_[to.slot];
  client.to = to;
  if (client.calls.empty()) waiting_.push_back(to.slot);
  const bool is_full = client.calls.size() == kMostCalls;
  if (is_full) client.calls.pop_front();
  client.calls.push_back(std::move(call));
  return !is_full;
}

void HeldCalls::forget(ConnectionHandle to) {
  if (find(to) == nullptr) return;
  clients_[to.slot] = Client{};
  std::erase(waiting_, to.slot);
}

}  // namespace lattice::world
