// See client_table.h.
#include "world/client_table.h"

namespace lattice::world {

void ClientTable::add(ConnectionHandle connection, uint64_t peer) {
  auto client = std::make_unique<Client>();
  client->connection = connection;
  client->peer = peer;
  slot_of_peer_.insert(peer, connection.slot);
  connections_[connection.slot] = connection;
  clients_[connection.slot] = std::move(client);
}

void ClientTable::remove(ConnectionHandle connection) {
  const Client* client = find(connection);
  if (client == nullptr) return;
  slot_of_peer_.erase(client->peer);
  clients_[connection.slot].reset();
  connections_[connection.slot] = {};
}

Client* ClientTable::find(ConnectionHandle connection) const {
  if (connection.slot >= clients_.size() || connections_[connection.slot] != connection) return nullptr;
  return clients_[connection.slot].get();
}

Client* ClientTable::find_peer(uint64_t peer) const {
  const uint32_t slot = slot_of_peer_.find(peer);
  return slot == base::HashIndex::kNone ? nullptr : clients_[slot].get();
}

ConnectionHandle ClientTable::connection_of(uint64_t peer) const {
  const Client* client = find_peer(peer);
  return client == nullptr ? ConnectionHandle{} : client->connection;
}

uint64_t ClientTable::peer_of(ConnectionHandle connection) const {
  const Client* client = find(connection);
  return client == nullptr ? 0 : client->peer;
}

}  // namespace lattice::world
