// One end of a connection with the right keys that follows no other rule: it seals any given plaintext, and
// returns the plaintexts that it opened.
#pragma once

#include <optional>

#include "endpoint_rig.h"
#include "transport/connection/secure_link.h"

namespace lattice::test {

/// The common part of the two roles; the handshake of a derived class makes `link`.
template <class AnyEndpoint>
class RawEndOf : public connection::DatagramSink {
 public:
  RawEndOf(RigOf<AnyEndpoint>& r, const base::PathId& own, const base::PathId& far)
      : rig(r), address(own), peer_address(far) {
    socket = rig.network.attach(address);
  }

  void emit(const base::PathId& to, std::span<const uint8_t> datagram) override {
    Bytes copy(datagram.begin(), datagram.end());
    const socket::Datagram out{to, static_cast<uint32_t>(copy.size()), copy.data()};
    socket->send({&out, 1}, rig.now_ns);
  }

  /// Seals `plaintext` as the next packet and sends it.
  void send(wire::PacketType type, std::span<const uint8_t> plaintext) {
    seal(type, plaintext, [this](std::span<const uint8_t> datagram) { emit(peer_address, datagram); });
  }
  /// The same, but the packet arrives at once, from `source`.
  void send_from(const base::PathId& source, wire::PacketType type, std::span<const uint8_t> plaintext) {
    seal(type, plaintext, [&](std::span<const uint8_t> datagram) {
      rig.network.inject(source, peer_address, datagram, rig.now_ns);
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

  /// Opens the packets that arrived; returns the plaintexts of packets of `type`.
  std::vector<Bytes> receive(wire::PacketType type) {
    std::vector<Bytes> out;
    Bytes buffer(socket::kMaxDatagramBytes);
    socket::Datagram in{{}, 0, buffer.data()};
    while (socket->receive({&in, 1}, rig.now_ns).count == 1) {
      const auto opened = link->open({in.data, in.size});
      if (opened && opened.type == type) out.emplace_back(opened.plaintext.begin(), opened.plaintext.end());
    }
    return out;
  }

  /// The largest datagram that it announces in the handshake.
  uint16_t max_datagram_bytes = wire::kFloorDatagramBytes;
  RigOf<AnyEndpoint>& rig;
  base::PathId address;
  const base::PathId peer_address;
  std::unique_ptr<socket::DatagramSocket> socket;
  std::optional<connection::SecureLink> link;
};

}  // namespace lattice::test
