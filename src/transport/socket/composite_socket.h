// Several sockets as one: UDP and back ends, a route each. A datagram leaves through the route of its path,
// and one that arrives has the path of the route it came through, so an answer leaves where the question came
// in.
//
//   receive()  each route in turn may fill its share of the room; then whoever has more fills the rest
//
// Must stay true: a route that is flooded leaves every other its share of what one receive() takes.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "transport/socket/datagram_socket.h"

namespace lattice::socket {

class CompositeSocket final : public DatagramSocket {
 public:
  /// The sockets by route; null: there is no such route. At least one is not null, and the datagrams of each
  /// have paths of its route.
  using Routes = std::array<std::unique_ptr<DatagramSocket>, base::kMaxRoutes>;
  explicit CompositeSocket(Routes routes);

  Reading receive(std::span<Datagram> out, uint64_t now_ns) override;
  /// Datagrams to a path of no route are counted as send_refused.
  size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) override;
  /// That of UDP.
  base::PathId local_path() const override;
  /// The sum over all routes.
  const SocketStats& stats() const override;
  /// Only UDP has reports.
  bool take_unreachable(base::PathId* peer) override;
  bool favours_equal_lengths(const base::PathId& path) const override;
  /// Waits for all routes at a time. Where one has no descriptor, it returns after a millisecond, because
  /// only receive() can tell.
  bool wait_readable(uint64_t timeout_ns) const override;
  /// That of UDP.
  intptr_t descriptor() const override;
  uint64_t next_event_ns() const override;
  bool forbids_fragmentation(const base::PathId& path) const override;
  uint32_t largest_datagram(const base::PathId& path) const override;
  std::optional<uint64_t> rate_subject(const base::PathId& path) const override;
  size_t route_count() const override { return route_count_; }

 private:
  DatagramSocket* route_of(const base::PathId& path) const {
    return path.route < route_count_ ? routes_[path.route].get() : nullptr;
  }

  Routes routes_;
  size_t route_count_ = 0;  ///< One above the highest route.
  size_t live_count_ = 0;   ///< Routes that are there.
  size_t first_ = 0;        ///< The route that the next receive() asks first.
  SocketStats own_;         ///< Of datagrams that no route got.
  mutable SocketStats sum_;
};

}  // namespace lattice::socket
