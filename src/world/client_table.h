// The clients of a side that listens: who is at which connection (§14). Peer ids are given here and never
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/compiler.h"
#include "base/hash_index.h"
#include "reliability/endpoint/endpoint_handler.h"
#include "replication/authority.h"
#include "replication/rpc_gate.h"

namespace lattice::world {

using reliability::ConnectionHandle;

struct Client {
  ConnectionHandle connection;
  uint64_t peer = 0;
  replication::RpcGate gate{replication::RpcGate::Config{}};
};

class ClientTable {
 public:
  explicit ClientTable(uint32_t max_clients)
      : connections_(max_clients), clients_(max_clients), slot_of_peer_(max_clients) {}

  /// The peer id of the next who asks to join.
  uint64_t next_peer() { return next_peer_++; }
  void add(ConnectionHandle connection, uint64_t peer);
  void remove(ConnectionHandle connection);
  /// Null when nobody is there. Does not look at the client: among thousands that would be slow.
  Client* find(ConnectionHandle connection) const;
  /// Fetches what find() reads into the cache. Only a hint.
  void prefetch(uint32_t slot) const {
    base::prefetch(&connections_[slot]);
    base::prefetch(&clients_[slot]);
  }
  Client* find_peer(uint64_t peer) const;
  /// The connection of a peer, or an invalid handle; the peer at a connection, or 0.
  ConnectionHandle connection_of(uint64_t peer) const;
  uint64_t peer_of(ConnectionHandle connection) const;
  uint32_t size() const { return static_cast<uint32_t>(slot_of_peer_.size()); }
  /// By slot of the connection; null: nobody.
  const std::vector<std::unique_ptr<Client>>& slots() const { return clients_; }

 private:
  std::vector<ConnectionHandle> connections_;  // by slot, as below; that of nobody is invalid
  std::vector<std::unique_ptr<Client>> clients_;
  base::HashIndex slot_of_peer_;  // this side chooses peer ids, so no secret seed is needed
  uint64_t next_peer_ = replication::kFirstClientPeer;
};

}  // namespace lattice::world
