// A client with valid keys at the server of a WorldRig that follows no other rule. The tests' raw client and
// the scripted peer do the work; what they take for the rig of an endpoint is here the simulated network of
// the worlds.
#pragma once

#include "abi/netsim_instance.h"
#include "scripted_peer.h"
#include "unit/reliability/raw_client.h"
#include "world_rig.h"

namespace lattice::fuzz {
class WorldServer;  // stands for the endpoint type of a rig whose server is a world
}  // namespace lattice::fuzz

namespace lattice::test {

/// What a raw client needs of a rig.
template <>
class RigOf<fuzz::WorldServer> {
 public:
  struct Server {
    base::PathId address = base::ipv4_path(10, 0, 0, 1, 27015);
  };

  RigOf(fuzz::WorldRig& worlds, crypto::SigningKeyPair& by)
      : now_ns(lattice_netsim_now(worlds.net())),
        issuer(by),
        network(network_of(worlds.net())),
        worlds_(worlds) {}

  void step() {
    worlds_.step();
    now_ns = lattice_netsim_now(worlds_.net());
  }
  wire::TokenFields token_fields(const crypto::PublicKey& client_key) {
    wire::TokenFields fields;
    entropy.fill(fields.token_id);
    fields.issued_s = kStartUnixS;
    fields.expires_s = kStartUnixS + 600;
    lattice_world_public_key(worlds_.server, fields.aud.data());
    fields.cnf = client_key;
    return fields;
  }
  Bytes sign(const wire::TokenFields& fields, const crypto::SigningKeyPair& by) {
    Bytes token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, by, token));
    return token;
  }

  uint64_t now_ns;
  crypto::SigningKeyPair& issuer;
  socket::SimulatedNetwork& network;
  CountingEntropy entropy{7};
  Server server;

 private:
  static socket::SimulatedNetwork& network_of(lattice_netsim* net) {
    const char thread = 0;
    abi::NetsimInstance* instance = nullptr;
    fuzz::require(abi::enter_netsim(net, &thread, &instance) == abi::Entry::kEntered);
    abi::leave_netsim(net);
    return instance->network;
  }

  fuzz::WorldRig& worlds_;
};

}  // namespace lattice::test
