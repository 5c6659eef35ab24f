// A client with the right keys that follows no other rule: it runs the handshake and then seals any given
// plaintext.
#pragma once

#include "raw_end.h"
#include "transport/connection/client_handshake.h"

namespace lattice::test {

template <class AnyEndpoint>
class RawClientOf final : public RawEndOf<AnyEndpoint> {
 public:
  using End = RawEndOf<AnyEndpoint>;
  using End::link, End::rig, End::socket;
  static constexpr crypto::Role kRole = crypto::Role::kClient;

  explicit RawClientOf(RigOf<AnyEndpoint>& r, uint16_t port = 7777)
      : End(r, base::ipv4_path(192, 0, 2, 77, port), r.server.address) {}

  /// What the client says of itself in the handshake.
  connection::ClientHandshakeConfig config;

  /// Handshake with the rig's server; false when it does not succeed within a second.
  bool connect() {
    const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
    const Bytes token = rig.sign(rig.token_fields(key.public_key()), rig.issuer);
    config.max_datagram_bytes = this->max_datagram_bytes;
    connection::ClientHandshake handshake(config, rig.server.address, token, key.clone());
    if (handshake.start(rig.now_ns, *this) != connection::DisconnectReason::kNone) return false;
    for (int i = 0; i < 200 && !link; ++i) {
      rig.step();
      Bytes buffer(socket::kMaxDatagramBytes);
      socket::Datagram in{{}, 0, buffer.data()};
      while (!link && socket->receive({&in, 1}, rig.now_ns).count == 1) {
        connection::ClientResult result =
            handshake.on_datagram(in.peer, {in.data, in.size}, rig.now_ns, *this);
        if (!result.accepted) continue;
        link.emplace(wire::kProtocolId, result.accepted->connection_id, kRole,
                     std::move(result.accepted->master));
      }
    }
    return link.has_value();
  }
};
using RawClient = RawClientOf<Endpoint>;

}  // namespace lattice::test
