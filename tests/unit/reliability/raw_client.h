// A peer with the right keys and no manners: runs the handshake by itself and then seals any plaintext it is
// given.
#pragma once

#include <optional>

#include "endpoint_rig.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/secure_link.h"

namespace lattice::test {

template <class AnyEndpoint>
class RawClientOf final : public connection::DatagramSink {
 public:
  explicit RawClientOf(RigOf<AnyEndpoint>& r) : rig(r), address(platform::make_ipv4(192, 0, 2, 77, 7777)) {
    socket = rig.network.attach(address);
  }

  void emit(const platform::Address& to, std::span<const uint8_t> datagram) override {
    Bytes copy(datagram.begin(), datagram.end());
    const socket::Datagram out{to, static_cast<uint32_t>(copy.size()), copy.data()};
    socket->send({&out, 1}, rig.now_ns);
  }

  /// Handshake with the rig's server; false when it does not come about within a second.
  bool connect() {
    const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
    const Bytes token = rig.sign(rig.token_fields(key.public_key()), rig.issuer);
    connection::ClientHandshake handshake({}, rig.server.address, token, key.clone());
    if (handshake.start(rig.now_ns, *this) != connection::DisconnectReason::kNone) return false;
    for (int i = 0; i < 200 && !link; ++i) {
      rig.step();
      Bytes buffer(socket::kMaxDatagramBytes);
      socket::Datagram in{{}, 0, buffer.data()};
      while (!link && socket->receive({&in, 1}, rig.now_ns) == 1) {
        connection::ClientResult result =
            handshake.on_datagram(in.peer, {in.data, in.size}, rig.now_ns, *this);
        if (!result.accepted) continue;
        link.emplace(wire::kProtocolId, result.accepted->connection_id, crypto::Role::kClient,
                     std::move(result.accepted->master));
      }
    }
    return link.has_value();
  }

  /// Seals `plaintext` as the next packet and sends it.
  void send(wire::PacketType type, std::span<const uint8_t> plaintext) {
    seal(type, plaintext, [this](std::span<const uint8_t> datagram) { emit(rig.server.address, datagram); });
  }
  /// Likewise, but it arrives at once, from `source`.
  void send_from(const platform::Address& source, wire::PacketType type, std::span<const uint8_t> plaintext) {
    seal(type, plaintext, [&](std::span<const uint8_t> datagram) {
      rig.network.inject(source, rig.server.address, datagram, rig.now_ns);
    });
  }

  template <class Send>
  void seal(wire::PacketType type, std::span<const uint8_t> plaintext, Send send_sealed) {
    std::array<uint8_t, socket::kMaxDatagramBytes> buffer{};
    if (plaintext.size() > buffer.size() - wire::kMaxHeaderBytes - wire::kTagBytes) return;
    std::copy(plaintext.begin(), plaintext.end(), buffer.begin() + wire::kMaxHeaderBytes);
    const auto sealed = link->seal(type, buffer, wire::kMaxHeaderBytes, plaintext.size());
    if (sealed) send_sealed(sealed->datagram);
  }

  /// Opens what arrived; returns the plaintexts of packets of `type`.
  std::vector<Bytes> receive(wire::PacketType type) {
    std::vector<Bytes> out;
    Bytes buffer(socket::kMaxDatagramBytes);
    socket::Datagram in{{}, 0, buffer.data()};
    while (socket->receive({&in, 1}, rig.now_ns) == 1) {
      const auto opened = link->open({in.data, in.size});
      if (opened && opened.type == type) out.emplace_back(opened.plaintext.begin(), opened.plaintext.end());
    }
    return out;
  }

  RigOf<AnyEndpoint>& rig;
  platform::Address address;
  std::unique_ptr<socket::DatagramSocket> socket;
  std::optional<connection::SecureLink> link;
};
using RawClient = RawClientOf<Endpoint>;

}  // namespace lattice::test
