// A back end of the application (lattice/backend.h) as a socket. What its functions return is not trusted:
// each misbehaviour is refused under a name and counted, and no byte outside of the buffers is read.
#pragma once

#include <array>

#include "lattice/backend.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::abi {

class BackendSocket final : public socket::DatagramSocket {
 public:
  /// `backend` has receive and send. `route` is above 0.
  BackendSocket(const lattice_datagram_backend& backend, uint8_t route);
  ~BackendSocket() override;

  /// From now on this socket closes the back end when it ends.
  void own() { owns_ = true; }

  socket::Reading receive(std::span<socket::Datagram> out, uint64_t now_ns) override;
  size_t send(std::span<const socket::Datagram> datagrams, uint64_t now_ns) override;
  base::PathId local_path() const override { return {}; }
  const socket::SocketStats& stats() const override { return stats_; }
  bool wait_readable(uint64_t timeout_ns) const override;
  intptr_t descriptor() const override;
  void on_wake() const override;
  uint32_t largest_datagram(const base::PathId& path) const override;
  std::optional<uint64_t> rate_subject(const base::PathId& path) const override;
  size_t route_count() const override { return size_t{route_} + 1; }

 private:
  static constexpr uint32_t kBatch = 64;
  /// After so many waits in a row that the descriptor ended and that gave nothing, it is not waited on until
  /// a datagram comes.
  static constexpr uint32_t kMaxEmptyWakes = 16;

  /// False, and counted: the datagram is not one that this route may give.
  bool is_own(const lattice_backend_datagram& datagram);
  /// One call of the back end. `*is_full`: it may have more.
  socket::Reading receive_batch(std::span<socket::Datagram> out);
  /// The first `count` of batch_. Returns how many were taken.
  size_t send_batch(uint32_t count);
  intptr_t stated_descriptor() const;
  /// So many datagrams came in a reading.
  void note_datagrams(size_t count);

  lattice_datagram_backend backend_;
  uint8_t route_;
  bool owns_ = false;
  std::array<lattice_backend_datagram, kBatch> batch_{};
  mutable socket::SocketStats stats_;
  uint32_t empty_wakes_ = 0;
  mutable bool is_woken_ = false;
};

/// The path as the application sees it.
lattice_path public_path(const base::PathId& path);
/// The other way. A form that does not exist, or an IPv4 address that is not IPv4-mapped, gives no path.
base::PathId path_from(const lattice_path& path);

}  // namespace lattice::abi
