// A server with the right keys that follows no other rule: it admits the rig's first client by an honest
// handshake and then seals any given plaintext.
#pragma once

#include "raw_end.h"
#include "transport/connection/server_handshake.h"

namespace lattice::test {

template <class AnyEndpoint>
class RawServerOf final : public RawEndOf<AnyEndpoint>, private connection::AdmissionPolicy {
 public:
  using End = RawEndOf<AnyEndpoint>;
  using End::address, End::link, End::rig, End::socket;
  static constexpr crypto::Role kRole = crypto::Role::kServer;

  explicit RawServerOf(RigOf<AnyEndpoint>& r)
      : End(r, base::ipv4_path(192, 0, 2, 77, 7777), r.client().address) {}

  /// Handshake with the rig's first client; false when it does not succeed within a second.
  bool connect() {
    const crypto::PublicKey issuer = rig.issuer.public_key();
    connection::ServerHandshake handshake({.mtu_hint_bytes = this->max_datagram_bytes, .max_claims = 4},
                                          crypto::KeyPair::generate(rig.entropy), {&issuer, 1}, rig.entropy,
                                          *this);
    auto& client = rig.client();
    const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
    wire::TokenFields token = rig.token_fields(key.public_key());
    token.aud = handshake.identity();
    if (client.endpoint->connect(address, rig.sign(token, rig.issuer), key, &client.connection) !=
        reliability::ConnectResult::kOk) {
      return false;
    }
    for (int i = 0; i < 200 && client.handler.connected.empty(); ++i) {
      rig.step();
      Bytes buffer(socket::kMaxDatagramBytes);
      socket::Datagram in{{}, 0, buffer.data()};
      while (!link && socket->receive({&in, 1}, rig.now_ns).count == 1) {
        const connection::ServerMoment moment{rig.now_ns, rig.unix_s(), 0};
        if (!handshake.on_datagram(in.peer, {in.data, in.size}, moment, *this).waits) continue;
        connection::ServerResult result =
            handshake.verify(*handshake.take_waiting(rig.now_ns), moment, *this);
        if (!result.accepted) continue;
        link.emplace(wire::kProtocolId, result.accepted->connection_id, kRole,
                     std::move(result.accepted->master));
      }
    }
    return link.has_value() && !client.handler.connected.empty();
  }

 private:
  connection::Admission admit(const connection::AdmissionRequest&) override {
    return {connection::DisconnectReason::kNone, {}, 2};
  }
  bool has_place() const override { return true; }
  void make_place() override {}
};

}  // namespace lattice::test
