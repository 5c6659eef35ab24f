// A NAT on loopback: forwards between one client and one server over real sockets. rebind() gives the client
// another outward address.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/udp_socket.h"

namespace lattice::test {

class NatRelay {
 public:
  /// Listens for the client on `inner`, towards `server`; outward() is `outer`, whose port 0 leaves it to the
  /// kernel. False with a message when a socket cannot be had.
  bool open(const platform::Address& inner, const platform::Address& outer, const platform::Address& server) {
    server_ = server;
    const platform::UdpOpenResult result = inner_.open(inner);
    if (!result.ok()) ADD_FAILURE() << result.text;
    return result.ok() && rebind(outer);
  }

  /// From now on the client's datagrams come from `outer`. Datagrams that wait at the old address are lost,
  /// as behind a NAT whose mapping has expired.
  bool rebind(const platform::Address& outer) {
    outer_.close();
    const platform::UdpOpenResult result = outer_.open(outer);
    if (!result.ok()) ADD_FAILURE() << result.text;
    return result.ok();
  }

  /// Forwards the waiting datagrams in both directions; returns how many.
  size_t forward() {
    size_t count = 0;
    count += pass(inner_, [this](platform::UdpDatagram& datagram) {
      client_ = datagram.peer;
      datagram.peer = server_;
      return &outer_;
    });
    count += pass(outer_, [this](platform::UdpDatagram& datagram) {
      const bool is_servers = client_ && datagram.peer == server_;
      if (is_servers) datagram.peer = *client_;
      return is_servers ? &inner_ : nullptr;  // A NAT drops datagrams from other addresses.
    });
    return count;
  }

  const platform::Address& inward() const { return inner_.local_address(); }
  const platform::Address& outward() const { return outer_.local_address(); }

 private:
  static constexpr size_t kBufferBytes = 2048;

  template <class Route>
  size_t pass(platform::UdpSocket& from, Route route) {
    size_t count = 0;
    while (true) {
      for (size_t i = 0; i < batch_.size(); ++i) batch_[i] = {{}, 0, buffers_[i].data()};
      const size_t received = from.receive(batch_, kBufferBytes).count;
      for (size_t i = 0; i < received; ++i) {
        platform::UdpSocket* to = route(batch_[i]);
        if (to != nullptr) count += to->send({&batch_[i], 1}).sent;
      }
      if (received == 0) return count;
    }
  }

  platform::UdpSocket inner_;
  platform::UdpSocket outer_;
  platform::Address server_;
  std::optional<platform::Address> client_;
  std::array<std::array<uint8_t, kBufferBytes>, 16> buffers_{};
  std::array<platform::UdpDatagram, 16> batch_{};
};

}  // namespace lattice::test
