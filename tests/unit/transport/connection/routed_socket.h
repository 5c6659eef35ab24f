// A socket that carries nothing and says what a server asks about routes.
#pragma once

#include "transport/socket/datagram_socket.h"

namespace lattice::test {

class RoutedSocket final : public socket::DatagramSocket {
 public:
  /// Route `stating` has a rate subject for every ten numbers of its paths; 0: no route states any.
  explicit RoutedSocket(size_t routes, uint8_t stating = 0) : routes_(routes), stating_(stating) {}

  socket::Reading receive(std::span<socket::Datagram>, uint64_t) override { return {}; }
  size_t send(std::span<const socket::Datagram>, uint64_t) override { return 0; }
  base::PathId local_path() const override { return {}; }
  const socket::SocketStats& stats() const override { return stats_; }
  std::optional<uint64_t> rate_subject(const base::PathId& path) const override {
    ++asked;
    return stating_ != 0 && path.route == stating_ ? std::optional<uint64_t>(path.number / 10) : std::nullopt;
  }
  size_t route_count() const override { return routes_; }

  mutable int asked = 0;

 private:
  size_t routes_;
  uint8_t stating_;
  socket::SocketStats stats_;
};

inline base::PathId opaque_path(uint8_t route, uint16_t number) {
  return {route, base::PathForm::kOpaque, number, {}};
}

}  // namespace lattice::test
